//! The effective rank of a policy's representation (Roy and Vetterli 2007, "The effective rank: a
//! measure of effective dimensionality").
//!
//! The rows of a matrix are the activations of the policy's last hidden layer at the observations
//! acted on in a window of steps, as they are (not centred). With singular values `s` and
//! `p = s / sum(s)`, the effective rank is `exp(-sum(p ln p))`: a real number from 1 to the
//! smaller side of the matrix. It is measured at the last step of each window; of every other
//! step, and of a matrix without a measurable rank, nothing is said.

use crate::snapshot::{self, SnapshotError};
use crate::value::Value;

/// The name of this measure in a run's metadata (`effective_rank_kind`): others disagree.
pub(super) const KIND: &str = "roy_vetterli_2007";

/// Collects activations and measures them once a window.
pub(super) struct EffectiveRank {
    window: usize,
    rows: usize,
    activations: Vec<f64>,
}

impl EffectiveRank {
    /// Measures once in `window` steps.
    pub(super) fn new(window: u64) -> Self {
        Self { window: usize::try_from(window).unwrap_or(usize::MAX), rows: 0, activations: Vec::new() }
    }

    /// The activations of the window that is not full yet.
    pub(super) fn snapshot(&self) -> Value {
        let rows = snapshot::index(self.rows);
        snapshot::state([("rows", rows), ("activations", snapshot::numbers(&self.activations))])
    }

    /// Goes back to a snapshot.
    ///
    /// # Errors
    /// When `state` is none.
    pub(super) fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        self.rows = snapshot::read_index(state, "rows", self.window)?;
        self.activations = snapshot::read_numbers(state, "activations")?;
        Ok(())
    }

    /// Takes one step's activations; the rank at a window's last step.
    pub(super) fn observe(&mut self, activations: &[f64]) -> Option<f64> {
        self.activations.extend_from_slice(activations);
        self.rows += 1;
        if self.rows < self.window {
            return None;
        }
        let rank = effective_rank(&self.activations, activations.len());
        self.rows = 0;
        self.activations.clear();
        rank
    }
}

/// The effective rank of a matrix with rows of `width` numbers; `None` if it is zero, empty, or
/// holds what is not finite.
fn effective_rank(matrix: &[f64], width: usize) -> Option<f64> {
    let singular = singular_values(matrix, width.max(1));
    let sum: f64 = singular.iter().sum();
    if !(sum.is_finite() && sum > 0.0) {
        return None;
    }
    let shares = singular.iter().map(|value| value / sum).filter(|share| *share > 0.0);
    Some(shares.map(|share| -share * share.ln()).sum::<f64>().exp())
}

/// The singular values of a matrix with rows of `width` numbers, in no particular order.
///
/// One-sided Jacobi (Hestenes 1958): pairs of vectors are rotated until all are orthogonal; their
/// lengths are then the singular values. Small ones stay accurate, which the eigenvalues of the
/// matrix times its transpose would not.
fn singular_values(matrix: &[f64], width: usize) -> Vec<f64> {
    const SWEEPS: usize = 60;
    const ORTHOGONAL: f64 = 1e-15;
    let mut vectors: Vec<Vec<f64>> = matrix.chunks_exact(width).map(<[f64]>::to_vec).collect();
    if vectors.len() > width {
        vectors = (0..width).map(|column| matrix.iter().skip(column).step_by(width).copied().collect()).collect();
    }
    for _ in 0..SWEEPS {
        let mut rotated = false;
        let mut rest = vectors.as_mut_slice();
        while let [left, rights @ ..] = rest {
            for right in &mut *rights {
                rotated |= orthogonalise(left, right, ORTHOGONAL);
            }
            rest = rights;
        }
        if !rotated {
            break;
        }
    }
    vectors.iter().map(|vector| dot(vector, vector).sqrt()).collect()
}

/// Rotates two vectors in their plane until they are orthogonal; whether they were not.
fn orthogonalise(left: &mut [f64], right: &mut [f64], tolerance: f64) -> bool {
    let (alpha, beta, gamma) = (dot(left, left), dot(right, right), dot(left, right));
    // Also when something is not finite: nothing more can be done then.
    if gamma.abs().partial_cmp(&(tolerance * (alpha * beta).sqrt())) != Some(std::cmp::Ordering::Greater) {
        return false;
    }
    let zeta = (beta - alpha) / (2.0 * gamma);
    let tangent = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = cosine * tangent;
    for (left, right) in left.iter_mut().zip(right) {
        (*left, *right) = (cosine * *left - sine * *right, sine * *left + cosine * *right);
    }
    true
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::random::Rng;

    fn close(found: Option<f64>, expected: f64) {
        assert!((found.unwrap() - expected).abs() < 1e-9 * expected, "{found:?} is not {expected}");
    }

    #[test]
    fn equal_directions_count_each_and_one_direction_counts_once() {
        close(effective_rank(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], 3), 3.0);
        close(effective_rank(&[1.0, 2.0, 2.0, 4.0, -3.0, -6.0], 2), 1.0);
        // Singular values 3 and 1: exp(ln 4 - 3/4 ln 3).
        close(effective_rank(&[3.0, 0.0, 0.0, -1.0, 0.0, 0.0], 2), (4.0_f64.ln() - 0.75 * 3.0_f64.ln()).exp());
    }

    #[test]
    fn the_rank_of_a_matrix_is_that_of_its_transpose_and_of_every_scale() {
        let mut rng = Rng::new(3);
        let matrix: Vec<f64> = (0..40 * 7).map(|_| rng.standard_normal()).collect();
        let transpose: Vec<f64> = (0..7).flat_map(|column| matrix.iter().skip(column).step_by(7).copied()).collect();
        let rank = effective_rank(&matrix, 7).unwrap();
        assert!((1.0..7.0).contains(&rank));
        close(effective_rank(&transpose, 40), rank);
        close(effective_rank(&matrix.iter().map(|number| number * 1e-3).collect::<Vec<_>>(), 7), rank);
    }

    #[test]
    fn what_has_no_rank_is_not_measured() {
        assert_eq!(effective_rank(&[0.0; 6], 3), None);
        assert_eq!(effective_rank(&[], 3), None);
        assert_eq!(effective_rank(&[1.0, f64::NAN, 0.0, 1.0], 2), None);
    }

    #[test]
    fn it_is_measured_at_the_end_of_each_window() {
        let mut rank = EffectiveRank::new(2);
        let found = [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [2.0, 0.0]].map(|row| rank.observe(&row));
        assert_eq!((found[0], found[2]), (None, None));
        close(found[1], 2.0);
        close(found[3], 1.0);
    }
}
