//! Native arrays of any rank: what `skyfall.array` gives a script, what observations and the
//! rollout store's tables are made of.
//!
//! Invariant: the elements of an [`Array`] lie in standard C layout without gaps, so that a typed
//! slice is always at hand. Every function here keeps it; build one from an `ndarray` with
//! `Array::from`, which restores it, rather than by naming a variant.

mod arithmetic;
mod convert;
mod dtype;
mod elementwise;
mod error;
mod index;
mod item;
mod join;
mod linear;
mod nested;
pub mod npy;
pub mod npz;
mod order;
mod reduce;
mod select;

use half::f16;
use ndarray::{ArrayD, IxDyn};

pub use arithmetic::{Comparison, Operation};
pub use dtype::DType;
pub use elementwise::Function;
pub use error::ArrayError;
pub use item::{Item, Scalar};
pub use select::Logic;

/// An array in C order, of one of the element types the file formats know.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each variant is named after its dtype")]
pub enum Array {
    Bool(ArrayD<bool>),
    I8(ArrayD<i8>),
    I16(ArrayD<i16>),
    I32(ArrayD<i32>),
    I64(ArrayD<i64>),
    U8(ArrayD<u8>),
    U16(ArrayD<u16>),
    U32(ArrayD<u32>),
    F16(ArrayD<f16>),
    F32(ArrayD<f32>),
    F64(ArrayD<f64>),
}

/// Evaluates `$body` with `$inner` bound to the `ArrayD` inside `$array`, whatever its type.
macro_rules! each {
    ($array:expr, $inner:ident => $body:expr) => {
        match $array {
            $crate::array::Array::Bool($inner) => $body,
            $crate::array::Array::I8($inner) => $body,
            $crate::array::Array::I16($inner) => $body,
            $crate::array::Array::I32($inner) => $body,
            $crate::array::Array::I64($inner) => $body,
            $crate::array::Array::U8($inner) => $body,
            $crate::array::Array::U16($inner) => $body,
            $crate::array::Array::U32($inner) => $body,
            $crate::array::Array::F16($inner) => $body,
            $crate::array::Array::F32($inner) => $body,
            $crate::array::Array::F64($inner) => $body,
        }
    };
}

/// Evaluates `$body` with the type named `$item` being the element type of `$dtype`.
macro_rules! with_dtype {
    ($dtype:expr, $item:ident => $body:expr) => {
        match $dtype {
            $crate::array::DType::Bool => {
                type $item = bool;
                $body
            }
            $crate::array::DType::I8 => {
                type $item = i8;
                $body
            }
            $crate::array::DType::I16 => {
                type $item = i16;
                $body
            }
            $crate::array::DType::I32 => {
                type $item = i32;
                $body
            }
            $crate::array::DType::I64 => {
                type $item = i64;
                $body
            }
            $crate::array::DType::U8 => {
                type $item = u8;
                $body
            }
            $crate::array::DType::U16 => {
                type $item = u16;
                $body
            }
            $crate::array::DType::U32 => {
                type $item = u32;
                $body
            }
            $crate::array::DType::F16 => {
                type $item = ::half::f16;
                $body
            }
            $crate::array::DType::F32 => {
                type $item = f32;
                $body
            }
            $crate::array::DType::F64 => {
                type $item = f64;
                $body
            }
        }
    };
}
pub(crate) use {each, with_dtype};

impl Array {
    /// An array of `shape` filled with zeros (`false` for `bool`); for shapes known to be small.
    ///
    /// # Panics
    /// When memory does not hold that many elements: see [`Array::try_zeros`].
    #[must_use]
    pub fn zeros(dtype: DType, shape: &[usize]) -> Self {
        with_dtype!(dtype, T => T::wrap(ArrayD::from_elem(IxDyn(shape), T::default())))
    }

    /// An array of `shape` filled with zeros, for shapes that come from outside.
    ///
    /// # Errors
    /// When memory does not hold that many elements.
    pub fn try_zeros(dtype: DType, shape: &[usize]) -> Result<Self, ArrayError> {
        with_dtype!(dtype, T => Self::filled(shape, T::default()))
    }

    /// An array of `shape` with `value` everywhere.
    ///
    /// # Errors
    /// When memory does not hold that many elements.
    pub fn filled<T: Item>(shape: &[usize], value: T) -> Result<Self, ArrayError> {
        let mut items = reserve(shape, T::DTYPE)?;
        items.resize(element_count(shape).unwrap_or(0), value);
        Self::from_vec(shape, items)
    }

    /// The elements of `items`, in C order, as an array of `shape` (`[]` is one element).
    ///
    /// # Errors
    /// When `shape` does not hold exactly `items.len()` elements.
    pub fn from_vec<T: Item>(shape: &[usize], items: Vec<T>) -> Result<Self, ArrayError> {
        let count = items.len();
        if element_count(shape) != Some(count) {
            return Err(ArrayError::Shape { shape: shape.to_vec(), count });
        }
        check_shape(shape, T::DTYPE)?;
        ArrayD::from_shape_vec(IxDyn(shape), items)
            .map(T::wrap)
            .map_err(|_| ArrayError::Shape { shape: shape.to_vec(), count })
    }

    /// One element without axes (shape `[]`).
    #[must_use]
    pub fn scalar<T: Item>(value: T) -> Self {
        T::wrap(ArrayD::from_elem(IxDyn(&[]), value))
    }

    /// The elements' type.
    #[must_use]
    pub fn dtype(&self) -> DType {
        fn of<T: Item>(_: &ArrayD<T>) -> DType {
            T::DTYPE
        }
        each!(self, array => of(array))
    }

    /// The length of each axis, outermost first.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        each!(self, array => array.shape())
    }

    /// How many elements there are, over all axes.
    #[must_use]
    pub fn len(&self) -> usize {
        each!(self, array => array.len())
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements in C order, if they are of type `T`.
    #[must_use]
    pub fn as_slice<T: Item>(&self) -> Option<&[T]> {
        T::unwrap(self).and_then(|array| array.as_slice())
    }

    /// The elements in C order, to be written, if they are of type `T`.
    #[must_use]
    pub fn as_slice_mut<T: Item>(&mut self) -> Option<&mut [T]> {
        T::unwrap_mut(self).and_then(|array| array.as_slice_mut())
    }

    /// The elements in C order, each with its type's sort.
    pub fn scalars(&self) -> Box<dyn ExactSizeIterator<Item = Scalar> + '_> {
        each!(self, array => Box::new(array.iter().map(|item| item.to_scalar())))
    }

    /// The elements in C order as floats (booleans as 0 and 1; large `i64` rounded).
    pub fn numbers(&self) -> Box<dyn ExactSizeIterator<Item = f64> + '_> {
        each!(self, array => Box::new(array.iter().map(|item| item.to_f64())))
    }

    /// The same elements, in C order, under another shape.
    ///
    /// # Errors
    /// When `shape` holds another number of elements.
    pub fn reshape(self, shape: &[usize]) -> Result<Self, ArrayError> {
        let count = self.len();
        if element_count(shape) != Some(count) {
            return Err(ArrayError::Shape { shape: shape.to_vec(), count });
        }
        check_shape(shape, self.dtype())?;
        each!(self, array => array.into_shape_with_order(IxDyn(shape)).map(Item::wrap))
            .map_err(|_| ArrayError::Shape { shape: shape.to_vec(), count })
    }
}

macro_rules! typed_slices {
    ($($item:ty, $read:ident, $write:ident);+ $(;)?) => {
        impl Array {$(
            #[doc = concat!("The elements in C order, if they are `", stringify!($item), "`.")]
            #[must_use]
            pub fn $read(&self) -> Option<&[$item]> {
                self.as_slice()
            }

            #[doc = concat!("The elements in C order, to be written, if they are `", stringify!($item), "`.")]
            #[must_use]
            pub fn $write(&mut self) -> Option<&mut [$item]> {
                self.as_slice_mut()
            }
        )+}
    };
}
typed_slices! {
    bool, as_bool, as_bool_mut; i8, as_i8, as_i8_mut; i16, as_i16, as_i16_mut; i32, as_i32, as_i32_mut;
    i64, as_i64, as_i64_mut; u8, as_u8, as_u8_mut; u16, as_u16, as_u16_mut; u32, as_u32, as_u32_mut;
    f16, as_f16, as_f16_mut; f32, as_f32, as_f32_mut; f64, as_f64, as_f64_mut;
}

impl<T: Item> From<ArrayD<T>> for Array {
    fn from(array: ArrayD<T>) -> Self {
        if array.is_standard_layout() { T::wrap(array) } else { T::wrap(array.as_standard_layout().into_owned()) }
    }
}

/// How many elements `shape` holds, if that is a number at all.
fn element_count(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1_usize, |count, &length| count.checked_mul(length))
}

/// The most that the lengths beside a 0 may multiply to: lists of an array without elements, and its
/// sums along an axis, are as many.
const MOST_OF_NOTHING: usize = 1 << 24;

/// How many elements `shape` holds, if an array may have it at all.
fn check_shape(shape: &[usize], dtype: DType) -> Result<usize, ArrayError> {
    // ndarray refuses shapes whose non-zero lengths multiply beyond `isize`, even without elements.
    let nonzero = shape.iter().copied().filter(|&length| length > 0).try_fold(1, usize::checked_mul);
    let fits = |&extent: &usize| {
        let bytes = extent.checked_mul(dtype.size()).and_then(|bytes| isize::try_from(bytes).ok());
        bytes.is_some() && (extent <= MOST_OF_NOTHING || !shape.contains(&0))
    };
    let extent = nonzero.filter(fits).ok_or_else(|| ArrayError::TooLarge { shape: shape.to_vec(), dtype })?;
    Ok(if shape.contains(&0) { 0 } else { extent })
}

/// An empty vector with room for the elements of `shape`.
fn reserve<T>(shape: &[usize], dtype: DType) -> Result<Vec<T>, ArrayError> {
    let mut items = Vec::new();
    let reserved = items.try_reserve_exact(check_shape(shape, dtype)?);
    reserved.map_err(|_| ArrayError::TooLarge { shape: shape.to_vec(), dtype })?;
    Ok(items)
}
