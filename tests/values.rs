//! Arbitrary plain data for property tests.

use proptest::prelude::*;
use skyfall::value::{Map, Value};

/// Any text, with a leaning to what formats find hard.
pub(crate) fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        ".{0,12}",
        "[ -~]{0,30}",
        "[a-z]{1,6}( [a-z]{1,8}){8,20}",
        proptest::collection::vec(any::<char>(), 0..12).prop_map(|characters| characters.into_iter().collect()),
        proptest::sample::select(vec![
            "yes",
            "no",
            "1",
            "1.0",
            "1e5",
            "0o17",
            "~",
            "",
            "null",
            ".inf",
            "- a",
            "a: b",
            "a #b",
            "'",
            "\"",
            "\n",
            "a\nb",
            " a",
            "a ",
            "12:30",
            "2020-01-01",
            "<<",
            "=",
            "---",
            "...",
            "\t",
            "\u{feff}",
            "é",
            "? a",
            "[",
            "%a",
        ])
        .prop_map(str::to_owned),
    ]
}

/// A finite float of any size.
pub(crate) fn any_float() -> impl Strategy<Value = f64> {
    prop_oneof![any::<f64>().prop_filter("comparable", |value| !value.is_nan()), -1e3..1e3, Just(1e16), Just(1e-5)]
}

/// Plain data of moderate size; no NaN, so that equality means equality.
pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        "-?[1-9][0-9]{19,30}".prop_map(Value::BigInt),
        any_float().prop_map(Value::Float),
        any_text().prop_map(Value::Text),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::List),
            proptest::collection::vec((any_text(), inner), 0..5)
                .prop_map(|entries| Value::Map(entries.into_iter().collect::<Map>())),
        ]
    })
}
