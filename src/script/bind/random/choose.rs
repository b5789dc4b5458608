//! Choosing from lists and putting them in order.

use mlua::{IntoLua, Lua, Table, UserDataMethods, Value};

use super::{LuaRng, MOST, count, method};
use crate::random::Rng;
use crate::script::bind::Fault;
use crate::script::bind::array::admit;
use crate::script::convert;

/// How far probabilities may be from a sum of 1, as NumPy has it.
const TOLERANCE: f64 = 1.5e-8;

pub(super) fn add(methods: &mut impl UserDataMethods<LuaRng>) {
    method(methods, "choice", choice);
    method(methods, "permutation", permutation);
    method(methods, "shuffle", |lua, rng, list: Value| {
        let Value::Table(list) = list else {
            return Err(Fault::Line(format!("`list` must be a list, got {}", convert::describe(&list))));
        };
        let shuffled = picked(lua, &list, &rng.permutation(list.raw_len()))?;
        for index in 1..=shuffled.raw_len() {
            list.raw_set(index, shuffled.raw_get::<Value>(index)?)?;
        }
        Ok(list)
    });
}

/// The elements of `list` at `indices` from 0, as a list.
fn picked(lua: &Lua, list: &Table, indices: &[usize]) -> mlua::Result<Table> {
    let found = lua.create_table_with_capacity(indices.len(), 0)?;
    for (position, index) in indices.iter().enumerate() {
        found.raw_set(position + 1, list.raw_get::<Value>(index + 1)?)?;
    }
    Ok(found)
}

fn permutation(lua: &Lua, rng: &mut Rng, what: Value) -> Result<Table, Fault> {
    if let Value::Table(list) = &what {
        return Ok(picked(lua, list, &rng.permutation(list.raw_len()))?);
    }
    let n = count(&what, "n")?;
    admit(lua, n)?;
    Ok(lua.create_sequence_from(rng.permutation(n).into_iter().map(|index| index + 1))?)
}

/// The options of a choice.
struct Options {
    count: Option<usize>,
    replace: bool,
    probabilities: Option<Vec<f64>>,
}

fn choice(lua: &Lua, rng: &mut Rng, (list, options): (Value, Value)) -> Result<Value, Fault> {
    let Value::Table(list) = list else {
        return Err(Fault::Line(format!("`list` must be a list, got {}", convert::describe(&list))));
    };
    let length = list.raw_len();
    if length == 0 {
        return Err(Fault::Line("`list` must have at least one element".to_owned()));
    }
    let Options { count, replace, probabilities } = read_options(&options, length)?;
    let n = i64::try_from(length).unwrap_or(i64::MAX);
    admit(lua, count.unwrap_or(1))?;
    let indices = match (count.unwrap_or(1), probabilities) {
        (count, Some(weights)) if replace => rng.weighted_many(&weights, count),
        (count, Some(weights)) => rng.weighted_choose(&weights, count),
        (count, None) if replace => (0..count).filter_map(|_| usize::try_from(rng.integers(0, n)).ok()).collect(),
        (count, None) => rng.choose(length, count),
    };
    let found = picked(lua, &list, &indices)?;
    if count.is_some() { Ok(found.into_lua(lua)?) } else { Ok(found.raw_get(1)?) }
}

fn read_options(options: &Value, length: usize) -> Result<Options, String> {
    let map = convert::read_map(options, "options")?;
    const KNOWN: [&str; 3] = ["count", "replace", "p"];
    if let Some(unknown) = map.keys().find(|name| !KNOWN.contains(&name.as_str())) {
        return Err(format!("unknown option `{unknown}`; known are {}", KNOWN.join(", ")));
    }
    let replace = match map.get("replace") {
        None => true,
        Some(replace) => replace.as_bool().ok_or("`replace` must be true or false")?,
    };
    let count = map.get("count").map(|count| {
        let count = count.as_int().filter(|count| (0..=MOST).contains(count));
        count.and_then(|count| usize::try_from(count).ok()).ok_or_else(|| format!("`count` must be from 0 to {MOST}"))
    });
    let count = count.transpose()?;
    let probabilities = map.get("p").map(|p| {
        let numbers = p.as_list().and_then(|p| p.iter().map(crate::value::Value::as_float).collect::<Option<Vec<_>>>());
        let numbers = numbers.filter(|p| p.len() == length && p.iter().all(|p| p.is_finite() && *p >= 0.0));
        let numbers = numbers.ok_or_else(|| format!("`p` must be a list of {length} numbers, none negative"))?;
        let sum: f64 = numbers.iter().sum();
        if (sum - 1.0).abs() > TOLERANCE {
            return Err(format!("`p` must sum to 1, not {sum}: divide its numbers by their sum"));
        }
        Ok(numbers)
    });
    let probabilities = probabilities.transpose()?;
    let most = probabilities.as_ref().map_or(length, |p| p.iter().filter(|p| **p > 0.0).count());
    if !replace && count.unwrap_or(1) > most {
        return Err(format!("{} different elements were asked for, of {most}", count.unwrap_or(1)));
    }
    Ok(Options { count, replace, probabilities })
}
