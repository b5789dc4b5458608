//! Observations and actions across the border, and the view of a step that reward terms see.
//!
//! A term gets the same view object at every step; the step's numbers are copied into a frame
//! behind it and become Lua values only where the script looks.

use std::cell::RefCell;
use std::rc::Rc;

use mlua::{AnyUserData, IntoLua, Lua, LuaString, MetaMethod, Table, UserData, UserDataMethods, Value as LuaValue};

use super::array::LuaArray;
use crate::array::Array;
use crate::reward::{Known, StepClock, StepField, StepView};
use crate::script::convert;
use crate::script::error::fail;
use crate::space::{Element, Space};
use crate::value::Map;

/// `element` as a Lua value: an integer, a native array, text, or a table of these.
pub(super) fn to_lua(lua: &Lua, element: &Element) -> mlua::Result<LuaValue> {
    match element {
        Element::Discrete(value) => Ok(LuaValue::Integer(*value)),
        Element::Array(array) => LuaArray::new(array.clone()).into_lua(lua),
        Element::Text(text) => text.as_str().into_lua(lua),
        Element::Tuple(items) => {
            let table = lua.create_table_with_capacity(items.len(), 0)?;
            for (index, item) in items.iter().enumerate() {
                table.raw_set(index + 1, to_lua(lua, item)?)?;
            }
            Ok(LuaValue::Table(table))
        }
        Element::Dict(items) => {
            let table = lua.create_table_with_capacity(0, items.len())?;
            for (name, item) in items {
                table.raw_set(name.as_str(), to_lua(lua, item)?)?;
            }
            Ok(LuaValue::Table(table))
        }
    }
}

/// A Lua value as an element of `space`; whether it lies within the bounds is for the space to say.
///
/// # Errors
/// One line naming the field that is of the wrong kind.
pub(super) fn from_lua(value: &LuaValue, space: &Space, path: &str) -> Result<Element, String> {
    match (space, value) {
        (Space::Discrete { .. }, value) => convert::integer(value, path).map(Element::Discrete),
        (Space::Box(space), LuaValue::Table(table)) if table.raw_len() > 0 => {
            super::array::array_from_table(table, space.dtype(), path).map(Element::Array)
        }
        (Space::Box(space), LuaValue::UserData(data))
            if data.borrow::<LuaArray>().is_ok_and(|array| array.0.dtype() == space.dtype()) =>
        {
            let array = data.borrow::<LuaArray>().map(|array| array.0.clone());
            array.map(Element::Array).map_err(|_| format!("`{path}` is in use"))
        }
        (Space::Box(_), other) if !matches!(other, LuaValue::Table(_) | LuaValue::UserData(_)) => {
            Err(format!("`{path}` must be a list of numbers or an array, got {}", convert::describe(other)))
        }
        (space, value) => space.element(&convert::read(value, path)?, path),
    }
}

/// Reads a Lua value into `element`, without allocating where a table of numbers meets a float32
/// vector of its length.
///
/// # Errors
/// As [`from_lua`].
pub(super) fn read_into(value: &LuaValue, space: &Space, path: &str, element: &mut Element) -> Result<(), String> {
    if let (LuaValue::Table(table), Space::Box(space), Element::Array(Array::F32(array))) =
        (value, space, &mut *element)
        && let ([length], [present]) = (space.shape(), array.shape())
        && (length, *length) == (present, table.raw_len())
    {
        let mut whole = true;
        for (index, slot) in array.iter_mut().enumerate() {
            #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "rounded to the dtype")]
            match table.raw_get::<LuaValue>(index + 1) {
                Ok(LuaValue::Number(number)) => *slot = number as f32,
                Ok(LuaValue::Integer(number)) => *slot = number as f32,
                _ => whole = false,
            }
        }
        if whole {
            return Ok(());
        }
    }
    *element = from_lua(value, space, path)?;
    Ok(())
}

/// Checks that `element` lies within `space`.
///
/// # Errors
/// One line that names the number at fault, or the shape.
pub(super) fn within(space: &Space, element: &Element, path: &str) -> Result<(), String> {
    space.fault(element, path).map_or(Ok(()), Err)
}

/// One step's numbers, copied so that the script's view of them borrows nothing.
pub(super) struct StepFrame {
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

impl Default for StepFrame {
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

impl StepFrame {
    /// Copies `step`, reusing what is here.
    pub(super) fn fill(&mut self, step: &StepView<'_>) {
        self.step = i64::try_from(step.step).unwrap_or(i64::MAX);
        copy(&mut self.observation, step.observation);
        copy(&mut self.action, step.action);
        copy(&mut self.next_observation, step.next_observation);
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

    /// The view of `frame` that a term is called with.
    pub(super) fn view(lua: &Lua, frame: &Rc<RefCell<Self>>, params: Table) -> mlua::Result<AnyUserData> {
        let element = |part| lua.create_userdata(ElementView { frame: Rc::clone(frame), part });
        lua.create_userdata(StepObject {
            frame: Rc::clone(frame),
            observation: element(Part::Observation)?,
            action: element(Part::Action)?,
            next_observation: element(Part::NextObservation)?,
            params,
        })
    }
}

/// Copies `source` into `target` without allocating where both are arrays of the same kind.
fn copy(target: &mut Element, source: &Element) {
    match (target, source) {
        (Element::Array(Array::F32(target)), Element::Array(Array::F32(source)))
            if target.shape() == source.shape() =>
        {
            target.assign(source);
        }
        (target, source) => target.clone_from(source),
    }
}

/// `s`: what a term sees.
struct StepObject {
    frame: Rc<RefCell<StepFrame>>,
    observation: AnyUserData,
    action: AnyUserData,
    next_observation: AnyUserData,
    params: Table,
}

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

impl UserData for StepObject {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |lua, this, name: LuaString| {
            let frame = this.frame.borrow();
            if frame.known != Known::ALL
                && let Some(field) = StepField::ALL.into_iter().find(|field| name == field.name())
            {
                frame.known.need(field).map_err(|line| fail(lua, line))?;
            }
            let element = |element: &Element, view: &AnyUserData| match element {
                Element::Array(_) => Ok(LuaValue::UserData(view.clone())),
                other => to_lua(lua, other),
            };
            match &*name.as_bytes() {
                b"next_observation" => element(&frame.next_observation, &this.next_observation),
                b"observation" => element(&frame.observation, &this.observation),
                b"action" => element(&frame.action, &this.action),
                b"params" => Ok(LuaValue::Table(this.params.clone())),
                b"step" => Ok(LuaValue::Integer(frame.step)),
                b"env_reward" => Ok(LuaValue::Number(frame.env_reward)),
                b"terminated" => Ok(LuaValue::Boolean(frame.terminated)),
                b"truncated" => Ok(LuaValue::Boolean(frame.truncated)),
                b"regime_id" => frame.regime_id.as_deref().into_lua(lua),
                b"observed_at" => frame.clock.read().into_lua(lua),
                b"info" => {
                    let info = match &frame.info {
                        Some(entries) => convert::write_map(lua, entries)?,
                        None => lua.create_table()?,
                    };
                    info.raw_set("invalid_action", frame.invalid_action)?;
                    Ok(LuaValue::Table(info))
                }
                _ => {
                    let name = name.to_string_lossy();
                    let hint = crate::suggest::nearest(&name, FIELDS).map(|near| format!("; did you mean `{near}`?"));
                    Err(fail(lua, format!("a step has no field `{name}`{}", hint.unwrap_or_default())))
                }
            }
        });
    }
}

/// An array inside the frame, indexed from 1.
struct ElementView {
    frame: Rc<RefCell<StepFrame>>,
    part: Part,
}

#[derive(Clone, Copy)]
enum Part {
    Observation,
    Action,
    NextObservation,
}

impl ElementView {
    /// Looks at the array, flat.
    fn with<R>(&self, look: impl FnOnce(&Array) -> R) -> Option<R> {
        let frame = self.frame.borrow();
        let element = match self.part {
            Part::Observation => &frame.observation,
            Part::Action => &frame.action,
            Part::NextObservation => &frame.next_observation,
        };
        match element {
            Element::Array(array) => Some(look(array)),
            _ => None,
        }
    }
}

impl UserData for ElementView {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_meta_method(MetaMethod::Index, |lua, this, key: LuaValue| match key {
            LuaValue::Integer(index) => {
                this.with(|array| super::array::item(lua, array, index)).unwrap_or(Ok(LuaValue::Nil))
            }
            LuaValue::String(name) if &*name.as_bytes() == b"shape" => this
                .with(|array| lua.create_sequence_from(array.shape().iter().copied()))
                .transpose()
                .map(|shape| shape.map_or(LuaValue::Nil, LuaValue::Table)),
            other => Err(fail(
                lua,
                format!("an observation is indexed by integers from 1, got {}", convert::describe(&other)),
            )),
        });
        methods.add_meta_method(MetaMethod::Len, |_, this, ()| {
            Ok(this.with(|array| array.shape().first().copied().unwrap_or(0)).unwrap_or(0))
        });
    }
}
