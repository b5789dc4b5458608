//! Sums of products and running sums, all in float64, added left to right.

use ndarray::{ArrayD, Axis};

use super::{Array, ArrayError, Item, each};

impl Array {
    /// The inner product of two vectors (shape `[]`); of matrices, the product of rows with columns.
    /// A vector on the left counts as a row, on the right as a column.
    ///
    /// # Errors
    /// When a side has no axis or more than two, or the lengths that meet differ.
    pub fn dot(&self, other: &Self) -> Result<Self, ArrayError> {
        let unfit = || ArrayError::Product { left: self.shape().to_vec(), right: other.shape().to_vec() };
        let (rows, inner) = match self.shape() {
            [inner] => (None, *inner),
            [rows, inner] => (Some(*rows), *inner),
            _ => return Err(unfit()),
        };
        let (met, columns) = match other.shape() {
            [met] => (*met, None),
            [met, columns] => (*met, Some(*columns)),
            _ => return Err(unfit()),
        };
        if met != inner {
            return Err(unfit());
        }
        let (left, right) = (self.floats(), other.floats());
        let width = columns.unwrap_or(1);
        let shape: Vec<usize> = rows.into_iter().chain(columns).collect();
        let mut product = Self::filled(&shape, 0.0)?;
        let items = product.as_f64_mut().unwrap_or_default();
        if inner > 0 && width > 0 {
            // Row by row of the right side, which lies in order; each sum grows left to right.
            for (row, sums) in left.chunks_exact(inner).zip(items.chunks_exact_mut(width)) {
                for (factor, others) in row.iter().zip(right.chunks_exact(width)) {
                    sums.iter_mut().zip(others).for_each(|(sum, other)| *sum += factor * other);
                }
            }
        }
        Ok(product)
    }

    /// The Euclidean length of all elements.
    #[must_use]
    pub fn norm(&self) -> f64 {
        self.floats().iter().fold(0.0, |sum, number| sum + number * number).sqrt()
    }

    /// The Euclidean lengths along `axis`, which is gone.
    ///
    /// # Errors
    /// When there is no such axis.
    pub fn norm_along(&self, axis: usize) -> Result<Self, ArrayError> {
        self.axis_length(axis)?;
        let length = |numbers: &mut dyn Iterator<Item = f64>| numbers.fold(0.0, |sum, number| sum + number * number);
        Ok(each!(self, array => {
            array.map_axis(Axis(axis), |lane| length(&mut lane.iter().map(|item| item.to_f64())).sqrt()).into()
        }))
    }

    /// The running sums along `axis`.
    ///
    /// # Errors
    /// When there is no such axis.
    pub fn cumsum(&self, axis: usize) -> Result<Self, ArrayError> {
        self.axis_length(axis)?;
        let mut sums = ArrayD::from_shape_vec(self.shape(), self.floats())
            .map_err(|_| ArrayError::Shape { shape: self.shape().to_vec(), count: self.len() })?;
        sums.accumulate_axis_inplace(Axis(axis), |before, sum| *sum += *before);
        Ok(sums.into())
    }

    /// The elements in C order as floats.
    fn floats(&self) -> Vec<f64> {
        each!(self, array => array.iter().map(|item| item.to_f64()).collect())
    }
}
