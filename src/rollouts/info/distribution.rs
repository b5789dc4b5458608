//! A distribution in nine numbers.

use crate::value::{Map, Value};

/// `count`, `min`, `p5`, `p25`, `median`, `mean`, `p75`, `p95`, `max` of `numbers`, percentiles
/// between neighbours by linear interpolation; all but the count are null where there are none.
pub(super) fn distribution(mut numbers: Vec<f64>) -> Value {
    numbers.sort_unstable_by(f64::total_cmp);
    #[expect(clippy::cast_precision_loss, reason = "counts")]
    let count = numbers.len() as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place among the numbers")]
    let at = |share: f64| {
        let place = share * (count - 1.0);
        let (low, high) = (numbers.get(place.floor() as usize)?, numbers.get(place.ceil() as usize)?);
        Some(low + (high - low) * (place - place.floor()))
    };
    let mean = (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / count);
    let entries = [
        ("count", Value::Int(i64::try_from(numbers.len()).unwrap_or(i64::MAX))),
        ("min", at(0.0).into()),
        ("p5", at(0.05).into()),
        ("p25", at(0.25).into()),
        ("median", at(0.5).into()),
        ("mean", mean.into()),
        ("p75", at(0.75).into()),
        ("p95", at(0.95).into()),
        ("max", at(1.0).into()),
    ];
    Value::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map>())
}

#[cfg(test)]
mod tests {
    use super::distribution;
    use crate::text::json;

    #[test]
    fn percentiles_lie_between_neighbours() {
        let text = json::to_string(&distribution(vec![4.0, 1.0, 3.0, 2.0]));
        assert!(text.contains("\"p25\": 1.75, \"median\": 2.5, \"mean\": 2.5, \"p75\": 3.25"), "{text}");
        assert!(json::to_string(&distribution(Vec::new())).contains("\"count\": 0, \"min\": null"));
        assert!(json::to_string(&distribution(vec![7.0])).contains("\"p95\": 7.0, \"max\": 7.0"));
    }
}
