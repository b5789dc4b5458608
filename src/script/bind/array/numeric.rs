//! What an array computes of itself and of others, element by element or along an axis.

use mlua::{IntoLua, Lua, MetaMethod, UserDataMethods, Value as LuaValue};

use super::super::Fault;
use super::methods::{axis_of, raised, told, without};
use super::operators::{broadcast, operand};
use super::{LuaArray, admit, own};
use crate::array::{Array, ArrayError, Function, Logic};
use crate::script::convert;
use crate::script::error::fail;
use crate::value::Value;

pub(super) fn add<M: UserDataMethods<LuaArray>>(methods: &mut M) {
    for (name, function) in [
        ("abs", Function::Abs),
        ("sign", Function::Sign),
        ("sqrt", Function::Sqrt),
        ("exp", Function::Exp),
        ("log", Function::Log),
        ("floor", Function::Floor),
        ("ceil", Function::Ceil),
        ("round", Function::Round),
    ] {
        methods
            .add_method(name, move |lua, this, ()| raised(lua, computed(lua, this.0.len(), || this.0.apply(function))));
    }
    add_choices(methods);
    add_logic(methods);
    add_orders(methods);
    methods.add_method("cumsum", |lua, this, axis: LuaValue| {
        let flat = axis.is_nil();
        let axis = if flat { Ok(0) } else { axis_of(&this.0, &axis) };
        raised(lua, axis.and_then(|axis| computed(lua, this.0.len(), || along(&this.0, flat)?.cumsum(axis))))
    });
    methods.add_method("norm", |lua, this, axis: LuaValue| match axis {
        LuaValue::Nil => Ok(LuaValue::Number(this.0.norm())),
        axis => {
            let axis = axis_of(&this.0, &axis);
            let norms = axis.and_then(|axis| reduced(lua, &this.0, axis, || this.0.norm_along(axis)));
            raised(lua, norms)?.into_lua(lua)
        }
    });
    methods.add_method("dot", |lua, this, other: LuaValue| raised(lua, dot(lua, &this.0, &other)));
}

/// An array in the script's hands, of `elements` at the most, once it may hold so many.
fn computed(
    lua: &Lua,
    elements: usize,
    compute: impl FnOnce() -> Result<Array, ArrayError>,
) -> Result<LuaArray, Fault> {
    admit(lua, elements)?;
    compute().map(LuaArray::new).map_err(told)
}

/// What `array` is reduced to along `axis`: more than it was, where that axis is empty.
fn reduced(
    lua: &Lua,
    array: &Array,
    axis: usize,
    compute: impl FnOnce() -> Result<Array, ArrayError>,
) -> Result<LuaArray, Fault> {
    computed(lua, array.len().max(without(array, axis).iter().product()), compute)
}

/// The array, as a vector if it is to be `flat`.
fn along(array: &Array, flat: bool) -> Result<Array, ArrayError> {
    if flat { array.clone().reshape(&[array.len()]) } else { Ok(array.clone()) }
}

fn add_choices<M: UserDataMethods<LuaArray>>(methods: &mut M) {
    type Choice = fn(&Array, &Array) -> Result<Array, ArrayError>;
    for (name, choice) in [("minimum", Array::minimum as Choice), ("maximum", Array::maximum as Choice)] {
        methods.add_method(name, move |lua, this, other: LuaValue| chosen(lua, &this.0, choice, &other));
    }
    methods.add_method("clip", |lua, this, (low, high): (LuaValue, LuaValue)| {
        let mut array = this.clone();
        for (limit, choice) in [(low, Array::maximum as Choice), (high, Array::minimum as Choice)] {
            if !limit.is_nil() {
                array = chosen(lua, &array.0, choice, &limit)?;
            }
        }
        Ok(array)
    });
}

fn chosen(
    lua: &Lua,
    array: &Array,
    choice: fn(&Array, &Array) -> Result<Array, ArrayError>,
    other: &LuaValue,
) -> mlua::Result<LuaArray> {
    let other = operand(lua, array, other)?;
    raised(lua, computed(lua, broadcast(array.shape(), other.shape()), || choice(array, &other)))
}

fn add_logic<M: UserDataMethods<LuaArray>>(methods: &mut M) {
    for (name, event, logic) in [
        ("logical_and", MetaMethod::BAnd, Logic::And),
        ("logical_or", MetaMethod::BOr, Logic::Or),
        ("logical_xor", MetaMethod::BXor, Logic::Xor),
    ] {
        methods.add_method(name, move |lua, this, other: LuaValue| both(lua, &this.0, logic, &other));
        methods.add_meta_function(event, move |lua, (a, b): (LuaValue, LuaValue)| match (own(&a), own(&b)) {
            (Some(a), Some(b)) if [&a, &b].iter().all(|side| matches!(side, Array::Bool(_))) => {
                let size = broadcast(a.shape(), b.shape());
                raised(lua, computed(lua, size, || a.logic(logic, &b)))
            }
            _ => Err(fail(lua, format!("`&`, `|` and `~` are for two bool arrays; of others there is `a:{name}(b)`"))),
        });
    }
    methods
        .add_method("logical_not", |lua, this, ()| raised(lua, computed(lua, this.0.len(), || Ok(this.0.negated()))));
    methods.add_meta_method(MetaMethod::BNot, |lua, this, _: LuaValue| match &this.0 {
        array @ Array::Bool(_) => raised(lua, computed(lua, array.len(), || Ok(array.negated()))),
        _ => Err(fail(lua, "`~` is for bool arrays; of others there is `a:logical_not()`")),
    });
    for (name, all) in [("any", false), ("all", true)] {
        methods.add_method(name, move |lua, this, axis: LuaValue| {
            // Whether all are true: whether the least truth is; whether any is: whether the greatest is.
            let truth = this.0.truth();
            if axis.is_nil() {
                let found = if all { truth.min() } else { truth.max() };
                return Ok(LuaValue::Boolean(found.map_or(all, |found| found == Value::Bool(true))));
            }
            let axis = axis_of(&this.0, &axis);
            let found = axis.and_then(|axis| {
                let along = || match truth.shape().get(axis) {
                    Some(0) => Array::filled(&without(&truth, axis), all),
                    _ if all => truth.min_along(axis),
                    _ => truth.max_along(axis),
                };
                reduced(lua, &this.0, axis, along)
            });
            raised(lua, found)?.into_lua(lua)
        });
    }
}

fn both(lua: &Lua, array: &Array, logic: Logic, other: &LuaValue) -> mlua::Result<LuaArray> {
    let other = match other {
        LuaValue::Boolean(flag) => Array::scalar(*flag),
        other => operand(lua, array, other)?,
    };
    raised(lua, computed(lua, broadcast(array.shape(), other.shape()), || array.logic(logic, &other)))
}

fn add_orders<M: UserDataMethods<LuaArray>>(methods: &mut M) {
    for (name, greatest) in [("argmin", false), ("argmax", true)] {
        methods.add_method(name, move |lua, this, axis: LuaValue| {
            if axis.is_nil() {
                return (this.0.arg_extreme(greatest).map(|at| at + 1)).into_lua(lua);
            }
            let axis = axis_of(&this.0, &axis);
            let found = axis.and_then(|axis| {
                let positions = || this.0.arg_extreme_along(axis, greatest);
                reduced(lua, &this.0, axis, || {
                    positions()?.combine(crate::array::Operation::Add, &Array::scalar(1_i64))
                })
            });
            raised(lua, found)?.into_lua(lua)
        });
    }
    methods.add_method("sort", |lua, this, axis: LuaValue| {
        let axis = if axis.is_nil() { LuaValue::Integer(-1) } else { axis };
        raised(lua, axis_of(&this.0, &axis).and_then(|axis| computed(lua, this.0.len(), || this.0.sorted(axis))))
    });
}

fn dot(lua: &Lua, array: &Array, other: &LuaValue) -> Result<LuaValue, Fault> {
    let other = given(other, "the other side")?;
    let end = |shape: &[usize], at: usize| if shape.len() == 2 { shape.get(at).copied().unwrap_or(1) } else { 1 };
    let size = end(array.shape(), 0).saturating_mul(end(other.shape(), 1));
    // Both sides are taken as floats meanwhile.
    admit(lua, array.len().saturating_add(other.len()).saturating_add(size))?;
    let product = array.dot(&other).map_err(told)?;
    match product.get(0).filter(|_| product.shape().is_empty()) {
        Some(number) => Ok(convert::write(lua, &number)?),
        None => Ok(LuaArray::new(product).into_lua(lua)?),
    }
}

/// The array that a script gave, natively or as lists of numbers, or a number.
pub(super) fn given(value: &LuaValue, path: &str) -> Result<Array, Fault> {
    match own(value) {
        Some(array) => Ok(array),
        None => Array::infer(&listed(value, path)?).map_err(|problem| Fault::Line(format!("`{path}`: {problem}"))),
    }
}

/// Plain data of which an empty table is a list.
pub(super) fn listed(value: &LuaValue, path: &str) -> Result<Value, String> {
    Ok(match convert::read(value, path)? {
        Value::Map(map) if map.is_empty() => Value::List(Vec::new()),
        other => other,
    })
}
