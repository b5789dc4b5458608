//! What a report says of its inputs: an account of each file, and what was odd.

use super::size;
use crate::trace::columns::{Input, Warning};
use crate::value::{Map, Value};

/// One input's account, with the codes of the warnings about it.
pub(super) fn input(input: &Input, warnings: &[Warning]) -> Value {
    let own = warnings.iter().filter(|warning| warning.file.as_deref() == Some(input.path.as_str()));
    let mut codes: Vec<&'static str> = own.map(|warning| warning.code).collect();
    codes.sort_unstable();
    codes.dedup();
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
    put("path", input.path.as_str().into());
    put("bytes", count(input.bytes));
    put("sha256", input.sha256.as_str().into());
    put("rows", count(input.rows));
    put("skipped", count(input.skipped));
    if input.rows == 0 {
        // A copy of another input is not read again; a file of other lines is no trace.
        let known = ["duplicate_file", "not_a_trace"].into_iter().find(|code| codes.contains(code));
        put("reason", known.unwrap_or("empty").into());
    }
    put("warnings", Value::List(codes.into_iter().map(Value::from).collect()));
    Value::Map(map)
}

/// A warning as plain data.
pub(super) fn warning(warning: &Warning) -> Value {
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| map.insert(key.to_owned(), value);
    put("code", warning.code.into());
    put("message", warning.message.as_str().into());
    put("file", warning.file.clone().into());
    put("line", warning.line.map_or(Value::Null, size));
    put("step", warning.step.into());
    put("count", count(warning.count));
    Value::Map(map)
}

fn count(count: u64) -> Value {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}
