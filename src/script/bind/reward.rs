//! `skyfall.reward`: terms written in Lua, native terms, compositions.

use std::rc::Rc;

use mlua::{Function, Lua, Table, UserData, Value as LuaValue};

use super::{Fault, Module, line};
use crate::digest::sha256_hex;
use crate::reward::{self, Composition, StepView, Term, TermError, TermOrigin, TermRecord, TermValue};
use crate::script::bind::experiment::ScriptedExperiment;
use crate::script::bind::step::StepCall;
use crate::script::budget::{self, Meter};
use crate::script::convert;
use crate::script::error::{caught, message};
use crate::script::host::Host;
use crate::script::source;
use crate::snapshot::SnapshotError;
use crate::value::{Map, Value};

/// The most that one step's detail of a term may hold, in bytes or so.
const MOST_DETAIL: usize = 1 << 20;

/// A term in a script's hands, to be composed.
struct LuaTermHandle(TermMaker);

/// How to make the term anew for each composition.
#[derive(Clone)]
enum TermMaker {
    Lua(Rc<TermCode>),
    Builtin { name: String, params: Map },
}

/// A term's code: what the script gave, and the same by value.
struct TermCode {
    name: String,
    params: Map,
    function: Function,
    recorded: Result<String, String>,
}

impl UserData for LuaTermHandle {
    fn add_methods<M: mlua::UserDataMethods<Self>>(methods: &mut M) {
        crate::script::bind::named(methods, "skyfall.Term");
    }
}

/// A composition in a script's hands; each run makes its own terms from it.
pub(super) struct LuaComposition {
    terms: Vec<(TermMaker, f64)>,
}

impl UserData for LuaComposition {
    fn add_methods<M: mlua::UserDataMethods<Self>>(methods: &mut M) {
        crate::script::bind::named(methods, "skyfall.Composition");
    }
}

impl LuaComposition {
    /// The composition, ready for one run.
    pub(super) fn build(&self, lua: &Lua) -> Result<Composition, Fault> {
        let mut terms: Vec<(Box<dyn Term>, f64)> = Vec::with_capacity(self.terms.len());
        for (maker, weight) in &self.terms {
            let term: Box<dyn Term> = match maker {
                TermMaker::Lua(code) => Box::new(LuaTerm::new(lua, code)?),
                TermMaker::Builtin { name, params } => reward::builtin(name, params).map_err(line)?,
            };
            terms.push((term, *weight));
        }
        Composition::new(terms).map_err(line)
    }
}

/// The composition that `value` is, or holds: as the reward of an experiment, or in the field `name`
/// (`reward` unless given) of a table.
///
/// # Errors
/// One line, when there is none, or a term cannot be made.
pub(in crate::script) fn composition_of(
    lua: &Lua,
    value: &LuaValue,
    name: Option<&str>,
) -> Result<Composition, String> {
    let field = name.unwrap_or("reward");
    let inner = match value {
        LuaValue::Table(table) => table.raw_get(field).map_err(|error| message(&error))?,
        LuaValue::UserData(data) if name.is_none() => match data.borrow::<ScriptedExperiment>() {
            Ok(experiment) => experiment.given_reward().map_err(|error| message(&error))?,
            Err(_) => value.clone(),
        },
        _ => LuaValue::Nil,
    };
    if let LuaValue::UserData(data) = &inner
        && let Ok(composition) = data.borrow::<LuaComposition>()
    {
        return composition.build(lua).map_err(|fault| match fault {
            Fault::Line(line) => line,
            Fault::Lua(error) => message(&error),
        });
    }
    Err(match value {
        LuaValue::Table(_) => {
            format!("the script's table must hold a composition as `{field}`, got {}", convert::describe(&inner))
        }
        _ if name.is_some() => {
            format!("the script must return a table with a composition as `{field}`, got {}", convert::describe(value))
        }
        _ => format!("the script must return a composition (reward.compose), got {}", convert::describe(value)),
    })
}

/// What `value` is, if it is a term, or terms, that were not composed.
pub(super) fn meant(value: &LuaValue) -> Option<&'static str> {
    let is_term = |value: &LuaValue| value.as_userdata().is_some_and(|data| data.is::<LuaTermHandle>());
    if is_term(value) {
        return Some("a term");
    }
    let first: LuaValue = value.as_table()?.raw_get(1).ok()?;
    let within = |first: &LuaValue| {
        first.as_table().and_then(|inner| inner.raw_get(1).ok()).is_some_and(|inner| is_term(&inner))
    };
    (is_term(&first) || within(&first)).then_some("a list of terms")
}

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module
        .function("term", |_, host, (name, function, params): (LuaValue, LuaValue, LuaValue)| {
            let name = convert::text(&name, "name")?;
            let LuaValue::Function(function) = function else {
                return Err(Fault::Line(format!(
                    "reward.term: `fn` of term `{name}` must be a function, got {}",
                    convert::describe(&function)
                )));
            };
            let params = convert::read_map(&params, "params")?;
            Ok(LuaTermHandle(TermMaker::Lua(Rc::new(code(host, name, params, function)))))
        })?
        .function("builtin", |_, _, (name, params): (LuaValue, LuaValue)| {
            let name = convert::text(&name, "name")?;
            let params = convert::read_map(&params, "params")?;
            reward::builtin(&name, &params).map_err(line)?;
            Ok(LuaTermHandle(TermMaker::Builtin { name, params }))
        })?
        .function("compose", |_, _, terms: LuaValue| compose(&terms))
}

fn code(host: &Host, name: String, params: Map, function: Function) -> TermCode {
    let recorded = source::record(host, &LuaValue::Function(function.clone()));
    TermCode { name, params, function, recorded }
}

/// A composition from a list of `{ term, weight = w }`.
fn compose(list: &LuaValue) -> Result<LuaComposition, Fault> {
    let LuaValue::Table(list) = list else {
        return Err(Fault::Line(format!(
            "reward.compose: expected a list of {{ term, weight = w }}, got {}",
            convert::describe(list)
        )));
    };
    let mut terms = Vec::new();
    for (index, (key, entry)) in convert::entries(list, "terms")?.into_iter().enumerate() {
        let path = format!("terms[{}]", convert::key_text(&key));
        if !matches!(key, LuaValue::Integer(position) if usize::try_from(position) == Ok(index + 1)) {
            return Err(Fault::Line(format!("reward.compose: `{path}`: the terms must form a list without holes")));
        }
        terms.push(composed(&entry, &path)?);
    }
    if terms.is_empty() {
        return Err(Fault::Line("reward.compose: a composition needs at least one term".to_owned()));
    }
    Ok(LuaComposition { terms })
}

/// One entry: a term and its weight.
fn composed(entry: &LuaValue, path: &str) -> Result<(TermMaker, f64), Fault> {
    let (term, weight) = match entry {
        LuaValue::UserData(_) => (entry.clone(), 1.0),
        LuaValue::Table(entry) => {
            for (key, _) in convert::entries(entry, path)? {
                if !matches!(&key, LuaValue::Integer(1)) && convert::key_text(&key) != "weight" {
                    return Err(Fault::Line(format!(
                        "reward.compose: unknown key `{path}.{}`; an entry is {{ term, weight = w }}",
                        convert::key_text(&key)
                    )));
                }
            }
            let weight = match entry.raw_get::<LuaValue>("weight")? {
                LuaValue::Nil => 1.0,
                given => convert::number(&given, &format!("{path}.weight"))?,
            };
            (entry.raw_get::<LuaValue>(1)?, weight)
        }
        _ => (LuaValue::Nil, 1.0),
    };
    if let LuaValue::UserData(data) = &term
        && let Ok(handle) = data.borrow::<LuaTermHandle>()
    {
        return Ok((handle.0.clone(), weight));
    }
    Err(Fault::Line(format!("reward.compose: `{path}` must hold a term, got {}", convert::describe(&term))))
}

/// A term whose code is a Lua function.
struct LuaTerm {
    name: String,
    params: Map,
    recorded: Result<String, String>,
    function: Function,
    call: StepCall,
    /// `s.params`, as the code sees it.
    table: Table,
    meter: Meter,
}

impl LuaTerm {
    fn new(lua: &Lua, code: &TermCode) -> mlua::Result<Self> {
        let params: Table = convert::write_map(lua, &code.params)?;
        let recorded = code.recorded.as_deref().ok();
        let call = StepCall::new(lua, code.function.clone(), None, params.clone(), recorded)?;
        Ok(Self {
            name: code.name.clone(),
            params: code.params.clone(),
            recorded: code.recorded.clone(),
            function: code.function.clone(),
            call,
            table: params,
            meter: Meter::of(lua),
        })
    }

    fn error(&self, message: impl Into<String>) -> TermError {
        TermError { term: self.name.clone(), message: message.into() }
    }

    /// The place in the script that a wrong answer is to be mended at.
    fn place(&self) -> String {
        let info = self.function.info();
        match (info.short_src, info.line_defined) {
            (Some(file), Some(line)) => format!("{file}:{line}: "),
            _ => String::new(),
        }
    }
}

impl Term for LuaTerm {
    fn name(&self) -> &str {
        &self.name
    }

    fn evaluate(&mut self, step: &StepView<'_>) -> Result<TermValue, TermError> {
        self.meter.start();
        let (value, detail): (LuaValue, LuaValue) =
            self.call.call(step, None).map_err(|error| self.error(caught(self.call.lua(), &error)))?;
        let value = match value {
            LuaValue::Number(value) => value,
            #[expect(clippy::cast_precision_loss, reason = "Lua's own conversion of an integer to a float")]
            LuaValue::Integer(value) => value as f64,
            other => {
                return Err(self.error(format!(
                    "{}the term must return a number, got {}",
                    self.place(),
                    convert::describe(&other)
                )));
            }
        };
        if !value.is_finite() {
            return Err(self.error(format!(
                "{}the term must return a finite number, got {}",
                self.place(),
                crate::text::number::float_text(value)
            )));
        }
        let detail = match detail {
            LuaValue::Nil => None,
            detail => {
                let detail = convert::read_small_map(&detail, "detail", MOST_DETAIL);
                Some(detail.map_err(|line| self.error(format!("{}{line}", self.place())))?)
            }
        };
        Ok(TermValue { value, detail })
    }

    fn check_stateless(&self) -> Result<(), SnapshotError> {
        let what = || format!("reward term `{}`", self.name);
        let source = self.recorded.as_ref().map_err(|line| SnapshotError::unsupported(what(), line.as_str()))?;
        source::check_stateless(source)
            .map_err(|line| SnapshotError::unsupported(what(), format!("its code {line}")))?;
        let params = convert::read_map(&LuaValue::Table(self.table.clone()), "params");
        if params.is_ok_and(|params| params == self.params) {
            return Ok(());
        }
        Err(SnapshotError::unsupported(what(), "its code changes its params"))
    }

    fn record(&self) -> Result<TermRecord, TermError> {
        let source = self.recorded.as_ref().map_err(|line| self.error(line.clone()))?;
        Ok(TermRecord {
            name: self.name.clone(),
            params: self.params.clone(),
            origin: TermOrigin::Lua(lua_record(source)),
        })
    }
}

/// Lua source by value: the text and its digest.
pub(super) fn lua_record(source: &str) -> Value {
    let mut record = Map::new();
    record.insert("source".to_owned(), source.into());
    record.insert("sha256".to_owned(), sha256_hex(source.as_bytes()).into());
    Value::Map(record)
}

/// The source inside a record made by [`lua_record`], its digest verified.
///
/// # Errors
/// One line saying what is missing or does not fit.
pub(super) fn recorded_source(record: &Value) -> Result<&str, String> {
    let field = |name: &str| record.as_map().and_then(|map| map.get(name)).and_then(Value::as_text);
    if let Some(why) = field("unrecorded") {
        return Err(format!("its Lua was not recorded: {why}"));
    }
    let source = field("source").ok_or("the recorded Lua has no `source`")?;
    let digest = field("sha256").ok_or("the recorded Lua has no `sha256`")?;
    if sha256_hex(source.as_bytes()) == digest {
        Ok(source)
    } else {
        Err("the recorded Lua does not match its `sha256`: it was changed after export".to_owned())
    }
}

/// The term that `record` describes, its code compiled in `lua`.
///
/// # Errors
/// When the record is incomplete, was changed, or does not compile.
pub(in crate::script) fn term_from_source(lua: &Lua, record: &TermRecord) -> Result<Box<dyn Term>, TermError> {
    let fail = |message: String| TermError { term: record.name.clone(), message };
    let TermOrigin::Lua(code) = &record.origin else {
        return reward::builtin_from_record(record);
    };
    let source = recorded_source(code).map_err(fail)?;
    let function: Function = budget::recorded(lua, &record.name, source).map_err(|error| fail(message(&error)))?;
    let code = TermCode {
        name: record.name.clone(),
        params: record.params.clone(),
        function,
        recorded: Ok(source.to_owned()),
    };
    let term = LuaTerm::new(lua, &code).map_err(|error| fail(message(&error)))?;
    Ok(Box::new(term))
}
