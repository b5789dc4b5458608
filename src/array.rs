//! Native arrays of any rank: what `skyfall.array` gives a script, what observations and the
//! rollout store's tables are made of.

use half::f16;
use ndarray::ArrayD;

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
