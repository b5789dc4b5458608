//! Algorithms written in Lua: told of steps, episodes, windows and shifts, and given the policy
//! to change.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use mlua::{Function, Lua, Table, UserData, UserDataMethods, Value as LuaValue, WeakLua};

use super::array::LuaArray;
use super::definition::{Definition, over_defaults, place};
use super::element;
use super::random::LuaRng;
use super::space::LuaSpace;
use super::step::StepCall;
use super::{Fault, experiment};
use crate::algorithm::{Algorithm, AlgorithmError, Episode, Window};
use crate::array::{Array, DType};
use crate::experiment::AlgorithmMaker;
use crate::policy::{Checkpoint, Context, Policy, PolicyError};
use crate::random::Rng;
use crate::regime::Regime;
use crate::reward::StepView;
use crate::script::convert;
use crate::script::error::{caught, fail, message};
use crate::script::host::Host;
use crate::snapshot::SnapshotError;
use crate::space::{Element, Space};
use crate::value::{Map, Value};

const KEYS: [&str; 9] = ["name", "params", "policy", "new", "on_step", "on_episode", "on_window", "on_shift", "finish"];

/// What `algorithm.define` was given.
pub(super) struct AlgorithmDefinition {
    pub(super) name: String,
    defaults: Option<Map>,
    /// The policy it trains where the configuration names none.
    policy: String,
    new: Option<Function>,
    on_step: Option<Function>,
    on_episode: Option<Function>,
    on_window: Option<Function>,
    on_shift: Option<Function>,
    finish: Option<Function>,
}

impl AlgorithmDefinition {
    /// Reads the definition in `value`.
    ///
    /// # Errors
    /// When a field is missing, unknown, or of the wrong kind.
    pub(super) fn read(value: &LuaValue) -> Result<Self, Fault> {
        let given = Definition::new("algorithm.define", value, &KEYS)?;
        let policy = match given.value("policy")? {
            LuaValue::Nil => "linear_menu".to_owned(),
            _ => given.name("policy")?,
        };
        Ok(Self {
            name: given.name("name")?,
            defaults: given.defaults("params")?,
            policy,
            new: given.optional("new")?,
            on_step: given.optional("on_step")?,
            on_episode: given.optional("on_episode")?,
            on_window: given.optional("on_window")?,
            on_shift: given.optional("on_shift")?,
            finish: given.optional("finish")?,
        })
    }

    /// What makes algorithms of this definition in `lua`, which holds its functions.
    pub(super) fn maker(self, lua: WeakLua) -> AlgorithmMaker {
        let definition = Rc::new(self);
        Rc::new(move |params, policy, context| {
            let closed =
                || AlgorithmError::Failed { name: definition.name.clone(), message: "its script has ended".to_owned() };
            let lua = lua.try_upgrade().ok_or_else(closed)?;
            Ok(Box::new(ScriptedAlgorithm::new(lua, Rc::clone(&definition), params, policy, context)?))
        })
    }
}

/// A policy that the run loop and the script both hold.
#[derive(Clone)]
struct SharedPolicy(Rc<RefCell<Box<dyn Policy>>>);

impl Policy for SharedPolicy {
    fn act(&mut self, observation: &Element, action: &mut Element) -> Result<(), PolicyError> {
        self.0.borrow_mut().act(observation, action)
    }

    fn save(&self, dir: &Path) -> Result<Checkpoint, PolicyError> {
        self.0.borrow().save(dir)
    }

    fn load(&mut self, path: &Path) -> Result<(), PolicyError> {
        self.0.borrow_mut().load(path)
    }
}

/// The policy as the script sees it.
struct TrainedPolicy {
    policy: SharedPolicy,
    observation_space: Space,
    action: Element,
}

impl UserData for TrainedPolicy {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        crate::script::bind::named(methods, "skyfall.TrainedPolicy");
        methods.add_method_mut("act", |lua, this, observation: LuaValue| {
            let observation = element::from_lua(&observation, &this.observation_space, "observation")
                .map_err(|line| fail(lua, line))?;
            this.policy.act(&observation, &mut this.action).map_err(|problem| fail(lua, problem))?;
            element::to_lua(lua, &this.action)
        });
        methods.add_method("parameters", |lua, this, ()| {
            let policy = this.policy.0.borrow();
            let Some(parameters) = policy.parameters() else { return Ok(None) };
            let array = Array::from_vec(&[parameters.len()], parameters.to_vec());
            Ok(Some(LuaArray::new(array.map_err(|problem| fail(lua, problem))?)))
        });
        methods.add_method("set_parameters", |lua, this, given: LuaValue| {
            let given = convert::read(&given, "parameters").map_err(|line| fail(lua, line))?;
            let given = Array::from_value(&given, DType::F64).map_err(|problem| fail(lua, problem))?;
            let mut policy = this.policy.0.borrow_mut();
            let Some(parameters) = policy.parameters_mut() else {
                return Err(fail(lua, "this policy has no parameters to set"));
            };
            if given.shape() != [parameters.len()] {
                let (got, has) = (given.shape(), parameters.len());
                return Err(fail(lua, format!("`parameters` has the shape {got:?}; the policy has {has} parameters")));
            }
            for (slot, number) in parameters.iter_mut().zip(given.numbers()) {
                *slot = number;
            }
            Ok(())
        });
    }
}

/// One algorithm of a definition.
struct ScriptedAlgorithm {
    definition: Rc<AlgorithmDefinition>,
    policy: SharedPolicy,
    /// `self`: what `new` returned.
    state: Table,
    /// `on_step`, if there is one.
    on_step: Option<StepCall>,
    lua: Lua,
}

impl ScriptedAlgorithm {
    fn new(
        lua: Lua,
        definition: Rc<AlgorithmDefinition>,
        params: &Map,
        policy: Option<Box<dyn Policy>>,
        context: Context<'_>,
    ) -> Result<Self, AlgorithmError> {
        let name = || definition.name.clone();
        let params = match &definition.defaults {
            Some(defaults) => {
                over_defaults(defaults, params).map_err(|message| AlgorithmError::Argument { name: name(), message })?
            }
            None => params.clone(),
        };
        let policy = match policy {
            Some(policy) => policy,
            None => default_policy(&lua, &definition.policy, context)
                .map_err(|source| AlgorithmError::Policy { name: name(), source })?,
        };
        let policy = SharedPolicy(Rc::new(RefCell::new(policy)));
        let build = || -> mlua::Result<(LuaValue, Table)> {
            let params = convert::write_map(&lua, &params)?;
            let Some(new) = &definition.new else { return Ok((LuaValue::Table(lua.create_table()?), params)) };
            let about = lua.create_table()?;
            about.raw_set("observation_space", LuaSpace(context.observation_space.clone()))?;
            about.raw_set("action_space", LuaSpace(context.action_space.clone()))?;
            about.raw_set("seed", context.seed)?;
            about.raw_set("rng", LuaRng(Rng::named(context.seed, "algorithm")))?;
            let handle = TrainedPolicy {
                policy: policy.clone(),
                observation_space: context.observation_space.clone(),
                action: context.action_space.blank(),
            };
            Ok((new.call((&params, handle, about))?, params))
        };
        let failed = |message: String| AlgorithmError::Failed { name: name(), message };
        let (state, params) = build().map_err(|error| failed(message(&error)))?;
        let LuaValue::Table(state) = state else {
            let place = definition.new.as_ref().map(place).unwrap_or_default();
            return Err(failed(format!("{place}`new` must return a table, got {}", convert::describe(&state))));
        };
        let on_step = definition.on_step.clone();
        let on_step =
            on_step.map(|on_step| StepCall::new(&lua, on_step, Some(state.clone()), params, None)).transpose();
        let on_step = on_step.map_err(|error| failed(message(&error)))?;
        Ok(Self { definition, policy, state, on_step, lua })
    }

    /// Calls `function` with what `arguments` makes, if there is one.
    fn tell<A: mlua::IntoLuaMulti>(
        &self,
        function: Option<&Function>,
        arguments: impl FnOnce(&Lua) -> mlua::Result<A>,
    ) -> Result<(), AlgorithmError> {
        let Some(function) = function else { return Ok(()) };
        let told = arguments(&self.lua).and_then(|arguments| function.call::<()>(arguments));
        told.map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &mlua::Error) -> AlgorithmError {
        AlgorithmError::Failed { name: self.definition.name.clone(), message: caught(&self.lua, error) }
    }
}

/// The policy `id`, as the script or the library knows it.
fn default_policy(lua: &Lua, id: &str, context: Context<'_>) -> Result<Box<dyn Policy>, PolicyError> {
    let host = lua.app_data_ref::<Rc<Host>>().map(|host| Rc::clone(&host));
    let closed = || PolicyError::Failed { id: id.to_owned(), message: "its script has ended".to_owned() };
    let catalog = host.ok_or_else(closed)?.catalog.borrow().clone();
    catalog.policy(id, &Map::new(), context)
}

impl Algorithm for ScriptedAlgorithm {
    fn policy(&self) -> &dyn Policy {
        &self.policy
    }

    fn policy_mut(&mut self) -> &mut dyn Policy {
        &mut self.policy
    }

    fn snapshot(&self) -> Result<Value, SnapshotError> {
        let what = format!("algorithm `{}`", self.definition.name);
        Err(SnapshotError::unsupported(what, "it is written in Lua, and its table may hold anything"))
    }

    fn on_step(&mut self, step: &StepView<'_>, reward: f64) -> Result<(), AlgorithmError> {
        let Some(on_step) = &mut self.on_step else { return Ok(()) };
        on_step.call::<()>(step, Some(reward)).map_err(|error| self.failed(&error))
    }

    fn on_episode(&mut self, episode: &Episode) -> Result<(), AlgorithmError> {
        self.tell(self.definition.on_episode.as_ref(), |lua| {
            Ok((&self.state, experiment::episode_table(lua, episode)?))
        })
    }

    fn on_window(&mut self, window: &Window) -> Result<(), AlgorithmError> {
        self.tell(self.definition.on_window.as_ref(), |lua| Ok((&self.state, experiment::window_table(lua, window)?)))
    }

    fn on_shift(&mut self, regime: &Regime) -> Result<(), AlgorithmError> {
        self.tell(self.definition.on_shift.as_ref(), |lua| {
            let table = lua.create_table()?;
            table.raw_set("id", regime.id.as_deref())?;
            table.raw_set("origin", regime.origin.as_deref())?;
            table.raw_set("env", convert::write_map(lua, &regime.env)?)?;
            Ok((&self.state, table))
        })
    }

    fn finish(&mut self) -> Result<(), AlgorithmError> {
        self.tell(self.definition.finish.as_ref(), |_| Ok(&self.state))
    }
}
