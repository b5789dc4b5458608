//! `skyfall.random`.

use mlua::{Function, IntoLua, Lua, Table, UserData, UserDataMethods, Value};

use super::array::{LuaArray, shape_of};
use super::{Fault, Module};
use crate::array::{Array, DType, Item, Scalar};
use crate::random::{Rng, RngState};
use crate::script::convert;
use crate::script::error::fail;

mod choose;

/// A random stream in a script's hands.
pub(super) struct LuaRng(pub(super) Rng);

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module
        .function("rng", |_, _, value: Value| Ok(LuaRng(Rng::new(seed(&value)?))))?
        .function("named", |_, _, (value, name): (Value, Value)| {
            Ok(LuaRng(Rng::named(seed(&value)?, &convert::text(&name, "name")?)))
        })
}

/// The stream called `name` under `seed`.
pub(super) fn stream(seed: u64, name: &str) -> LuaRng {
    LuaRng(Rng::named(seed, name))
}

/// Has `math.random` draw under `seed` from now on; a seed under which it goes on from what it
/// would have drawn.
pub(super) fn reseed(lua: &Lua, seed: i64) -> mlua::Result<i64> {
    let math: Table = lua.globals().get("math")?;
    let next = math.get::<Function>("random")?.call(0)?;
    math.get::<Function>("randomseed")?.call::<()>(seed)?;
    Ok(next)
}

/// A seed: an integer from 0.
pub(super) fn seed(value: &Value) -> Result<u64, String> {
    let seed = convert::integer(value, "seed")?;
    u64::try_from(seed).map_err(|_| format!("`seed` must not be negative, got {seed}"))
}

/// The most elements of a list that is drawn: far more than a script has use for.
const MOST: i64 = 1 << 27;

/// How many elements of a list are asked for.
fn count(value: &Value, name: &str) -> Result<usize, String> {
    let count = convert::integer(value, name)?;
    let within = usize::try_from(count).ok().filter(|_| count <= MOST);
    within.ok_or_else(|| format!("`{name}` must be from 0 to {MOST}, got {count}"))
}

/// `value` as a number, `default` if it is absent.
fn number(value: &Value, name: &str, default: f64) -> Result<f64, String> {
    if value.is_nil() { Ok(default) } else { convert::number(value, name) }
}

/// A number that measures a spread: finite, and not negative.
fn spread(value: &Value, name: &str) -> Result<f64, String> {
    let spread = number(value, name, 1.0)?;
    if spread.is_finite() && spread >= 0.0 {
        return Ok(spread);
    }
    Err(format!("`{name}` must be finite and not negative, got {}", convert::describe(value)))
}

/// One draw, or where a shape is given an array of them.
fn draws<T: Item>(lua: &Lua, shape: &Value, mut draw: impl FnMut() -> T) -> Result<Value, Fault> {
    if shape.is_nil() {
        return Ok(convert::write(lua, &draw().to_scalar().into())?);
    }
    let shape = shape_of(lua, shape)?;
    let items = (0..shape.iter().product()).map(|_| draw()).collect();
    let array = Array::from_vec(&shape, items).map_err(|error| error.to_string())?;
    Ok(LuaArray::new(array).into_lua(lua)?)
}

/// A method whose errors are plain lines.
fn method<A, R>(
    methods: &mut impl UserDataMethods<LuaRng>,
    name: &'static str,
    method: impl Fn(&Lua, &mut Rng, A) -> Result<R, Fault> + 'static,
) where
    A: mlua::FromLuaMulti,
    R: mlua::IntoLuaMulti,
{
    methods.add_method_mut(name, move |lua, this, arguments: A| {
        method(lua, &mut this.0, arguments).map_err(|fault| match fault {
            Fault::Line(line) => fail(lua, format!("rng:{name}: {line}")),
            Fault::Lua(error) => error,
        })
    });
}

impl UserData for LuaRng {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        crate::script::bind::named(methods, "skyfall.Rng");
        method(methods, "uniform", |lua, rng, (low, high, shape): (Value, Value, Value)| {
            let (low, high) = (number(&low, "low", 0.0)?, number(&high, "high", 1.0)?);
            if !(high - low).is_finite() || high < low {
                return Err(Fault::Line(format!("`low` to `high` must be a finite range, got {low} to {high}")));
            }
            draws(lua, &shape, || rng.uniform(low, high))
        });
        method(methods, "normal", |lua, rng, (mean, deviation, shape): (Value, Value, Value)| {
            let (mean, deviation) = (number(&mean, "mean", 0.0)?, spread(&deviation, "deviation")?);
            draws(lua, &shape, || mean + deviation * rng.standard_normal())
        });
        method(methods, "exponential", |lua, rng, (scale, shape): (Value, Value)| {
            let scale = spread(&scale, "scale")?;
            draws(lua, &shape, || scale * rng.standard_exponential())
        });
        method(methods, "geometric", |lua, rng, (p, shape): (Value, Value)| {
            let p = convert::number(&p, "p")?;
            if !(p > 0.0 && p <= 1.0) {
                return Err(Fault::Line(format!("`p` must be above 0 and at most 1, got {p}")));
            }
            draws(lua, &shape, || i64::try_from(rng.geometric(p)).unwrap_or(i64::MAX))
        });
        method(methods, "integers", integers);
        method(methods, "raw", |_, rng, ()| Ok(rng.next_u64().cast_signed()));
        method(methods, "spawn", |lua, rng, count: Value| {
            if count.is_nil() {
                return Ok(LuaRng(rng.spawn()).into_lua(lua)?);
            }
            let children = (0..self::count(&count, "count")?).map(|_| LuaRng(rng.spawn()));
            Ok(Value::Table(lua.create_sequence_from(children)?))
        });
        method(methods, "state", |lua, rng, ()| write_state(lua, &rng.state()));
        method(methods, "restore", |_, rng, state: Value| {
            rng.restore(&read_state(&state)?);
            Ok(())
        });
        choose::add(methods);
    }
}

fn integers(lua: &Lua, rng: &mut Rng, (low, high, shape, dtype): (Value, Value, Value, Value)) -> Result<Value, Fault> {
    let (low, high) = (convert::integer(&low, "low")?, convert::integer(&high, "high")?);
    if low >= high {
        return Err(Fault::Line(format!("`high` must be greater than `low`, got {low} and {high}")));
    }
    if dtype.is_nil() {
        return draws(lua, &shape, || rng.integers(low, high));
    }
    let dtype: DType = convert::text(&dtype, "dtype")?.parse().map_err(|error| format!("{error}"))?;
    let range = if dtype == DType::Bool { Some((0, 1)) } else { dtype.integer_range() };
    if !range.is_some_and(|(least, greatest)| least <= low && high - 1 <= greatest) {
        return Err(Fault::Line(format!("{low} to {} are not all integers of {dtype}", high - 1)));
    }
    let shape = if shape.is_nil() { Vec::new() } else { shape_of(lua, &shape)? };
    let items = rng.integers_of(dtype, low, high, shape.iter().product()).into_iter().map(Scalar::Int);
    let array = Array::from_scalars(dtype, &shape, items).map_err(|error| error.to_string())?;
    match array.get(0).filter(|_| shape.is_empty()) {
        Some(one) => Ok(convert::write(lua, &one)?),
        None => Ok(LuaArray::new(array).into_lua(lua)?),
    }
}

/// The state as NumPy shows it: 128-bit numbers as decimal text.
fn write_state(lua: &Lua, state: &RngState) -> Result<Table, Fault> {
    let (words, increment, kept) = state.words();
    let table = lua.create_table()?;
    table.raw_set("state", words.to_string())?;
    table.raw_set("inc", increment.to_string())?;
    table.raw_set("has_uint32", i64::from(kept.is_some()))?;
    table.raw_set("uinteger", kept.unwrap_or(0))?;
    table.raw_set("spawned", state.spawned())?;
    Ok(table)
}

fn read_state(value: &Value) -> Result<RngState, String> {
    let map = convert::read_map(value, "state")?;
    let wide = |name: &str| {
        let text = map.get(name).and_then(crate::value::Value::as_text);
        text.and_then(|text| text.parse().ok())
            .ok_or_else(|| format!("`state.{name}` must be a decimal number as text"))
    };
    let narrow = |name: &str| {
        let number = map.get(name).and_then(crate::value::Value::as_int);
        number
            .and_then(|number| u32::try_from(number).ok())
            .ok_or_else(|| format!("`state.{name}` must be an integer of 32 bits"))
    };
    let kept = if narrow("has_uint32")? == 0 { None } else { Some(narrow("uinteger")?) };
    Ok(RngState::from_words((wide("state")?, wide("inc")?, kept), narrow("spawned")?))
}
