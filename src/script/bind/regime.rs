//! `skyfall.regime`: native providers by name, and providers written in Lua.

use mlua::{Function, Lua, Table, UserData, Value as LuaValue};

use super::random::LuaRng;
use super::reward::{lua_record, recorded_source};
use super::{Fault, Module, line};
use crate::random::Rng;
use crate::regime::{self, Provider, Regime, RegimeError, RegimeRecord, regime_to_value};
use crate::script::budget::{self, Meter};
use crate::script::convert;
use crate::script::error::{caught, message};
use crate::script::source;
use crate::snapshot::{self, SnapshotError};
use crate::value::{Map, Value};

/// A provider in a script's hands; each run makes its own from it.
pub(super) enum LuaProviderHandle {
    Native(RegimeRecord),
    Lua { name: String, params: Map, function: Function, recorded: Result<String, String> },
}

impl UserData for LuaProviderHandle {
    fn add_methods<M: mlua::UserDataMethods<Self>>(methods: &mut M) {
        crate::script::bind::named(methods, "skyfall.Provider");
    }
}

impl LuaProviderHandle {
    /// The provider, ready for one run under the experiment's seed.
    pub(super) fn build(&self, lua: &Lua, seed: u64) -> Result<Box<dyn Provider>, Fault> {
        match self {
            Self::Native(record) => regime::from_record(record, seed).map_err(line),
            Self::Lua { name, params, function, recorded } => {
                Ok(Box::new(LuaProvider::new(lua, name, params, function, recorded.clone(), seed)?))
            }
        }
    }
}

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module
        .function("make", |_, _, (provider, params): (String, LuaValue)| {
            let record = RegimeRecord { provider, params: convert::read_map(&params, "params")?, lua: None };
            regime::from_record(&record, 0).map_err(line)?;
            Ok(LuaProviderHandle::Native(record))
        })?
        .function("provider", |_, host, (name, params, function): (LuaValue, LuaValue, LuaValue)| {
            let name = convert::text(&name, "name")?;
            let params = convert::read_map(&params, "params")?;
            let LuaValue::Function(function) = function else {
                return Err(Fault::Line(format!(
                    "regime.provider: `fn` of provider `{name}` must be a function, got {}",
                    convert::describe(&function)
                )));
            };
            let recorded = source::record(host, &LuaValue::Function(function.clone()));
            Ok(LuaProviderHandle::Lua { name, params, function, recorded })
        })
}

/// A provider whose code is a Lua function.
struct LuaProvider {
    name: String,
    params: Map,
    recorded: Result<String, String>,
    function: Function,
    arguments: (Table, mlua::AnyUserData),
    present: Option<Regime>,
    meter: Meter,
    /// Keeps the machine alive as long as the provider.
    lua: Lua,
}

impl LuaProvider {
    fn new(
        lua: &Lua,
        name: &str,
        params: &Map,
        function: &Function,
        recorded: Result<String, String>,
        seed: u64,
    ) -> mlua::Result<Self> {
        let rng = lua.create_userdata(LuaRng(Rng::named(seed, "regime")))?;
        Ok(Self {
            name: name.to_owned(),
            params: params.clone(),
            recorded,
            function: function.clone(),
            arguments: (convert::write_map(lua, params)?, rng),
            present: None,
            meter: Meter::of(lua),
            lua: lua.clone(),
        })
    }

    fn error(&self, message: impl Into<String>) -> RegimeError {
        RegimeError { provider: self.name.clone(), message: message.into() }
    }
}

impl LuaProvider {
    /// Whether the code answers from its arguments alone.
    fn check_stateless(&self) -> Result<(), SnapshotError> {
        let unsupported = |why: String| SnapshotError::unsupported(format!("regime provider `{}`", self.name), why);
        let source = self.recorded.as_ref().map_err(|line| unsupported(line.clone()))?;
        source::check_stateless(source).map_err(|line| unsupported(format!("its code {line}")))?;
        let params = convert::read_map(&LuaValue::Table(self.arguments.0.clone()), "params");
        if params.is_ok_and(|params| params == self.params) {
            return Ok(());
        }
        Err(unsupported("its code changes its params".to_owned()))
    }
}

impl Provider for LuaProvider {
    fn snapshot(&self) -> Result<Value, SnapshotError> {
        self.check_stateless()?;
        let rng = self.arguments.1.borrow::<LuaRng>().map_err(|_| snapshot::damaged("rng"))?.0.snapshot();
        Ok(snapshot::state([("rng", rng), ("present", self.present.as_ref().map(regime_to_value).into())]))
    }

    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        let mut rng = self.arguments.1.borrow_mut::<LuaRng>().map_err(|_| snapshot::damaged("rng"))?;
        rng.0.restore_snapshot(snapshot::entry(state, "rng")?)?;
        self.present = match snapshot::entry(state, "present")? {
            Value::Null => None,
            present => Some(regime::regime_from_value(present, "regime").map_err(|_| snapshot::damaged("present"))?),
        };
        Ok(())
    }

    fn shift(&mut self, step: u64) -> Result<Option<Regime>, RegimeError> {
        self.meter.start();
        let (params, rng) = &self.arguments;
        let answer: LuaValue =
            self.function.call((step, params, rng)).map_err(|error| self.error(caught(&self.lua, &error)))?;
        let place = self.function.info();
        let place = match (place.short_src, place.line_defined) {
            (Some(file), Some(defined)) => format!("{file}:{defined}: "),
            _ => String::new(),
        };
        let regime = convert::read(&answer, "regime")
            .and_then(|answer| regime::regime_from_value(&answer, "regime"))
            .map_err(|line| self.error(format!("{place}{line}")))?;
        if self.present.as_ref() == Some(&regime) {
            return Ok(None);
        }
        self.present = Some(regime.clone());
        Ok(Some(regime))
    }

    fn record(&self) -> Result<RegimeRecord, RegimeError> {
        let source = self.recorded.as_ref().map_err(|line| self.error(line.clone()))?;
        Ok(RegimeRecord { provider: self.name.clone(), params: self.params.clone(), lua: Some(lua_record(source)) })
    }
}

/// The provider that `record` describes, its code compiled in `lua`.
///
/// # Errors
/// When the record is incomplete, was changed, or does not compile.
pub(in crate::script) fn provider_from_source(
    lua: &Lua,
    record: &RegimeRecord,
    seed: u64,
) -> Result<Box<dyn Provider>, RegimeError> {
    let fail = |message: String| RegimeError { provider: record.provider.clone(), message };
    let code: &Value = match &record.lua {
        Some(code) => code,
        None => return regime::from_record(record, seed),
    };
    let source = recorded_source(code).map_err(fail)?;
    let function: Function = budget::recorded(lua, &record.provider, source).map_err(|error| fail(message(&error)))?;
    let provider = LuaProvider::new(lua, &record.provider, &record.params, &function, Ok(source.to_owned()), seed)
        .map_err(|error| fail(message(&error)))?;
    Ok(Box::new(provider))
}
