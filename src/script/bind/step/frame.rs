//! One step, copied, and what code finds in it that did not come along with the call.

use std::rc::Rc;

use mlua::{IntoLua, Lua, MultiValue, Table, Value as LuaValue};

use super::layout::{self, Field};
use crate::array::Array;
use crate::reward::{Known, StepClock, StepField, StepView};
use crate::script::bind::element;
use crate::script::convert;
use crate::script::error::fail;
use crate::space::Element;
use crate::suggest;
use crate::value::{Map, Value};

/// The names a term can look up in `s`.
const FIELDS: [&str; 11] = [
    "step",
    "observation",
    "action",
    "next_observation",
    "env_reward",
    "terminated",
    "truncated",
    "info",
    "regime_id",
    "observed_at",
    "params",
];

/// One step, as far as code may look for what did not go along with the call.
pub(super) struct Frame {
    step: i64,
    observation: Element,
    action: Element,
    next_observation: Element,
    env_reward: f64,
    terminated: bool,
    truncated: bool,
    invalid_action: bool,
    info: Option<Box<Map>>,
    regime_id: Option<String>,
    clock: Rc<StepClock>,
    known: Known,
}

impl Default for Frame {
    fn default() -> Self {
        Self {
            step: 0,
            observation: Element::Discrete(0),
            action: Element::Discrete(0),
            next_observation: Element::Discrete(0),
            env_reward: 0.0,
            terminated: false,
            truncated: false,
            invalid_action: false,
            info: None,
            regime_id: None,
            clock: Rc::default(),
            known: Known::ALL,
        }
    }
}

impl Frame {
    /// Copies `step`, reusing what is here; of its elements only those among the fields with the
    /// bits `sought`.
    pub(super) fn fill(&mut self, step: &StepView<'_>, sought: u8) {
        self.step = i64::try_from(step.step).unwrap_or(i64::MAX);
        for (field, target, source) in [
            (Field::Observation, &mut self.observation, step.observation),
            (Field::Action, &mut self.action, step.action),
            (Field::NextObservation, &mut self.next_observation, step.next_observation),
        ] {
            if sought & field.bit() != 0 {
                copy(target, source);
            }
        }
        self.env_reward = step.env_reward;
        self.terminated = step.terminated;
        self.truncated = step.truncated;
        self.invalid_action = step.info.invalid_action;
        self.info.clone_from(&step.info.entries);
        if self.regime_id.as_deref() != step.regime_id {
            self.regime_id = step.regime_id.map(str::to_owned);
        }
        self.clock = Rc::clone(step.clock);
        self.known = step.known;
    }

    /// What `name` is in this step.
    pub(super) fn look_up(&self, lua: &Lua, name: &str) -> mlua::Result<LuaValue> {
        if let Some(field) = StepField::ALL.into_iter().find(|field| name == field.name()) {
            self.known.need(field).map_err(|line| fail(lua, line))?;
        }
        match name {
            "next_observation" => value(lua, name, &self.next_observation),
            "observation" => value(lua, name, &self.observation),
            "action" => value(lua, name, &self.action),
            "step" => Ok(LuaValue::Integer(self.step)),
            "env_reward" => Ok(LuaValue::Number(self.env_reward)),
            "terminated" => Ok(LuaValue::Boolean(self.terminated)),
            "truncated" => Ok(LuaValue::Boolean(self.truncated)),
            "regime_id" => self.regime_id.as_deref().into_lua(lua),
            "observed_at" => self.clock.read().into_lua(lua),
            "info" => {
                let info = match &self.info {
                    Some(entries) => convert::write_map(lua, entries)?,
                    None => lua.create_table()?,
                };
                info.raw_set("invalid_action", self.invalid_action)?;
                Ok(LuaValue::Table(info))
            }
            _ => {
                let hint = suggest::hint(name, "it has", FIELDS);
                Err(fail(lua, format!("a step has no field `{name}`; {hint}")))
            }
        }
    }

    /// Whether `field` can go along with the call.
    pub(super) fn feeds(&self, field: Field) -> bool {
        match field {
            Field::Observation => layout::feeds(&self.observation),
            Field::Action => layout::feeds(&self.action),
            Field::NextObservation => layout::feeds(&self.next_observation),
            Field::RegimeId => self.regime_id.is_some(),
            _ => true,
        }
    }
}

/// Copies `source` into `target` without allocating where both are vectors of the same length.
fn copy(target: &mut Element, source: &Element) {
    if let (Element::Array(Array::F32(target)), Element::Array(Array::F32(source))) = (&mut *target, source)
        && let ([length], [same]) = (target.shape(), source.shape())
        && length == same
        && let (Some(target), Some(source)) = (target.as_slice_mut(), source.as_slice())
    {
        target.copy_from_slice(source);
    } else {
        target.clone_from(source);
    }
}

/// `element` as code sees it: a few numbers in a row are a list that cannot grow, whatever
/// else is as everywhere in the library.
fn value(lua: &Lua, name: &str, element: &Element) -> mlua::Result<LuaValue> {
    match element {
        Element::Array(array) if layout::feeds(element) => list(lua, name, numbers(array)).map(LuaValue::Table),
        element => element::to_lua(lua, element),
    }
}

/// The numbers of `array`, in C order.
pub(super) fn numbers(array: &Array) -> impl Iterator<Item = LuaValue> {
    (0..array.len()).map_while(|position| array.get(position)).map(|number| match number {
        Value::Bool(flag) => LuaValue::Boolean(flag),
        Value::Int(number) => LuaValue::Integer(number),
        Value::Float(number) => LuaValue::Number(number),
        _ => LuaValue::Nil,
    })
}

/// A list of `items` that code cannot add to; it has a `shape`, as arrays have.
pub(super) fn list(lua: &Lua, name: &str, items: impl Iterator<Item = LuaValue>) -> mlua::Result<Table> {
    let called = name.to_owned();
    let index = lua.create_function(move |lua, (list, key): (Table, LuaValue)| match key {
        LuaValue::Integer(_) => Ok(LuaValue::Nil),
        LuaValue::String(name) if &*name.as_bytes() == b"shape" => [list.raw_len()].into_lua(lua),
        other => {
            let key = convert::describe(&other);
            Err(fail(lua, format!("`{called}` is indexed by integers from 1, got {key}")))
        }
    })?;
    let list = lua.create_sequence_from(items)?;
    list.set_metatable(Some(guard(lua, name, LuaValue::Function(index))?))?;
    Ok(list)
}

/// The metatable of something called `name` that code may look at: what is missing is sought in
/// `index`, nothing can be added, and its address is told to no one.
pub(super) fn guard(lua: &Lua, name: &str, index: LuaValue) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    table.raw_set("__index", index)?;
    let called = name.to_owned();
    let refuse = lua.create_function(move |lua, _: MultiValue| {
        Err::<(), _>(fail(lua, format!("`{called}` is for looking at; nothing can be added to it")))
    })?;
    table.raw_set("__newindex", refuse)?;
    let text = lua.create_string(name)?;
    table.raw_set("__tostring", lua.create_function(move |_, _: MultiValue| Ok(text.clone()))?)?;
    table.raw_set("__metatable", "locked")?;
    Ok(table)
}
