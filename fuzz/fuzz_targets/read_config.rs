//! YAML, JSON and an experiment's configuration: any text is read without a panic, and what was
//! read is written so that it reads back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skyfall::config::ExperimentConfig;
use skyfall::text::{json, yaml};
use skyfall::value::Value;

fn check(value: &Value) {
    // NaN is not itself, but looks so.
    let shown = format!("{value:?}");
    let text = json::to_string(value);
    let back = json::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(format!("{back:?}"), shown, "{text}");
    let text = yaml::to_string(value);
    let back = yaml::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(format!("{back:?}"), shown, "{text}");
    if let Ok(config) = ExperimentConfig::from_value(value) {
        let written = config.to_value();
        let back = ExperimentConfig::from_value(&written).unwrap_or_else(|error| panic!("{error}\n{written:?}"));
        assert_eq!(format!("{back:?}"), format!("{config:?}"));
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(value) = yaml::parse(text) {
        check(&value);
    }
    if let Ok(value) = json::parse(text) {
        check(&value);
        // What stands in for half a character is kept as it is there.
        let exact = json::parse_exact(text);
        assert_eq!(exact.is_ok(), json::parse_exact(&json::to_string(&value)).is_ok());
    }
});
