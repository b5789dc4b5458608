//! Numbers known from elsewhere.

use skyfall::eval::Settings;
use skyfall::text::json;
use skyfall::value::Value;

use super::{assert_close, at, data, number, report_of, window};

fn expected() -> Value {
    json::parse(&std::fs::read_to_string(data("gold1_expected_window2.json")).unwrap()).unwrap()
}

#[test]
fn the_first_golden_run() {
    let tree = report_of(&[data("gold1.jsonl")], &window(2)).to_value();
    let expected = expected();
    for (name, value) in at(&expected, "gold1").as_map().unwrap() {
        match value {
            Value::Map(components) => {
                let field = name.strip_prefix("component_").unwrap();
                for component in at(&tree, "runs.0.components").as_list().unwrap() {
                    let expected = components[at(component, "name").as_text().unwrap()].as_float().unwrap();
                    assert_close(number(component, field), expected, name);
                }
            }
            value => {
                assert_close(number(&tree, &format!("runs.0.metrics.{name}.value")), value.as_float().unwrap(), name);
            }
        }
    }
    assert_close(number(&tree, "runs.0.metrics.forgetting_macro.value"), 0.3, "forgetting_macro");
    assert_close(number(&tree, "runs.0.metrics.jumpstart.value"), 0.2, "jumpstart");
    assert_close(number(&tree, "runs.0.metrics.recovery_rows.value"), 5.0, "recovery_rows");
}

#[test]
fn the_pair_of_the_first_golden_run() {
    let tree = report_of(&[data("gold1.jsonl")], &window(2)).to_value();
    let (found, expected) = (at(&tree, "runs.0.pairs.0"), expected());
    let expected = at(&expected, "gold1_pairs.0");
    for key in ["regime", "first", "second"] {
        assert_eq!(at(found, key), at(expected, key));
    }
    for key in ["forgetting", "forgetting_max", "jumpstart", "asymptote_gain"] {
        assert_close(number(found, key), number(expected, key), key);
    }
    assert_eq!(number(found, "recovery_rows"), number(expected, "recovery"));
    assert!(at(found, "censored_at").is_null());
}

#[test]
fn the_window_is_part_of_the_result() {
    let tree = report_of(&[data("gold1.jsonl")], &Settings::default()).to_value();
    assert_close(number(&tree, "runs.0.metrics.forgetting.value"), 0.4, "forgetting at 10 %");
    assert_eq!(at(&tree, "settings.window").as_text(), Some("10%"));
}

/// Unlabelled rows, a relabel without a gap, an origin of an origin, a reward that is not a number.
#[test]
fn the_second_golden_run() {
    let tree = report_of(&[data("gold2.jsonl")], &window(2)).to_value();
    for (name, value) in [
        ("n_segments", 5.0),
        ("n_encounters", 4.0),
        ("n_shifts", 3.0),
        ("n_regimes", 2.0),
        ("n_nonfinite", 1.0),
        ("forgetting", 0.9),
        ("jumpstart", -0.15),
        ("shift_drop", 1.15 / 3.0),
        ("adaptation_rows", 8.0 / 3.0),
        ("macro_reward", 0.395_833_333_333_333_3),
        ("empirical_regret", 4.9),
    ] {
        assert_close(number(&tree, &format!("runs.0.metrics.{name}.value")), value, name);
    }
    assert_eq!(at(&tree, "runs.0.metrics.empirical_regret.n"), &Value::Int(15));
    let recovery = at(&tree, "runs.0.metrics.recovery_rows");
    assert!(at(recovery, "value").is_null());
    assert_eq!(at(recovery, "reason").as_text(), Some("censored"));
    assert_eq!(at(recovery, "n_censored"), &Value::Int(1));
    assert_eq!(at(&tree, "runs.0.pairs.0.censored_at"), &Value::Int(4));
    assert_eq!(at(&tree, "runs.0.encounters.2.w"), &Value::Int(1));
    assert_eq!(at(&tree, "runs.0.encounters.2.n"), &Value::Int(3));
}
