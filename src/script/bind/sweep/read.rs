//! What a script gives `sweep{...}`, checked.

use std::rc::Rc;

use mlua::{Lua, Value as LuaValue};

use super::search::search_of;
use super::space::{condition, space_of};
use super::stop::stop_of;
use super::{Maker, ScriptedSweep};
use crate::script::bind::Fault;
use crate::script::convert;
use crate::script::host::Host;
use crate::suggest;
use crate::sweep::outcome::{METRICS, goal_of};
use crate::sweep::space::Space;
use crate::sweep::{Definition, Goal};
use crate::value::Value;

const KEYS: [&str; 9] = ["name", "axes", "experiment", "metric", "goal", "except", "repeats", "stop", "search"];

/// The sweep that `given` describes.
pub(super) fn sweep(lua: &Lua, host: &Rc<Host>, given: &LuaValue) -> Result<ScriptedSweep, Fault> {
    let LuaValue::Table(given) = given else {
        return Err(Fault::Line(format!("the sweep must be a table, got {}", convert::describe(given))));
    };
    let (mut name, mut space, mut maker) = ("sweep".to_owned(), None, None);
    let (mut metric, mut goal) = ("mean_reward".to_owned(), None);
    let (mut except, mut repeats, mut stop, mut search) = (None, None, None, None);
    for (key, value) in convert::entries(given, "sweep")? {
        let key = convert::key_text(&key);
        match key.as_str() {
            "name" => {
                name = convert::text(&value, &key)?;
                if name.is_empty() {
                    return Err(Fault::Line("sweep: `name` is empty; leave it out or say one".to_owned()));
                }
            }
            "axes" => space = Some(space_of(&value, &key)?),
            "experiment" => match value {
                LuaValue::Function(function) => maker = Some(Maker::Function(function)),
                other => {
                    return Err(Fault::Line(format!(
                        "`experiment` must be a function that makes a configuration of a point, got {}",
                        convert::describe(&other)
                    )));
                }
            },
            "metric" => metric = convert::text(&value, &key)?,
            "goal" => goal = Some(read_goal(&convert::text(&value, &key)?)?),
            "except" => except = Some(condition(&value, &key)?),
            "repeats" => repeats = Some(read_repeats(&value, &key)?),
            "stop" => stop = Some(stop_of(&value)?),
            "search" => search = Some(search_of(&value)?),
            _ => {
                let hint = suggest::hint(&key, "it takes", KEYS);
                return Err(Fault::Line(format!("sweep: unknown key `{key}`; {hint}")));
            }
        }
    }
    let maker = maker.ok_or_else(|| Fault::Line("sweep: `experiment` is missing".to_owned()))?;
    let by_itself = goal_of(&metric).ok_or_else(|| {
        let known = METRICS.into_iter().chain(crate::eval::metrics::TABLE.iter().map(|metric| metric.name));
        Fault::Line(format!("`metric`: unknown metric `{metric}`; {}", suggest::hint(&metric, "there are", known)))
    })?;
    if search.is_some() {
        let why = [
            (space.is_some(), "axes", "the search proposes the points; give it what would be an axis"),
            (
                except.is_some(),
                "except",
                "what it never comes out of, a search does not learn to avoid; let `experiment` raise an error there",
            ),
        ];
        if let Some((_, key, why)) = why.into_iter().find(|(given, ..)| *given) {
            return Err(Fault::Line(format!("sweep: `{key}` does not go with `search`: {why}")));
        }
    }
    if let Some(search) = &mut search {
        space = Some(Space::Points(Vec::new()));
        search.extent.seeds = repeats.take().unwrap_or_default();
    }
    let mut space = space.unwrap_or(Space::Product(Vec::new()));
    if let Some(repeats) = repeats {
        space = Space::Product(vec![space, Space::axis("seed", repeats)]);
    }
    if let Some(condition) = except {
        space = Space::Except(condition, Box::new(space));
    }
    let (stopping, watch) = stop.map_or((None, None), |(stopping, watch)| (Some(stopping), watch));
    let definition = Definition { name, metric, goal: goal.unwrap_or(by_itself), stopping };
    let (lua, host, paths) = (lua.clone(), Rc::clone(host), Vec::new());
    Ok(ScriptedSweep { lua, host, definition, space, maker, paths, watch, search })
}

fn read_goal(text: &str) -> Result<Goal, Fault> {
    Goal::ALL.into_iter().find(|goal| goal.name() == text).ok_or_else(|| {
        let names = Goal::ALL.map(Goal::name);
        Fault::Line(format!("`goal`: unknown goal `{text}`; {}", suggest::hint(text, "there are", names)))
    })
}

/// More seeds for each point than anybody waits for.
const MOST_REPEATS: i64 = 1_000_000;

/// The seeds of repeats: a list of them, or how many, from 1.
fn read_repeats(value: &LuaValue, name: &str) -> Result<Vec<Value>, Fault> {
    if let LuaValue::Table(_) = value {
        return match convert::read(value, name)? {
            Value::List(seeds) if seeds.iter().all(|seed| seed.as_count().is_some()) => Ok(seeds),
            _ => Err(Fault::Line(format!("`{name}` must be a count or a list of seeds, each an integer from 0"))),
        };
    }
    let count = convert::integer(value, name)?;
    if count < 1 {
        return Err(Fault::Line(format!("`{name}` must be at least 1, got {count}")));
    }
    if count > MOST_REPEATS {
        return Err(Fault::Line(format!("`{name}` must be at most {MOST_REPEATS}, got {count}")));
    }
    Ok((1..=count).map(Value::Int).collect())
}
