//! Environments written in Lua: the definition a script gives, and one environment made of it.
//!
//! Everything that comes back from the script is checked before it is believed: shapes, bounds,
//! NaN, kinds. The physical parameters are the keyword arguments; `reset` and `step` find them in
//! `env.kwargs`, and a random stream seeded by the run in `env.rng`. Reset options go to a `reset`
//! that has a second parameter for them.

use std::rc::Rc;

use mlua::{AnyUserData, Function, Lua, MultiValue, Table, Value as LuaValue, WeakLua};

use super::Fault;
use super::definition::{Definition, over_defaults, place, table_from_source, text};
use super::element;
use super::random::LuaRng;
use super::space::LuaSpace;
use crate::env::{Env, EnvError, Info, Transition};
use crate::experiment::EnvMaker;
use crate::random::Rng;
use crate::script::budget::Meter;
use crate::script::convert;
use crate::script::error::{caught, message};
use crate::snapshot::SnapshotError;
use crate::space::{Element, Space};
use crate::suggest;
use crate::value::{Map, Value};

const KEYS: [&str; 8] =
    ["id", "kwargs", "observation_space", "action_space", "max_episode_steps", "reset", "step", "describe"];

/// What `env.define` was given.
pub(super) struct EnvDefinition {
    pub(super) id: String,
    defaults: Map,
    observation_space: SpaceMaker,
    action_space: SpaceMaker,
    limit: Option<u64>,
    reset: Function,
    step: Function,
    describe: Option<Function>,
}

/// A space, or the function that makes it from the keyword arguments.
enum SpaceMaker {
    Space(Space),
    Function(Function),
}

impl EnvDefinition {
    /// Reads the definition in `value`.
    ///
    /// # Errors
    /// When a field is missing, unknown, or of the wrong kind.
    pub(super) fn read(value: &LuaValue) -> Result<Self, Fault> {
        let given = Definition::new("env.define", value, &KEYS)?;
        let limit = match given.value("max_episode_steps")? {
            LuaValue::Nil => None,
            steps => {
                let steps = convert::integer(&steps, "max_episode_steps").map_err(|line| given.fault(line))?;
                let steps = u64::try_from(steps).ok().filter(|steps| *steps > 0);
                Some(steps.ok_or_else(|| given.fault("`max_episode_steps` must be at least 1"))?)
            }
        };
        let mut defaults = given.defaults("kwargs")?.unwrap_or_default();
        // A table has no order of its own; what is listed or recorded needs one.
        defaults.sort_keys();
        Ok(Self {
            id: given.name("id")?,
            defaults,
            observation_space: SpaceMaker::read(&given, "observation_space")?,
            action_space: SpaceMaker::read(&given, "action_space")?,
            limit,
            reset: given.function("reset")?,
            step: given.function("step")?,
            describe: given.optional("describe")?,
        })
    }

    /// What makes environments of this definition in `lua`, which holds its functions.
    pub(super) fn maker(self, lua: WeakLua) -> EnvMaker {
        let definition = Rc::new(self);
        Rc::new(move |kwargs| {
            let closed = || EnvError::Failed { id: definition.id.clone(), message: "its script has ended".to_owned() };
            let lua = lua.try_upgrade().ok_or_else(closed)?;
            Ok(Box::new(ScriptedEnv::new(lua, Rc::clone(&definition), kwargs)?))
        })
    }
}

impl SpaceMaker {
    fn read(given: &Definition<'_>, name: &str) -> Result<Self, Fault> {
        match given.value(name)? {
            LuaValue::Function(function) => Ok(Self::Function(function)),
            LuaValue::UserData(data) => match data.borrow::<LuaSpace>() {
                Ok(space) => Ok(Self::Space(space.0.clone())),
                Err(_) => Err(given.fault(format!("`{name}` must be a space or a function that returns one"))),
            },
            LuaValue::Nil => Err(given.fault(format!("`{name}` is missing; it must be a space or a function"))),
            other => {
                let got = convert::describe(&other);
                Err(given.fault(format!("`{name}` must be a space or a function that returns one, got {got}")))
            }
        }
    }

    /// The space under `kwargs`.
    fn make(&self, name: &str, kwargs: &Table) -> Result<Space, String> {
        let function = match self {
            Self::Space(space) => return Ok(space.clone()),
            Self::Function(function) => function,
        };
        let made: LuaValue = function.call(kwargs).map_err(|error| message(&error))?;
        if let LuaValue::UserData(data) = &made
            && let Ok(space) = data.borrow::<LuaSpace>()
        {
            return Ok(space.0.clone());
        }
        Err(format!("{}`{name}` must return a space, got {}", place(function), convert::describe(&made)))
    }
}

/// Whether `function` has a second parameter.
fn takes_two(function: &Function) -> bool {
    let info = function.info();
    info.num_params > 1 || info.is_vararg
}

/// The makers of environments that a recorded definition stands for.
///
/// # Errors
/// When the record was changed, does not compile, or is no definition.
pub(in crate::script) fn env_from_source(lua: &Lua, id: &str, code: &Value) -> Result<EnvMaker, EnvError> {
    let fail = |message: String| EnvError::Failed { id: id.to_owned(), message };
    let table = table_from_source(lua, id, code).map_err(fail)?;
    let definition = EnvDefinition::read(&LuaValue::Table(table)).map_err(|fault| fail(text(fault)))?;
    Ok(definition.maker(lua.weak()))
}

/// One environment of a definition.
struct ScriptedEnv {
    definition: Rc<EnvDefinition>,
    /// `env`: what the script keeps between calls, and its `kwargs` and `rng`.
    state: Table,
    kwargs: Map,
    observation_space: Space,
    action_space: Space,
    /// Steps of the episode; `None` before the first reset and after an episode's end.
    elapsed: Option<u64>,
    seeded: bool,
    meter: Meter,
    lua: Lua,
}

impl ScriptedEnv {
    fn new(lua: Lua, definition: Rc<EnvDefinition>, kwargs: &Map) -> Result<Self, EnvError> {
        let problem = |message: String| EnvError::Argument { id: definition.id.clone(), message };
        let kwargs = over_defaults(&definition.defaults, kwargs).map_err(problem)?;
        let (state, spaces) = Self::tables(&lua, &definition, &kwargs).map_err(problem)?;
        let [observation_space, action_space] = spaces;
        let meter = Meter::of(&lua);
        Ok(Self {
            definition,
            state,
            kwargs,
            observation_space,
            action_space,
            elapsed: None,
            seeded: false,
            meter,
            lua,
        })
    }

    /// The script's own table, and both spaces.
    fn tables(lua: &Lua, definition: &EnvDefinition, kwargs: &Map) -> Result<(Table, [Space; 2]), String> {
        let build = || -> mlua::Result<(Table, Table)> {
            let (state, table) = (lua.create_table()?, convert::write_map(lua, kwargs)?);
            state.raw_set("kwargs", &table)?;
            Ok((state, table))
        };
        let (state, table) = build().map_err(|error| message(&error))?;
        let observation_space = definition.observation_space.make("observation_space", &table)?;
        let action_space = definition.action_space.make("action_space", &table)?;
        Ok((state, [observation_space, action_space]))
    }

    fn failed(&self, message: impl Into<String>) -> EnvError {
        EnvError::Failed { id: self.definition.id.clone(), message: message.into() }
    }

    /// A fault in what `function` returned.
    fn returned(&self, function: &Function, name: &str, line: impl std::fmt::Display) -> EnvError {
        let step = match (name, self.elapsed) {
            ("step", Some(elapsed)) => format!(" (step {elapsed} of its episode)"),
            _ => String::new(),
        };
        self.failed(format!("{}`{name}` returned a wrong value{step}: {line}", place(function)))
    }

    /// Takes the observation that `function` returned.
    fn observe(
        &self,
        function: &Function,
        name: &str,
        value: &LuaValue,
        observation: &mut Element,
    ) -> Result<(), EnvError> {
        element::read_into(value, &self.observation_space, "observation", observation)
            .and_then(|()| element::within(&self.observation_space, observation, "observation"))
            .map_err(|line| self.returned(function, name, line))
    }

    fn info(&self, function: &Function, name: &str, value: &LuaValue) -> Result<Info, EnvError> {
        if value.is_nil() {
            return Ok(Info::default());
        }
        let wrong = |line: String| self.returned(function, name, line);
        let mut entries = convert::read_map(value, "info").map_err(wrong)?;
        let invalid_action = match entries.shift_remove("invalid_action") {
            None => false,
            Some(flag) => flag
                .as_bool()
                .ok_or_else(|| wrong(format!("`info.invalid_action` must be a boolean, got {}", flag.kind())))?,
        };
        entries.sort_keys();
        Ok(Info { invalid_action, entries: (!entries.is_empty()).then(|| Box::new(entries)) })
    }

    fn flag(&self, value: Option<&LuaValue>, name: &str) -> Result<bool, EnvError> {
        match value {
            None | Some(LuaValue::Nil) => Ok(false),
            Some(LuaValue::Boolean(flag)) => Ok(*flag),
            Some(other) => {
                let line = format!("`{name}` must be a boolean, got {}", convert::describe(other));
                Err(self.returned(&self.definition.step, "step", line))
            }
        }
    }

    fn reward(&self, value: &LuaValue) -> Result<f64, EnvError> {
        let wrong = |line: String| self.returned(&self.definition.step, "step", line);
        let reward = convert::number(value, "reward").map_err(wrong)?;
        if reward.is_nan() { Err(wrong("`reward` is NaN".to_owned())) } else { Ok(reward) }
    }
}

impl Env for ScriptedEnv {
    fn id(&self) -> &str {
        &self.definition.id
    }

    fn observation_space(&self) -> &Space {
        &self.observation_space
    }

    fn action_space(&self) -> &Space {
        &self.action_space
    }

    fn reset(&mut self, seed: Option<u64>, observation: &mut Element) -> Result<Info, EnvError> {
        self.reset_with(seed, &Map::new(), observation)
    }

    fn reset_with(&mut self, seed: Option<u64>, options: &Map, observation: &mut Element) -> Result<Info, EnvError> {
        let definition = Rc::clone(&self.definition);
        let reset = &definition.reset;
        if let Some(name) = options.keys().next()
            && !takes_two(reset)
        {
            let message = format!("takes no reset option `{name}`: its `reset` has no second parameter");
            return Err(EnvError::Argument { id: definition.id.clone(), message });
        }
        self.meter.start();
        if seed.is_some() || !std::mem::replace(&mut self.seeded, true) {
            let rng = self.lua.create_userdata(LuaRng(Rng::new(seed.unwrap_or(0))));
            let set = rng.and_then(|rng: AnyUserData| self.state.raw_set("rng", rng));
            set.map_err(|error| self.failed(message(&error)))?;
        }
        self.elapsed = None;
        let (first, info): (LuaValue, LuaValue) = convert::write_map(&self.lua, options)
            .and_then(|options| reset.call((&self.state, options)))
            .map_err(|error| self.failed(caught(&self.lua, &error)))?;
        self.observe(reset, "reset", &first, observation)?;
        let info = self.info(reset, "reset", &info)?;
        self.elapsed = Some(0);
        Ok(info)
    }

    fn step(&mut self, action: &Element, observation: &mut Element) -> Result<Transition, EnvError> {
        let Some(elapsed) = self.elapsed else {
            return Err(self.failed("stepped before a reset, or after its episode ended; call reset first"));
        };
        if !self.action_space.contains(action) {
            let space = self.action_space.to_string();
            return Err(EnvError::Action { id: self.definition.id.clone(), action: action.to_string(), space });
        }
        self.meter.start();
        let step = &self.definition.step;
        let mut results = element::to_lua(&self.lua, action)
            .and_then(|action| step.call::<MultiValue>((&self.state, action)))
            .map_err(|error| self.failed(caught(&self.lua, &error)))?;
        let mut next = || results.pop_front().unwrap_or(LuaValue::Nil);
        let (seen, reward, terminated, truncated, info) = (next(), next(), next(), next(), next());
        self.elapsed = Some(elapsed + 1);
        self.observe(step, "step", &seen, observation)?;
        let reward = self.reward(&reward)?;
        let terminated = self.flag(Some(&terminated), "terminated")?;
        let over = self.definition.limit.is_some_and(|limit| elapsed + 1 >= limit);
        let truncated = self.flag(Some(&truncated), "truncated")? || over;
        let info = self.info(step, "step", &info)?;
        if terminated || truncated {
            self.elapsed = None;
        }
        Ok(Transition { reward, terminated, truncated, info })
    }

    fn snapshot(&self) -> Result<Value, SnapshotError> {
        let what = format!("environment `{}`", self.definition.id);
        Err(SnapshotError::unsupported(what, "it is written in Lua, and its table may hold anything"))
    }

    fn parameters(&self) -> Map {
        self.kwargs.clone()
    }

    fn set_parameter(&mut self, name: &str, value: &Value) -> Result<(), EnvError> {
        let id = self.definition.id.clone();
        let problem = |message: String| EnvError::Parameter { id: id.clone(), name: name.to_owned(), message };
        if !self.kwargs.contains_key(name) {
            let hint = suggest::hint(name, "known are", self.kwargs.keys().map(String::as_str));
            return Err(problem(format!("does not exist; {hint}")));
        }
        let one = Map::from_iter([(name.to_owned(), value.clone())]);
        let kwargs = over_defaults(&self.kwargs, &one).map_err(problem)?;
        let (_, spaces) = Self::tables(&self.lua, &self.definition, &kwargs).map_err(problem)?;
        for (space, now, what) in
            [(&spaces[0], &self.observation_space, "observation"), (&spaces[1], &self.action_space, "action")]
        {
            if space != now {
                return Err(problem(format!("would change the {what} space from {now} to {space}")));
            }
        }
        let put = || -> mlua::Result<()> {
            let table: Table = self.state.raw_get("kwargs")?;
            table.raw_set(name, convert::write(&self.lua, kwargs.get(name).unwrap_or(&Value::Null))?)
        };
        put().map_err(|error| problem(message(&error)))?;
        self.kwargs = kwargs;
        Ok(())
    }

    fn describe(&self) -> Map {
        let Some(describe) = &self.definition.describe else { return Map::new() };
        let told = describe.call::<LuaValue>(&self.state).map_err(|error| message(&error));
        match told.and_then(|told| convert::read_map(&told, "describe")) {
            Ok(mut told) => {
                told.sort_keys();
                told
            }
            // Provenance is a courtesy: what it cannot say must not cost the bundle.
            Err(line) => Map::from_iter([("error".to_owned(), Value::Text(line))]),
        }
    }
}
