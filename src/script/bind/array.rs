//! `skyfall.array`: native arrays in a script's hands.

use std::cell::Cell;
use std::rc::Rc;

use mlua::{IntoLua, Lua, MetaMethod, Table, UserData, UserDataFields, UserDataMethods, Value as LuaValue};

use super::{Fault, Module};
use crate::array::{Array, DType, Operation};
use crate::script::convert;
use crate::script::error::fail;
use crate::script::host::Host;
use crate::value::Value;

/// A native array in a script's hands.
#[derive(Clone)]
pub(in crate::script) struct LuaArray(
    pub(super) Array,
    #[expect(dead_code, reason = "it counts as long as it lives")] Held,
);

/// What one array counts for among all that scripts of this thread hold.
struct Held(usize);

thread_local! {
    /// The bytes of all arrays that scripts of this thread hold.
    static HELD: Cell<usize> = const { Cell::new(0) };
}

impl Held {
    fn new(bytes: usize) -> Self {
        HELD.set(HELD.get().saturating_add(bytes));
        Self(bytes)
    }
}

impl Clone for Held {
    fn clone(&self) -> Self {
        Self::new(self.0)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        HELD.set(HELD.get().saturating_sub(self.0));
    }
}

/// What an array of so many elements counts for: small elements grow when they are listed.
fn weight(elements: usize) -> usize {
    elements.saturating_mul(8)
}

/// Whether the script may hold an array of `elements` more; what it dropped is collected first.
///
/// # Errors
/// One line, when it may not.
pub(super) fn admit(lua: &Lua, elements: usize) -> Result<(), String> {
    let most = lua.app_data_ref::<Rc<Host>>().map_or(usize::MAX, |host| host.array_bytes);
    let fits = || HELD.get().saturating_add(weight(elements)) <= most;
    if fits() || (lua.gc_collect().is_ok() && fits()) {
        return Ok(());
    }
    Err(format!("an array of {elements} elements is too large: all arrays together may hold {} MiB", most >> 20))
}

impl LuaArray {
    pub(super) fn new(array: Array) -> Self {
        let held = Held::new(weight(array.len()));
        Self(array, held)
    }

    /// The numbers as nested lists.
    pub(in crate::script) fn to_value(&self) -> Value {
        self.0.to_value()
    }
}

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module
        .function("new", |lua, _, (dtype, shape): (LuaValue, LuaValue)| {
            let shape = shape_of(lua, &shape)?;
            Ok(LuaArray::new(Array::zeros(dtype_of(&dtype)?, &shape)))
        })?
        .function("from", |lua, _, (values, dtype): (LuaValue, LuaValue)| {
            let values = convert::read(&values, "values")?;
            let array = Array::from_value(&values, dtype_of(&dtype)?)
                .map_err(|problem| Fault::Line(format!("array.from: {problem}")))?;
            admit(lua, array.len())?;
            Ok(LuaArray::new(array))
        })
}

fn dtype_of(value: &LuaValue) -> Result<DType, Fault> {
    let name = convert::text(value, "dtype")?;
    name.parse().map_err(|problem: crate::array::ArrayError| Fault::Line(problem.to_string()))
}

/// The most elements a script may ask for at once: 2^31, 16 GiB of float64.
const MOST_ELEMENTS: usize = 1 << 31;

pub(super) fn shape_of(lua: &Lua, value: &LuaValue) -> Result<Vec<usize>, Fault> {
    let lengths = match convert::read(value, "shape")? {
        Value::List(lengths) => lengths,
        Value::Map(map) if map.is_empty() => Vec::new(),
        length @ Value::Int(_) => vec![length],
        other => return Err(Fault::Line(format!("`shape` must be a list of lengths, got {}", other.kind()))),
    };
    let shape: Option<Vec<usize>> =
        lengths.iter().map(|length| length.as_int().and_then(|length| usize::try_from(length).ok())).collect();
    let shape = shape.ok_or_else(|| Fault::Line("`shape` must hold lengths that are not negative".to_owned()))?;
    match shape.iter().try_fold(1_usize, |size, length| size.checked_mul(*length)) {
        Some(size) if size <= MOST_ELEMENTS => {
            admit(lua, size)?;
            Ok(shape)
        }
        _ => Err(Fault::Line(format!("an array of shape {shape:?} is too large"))),
    }
}

/// The element at `index` from 1 of a vector, or the row of an array of higher rank; nothing
/// beyond the end, so that `ipairs` stops there.
pub(super) fn item(lua: &Lua, array: &Array, index: i64) -> mlua::Result<LuaValue> {
    let Some((length, inner)) = array.shape().split_first() else {
        return Err(fail(lua, "an array of rank 0 has no elements to index"));
    };
    let position = match usize::try_from(index - 1) {
        Ok(position) if position < *length => position,
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
fn operand(lua: &Lua, array: &Array, value: &LuaValue) -> mlua::Result<Array> {
    match value {
        LuaValue::UserData(data) => match data.borrow::<LuaArray>() {
            Ok(other) => Ok(other.0.clone()),
            Err(_) => Err(fail(lua, "arithmetic with an array needs a number or an array, got an object")),
        },
        LuaValue::Integer(value) => array.scalar_like(&Value::Int(*value)).map_err(|problem| fail(lua, problem)),
        LuaValue::Number(value) => array.scalar_like(&Value::Float(*value)).map_err(|problem| fail(lua, problem)),
        other => Err(fail(
            lua,
            format!("arithmetic with an array needs a number or an array, got {}", convert::describe(other)),
        )),
    }
}

fn combine(lua: &Lua, a: &LuaValue, operation: Operation, b: &LuaValue) -> mlua::Result<LuaArray> {
    let own = |value: &LuaValue| match value {
        LuaValue::UserData(data) => data.borrow::<LuaArray>().ok().map(|array| array.0.clone()),
        _ => None,
    };
    let (left, right) = match (own(a), own(b)) {
        (Some(left), _) => {
            let right = operand(lua, &left, b)?;
            (left, right)
        }
        (None, Some(right)) => (operand(lua, &right, a)?, right),
        (None, None) => return Err(fail(lua, "arithmetic with an array needs an array")),
    };
    admit(lua, broadcast(left.shape(), right.shape())).map_err(|line| fail(lua, line))?;
    left.combine(operation, &right).map(LuaArray::new).map_err(|problem| fail(lua, problem))
}

/// The elements of what two shapes come to together (of shapes that do not fit, any number).
fn broadcast(left: &[usize], right: &[usize]) -> usize {
    let (long, short) = if left.len() < right.len() { (right, left) } else { (left, right) };
    let ones = std::iter::repeat_n(&1, long.len() - short.len());
    let lengths = long.iter().zip(ones.chain(short));
    lengths.fold(1, |size, (a, b)| size.saturating_mul(if *a == 1 { *b } else { *a }))
}

impl UserData for LuaArray {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("shape", |lua, this| lua.create_sequence_from(this.0.shape().iter().copied()));
        fields.add_field_method_get("dtype", |_, this| Ok(this.0.dtype().to_string()));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("sum", |_, this, ()| Ok(this.0.sum()));
        methods.add_method("mean", |_, this, ()| {
            #[expect(clippy::cast_precision_loss, reason = "a mean is a float")]
            let count = this.0.len() as f64;
            Ok(this.0.sum() / count)
        });
        methods.add_method("min", |lua, this, ()| convert::write(lua, &this.0.min().unwrap_or_default()));
        methods.add_method("max", |lua, this, ()| convert::write(lua, &this.0.max().unwrap_or_default()));
        methods.add_method("totable", |lua, this, ()| convert::write(lua, &this.0.to_value()));
        methods.add_meta_method(MetaMethod::Index, |lua, this, key: LuaValue| match key {
            LuaValue::Integer(index) => item(lua, &this.0, index),
            other => Err(fail(lua, format!("an array has no field {}", convert::describe(&other)))),
        });
        methods.add_meta_method_mut(MetaMethod::NewIndex, |lua, this, (key, value): (LuaValue, LuaValue)| {
            let index = convert::integer(&key, "index").map_err(|line| fail(lua, line))?;
            let value = convert::read(&value, "value").map_err(|line| fail(lua, line))?;
            match (this.0.shape(), usize::try_from(index - 1)) {
                ([length], Ok(position)) if position < *length => {
                    this.0.set(position, &value).map_err(|problem| fail(lua, problem))
                }
                ([length], _) => Err(fail(lua, format!("index {index} is outside 1 to {length}"))),
                _ => Err(fail(lua, "only the elements of a vector can be assigned")),
            }
        });
        methods.add_meta_method(MetaMethod::Len, |_, this, ()| Ok(this.0.shape().first().copied().unwrap_or(0)));
        methods.add_meta_method(MetaMethod::ToString, |_, this, ()| {
            Ok(format!("array({}, {:?})", this.0.dtype(), this.0.shape()))
        });
        for (method, operation) in [
            (MetaMethod::Add, Operation::Add),
            (MetaMethod::Sub, Operation::Subtract),
            (MetaMethod::Mul, Operation::Multiply),
            (MetaMethod::Div, Operation::Divide),
        ] {
            methods.add_meta_function(method, move |lua, (a, b): (LuaValue, LuaValue)| combine(lua, &a, operation, &b));
        }
    }
}

/// `table` when a list of numbers is wanted as an array of `dtype`.
pub(super) fn array_from_table(table: &Table, dtype: DType, path: &str) -> Result<Array, String> {
    let values = convert::read(&LuaValue::Table(table.clone()), path)?;
    Array::from_value(&values, dtype).map_err(|problem| format!("`{path}`: {problem}"))
}
