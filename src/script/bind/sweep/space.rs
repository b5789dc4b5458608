//! Spaces in a script: every helper checks what it is given where it is called.

use mlua::{Function, Table, UserData, UserDataMethods, Value as LuaValue};

use crate::script::bind::{Fault, Module};
use crate::script::convert;
use crate::script::error::{fail, message};
use crate::sweep::SweepError;
use crate::sweep::distribution::Distribution;
use crate::sweep::space::{Condition, Draws, Method, Space};
use crate::value::{Map, Value};

/// A space in a script's hands.
#[derive(Clone)]
pub(super) struct LuaSweepSpace(Space);

/// A distribution in a script's hands.
struct LuaDistribution(Distribution);

impl UserData for LuaDistribution {
    fn add_methods<M: mlua::UserDataMethods<Self>>(methods: &mut M) {
        crate::script::bind::named(methods, "skyfall.SweepDistribution");
    }
}

impl UserData for LuaSweepSpace {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        crate::script::bind::named(methods, "skyfall.SweepSpace");
        methods.add_method("points", |lua, this, ()| {
            let points = lua.create_table()?;
            let gone = this.0.each(&mut |point| {
                let point = convert::write_map(lua, point).map_err(|error| SweepError::Space(message(&error)))?;
                points.raw_push(point).map_err(|error| SweepError::Space(message(&error)))
            });
            gone.map(|()| points).map_err(|error| fail(lua, error))
        });
    }
}

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module
        .function("grid", |_, _, given: LuaValue| grid(&given))?
        .function("zip", |_, _, given: LuaValue| zip(&given))?
        .function("list", |_, _, given: LuaValue| list(&given))?
        .function("chain", |_, _, given: LuaValue| {
            let items = table(&given, "spaces")?;
            let parts = convert::entries(&items, "spaces")?;
            let parts = parts.iter().map(|(key, part)| space_of(part, &convert::key_text(key)));
            Ok(LuaSweepSpace(Space::Chain(parts.collect::<Result<_, _>>()?)))
        })?
        .function("when", |_, _, (given, space): (LuaValue, LuaValue)| {
            let space = Box::new(space_of(&space, "space")?);
            Ok(LuaSweepSpace(Space::When(condition(&given, "condition")?, space)))
        })?
        .function("random", |_, _, (count, axes, options): (LuaValue, LuaValue, LuaValue)| {
            draws(Method::Random, &count, &axes, &options)
        })?
        .function("latin_hypercube", |_, _, (count, axes, options): (LuaValue, LuaValue, LuaValue)| {
            draws(Method::LatinHypercube, &count, &axes, &options)
        })?
        .function("sobol", |_, _, (count, axes, options): (LuaValue, LuaValue, LuaValue)| {
            draws(Method::Sobol, &count, &axes, &options)
        })?
        .function("uniform", |_, _, (low, high): (LuaValue, LuaValue)| {
            distribution(Distribution::Uniform { low: number(&low, "low")?, high: number(&high, "high")? })
        })?
        .function("log_uniform", |_, _, (low, high): (LuaValue, LuaValue)| {
            distribution(Distribution::LogUniform { low: number(&low, "low")?, high: number(&high, "high")? })
        })?
        .function("normal", |_, _, (mean, deviation): (LuaValue, LuaValue)| {
            distribution(Distribution::Normal {
                mean: number(&mean, "mean")?,
                deviation: number(&deviation, "deviation")?,
            })
        })?
        .function("integer", |_, _, (low, high): (LuaValue, LuaValue)| {
            let (low, high) = (convert::integer(&low, "low")?, convert::integer(&high, "high")?);
            distribution(Distribution::Integer { low, high })
        })?
        .function("choice", |_, _, values: LuaValue| {
            let read = convert::read(&values, "values")?;
            match read {
                Value::List(values) if !values.is_empty() => distribution(Distribution::Choice(values)),
                _ => Err(Fault::Line(format!("`choice` is of a list of values, got {}", convert::describe(&values)))),
            }
        })
}

fn number(value: &LuaValue, name: &str) -> Result<f64, Fault> {
    Ok(convert::number(value, name)?)
}

fn distribution(distribution: Distribution) -> Result<LuaDistribution, Fault> {
    distribution.check()?;
    Ok(LuaDistribution(distribution))
}

pub(super) fn table(value: &LuaValue, name: &str) -> Result<Table, Fault> {
    match value {
        LuaValue::Table(table) => Ok(table.clone()),
        other => Err(Fault::Line(format!("`{name}` must be a table, got {}", convert::describe(other)))),
    }
}

/// The space that `value` is; a table is a grid.
pub(super) fn space_of(value: &LuaValue, name: &str) -> Result<Space, Fault> {
    match value {
        LuaValue::UserData(data) => match data.borrow::<LuaSweepSpace>() {
            Ok(space) => Ok(space.0.clone()),
            Err(_) => Err(Fault::Line(format!("`{name}` must be a space, such as `sweep.grid` makes"))),
        },
        LuaValue::Table(_) => Ok(grid(value)?.0),
        other => Err(Fault::Line(format!("`{name}` must be a space, got {}", convert::describe(other)))),
    }
}

/// The condition that `value` is: a function of the point, or a table of values it must have.
pub(super) fn condition(value: &LuaValue, name: &str) -> Result<Condition, Fault> {
    match value {
        LuaValue::Function(function) => Ok(of_function(function.clone(), name.to_owned())),
        LuaValue::Table(_) => Ok(Condition::has(convert::read_map(value, name)?)),
        other => Err(Fault::Line(format!(
            "`{name}` must be a function of the point or a table of values, got {}",
            convert::describe(other)
        ))),
    }
}

fn of_function(function: Function, name: String) -> Condition {
    // The machine outlives every space that a script in it made.
    Condition::new(move |point| {
        let lua = function.weak_lua().try_upgrade().ok_or("the script is gone")?;
        let held = convert::write_map(&lua, point).and_then(|point| function.call::<LuaValue>(point));
        match held.map_err(|error| message(&error))? {
            LuaValue::Boolean(held) => Ok(held),
            other => Err(format!("`{name}` must return true or false, got {}", convert::describe(&other))),
        }
    })
}

/// The values of an axis: a list that is not empty.
fn values_of(value: &LuaValue, name: &str) -> Result<Vec<Value>, Fault> {
    if let LuaValue::UserData(data) = value
        && data.is::<LuaDistribution>()
    {
        return Err(Fault::Line(format!(
            "`{name}` is a distribution; draw it with `sweep.random(n, {{ {name} = ... }})`"
        )));
    }
    match convert::read(value, name)? {
        Value::List(values) => Ok(values),
        Value::Map(map) if map.is_empty() => Err(Fault::Line(format!("the axis `{name}` has no values"))),
        other => Err(Fault::Line(format!("the axis `{name}` must be a list of values, got {}", other.kind()))),
    }
}

/// Axes by name, ordered by it, then the spaces without a name in their order.
fn grid(given: &LuaValue) -> Result<LuaSweepSpace, Fault> {
    let entries = convert::entries(&table(given, "axes")?, "axes")?;
    let (spaces, axes): (Vec<_>, Vec<_>) = entries.into_iter().partition(|(key, _)| key.is_integer());
    let mut factors = Vec::new();
    for (key, value) in &axes {
        let name = convert::key_text(key);
        match value {
            LuaValue::UserData(data) if data.is::<LuaSweepSpace>() => {
                factors.push(Space::Under(name.clone(), Box::new(space_of(value, &name)?)));
            }
            value => factors.push(Space::axis(&name, values_of(value, &name)?)),
        }
    }
    for (key, value) in &spaces {
        factors.push(space_of(value, &format!("axes[{}]", convert::key_text(key)))?);
    }
    Ok(LuaSweepSpace(Space::Product(factors)))
}

fn zip(given: &LuaValue) -> Result<LuaSweepSpace, Fault> {
    let mut points: Vec<Map> = Vec::new();
    for (place, (key, value)) in convert::entries(&table(given, "axes")?, "axes")?.iter().enumerate() {
        let name = convert::key_text(key);
        let values = values_of(value, &name)?;
        if place == 0 {
            points.resize(values.len(), Map::new());
        }
        if values.len() != points.len() {
            let (found, wanted) = (values.len(), points.len());
            return Err(Fault::Line(format!("zip: the axis `{name}` has {found} values, the ones before {wanted}")));
        }
        for (point, value) in points.iter_mut().zip(values) {
            point.insert(name.clone(), value);
        }
    }
    Ok(LuaSweepSpace(Space::Points(points)))
}

fn list(given: &LuaValue) -> Result<LuaSweepSpace, Fault> {
    let mut points = Vec::new();
    for point in values_of(given, "points")? {
        match point {
            Value::Map(point) => points.push(point),
            other => return Err(Fault::Line(format!("list: each point must be a table, got {}", other.kind()))),
        }
    }
    Ok(LuaSweepSpace(Space::Points(points)))
}

/// Axes drawn together.
fn draws(method: Method, count: &LuaValue, axes: &LuaValue, options: &LuaValue) -> Result<LuaSweepSpace, Fault> {
    let given = convert::integer(count, "n")?;
    let count = u64::try_from(given).map_err(|_| Fault::Line(format!("`n` must not be negative, got {given}")))?;
    let read = drawn_axes(axes)?;
    let mut seed = Some(0);
    if !options.is_nil() {
        for (key, value) in convert::entries(&table(options, "options")?, "options")? {
            match convert::key_text(&key).as_str() {
                "seed" => seed = Some(crate::script::bind::random::seed(&value)?),
                "shift" if method == Method::Sobol && value == LuaValue::Boolean(false) => seed = None,
                "shift" if method == Method::Sobol && value == LuaValue::Boolean(true) => {}
                other => return Err(Fault::Line(format!("unknown option `{other}`; there is `seed`"))),
            }
        }
    }
    Ok(LuaSweepSpace(Space::Draws(Draws { method, count, seed, axes: read })))
}

/// Axes with what each is drawn from, ordered by name.
pub(super) fn drawn_axes(axes: &LuaValue) -> Result<Vec<(String, Distribution)>, Fault> {
    let mut read = Vec::new();
    for (key, value) in convert::entries(&table(axes, "axes")?, "axes")? {
        let name = convert::key_text(&key);
        let distribution = match &value {
            LuaValue::UserData(data) => match data.borrow::<LuaDistribution>() {
                Ok(distribution) => distribution.0.clone(),
                Err(_) => return Err(Fault::Line(format!("the axis `{name}` must be a distribution"))),
            },
            // A list of values is chosen from.
            value => Distribution::Choice(values_of(value, &name)?),
        };
        read.push((name, distribution));
    }
    Ok(read)
}
