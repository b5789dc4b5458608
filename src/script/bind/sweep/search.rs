//! Searches in a script: the Parzen estimator, and samplers of the script's own.

use mlua::{Function, Lua, Table, UserData, Value as LuaValue};

use super::space::{drawn_axes, table};
use crate::random::Rng;
use crate::script::bind::random::{LuaRng, seed};
use crate::script::bind::{Fault, Module};
use crate::script::convert;
use crate::script::error::message;
use crate::suggest;
use crate::sweep::Goal;
use crate::sweep::distribution::Distribution;
use crate::sweep::search::{Extent, Sampler};
use crate::sweep::tpe::Tpe;
use crate::value::Map;

/// A search in a script's hands.
#[derive(Clone)]
pub(super) struct LuaSearch {
    kind: Kind,
    pub(super) extent: Extent,
    seed: u64,
}

#[derive(Clone)]
enum Kind {
    Tpe {
        axes: Vec<(String, Distribution)>,
        startup: u64,
    },
    /// The script's table, its `ask` and its `tell`.
    Own(Table, Function, Option<Function>),
}

impl UserData for LuaSearch {
    fn add_methods<M: mlua::UserDataMethods<Self>>(methods: &mut M) {
        crate::script::bind::named(methods, "skyfall.SweepSearch");
    }
}

impl LuaSearch {
    /// The sampler, at its beginning.
    pub(super) fn sampler(&self, lua: &Lua, goal: Goal) -> Box<dyn Sampler> {
        match &self.kind {
            Kind::Tpe { axes, startup } => {
                let mut tpe = Tpe::new(axes.clone(), self.seed, goal);
                tpe.startup = *startup;
                Box::new(tpe)
            }
            Kind::Own(own, ask, tell) => Box::new(OwnSampler {
                lua: lua.clone(),
                own: own.clone(),
                ask: ask.clone(),
                tell: tell.clone(),
                seed: self.seed,
            }),
        }
    }
}

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module
        .function("tpe", |_, _, (count, axes, options): (LuaValue, LuaValue, LuaValue)| {
            let (extent, seed, startup) = read(&count, &options, true)?;
            let axes = drawn_axes(&axes)?;
            if axes.is_empty() {
                return Err(Fault::Line("tpe: there are no axes".to_owned()));
            }
            Ok(LuaSearch { kind: Kind::Tpe { axes, startup }, extent, seed })
        })?
        .function("search", |_, _, (count, sampler, options): (LuaValue, LuaValue, LuaValue)| {
            let (extent, seed, _) = read(&count, &options, false)?;
            let own = table(&sampler, "sampler")?;
            let function = |name: &str| match own.get::<LuaValue>(name)? {
                LuaValue::Nil => Ok(None),
                LuaValue::Function(function) => Ok(Some(function)),
                other => Err(Fault::Line(format!("`{name}` must be a function, got {}", convert::describe(&other)))),
            };
            let ask = function("ask")?.ok_or_else(|| Fault::Line("search: the sampler has no `ask`".to_owned()))?;
            let tell = function("tell")?;
            Ok(LuaSearch { kind: Kind::Own(own, ask, tell), extent, seed })
        })
}

/// How many trials, the seed, and how many come before the first estimate.
fn read(count: &LuaValue, options: &LuaValue, startup: bool) -> Result<(Extent, u64, u64), Fault> {
    let whole = |value: &LuaValue, name: &str, least: i64| {
        let given = convert::integer(value, name)?;
        let enough = u64::try_from(given).ok().filter(|_| given >= least);
        enough.ok_or_else(|| format!("`{name}` must be at least {least}, got {given}"))
    };
    let mut extent = Extent { points: whole(count, "n", 0)?, ahead: 4, seeds: Vec::new() };
    let (mut seeded, mut first) = (0, 10);
    if !options.is_nil() {
        for (key, value) in convert::entries(&table(options, "options")?, "options")? {
            match convert::key_text(&key).as_str() {
                "seed" => seeded = seed(&value)?,
                "ahead" => extent.ahead = whole(&value, "ahead", 1)?,
                "startup" if startup => first = whole(&value, "startup", 0)?,
                other => {
                    let known = ["seed", "ahead"].into_iter().chain(startup.then_some("startup"));
                    let hint = suggest::hint(other, "it takes", known);
                    return Err(Fault::Line(format!("unknown option `{other}`; {hint}")));
                }
            }
        }
    }
    Ok((extent, seeded, first))
}

/// The search that `value` is.
pub(super) fn search_of(value: &LuaValue) -> Result<LuaSearch, Fault> {
    match value {
        LuaValue::UserData(data) if data.is::<LuaSearch>() => Ok(data.borrow::<LuaSearch>()?.clone()),
        other => Err(Fault::Line(format!(
            "`search` must be a search, `sweep.tpe(n, axes)` or `sweep.search(n, sampler)`, got {}",
            convert::describe(other)
        ))),
    }
}

/// A sampler that the script defines.
struct OwnSampler {
    lua: Lua,
    own: Table,
    ask: Function,
    tell: Option<Function>,
    seed: u64,
}

impl Sampler for OwnSampler {
    fn ask(&mut self, index: u64) -> Result<Map, String> {
        let rng = LuaRng(Rng::named(self.seed, &format!("search/{index}")));
        let asked = self.ask.call::<LuaValue>((self.own.clone(), rng, index + 1)).map_err(|error| message(&error))?;
        match &asked {
            LuaValue::Table(_) => convert::read_map(&asked, "point"),
            other => Err(format!("the sampler's `ask` must return a point, got {}", convert::describe(other))),
        }
    }

    fn tell(&mut self, point: &Map, value: Option<f64>) -> Result<(), String> {
        let Some(tell) = &self.tell else { return Ok(()) };
        let told =
            convert::write_map(&self.lua, point).and_then(|point| tell.call::<()>((self.own.clone(), point, value)));
        told.map_err(|error| message(&error))
    }
}
