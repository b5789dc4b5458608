//! Policies written in Lua: the definition a script gives, and one policy made of it.
//!
//! A policy's `save` and `load` may touch the checkpoint directory they are handed, and nothing
//! else; `load` may only read it.

use std::path::Path;
use std::rc::Rc;

use mlua::{Function, Lua, Table, Value as LuaValue, WeakLua};

use super::Fault;
use super::definition::{Definition, over_defaults, place, table_from_source, text};
use super::element;
use super::random::LuaRng;
use super::reward::recorded_source;
use super::space::LuaSpace;
use crate::experiment::PolicyMaker;
use crate::policy::{Checkpoint, Context, Policy, PolicyError};
use crate::random::Rng;
use crate::script::budget::Meter;
use crate::script::convert;
use crate::script::error::{caught, message};
use crate::script::host::{Access, Host};
use crate::script::permissions::Confinement;
use crate::script::source::check_stateless;
use crate::snapshot::{self, SnapshotError};
use crate::space::{Element, Space};
use crate::text::json;
use crate::value::{Map, Value};

const KEYS: [&str; 6] = ["id", "kwargs", "new", "act", "save", "load"];
const ONE_SIDED: &str = "`save` and `load` go together: what one writes the other reads";

/// What `policy.define` was given.
pub(super) struct PolicyDefinition {
    pub(super) id: String,
    defaults: Option<Map>,
    new: Option<Function>,
    act: Option<Function>,
    save: Option<Function>,
    load: Option<Function>,
    /// Its code by value, or why there is none.
    code: Result<Value, String>,
}

/// What a policy does, whether its definition or the table that `new` returned has it.
struct Methods {
    act: Function,
    save: Option<Function>,
    load: Option<Function>,
}

impl PolicyDefinition {
    /// Reads the definition in `value`.
    ///
    /// # Errors
    /// When a field is missing, unknown, or of the wrong kind.
    pub(super) fn read(value: &LuaValue) -> Result<Self, Fault> {
        let given = Definition::new("policy.define", value, &KEYS)?;
        let new = given.optional("new")?;
        let act = if new.is_some() { given.optional("act")? } else { Some(given.function("act")?) };
        let (save, load) = (given.optional("save")?, given.optional("load")?);
        if save.is_some() != load.is_some() {
            return Err(given.fault(ONE_SIDED));
        }
        let code = Err("its code was not recorded".to_owned());
        Ok(Self { id: given.name("id")?, defaults: given.defaults("kwargs")?, new, act, save, load, code })
    }

    /// What the policy with the table `own` does.
    ///
    /// # Errors
    /// One line: what is missing or no function.
    fn methods(&self, own: &Table) -> Result<Methods, String> {
        let find = |given: &Option<Function>, name: &str| match given {
            Some(function) => Ok(Some(function.clone())),
            None => match own.get::<LuaValue>(name).map_err(|error| message(&error))? {
                LuaValue::Nil => Ok(None),
                LuaValue::Function(function) => Ok(Some(function)),
                other => Err(format!("its `{name}` must be a function, got {}", convert::describe(&other))),
            },
        };
        let act = find(&self.act, "act")?.ok_or("it has no method `act`, and its definition has none either")?;
        let (save, load) = (find(&self.save, "save")?, find(&self.load, "load")?);
        if save.is_some() == load.is_some() { Ok(Methods { act, save, load }) } else { Err(ONE_SIDED.to_owned()) }
    }

    /// What makes policies of this definition, by value `code`, in `lua`, which holds its functions.
    pub(super) fn maker(self, lua: WeakLua, code: Result<Value, String>) -> PolicyMaker {
        let definition = Rc::new(Self { code, ..self });
        Rc::new(move |kwargs, context| {
            let id = &definition.id;
            let closed = || PolicyError::Failed { id: id.clone(), message: "its script has ended".to_owned() };
            let lua = lua.try_upgrade().ok_or_else(closed)?;
            Ok(Box::new(ScriptedPolicy::new(lua, Rc::clone(&definition), kwargs, context)?))
        })
    }
}

/// The makers of policies that a recorded definition stands for.
///
/// # Errors
/// When the record was changed, does not compile, or is no definition.
pub(in crate::script) fn policy_from_source(lua: &Lua, id: &str, code: &Value) -> Result<PolicyMaker, PolicyError> {
    let fail = |message: String| PolicyError::Failed { id: id.to_owned(), message };
    let table = table_from_source(lua, id, code).map_err(fail)?;
    let definition = PolicyDefinition::read(&LuaValue::Table(table)).map_err(|fault| fail(text(fault)))?;
    Ok(definition.maker(lua.weak(), Ok(code.clone())))
}

/// One policy of a definition.
struct ScriptedPolicy {
    definition: Rc<PolicyDefinition>,
    /// `self`: what `new` returned.
    state: Table,
    methods: Methods,
    action_space: Space,
    meter: Meter,
    lua: Lua,
}

impl ScriptedPolicy {
    fn new(
        lua: Lua,
        definition: Rc<PolicyDefinition>,
        kwargs: &Map,
        context: Context<'_>,
    ) -> Result<Self, PolicyError> {
        let argument = |message: String| PolicyError::Argument { id: definition.id.clone(), message };
        let kwargs = match &definition.defaults {
            Some(defaults) => over_defaults(defaults, kwargs).map_err(argument)?,
            None => kwargs.clone(),
        };
        let action_space = context.action_space.clone();
        let build = || -> mlua::Result<LuaValue> {
            let Some(new) = &definition.new else { return Ok(LuaValue::Table(lua.create_table()?)) };
            let table = lua.create_table()?;
            table.raw_set("observation_space", LuaSpace(context.observation_space.clone()))?;
            table.raw_set("action_space", LuaSpace(action_space.clone()))?;
            table.raw_set("seed", context.seed)?;
            table.raw_set("rng", LuaRng(Rng::named(context.seed, "policy")))?;
            new.call((convert::write_map(&lua, &kwargs)?, table))
        };
        let failed = |message: String| PolicyError::Failed { id: definition.id.clone(), message };
        let place = definition.new.as_ref().map(place).unwrap_or_default();
        match build().map_err(|error| failed(message(&error)))? {
            LuaValue::Table(state) => {
                let methods = definition.methods(&state);
                let methods = methods.map_err(|line| failed(format!("{place}`new` returned a table: {line}")))?;
                Ok(Self { definition, state, methods, action_space, meter: Meter::of(&lua), lua })
            }
            other => Err(failed(format!("{place}`new` must return a table, got {}", convert::describe(&other)))),
        }
    }

    fn failed(&self, message: impl Into<String>) -> PolicyError {
        PolicyError::Failed { id: self.definition.id.clone(), message: message.into() }
    }

    /// Calls `function` with the policy and `dir`, confined to it.
    fn with_directory(&self, function: &Function, dir: &Path, access: Access) -> Result<(), PolicyError> {
        let refuse = |message: String| PolicyError::Checkpoint {
            id: self.definition.id.clone(),
            path: dir.display().to_string(),
            message,
        };
        let confinement = Confinement::new(dir, access).map_err(|error| refuse(error.to_string()))?;
        let Some(host) = self.lua.app_data_ref::<Rc<Host>>().map(|host| Rc::clone(&host)) else {
            return Err(refuse("the machine has no host".to_owned()));
        };
        self.meter.start();
        let call = || function.call::<()>((&self.state, dir.display().to_string()));
        host.confined(confinement, call).map_err(|error| refuse(message(&error)))
    }
}

impl Policy for ScriptedPolicy {
    fn act(&mut self, observation: &Element, action: &mut Element) -> Result<(), PolicyError> {
        self.meter.start();
        let act = &self.methods.act;
        let chosen: LuaValue = element::to_lua(&self.lua, observation)
            .and_then(|observation| act.call((&self.state, observation)))
            .map_err(|error| self.failed(caught(&self.lua, &error)))?;
        element::read_into(&chosen, &self.action_space, "action", action)
            .and_then(|()| element::within(&self.action_space, action, "action"))
            .map_err(|line| self.failed(format!("{}`act` returned a wrong value: {line}", place(act))))
    }

    /// Its table, if that is plain data and its code changes nothing: then `new` makes it again.
    fn snapshot(&self) -> Result<Value, SnapshotError> {
        let unsupported = |why: String| {
            let what = format!("policy `{}`", self.definition.id);
            SnapshotError::unsupported(what, format!("it is written in Lua, and {why}"))
        };
        let code = self.definition.code.as_ref().map_err(|line| unsupported(line.clone()))?;
        let source = recorded_source(code).map_err(unsupported)?;
        check_stateless(source).map_err(|line| unsupported(format!("its code {line}")))?;
        let table = convert::read_map(&LuaValue::Table(self.state.clone()), "self");
        table.map(Value::Map).map_err(unsupported)
    }

    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        // As text: a NaN is not equal to itself.
        let same = json::to_string(&self.snapshot()?) == json::to_string(state);
        if same { Ok(()) } else { Err(snapshot::damaged("policy")) }
    }

    fn save(&self, dir: &Path) -> Result<Checkpoint, PolicyError> {
        if let Some(save) = &self.methods.save {
            self.with_directory(save, dir, Access::Write)?;
        }
        Ok(Checkpoint::Directory)
    }

    fn load(&mut self, path: &Path) -> Result<(), PolicyError> {
        match &self.methods.load {
            Some(load) => self.with_directory(load, path, Access::Read),
            None => Ok(()),
        }
    }
}
