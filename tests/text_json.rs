//! JSON against CPython's own output.

use proptest::prelude::*;
use skyfall::text::json;
use skyfall::value::{Map, Value};

const FLOATS: &str = include_str!("data/text/pyjson_floats.jsonl");
const STRINGS: &str = include_str!("data/text/pyjson_strings.jsonl");

fn rows(text: &str) -> impl Iterator<Item = Map> {
    text.lines().map(|line| match json::parse(line).unwrap() {
        Value::Map(row) => row,
        other => panic!("{other:?}"),
    })
}

fn text<'a>(row: &'a Map, key: &str) -> &'a str {
    row[key].as_text().unwrap()
}

#[test]
fn floats_are_spelled_and_read_as_python_does() {
    let mut seen = 0;
    for row in rows(FLOATS) {
        let value = f64::from_bits(u64::from_str_radix(text(&row, "bits"), 16).unwrap());
        let py = text(&row, "py");
        assert_eq!(json::to_string(&Value::Float(value)), py);
        let Value::Float(back) = json::parse(py).unwrap() else { panic!("{py}") };
        assert!(back.to_bits() == value.to_bits() || back.is_nan() && value.is_nan(), "{py}");
        seen += 1;
    }
    assert_eq!(seen, 640);
}

#[test]
fn strings_integers_and_keys_are_spelled_as_python_does() {
    let mut seen = 0;
    for row in rows(STRINGS) {
        let py = text(&row, "py");
        if let Some(points) = row.get("codepoints") {
            let units: Vec<u32> = points.as_list().unwrap().iter().map(|p| p.as_int().unwrap() as u32).collect();
            // Two vectors are lone surrogates and one is a pair of them, which no text here holds.
            match units.iter().map(|unit| char::from_u32(*unit)).collect::<Option<String>>() {
                Some(string) => {
                    assert_eq!(json::to_string(&Value::from(string.as_str())), py);
                    assert_eq!(json::parse(py).unwrap(), Value::from(string));
                }
                None if units.len() == 1 => assert_eq!(json::parse(py).unwrap(), Value::from("\u{fffd}")),
                None => assert_eq!(json::parse(py).unwrap(), Value::from("\u{1f600}")),
            }
        } else if row.contains_key("int") {
            assert_eq!(json::to_string(&json::parse(text(&row, "int")).unwrap()), py);
        } else {
            assert_eq!(json::to_string(&json::parse(py).unwrap()), py);
        }
        seen += 1;
    }
    assert_eq!(seen, 164);
}

#[test]
fn the_four_layouts() {
    let value = json::parse(r#"{"b": [1, 1.0, {}], "a\u00e9\u007f": {"z": null, "y": [], "\n\u0001": 1e-5}}"#).unwrap();
    assert_eq!(
        json::to_string(&value),
        r#"{"b": [1, 1.0, {}], "a\u00e9\u007f": {"z": null, "y": [], "\n\u0001": 1e-05}}"#
    );
    assert_eq!(
        json::to_canonical(&value),
        "{\n  \"a\\u00e9\\u007f\": {\n    \"\\n\\u0001\": 1e-05,\n    \"y\": [],\n    \"z\": null\n  },\n  \
         \"b\": [\n    1,\n    1.0,\n    {}\n  ]\n}"
    );
    assert_eq!(json::to_compact(&value), "{\"b\":[1,1.0,{}],\"aé\u{7f}\":{\"z\":null,\"y\":[],\"\\n\\u0001\":1e-05}}");
    assert_eq!(
        json::to_msgspec(&value),
        "{\"b\":[1,1.0,{}],\"aé\u{7f}\":{\"z\":null,\"y\":[],\"\\n\\u0001\":0.00001}}"
    );
}

#[test]
fn msgspec_hashes_are_reproduced() {
    // From the store's format document: a split hash over one row, and a target hash.
    let record = r#"{"order":0,"sample_index":0,"sample_key":"k","scene_id":"s","snippet_id":"n","split":"train","source_shard_id":"sh","source_shard_row":0}"#;
    let split = format!(r#"{{"source_manifest_hash":"m","split":"train","records":[{record}]}}"#);
    let target = format!(
        r#"{{"sample_key":"fixture:smoke:0","target_id":"fixture-target-0","detected_source_row":0,"gt_match_row":100,"gt_match_id":"fixture-gt-target-0","oriented_iou":0.699999988079071,"descriptor_hash":"{}"}}"#,
        "c".repeat(64)
    );
    for (source, hash) in [(split, "4a70338c73602f08"), (target, "b249a06f2aa34b26")] {
        let encoded = json::to_msgspec(&json::parse(&source).unwrap());
        assert_eq!(&crate::digest::sha256_hex(encoded.as_bytes())[..16], hash);
    }
}

#[test]
fn msgspec_floats() {
    let cases = [
        (1e-5, "0.00001"),
        (1e-6, "1e-6"),
        (-1.25e-7, "-1.25e-7"),
        (1e15, "1000000000000000.0"),
        (1e16, "1e16"),
        (1.5e300, "1.5e300"),
        (0.1, "0.1"),
        (-0.0, "-0.0"),
        (f64::NAN, "null"),
        (f64::INFINITY, "null"),
    ];
    for (value, expected) in cases {
        assert_eq!(json::to_msgspec(&Value::Float(value)), expected);
    }
}

#[test]
fn pythons_dialect_is_read() {
    let parse = |text| json::parse(text).unwrap();
    assert_eq!(parse(" \t\r\n-0 "), Value::Int(0));
    assert_eq!(parse("1e999"), Value::Float(f64::INFINITY));
    assert_eq!(parse("-Infinity"), Value::Float(f64::NEG_INFINITY));
    assert_eq!(parse("18446744073709551616"), Value::BigInt("18446744073709551616".into()));
    assert_eq!(json::to_string(&parse(r#"{"a": 1, "b": 2, "a": 3}"#)), r#"{"a": 3, "b": 2}"#);
    assert_eq!(parse(r#""\ud800x\udc00\ud83d\ude00\ud800\u0041""#), Value::from("\u{fffd}x\u{fffd}\u{1f600}\u{fffd}A"));
    assert_eq!(parse("\u{feff}[]"), Value::List(vec![]));
}

#[test]
fn faults_are_named_with_line_and_column() {
    let cases = [
        ("", "expected a JSON value, found the end of the text at line 1, column 1"),
        ("[1,\n 2,\n  oops]", "expected a JSON value, found 'o' at line 3, column 3"),
        ("[1, ]", "expected a JSON value, found ']' at line 1, column 5"),
        ("[1 2]", "expected `,` or `]`, found '2' at line 1, column 4"),
        ("{\"a\": 1,}", "expected a key in double quotes, found '}' at line 1, column 9"),
        ("{\"a\" 1}", "expected `:` after the key, found '1' at line 1, column 6"),
        ("01", "a number must not begin with 0 at line 1, column 1"),
        ("1.", "expected a digit after the decimal point, found the end of the text at line 1, column 3"),
        (".5", "expected a JSON value, found '.' at line 1, column 1"),
        ("+1", "expected a JSON value, found '+' at line 1, column 1"),
        ("1e+", "expected a digit of the exponent, found the end of the text at line 1, column 4"),
        ("1 2", "expected the end of the text, found '2' at line 1, column 3"),
        ("\"abc", "this string has no closing quote at line 1, column 1"),
        ("\"a\tb\"", "a control character must be escaped inside a string at line 1, column 3"),
        (r#""\x""#, "expected an escape such as `\\n`, found 'x' at line 1, column 3"),
        (r#""\u12g4""#, "expected four hexadecimal digits after `\\u`, found '1' at line 1, column 4"),
        (r#""\u+123""#, "expected four hexadecimal digits after `\\u`, found '+' at line 1, column 4"),
    ];
    for (text, expected) in cases {
        assert_eq!(json::parse(text).unwrap_err().to_string(), expected, "{text}");
    }
    assert!(json::parse(&"9".repeat(4301)).unwrap_err().message.contains("4301 digits"));
}

#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(json::parse(&nested(json::MAX_DEPTH)).is_ok());
    assert!(json::parse(&nested(json::MAX_DEPTH + 1)).unwrap_err().message.contains("nested deeper than 128"));
    assert!(json::parse(&"[".repeat(1_000_000)).is_err());
}

proptest! {
    #[test]
    fn what_is_written_reads_back(value in crate::values::any_value()) {
        prop_assert_eq!(&json::parse(&json::to_string(&value)).unwrap(), &value);
        prop_assert_eq!(&json::parse(&json::to_compact(&value)).unwrap(), &value);
        let canonical = json::to_canonical(&value);
        prop_assert_eq!(json::to_canonical(&json::parse(&canonical).unwrap()), canonical);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in r#"[\[\]{}:,"\\u0-9eE.+\-dnN é]{0,40}"#) {
        let _ = json::parse(&text);
    }
}
