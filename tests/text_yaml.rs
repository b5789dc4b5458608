//! YAML against PyYAML's own output and reading.

use proptest::prelude::*;
use skyfall::text::{json, yaml};
use skyfall::value::{Map, Value};

const CASES: &str = include_str!("data/text/pyyaml_cases.json");

/// The vectors' tagged form of a value: `{"f": bits}`, `{"i": digits}`, `{"m": pairs}`.
fn untag(tagged: &Value) -> Value {
    let Value::Map(map) = tagged else {
        return match tagged {
            Value::List(items) => Value::List(items.iter().map(untag).collect()),
            other => other.clone(),
        };
    };
    match map.get_index(0).unwrap() {
        (tag, Value::Text(bits)) if tag == "f" => Value::Float(f64::from_bits(u64::from_str_radix(bits, 16).unwrap())),
        (tag, Value::Text(digits)) if tag == "i" => json::parse(digits).unwrap(),
        (tag, Value::List(pairs)) if tag == "m" => Value::Map(
            pairs
                .iter()
                .map(|pair| {
                    let pair = pair.as_list().unwrap();
                    let key = match untag(&pair[0]) {
                        Value::Text(key) => key,
                        other => json::to_string(&other),
                    };
                    (key, untag(&pair[1]))
                })
                .collect::<Map>(),
        ),
        other => panic!("unknown tag {other:?}"),
    }
}

fn same(left: &Value, right: &Value) -> bool {
    // Through bits, so that NaN equals itself and -0.0 differs from 0.0.
    json::to_string(left) == json::to_string(right)
}

/// The cases made with `safe_dump`'s default options. One has keys that are not text, which
/// plain data has not.
fn cases() -> Vec<Map> {
    let document = json::parse(CASES).unwrap();
    let cases = document.as_map().unwrap()["cases"].as_list().unwrap();
    cases
        .iter()
        .map(|case| case.as_map().unwrap().clone())
        .filter(|case| case["opts"] == Value::Map(Map::new()) && case["why"] != Value::from("non-string keys"))
        .collect()
}

#[test]
fn documents_are_printed_as_pyyaml_prints_them() {
    let cases = cases();
    let mut wrong = Vec::new();
    for case in &cases {
        let printed = yaml::to_string(&untag(&case["value"]));
        let expected = case["text"].as_text().unwrap();
        if printed != expected && !expected.contains("&id001") {
            wrong.push(format!("{}\n--- expected\n{expected}--- printed\n{printed}", case["why"].as_text().unwrap()));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    assert_eq!(cases.len(), 368);
}

#[test]
fn documents_are_read_as_pyyaml_reads_them() {
    let mut wrong = Vec::new();
    for case in cases() {
        let text = case["text"].as_text().unwrap();
        let expected = untag(&case["loads"]);
        match yaml::parse(text) {
            Ok(read) if same(&read, &expected) => {}
            other => wrong.push(format!("{text}--- expected {expected:?}\n--- read {other:?}\n")),
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn long_texts_are_folded_where_pyyaml_folds_them() {
    // Made with PyYAML 6.0.4: texts of words, breaks and escapes, as values, items and long keys.
    for line in include_str!("data/text/pyyaml_folding.jsonl").lines() {
        let Value::Map(case) = json::parse(line).unwrap() else { panic!("{line}") };
        assert_eq!(yaml::to_string(&case["value"]), case["text"].as_text().unwrap());
        assert_eq!(yaml::parse(case["text"].as_text().unwrap()).unwrap(), case["value"]);
    }
}

fn read(text: &str) -> String {
    yaml::parse(text).map_or_else(|error| error.to_string(), |value| json::to_string(&value))
}

#[test]
fn plain_scalars_mean_what_they_mean_to_pyyaml() {
    let cases = [
        ("[yes, No, on, OFF, y, n, true, ~, Null]", "[true, false, true, false, \"y\", \"n\", true, null, null]"),
        ("[0o17, 017, 08, 0x1F, -0x1F, 0b101, 1_000, +12, 0_]", "[\"0o17\", 15, \"08\", 31, -31, 5, 1000, 12, 0]"),
        ("[12:30, -1:30, 1:30.5, 1:60]", "[750, -90, 90.5, \"1:60\"]"),
        ("[1e5, 1.0e5, 1.0e+5, 1., .5, -.5, .5e+3]", "[\"1e5\", \"1.0e5\", 100000.0, 1.0, 0.5, \"-.5\", 500.0]"),
        ("[.inf, -.INF, +.inf, .nan, -.nan, inf]", "[Infinity, -Infinity, Infinity, NaN, \"-.nan\", \"inf\"]"),
        ("[0xffffffffffffffffffff, 18446744073709551616]", "[1208925819614629174706175, 18446744073709551616]"),
        ("['1', \"yes\", !!str 1, !!int '3', !!float 3, ! 1]", "[\"1\", \"yes\", \"1\", 3, 3.0, 1]"),
        // Kept as text, though Python has a type for the first three.
        (
            "[2020-01-31, 2001-12-14t21:59:43.10-05:00, 2001-12-15 2:59:43.1 Z, =]",
            "[\"2020-01-31\", \"2001-12-14t21:59:43.10-05:00\", \"2001-12-15 2:59:43.1 Z\", \"=\"]",
        ),
        ("{1: a, yes: b, 1.5: c}", "{\"1\": \"a\", \"yes\": \"b\", \"1.5\": \"c\"}"),
        ("", "null"),
        ("# nothing\n", "null"),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text), expected, "{text}");
    }
}

#[test]
fn timestamps_and_their_like_are_quoted() {
    for text in ["2020-01-31", "2001-12-14t21:59:43.10-05:00", "2001-12-15 2:59:43.1 Z", "=", "<<", "1:30", "0b_"] {
        assert_eq!(yaml::to_string(&Value::List(vec![text.into()])), format!("- '{text}'\n"));
    }
    for text in ["2020-1-1", "2001-12-14 2", "1:60", "0o17", "1e5", "y", "-.nan", "12:30:"] {
        let quoted = text.ends_with(':');
        let expected = if quoted { format!("- '{text}'\n") } else { format!("- {text}\n") };
        assert_eq!(yaml::to_string(&Value::List(vec![text.into()])), expected);
    }
}

#[test]
fn aliases_and_merge_keys() {
    assert_eq!(read("a: &id001 {n: 2}\nb: *id001\n"), r#"{"a": {"n": 2}, "b": {"n": 2}}"#);
    assert_eq!(
        read("a: &a {x: 1, y: 1}\nb: &b {x: 2, z: 2}\nc:\n  k: 0\n  <<: [*a, *b]\n  y: 5\n"),
        r#"{"a": {"x": 1, "y": 1}, "b": {"x": 2, "z": 2}, "c": {"x": 1, "y": 5, "z": 2, "k": 0}}"#
    );
    assert_eq!(read("'<<': 1"), r#"{"<<": 1}"#);
    assert_eq!(read("a: 1\nb: 2\na: 3"), r#"{"a": 3, "b": 2}"#);
}

#[test]
fn faults_are_named_with_line_and_column() {
    let cases = [
        ("a: 1\n---\nb: 2", "a second document, where one was expected at line 3, column 1"),
        ("a: &x [*x]", "an alias inside what it stands for at line 1, column 8"),
        ("[a]: 1", "a list or map cannot be a key at line 1, column 1"),
        ("<<: 1", "`<<` merges a map or a list of maps, not an integer at line 1, column 5"),
        ("a: !!int x", "\"x\" is not of the type its tag names at line 1, column 4"),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text), expected, "{text}");
    }
    for text in ["a: !!python/object:os.system [x]", "!!binary aGk=", "!mine {a: 1}"] {
        assert!(read(text).contains("asks for what plain data cannot hold"), "{text}: {}", read(text));
    }
    for (text, line) in
        [("a: b: c", 1), ("a: 1\nb: [1,\nc: 2", 3), ("a: 1\n\tb: 2", 1), ("x: *nobody", 1), ("a: '1\nb: 2", 1)]
    {
        let error = yaml::parse(text).unwrap_err();
        assert_eq!(error.line, line, "{text}: {error}");
    }
}

#[test]
fn expansion_and_nesting_are_bounded() {
    let mut bomb = String::from("a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for level in 1..30 {
        let reference = format!("*a{}", level - 1);
        bomb += &format!("a{level}: &a{level} [{}]\n", [reference.as_str(); 9].join(", "));
    }
    assert!(read(&bomb).contains("expand to too much data"));
    assert!(read(&("[".repeat(129) + &"]".repeat(129))).contains("nested deeper than 128"));
    assert!(yaml::parse(&("[".repeat(128) + &"]".repeat(128))).is_ok());
    assert!(read(&"- ".repeat(20_000)).contains("nested deeper than 128"));
}

proptest! {
    #[test]
    fn what_is_written_reads_back(value in crate::values::any_value()) {
        let text = yaml::to_string(&value);
        let back = yaml::parse(&text);
        prop_assert!(back.as_ref().is_ok_and(|back| same(back, &value)), "{text}\n{back:?}");
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in r#"[\[\]{}:,"'\\0-9e.+\-nN é?&*!<|> \n#%~\t]{0,40}"#) {
        let _ = yaml::parse(&text);
    }
}
