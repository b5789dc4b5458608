//! What an array does under Lua's operators: `a[i]`, `#a`, `a + b`.

use mlua::{IntoLua, Lua, MetaMethod, UserDataMethods, Value as LuaValue};

use super::{LuaArray, admit, own};
use crate::array::{Array, Comparison, Operation};
use crate::script::convert;
use crate::script::error::fail;
use crate::suggest;
use crate::value::Value;

pub(super) fn add<M: UserDataMethods<LuaArray>>(methods: &mut M) {
    methods.add_meta_method(MetaMethod::Index, |lua, this, key: LuaValue| match &key {
        LuaValue::Integer(index) => item(lua, &this.0, *index),
        LuaValue::String(name) => {
            let name = name.to_string_lossy();
            let hint = suggest::hint(&name, "it has shape, dtype and the methods", super::methods::NAMES);
            Err(fail(lua, format!("an array has no field `{name}`; {hint}")))
        }
        other => Err(fail(lua, format!("an array's index must be an integer, got {}", convert::describe(other)))),
    });
    methods.add_meta_method_mut(MetaMethod::NewIndex, |lua, this, (key, value): (LuaValue, LuaValue)| {
        let index = convert::integer(&key, "index").map_err(|line| fail(lua, line))?;
        let length = this.0.shape().first().copied().unwrap_or(0);
        let Some(position) = usize::try_from(index - 1).ok().filter(|position| *position < length) else {
            return Err(fail(lua, format!("index {index} is outside 1 to {length}")));
        };
        if this.0.shape().len() == 1 {
            let value = convert::read(&value, "value").map_err(|line| fail(lua, line))?;
            return this.0.set(position, &value).map_err(|problem| fail(lua, problem));
        }
        let part = match own(&value) {
            Some(part) => part,
            None => convert::read(&value, "value")
                .and_then(|value| Array::from_value(&value, this.0.dtype()).map_err(|problem| problem.to_string()))
                .map_err(|line| fail(lua, line))?,
        };
        this.0.put(0, position, &part).map_err(|problem| fail(lua, problem))
    });
    methods.add_meta_method(MetaMethod::Len, |_, this, ()| Ok(this.0.shape().first().copied().unwrap_or(0)));
    methods.add_meta_method(MetaMethod::ToString, |_, this, ()| {
        Ok(format!("array({}, {:?})", this.0.dtype(), this.0.shape()))
    });
    methods.add_meta_method(MetaMethod::Unm, |lua, this, ()| {
        combine(lua, &this.0, Operation::Multiply, &LuaValue::Integer(-1))
    });
    for (method, operation) in [
        (MetaMethod::Add, Operation::Add),
        (MetaMethod::Sub, Operation::Subtract),
        (MetaMethod::Mul, Operation::Multiply),
        (MetaMethod::Div, Operation::Divide),
        (MetaMethod::IDiv, Operation::FloorDivide),
        (MetaMethod::Mod, Operation::Remainder),
        (MetaMethod::Pow, Operation::Power),
    ] {
        methods.add_meta_function(method, move |lua, (a, b): (LuaValue, LuaValue)| match (own(&a), own(&b)) {
            (Some(left), _) => combine(lua, &left, operation, &b),
            (None, Some(right)) => {
                let left = operand(lua, &right, &a)?;
                compute(lua, &left, operation, &right)
            }
            (None, None) => Err(fail(lua, "arithmetic with an array needs an array")),
        });
    }
}

/// The element at `index` from 1 of a vector, or the row of an array of higher rank; nothing
/// beyond the end, so that `ipairs` stops there.
fn item(lua: &Lua, array: &Array, index: i64) -> mlua::Result<LuaValue> {
    let Some((length, inner)) = array.shape().split_first() else {
        return Err(fail(lua, "an array of rank 0 has no elements to index"));
    };
    let position = match index.checked_sub(1).map(usize::try_from) {
        Some(Ok(position)) if position < *length => position,
        _ => return Ok(LuaValue::Nil),
    };
    if inner.is_empty() {
        return match array.get(position) {
            Some(value) => convert::write(lua, &value),
            None => Ok(LuaValue::Nil),
        };
    }
    array.row(position).map(LuaArray::new).into_lua(lua)
}

/// The other operand of an operation with `array`.
pub(super) fn operand(lua: &Lua, array: &Array, value: &LuaValue) -> mlua::Result<Array> {
    let scalar = |value: Value| array.scalar_like(&value).map_err(|problem| fail(lua, problem));
    match value {
        LuaValue::Integer(value) => scalar(Value::Int(*value)),
        LuaValue::Number(value) => scalar(Value::Float(*value)),
        other => own(other).ok_or_else(|| {
            let found = convert::describe(other);
            fail(lua, format!("arithmetic with an array needs a number or an array, got {found}"))
        }),
    }
}

fn combine(lua: &Lua, left: &Array, operation: Operation, right: &LuaValue) -> mlua::Result<LuaArray> {
    compute(lua, left, operation, &operand(lua, left, right)?)
}

fn compute(lua: &Lua, left: &Array, operation: Operation, right: &Array) -> mlua::Result<LuaArray> {
    admit(lua, broadcast(left.shape(), right.shape())).map_err(|line| fail(lua, line))?;
    left.combine(operation, right).map(LuaArray::new).map_err(|problem| fail(lua, problem))
}

/// The elements of `left` compared with `right`, as booleans.
pub(super) fn compare(lua: &Lua, left: &Array, comparison: Comparison, right: &LuaValue) -> mlua::Result<LuaArray> {
    let right = operand(lua, left, right)?;
    admit(lua, broadcast(left.shape(), right.shape())).map_err(|line| fail(lua, line))?;
    left.compare(comparison, &right).map(LuaArray::new).map_err(|problem| fail(lua, problem))
}

/// The elements of what two shapes come to together (of shapes that do not fit, any number).
pub(super) fn broadcast(left: &[usize], right: &[usize]) -> usize {
    let (long, short) = if left.len() < right.len() { (right, left) } else { (left, right) };
    let ones = std::iter::repeat_n(&1, long.len() - short.len());
    let lengths = long.iter().zip(ones.chain(short));
    lengths.fold(1, |size, (a, b)| size.saturating_mul(if *a == 1 { *b } else { *a }))
}
