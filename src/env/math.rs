//! The sine, the cosine and the square of the worlds with trigonometry, in two versions.
//!
//! `system` is the C library's `sin`, `cos` and `pow`. On x86-64 Linux with glibc these are the
//! functions Python calls, and the worlds are Gymnasium's bit for bit. `portable` is correctly
//! rounded arithmetic compiled in: the same bits on every platform, at two to four times the
//! cost, and now and then a last bit away from Gymnasium's (rewards of `Pendulum-v1`, long
//! episodes of `Acrobot-v1`).
//!
//! The default is `system` on Linux with glibc and `portable` everywhere else, where the C
//! library would give bits of its own.

pub(super) mod single;

use super::setting::Setting;
use crate::value::Value;

/// Which functions a world computes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Math {
    /// The C library's.
    System,
    /// Correctly rounded ones, the same everywhere.
    Portable,
}

impl Default for Math {
    fn default() -> Self {
        if cfg!(all(target_os = "linux", target_env = "gnu")) { Self::System } else { Self::Portable }
    }
}

impl Math {
    #[inline]
    pub(super) fn sin(self, x: f64) -> f64 {
        match self {
            Self::System => x.sin(),
            Self::Portable => pxfm::f_sin(x),
        }
    }

    #[inline]
    pub(super) fn cos(self, x: f64) -> f64 {
        match self {
            Self::System => x.cos(),
            Self::Portable => pxfm::f_cos(x),
        }
    }

    #[inline]
    pub(super) fn sin_cos(self, x: f64) -> (f64, f64) {
        match self {
            Self::System => x.sin_cos(),
            Self::Portable => pxfm::f_sincos(x),
        }
    }

    /// `x` to the power of 2. The C library's `pow`, which Python's `x ** 2` calls, does not
    /// always give `x * x`.
    #[inline]
    pub(super) fn square(self, x: f64) -> f64 {
        match self {
            Self::System => x.powf(std::hint::black_box(2.0)),
            Self::Portable => x * x,
        }
    }
}

impl Setting for Math {
    fn get(&self) -> Value {
        Value::from(match self {
            Self::System => "system",
            Self::Portable => "portable",
        })
    }

    fn set(&mut self, value: &Value) -> Result<(), String> {
        *self = match value.as_text() {
            Some("system") => Self::System,
            Some("portable") => Self::Portable,
            _ => return Err("must be `system` or `portable`".to_owned()),
        };
        Ok(())
    }
}
