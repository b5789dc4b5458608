//! Metrics that a script defines: `also = { eval.metric(name, fn, about) }`.

use mlua::{Function, Lua, Table, Value as LuaValue};

use super::super::Fault;
use super::super::array::LuaArray;
use crate::array::Array;
use crate::eval::encounter::Analysis;
use crate::eval::metrics::{Direction, Measure};
use crate::eval::{Custom, Judgement, RunReport};
use crate::script::convert;
use crate::script::error::message;
use crate::value::{Map, Value};

/// A metric as the script wrote it.
pub(super) struct Definition {
    name: String,
    measure: Measure,
    function: Function,
}

/// The options that are plain data, and the metrics among them.
pub(super) fn split(lua: &Lua, options: &LuaValue) -> Result<(Map, Vec<Definition>), Fault> {
    let LuaValue::Table(table) = options else { return Ok((convert::read_map(options, "options")?, Vec::new())) };
    let plain = lua.create_table()?;
    let mut own = Vec::new();
    for pair in table.pairs::<LuaValue, LuaValue>() {
        let (key, value) = pair?;
        if !matches!(&key, LuaValue::String(key) if key.as_bytes() == b"also".as_slice()) {
            plain.raw_set(key, value)?;
            continue;
        }
        own.extend(Definition::list(&value, "also")?);
    }
    Ok((convert::read_map(&LuaValue::Table(plain), "options")?, own))
}

impl Definition {
    /// The metrics of a list of them.
    pub(super) fn list(value: &LuaValue, path: &str) -> Result<Vec<Self>, Fault> {
        let LuaValue::Table(list) = value else {
            return Err(Fault::Line(format!("`{path}` must be a list of metrics, got {}", convert::describe(value))));
        };
        let definitions = list.sequence_values::<LuaValue>().enumerate();
        definitions.map(|(index, value)| Self::read(&value?, &format!("{path}[{}]", index + 1))).collect()
    }

    fn read(value: &LuaValue, path: &str) -> Result<Self, Fault> {
        let LuaValue::Table(table) = value else {
            return Err(Fault::Line(format!("`{path}` must be an eval.metric, got {}", convert::describe(value))));
        };
        let text = |key: &str, default: &str| match table.raw_get::<LuaValue>(key)? {
            LuaValue::Nil => Ok(default.to_owned()),
            value => convert::text(&value, &format!("{path}.{key}")).map_err(Fault::Line),
        };
        let direction = text("direction", Direction::Neutral.name())?;
        let Some(direction) = Direction::ALL.into_iter().find(|known| known.name() == direction) else {
            return Err(Fault::Line(format!("`{path}.direction` must be higher, lower or neutral, got `{direction}`")));
        };
        let LuaValue::Function(function) = table.raw_get::<LuaValue>("fn")? else {
            return Err(Fault::Line(format!("`{path}.fn` must be a function of a run")));
        };
        let measure = Measure { unit: text("unit", "")?, direction, about: text("about", "")?, own: true };
        Ok(Self { name: text("name", "")?, measure, function })
    }

    /// The metric as the evaluation takes it.
    pub(super) fn custom<'a>(&'a self, lua: &'a Lua) -> Custom<'a> {
        let judge = |report: &RunReport, run: &Analysis<'_>| {
            let judged = run_table(lua, report, run).and_then(|run| self.function.call::<(LuaValue, LuaValue)>(run));
            let (value, beside) = judged.map_err(|error| message(&error))?;
            judgement(&value, &beside, run.encounters.len())
        };
        Custom { name: self.name.clone(), measure: self.measure.clone(), judge: Box::new(judge) }
    }
}

/// A number and over how many observations, or nothing and why.
fn judgement(value: &LuaValue, beside: &LuaValue, encounters: usize) -> Result<Judgement, String> {
    match (value, beside) {
        (LuaValue::Nil, LuaValue::Nil) => Ok(Judgement::Undefined("undefined".to_owned())),
        (LuaValue::Nil, reason) => Ok(Judgement::Undefined(convert::text(reason, "the reason")?)),
        (value, LuaValue::Nil) => Ok(Judgement::Value(convert::number(value, "the value")?, encounters)),
        (value, n) => {
            let n = usize::try_from(convert::integer(n, "n")?).map_err(|_| "`n` must not be negative".to_owned())?;
            Ok(Judgement::Value(convert::number(value, "the value")?, n))
        }
    }
}

/// The run as the report has it, its metrics as plain numbers, and each encounter's finite
/// rewards as a native array.
fn run_table(lua: &Lua, report: &RunReport, run: &Analysis<'_>) -> mlua::Result<Table> {
    let Value::Map(tree) = report.to_value(&indexmap::IndexMap::new()) else { return lua.create_table() };
    let table = convert::write_map(lua, &tree)?;
    let metrics =
        report.metrics.iter().map(|(name, outcome)| (name.clone(), outcome.value.clone().unwrap_or_default()));
    table.raw_set("metrics", convert::write_map(lua, &metrics.collect())?)?;
    let encounters: Table = table.raw_get("encounters")?;
    for (index, encounter) in run.encounters.iter().enumerate() {
        let entry: Table = encounters.raw_get(index + 1)?;
        let rewards = Array::from_vec(&[encounter.rewards.len()], encounter.rewards.to_vec());
        entry.raw_set("rewards", LuaArray::new(rewards.map_err(mlua::Error::external)?))?;
    }
    Ok(table)
}
