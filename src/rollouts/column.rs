//! A table's columns as they go to disk: bytes, without knowing what they mean.

use std::borrow::Cow;

use super::dictionary::Coded;
use crate::array::DType;

/// The cells of one column of one table.
pub(super) struct Column<'a> {
    pub(super) group: &'static str,
    pub(super) name: &'static str,
    pub(super) dtype: DType,
    /// The shape of a cell; empty for a scalar.
    pub(super) tail: Vec<usize>,
    /// The dictionary whose provisional ids the cells are.
    pub(super) dictionary: Option<usize>,
    /// Little-endian, in C order.
    pub(super) bytes: Cow<'a, [u8]>,
}

impl<'a> Column<'a> {
    /// A column of cells of one kind.
    pub(super) fn of<T: Cell>(group: &'static str, name: &'static str, cells: &'a [T]) -> Self {
        let tail = T::WIDTH.into_iter().collect();
        Self { group, name, dtype: T::DTYPE, tail, dictionary: T::DICTIONARY, bytes: T::bytes(cells) }
    }

    /// Where the column is in a store.
    pub(super) fn path(&self) -> String {
        format!("{}/{}", self.group, self.name)
    }
}

/// What a column is made of.
pub(super) trait Cell: Sized + Copy {
    const DTYPE: DType;
    /// Elements a cell, where it is a vector.
    const WIDTH: Option<usize> = None;
    const DICTIONARY: Option<usize> = None;

    fn bytes(cells: &[Self]) -> Cow<'_, [u8]>;

    /// Appends the cells whose bytes these are.
    fn extend(cells: &mut Vec<Self>, bytes: &[u8]);
}

macro_rules! cells {
    ($($kind:ty => $dtype:ident),+) => {$(
        impl Cell for $kind {
            const DTYPE: DType = DType::$dtype;

            fn bytes(cells: &[Self]) -> Cow<'_, [u8]> {
                bytemuck::cast_slice(cells).into()
            }

            fn extend(cells: &mut Vec<Self>, bytes: &[u8]) {
                cells.extend(bytes.as_chunks().0.iter().map(|cell| Self::from_le_bytes(*cell)));
            }
        }
    )+};
}
cells!(i8 => I8, i16 => I16, i32 => I32, i64 => I64, u16 => U16, u32 => U32, f32 => F32);

macro_rules! vectors {
    ($($kind:ty),+) => {$(
        impl<const W: usize> Cell for [$kind; W] {
            const DTYPE: DType = <$kind as Cell>::DTYPE;
            const WIDTH: Option<usize> = Some(W);

            fn bytes(cells: &[Self]) -> Cow<'_, [u8]> {
                bytemuck::cast_slice(cells.as_flattened()).into()
            }

            fn extend(cells: &mut Vec<Self>, bytes: &[u8]) {
                let mut flat = Vec::new();
                <$kind as Cell>::extend(&mut flat, bytes);
                cells.extend(flat.as_chunks::<W>().0);
            }
        }
    )+};
}
vectors!(i32, f32);

impl Cell for bool {
    const DTYPE: DType = DType::Bool;

    fn bytes(cells: &[Self]) -> Cow<'_, [u8]> {
        bytemuck::cast_slice(cells).into()
    }

    fn extend(cells: &mut Vec<Self>, bytes: &[u8]) {
        cells.extend(bytes.iter().map(|byte| *byte != 0));
    }
}

impl<const D: usize> Cell for Coded<D> {
    const DTYPE: DType = DType::I32;
    const DICTIONARY: Option<usize> = Some(D);

    fn bytes(cells: &[Self]) -> Cow<'_, [u8]> {
        cells.iter().flat_map(|cell| cell.provisional().to_le_bytes()).collect::<Vec<u8>>().into()
    }

    fn extend(cells: &mut Vec<Self>, bytes: &[u8]) {
        cells.extend(bytes.as_chunks().0.iter().map(|cell| Self::of_provisional(i32::from_le_bytes(*cell))));
    }
}

// Cells are stored as the machine holds them, which is what the format asks for.
const _: () = assert!(cfg!(target_endian = "little"), "stores are written on little-endian machines");
