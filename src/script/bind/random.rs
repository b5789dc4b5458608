//! `skyfall.random`.

use mlua::{MultiValue, UserData, UserDataMethods, Value};

use super::{Fault, Module};
use crate::random::Rng;
use crate::script::convert;
use crate::script::error::fail;

/// A random stream in a script's hands.
pub(super) struct LuaRng(pub(super) Rng);

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module.function("rng", |_, _, seed: Value| {
        let seed = convert::integer(&seed, "seed")?;
        let seed = u64::try_from(seed).map_err(|_| Fault::Line(format!("`seed` must not be negative, got {seed}")))?;
        Ok(LuaRng(Rng::new(seed)))
    })
}

/// The numbers `arguments` holds, or `defaults` where it has none.
fn pair(arguments: &MultiValue, names: [&str; 2], defaults: [f64; 2]) -> Result<(f64, f64), String> {
    let [first, second] = [0, 1].map(|index| arguments.get(index).filter(|value| !value.is_nil()));
    let read = |value: Option<&Value>, name, default| value.map_or(Ok(default), |value| convert::number(value, name));
    let ([first_name, second_name], [first_default, second_default]) = (names, defaults);
    Ok((read(first, first_name, first_default)?, read(second, second_name, second_default)?))
}

impl UserData for LuaRng {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method_mut("uniform", |lua, this, arguments: MultiValue| {
            let (low, high) = pair(&arguments, ["low", "high"], [0.0, 1.0]).map_err(|line| fail(lua, line))?;
            Ok(this.0.uniform(low, high))
        });
        methods.add_method_mut("normal", |lua, this, arguments: MultiValue| {
            let (mean, deviation) =
                pair(&arguments, ["mean", "deviation"], [0.0, 1.0]).map_err(|line| fail(lua, line))?;
            Ok(mean + deviation * this.0.standard_normal())
        });
        methods.add_method_mut("integers", |lua, this, (low, high): (Value, Value)| {
            let low = convert::integer(&low, "low").map_err(|line| fail(lua, line))?;
            let high = convert::integer(&high, "high").map_err(|line| fail(lua, line))?;
            if low >= high {
                return Err(fail(lua, format!("`high` must be greater than `low`, got {low} and {high}")));
            }
            Ok(this.0.integers(low, high))
        });
        methods.add_method_mut("choice", |lua, this, list: mlua::Table| {
            let length = i64::try_from(list.raw_len()).unwrap_or(i64::MAX);
            if length == 0 {
                return Err(fail(lua, "`choice` needs a list with at least one element"));
            }
            list.raw_get::<Value>(1 + this.0.integers(0, length))
        });
        methods.add_method_mut("spawn", |_, this, ()| Ok(LuaRng(this.0.spawn())));
    }
}
