//! Sums that hardly depend on the order of additions: rounding errors are carried along
//! (Neumaier 1974, "Rundungsfehleranalyse einiger Verfahren zur Summation endlicher Summen").

/// A compensated sum of float64.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sum {
    total: f64,
    lost: f64,
}

impl Sum {
    #[inline]
    pub(crate) fn add(&mut self, value: f64) {
        let total = self.total + value;
        self.lost +=
            if self.total.abs() >= value.abs() { (self.total - total) + value } else { (value - total) + self.total };
        self.total = total;
    }

    /// Adds what another summed up.
    pub(crate) fn join(&mut self, other: Self) {
        self.add(other.total);
        self.lost += other.lost;
    }

    /// The sum; of numbers that reached infinity what plain addition gives.
    pub(crate) fn value(self) -> f64 {
        if self.total.is_finite() { self.total + self.lost } else { self.total }
    }

    /// What was added since `earlier`, a former state of this sum.
    pub(crate) fn since(self, earlier: Self) -> f64 {
        (self.total - earlier.total) + (self.lost - earlier.lost)
    }
}

#[cfg(test)]
mod tests {
    use super::Sum;

    fn sum(values: &[f64]) -> Sum {
        let mut sum = Sum::default();
        values.iter().for_each(|value| sum.add(*value));
        sum
    }

    #[test]
    fn rounding_errors_are_carried_along() {
        let values = [1.0, 1e100, 1.0, -1e100];
        assert_eq!(sum(&values).value(), 2.0);
        let mut joined = sum(&values[..2]);
        joined.join(sum(&values[2..]));
        assert_eq!(joined.value(), 2.0);
        assert_eq!(sum(&values).since(sum(&values[..3])), -1e100);
    }

    #[test]
    fn infinities_are_those_of_plain_addition() {
        assert_eq!(sum(&[1.0, f64::INFINITY]).value(), f64::INFINITY);
        assert_eq!(sum(&[f64::MAX, f64::MAX, 1.0]).value(), f64::INFINITY);
        assert!(sum(&[f64::INFINITY, f64::NEG_INFINITY]).value().is_nan());
    }
}
