//! The methods of an array. Indices and axes count from 1 here, ranges include their end, and
//! negative ones count from the end, as in Lua's own `string.sub`.

use mlua::{AnyUserData, Function, IntoLua, Lua, UserDataMethods, Value as LuaValue, Variadic};

use super::super::Fault;
use super::{LuaArray, admit, dtype_of, operators, shape_of};
use crate::array::{Array, ArrayError, Comparison, DType};
use crate::script::convert;
use crate::value::Value;

/// Their names, for whoever mistypes one.
pub(super) const NAMES: [&str; 43] = [
    "abs",
    "all",
    "any",
    "argmax",
    "argmin",
    "astype",
    "ceil",
    "clip",
    "copy",
    "cumsum",
    "dot",
    "eq",
    "exp",
    "fill",
    "floor",
    "ge",
    "get",
    "gt",
    "le",
    "log",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "lt",
    "map",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "ne",
    "norm",
    "reshape",
    "round",
    "set",
    "sign",
    "slice",
    "sort",
    "sqrt",
    "sum",
    "totable",
    "transpose",
];

pub(super) fn add<M: UserDataMethods<LuaArray>>(methods: &mut M) {
    add_reductions(methods);
    add_parts(methods);
    methods.add_method("totable", |lua, this, ()| convert::write(lua, &this.0.to_value()));
    methods.add_method("copy", |lua, this, ()| raised(lua, copy(lua, this.0.clone())));
    methods.add_method("astype", |lua, this, dtype: LuaValue| {
        raised(lua, dtype_of(&dtype).and_then(|dtype| copy(lua, this.0.astype(dtype).map_err(told)?)))
    });
    methods.add_method("reshape", |lua, this, shape: LuaValue| {
        raised(lua, shape_of(lua, &shape).and_then(|shape| copy(lua, this.0.clone().reshape(&shape).map_err(told)?)))
    });
    methods.add_method("transpose", |lua, this, ()| raised(lua, copy(lua, this.0.transpose())));
    // The function may touch the array: it is not borrowed meanwhile.
    methods.add_function("map", |lua, (this, function, dtype): (AnyUserData, LuaValue, LuaValue)| {
        let array = this.borrow::<LuaArray>()?.0.clone();
        raised(lua, map(lua, &array, &function, &dtype))
    });
    for (name, comparison) in [
        ("eq", Comparison::Equal),
        ("ne", Comparison::NotEqual),
        ("lt", Comparison::Less),
        ("le", Comparison::LessOrEqual),
        ("gt", Comparison::Greater),
        ("ge", Comparison::GreaterOrEqual),
    ] {
        methods
            .add_method(name, move |lua, this, other: LuaValue| operators::compare(lua, &this.0, comparison, &other));
    }
}

fn add_reductions<M: UserDataMethods<LuaArray>>(methods: &mut M) {
    methods.add_method("sum", |lua, this, axis: LuaValue| {
        raised(lua, reduce(lua, &this.0, &axis, |array| Some(Value::Float(array.sum())), Array::sum_along))
    });
    methods.add_method("mean", |lua, this, axis: LuaValue| {
        raised(lua, reduce(lua, &this.0, &axis, |array| Some(Value::Float(array.mean())), Array::mean_along))
    });
    methods.add_method("min", |lua, this, axis: LuaValue| {
        raised(lua, reduce(lua, &this.0, &axis, Array::min, Array::min_along))
    });
    methods.add_method("max", |lua, this, axis: LuaValue| {
        raised(lua, reduce(lua, &this.0, &axis, Array::max, Array::max_along))
    });
}

fn add_parts<M: UserDataMethods<LuaArray>>(methods: &mut M) {
    methods.add_method("get", |lua, this, indices: Variadic<LuaValue>| raised(lua, get(lua, &this.0, &indices)));
    methods.add_method_mut("set", |lua, this, mut given: Variadic<LuaValue>| {
        let value = given.pop().unwrap_or(LuaValue::Nil);
        raised(lua, set(&mut this.0, &given, &value))
    });
    methods.add_method_mut("fill", |lua, this, value: LuaValue| raised(lua, fill(&mut this.0, &value)));
    methods.add_method("slice", |lua, this, (axis, first, last, step): (LuaValue, LuaValue, LuaValue, LuaValue)| {
        raised(lua, slice(lua, &this.0, &axis, [&first, &last, &step]))
    });
}

pub(super) fn raised<T>(lua: &Lua, result: Result<T, Fault>) -> mlua::Result<T> {
    result.map_err(|fault| fault.raise(lua))
}

pub(super) fn told(problem: ArrayError) -> Fault {
    let line = match problem {
        // A script counts from 1.
        ArrayError::Empty { axis, shape } => {
            format!("axis {} of shape {shape:?} is empty and has no extreme", axis + 1)
        }
        other => other.to_string(),
    };
    Fault::Line(line)
}

/// A new array in the script's hands.
fn copy(lua: &Lua, array: Array) -> Result<LuaArray, Fault> {
    admit(lua, array.len())?;
    Ok(LuaArray::new(array))
}

/// `axis` from 1, or from -1 backwards, as an axis from 0.
pub(super) fn axis_of(array: &Array, axis: &LuaValue) -> Result<usize, Fault> {
    let given = convert::integer(axis, "axis")?;
    let rank = array.shape().len();
    let found = position(given, rank).filter(|axis| *axis < rank);
    found.ok_or_else(|| Fault::Line(format!("axis {given} does not exist: the array has {rank} (from 1)")))
}

/// `index` from 1, or from -1 backwards, as a position from 0.
fn position(index: i64, length: usize) -> Option<usize> {
    let length = i64::try_from(length).ok()?;
    let from_start = if index < 0 { length.checked_add(index)? } else { index.checked_sub(1)? };
    usize::try_from(from_start).ok()
}

fn reduce(
    lua: &Lua,
    array: &Array,
    axis: &LuaValue,
    whole: fn(&Array) -> Option<Value>,
    along: fn(&Array, usize) -> Result<Array, ArrayError>,
) -> Result<LuaValue, Fault> {
    if axis.is_nil() {
        return Ok(convert::write(lua, &whole(array).unwrap_or_default())?);
    }
    let axis = axis_of(array, axis)?;
    admit(lua, without(array, axis).iter().product())?;
    Ok(along(array, axis).map(LuaArray::new).map_err(told)?.into_lua(lua)?)
}

/// The shape of what is reduced along `axis`.
pub(super) fn without(array: &Array, axis: usize) -> Vec<usize> {
    array.shape().iter().enumerate().filter(|(at, _)| *at != axis).map(|(_, length)| *length).collect()
}

fn positions(array: &Array, indices: &[LuaValue]) -> Result<Vec<usize>, Fault> {
    let shape = array.shape();
    if indices.len() > shape.len() {
        return Err(Fault::Line(format!("{} indices for {} axes", indices.len(), shape.len())));
    }
    let each = indices.iter().zip(shape).enumerate().map(|(axis, (index, length))| {
        let given = convert::integer(index, &format!("index {}", axis + 1))?;
        let found = position(given, *length).filter(|position| position < length);
        found.ok_or_else(|| Fault::Line(format!("index {given} is outside axis {} of length {length}", axis + 1)))
    });
    each.collect()
}

/// The element at `indices`, or the part where there are fewer of them than axes.
fn get(lua: &Lua, array: &Array, indices: &[LuaValue]) -> Result<LuaValue, Fault> {
    let positions = positions(array, indices)?;
    if let Some(at) = array.position(&positions) {
        return Ok(convert::write(lua, &array.get(at).unwrap_or_default())?);
    }
    let mut part = array.clone();
    for position in positions {
        part = part.pick(0, position).map_err(told)?;
    }
    Ok(copy(lua, part)?.into_lua(lua)?)
}

fn set(array: &mut Array, indices: &[LuaValue], value: &LuaValue) -> Result<(), Fault> {
    let positions = positions(array, indices)?;
    let Some(at) = array.position(&positions) else {
        let (found, rank) = (indices.len(), array.shape().len());
        return Err(Fault::Line(format!(
            "set takes an index for each axis and a value: {found} indices for {rank} axes"
        )));
    };
    array.set(at, &convert::read(value, "value")?).map_err(told)
}

fn fill(array: &mut Array, value: &LuaValue) -> Result<(), Fault> {
    let value = convert::read(value, "value")?;
    for at in 0..array.len() {
        array.set(at, &value).map_err(told)?;
    }
    Ok(())
}

/// The positions from `first` to `last`, both included, in steps.
fn slice(lua: &Lua, array: &Array, axis: &LuaValue, [first, last, step]: [&LuaValue; 3]) -> Result<LuaArray, Fault> {
    let axis = axis_of(array, axis)?;
    let length = array.shape().get(axis).copied().unwrap_or(0);
    let end = |given: &LuaValue, name: &str, default: i64| match given {
        LuaValue::Nil => Ok(default),
        given => convert::integer(given, name),
    };
    let (first, last) = (end(first, "first", 1)?, end(last, "last", -1)?);
    let step = usize::try_from(end(step, "step", 1)?).ok().filter(|step| *step > 0);
    let step = step.ok_or_else(|| Fault::Line("`step` must be positive".to_owned()))?;
    let outside = || Fault::Line(format!("slice {first} to {last} is outside axis {} of length {length}", axis + 1));
    let start = position(first, length).ok_or_else(outside)?;
    // Before the first position there is nothing: an empty slice.
    let stop = match position(last, length) {
        Some(last) => last + 1,
        None if last == 0 || last == -1 => 0,
        None => return Err(outside()),
    };
    let part = array.slice(axis, start.min(stop), stop, step).map_err(|_| outside())?;
    copy(lua, part)
}

/// `function` of every element.
fn map(lua: &Lua, array: &Array, function: &LuaValue, dtype: &LuaValue) -> Result<LuaArray, Fault> {
    let LuaValue::Function(function) = function else {
        return Err(Fault::Line(format!("map: expected a function, got {}", convert::describe(function))));
    };
    let dtype = if dtype.is_nil() { DType::F64 } else { dtype_of(dtype)? };
    admit(lua, array.len())?;
    let call = |function: &Function, value: Value| -> Result<Value, Fault> {
        let result: LuaValue = function.call(convert::write(lua, &value)?)?;
        Ok(convert::read(&result, "what the function returned")?)
    };
    let mapped = array.map::<MapFault>(dtype, |value| call(function, value).map_err(MapFault));
    mapped.map(LuaArray::new).map_err(|fault| fault.0)
}

/// A fault of `map`, of the function or of what it returned.
struct MapFault(Fault);

impl From<ArrayError> for MapFault {
    fn from(problem: ArrayError) -> Self {
        Self(Fault::Line(format!("map: {problem}")))
    }
}
