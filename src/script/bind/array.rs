//! `skyfall.array`: native arrays in a script's hands.

mod files;
mod held;
mod making;
mod methods;
mod numeric;
mod operators;

use mlua::{AnyUserData, Lua, Table, UserData, UserDataFields, UserDataMethods, Value as LuaValue};

use super::{Fault, Module};
use crate::array::{Array, DType};
use crate::script::convert;
use crate::value::Value;
use held::{Held, weight};

pub(super) use held::admit;

/// A native array in a script's hands.
#[derive(Clone)]
pub(in crate::script) struct LuaArray(
    pub(super) Array,
    #[expect(dead_code, reason = "it counts as long as it lives")] Held,
);

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
            let dtype = dtype_of(&dtype)?;
            let array = Array::try_zeros(dtype, &shape_of(lua, &shape)?);
            Ok(LuaArray::new(array.map_err(|problem| Fault::Line(problem.to_string()))?))
        })?
        .function("from", |lua, _, (values, dtype): (LuaValue, LuaValue)| {
            let values = numeric::listed(&values, "values")?;
            let array = Array::from_value(&values, dtype_of(&dtype)?)
                .map_err(|problem| Fault::Line(format!("array.from: {problem}")))?;
            admit(lua, array.len())?;
            Ok(LuaArray::new(array))
        })?
        .function("range", |lua, _, given| making::range(lua, given))?
        .function("where", |lua, _, given| making::where_(lua, given))?
        .function("stack", |lua, _, given| making::stack(lua, given))?
        .function("concatenate", |lua, _, given| making::concatenate(lua, given))?
        .function("load_npy", files::load_npy)?
        .function("save_npy", files::save_npy)?
        .function("load_npz", files::load_npz)?
        .function("save_npz", files::save_npz)
}

impl UserData for LuaArray {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("shape", |lua, this| lua.create_sequence_from(this.0.shape().iter().copied()));
        fields.add_field_method_get("dtype", |_, this| Ok(this.0.dtype().to_string()));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        operators::add(methods);
        methods::add(methods);
        numeric::add(methods);
    }
}

/// The numbers of the array that `data` is, as nested lists; of a larger one than `most` only the
/// first, in C order, and `true`.
pub(in crate::script) fn beginning(data: &AnyUserData, most: usize) -> Option<(Value, bool)> {
    let array = data.borrow::<LuaArray>().ok()?;
    let array = &array.0;
    if array.len() <= most {
        return Some((array.to_value(), false));
    }
    Some((Value::List((0..most).map_while(|place| array.get(place)).collect()), true))
}

/// The array that `value` is, if it is one.
fn own(value: &LuaValue) -> Option<Array> {
    match value {
        LuaValue::UserData(data) => data.borrow::<LuaArray>().ok().map(|array| array.0.clone()),
        _ => None,
    }
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
        _ => {
            let found = convert::describe(value);
            return Err(Fault::Line(format!("`shape` must be a list of lengths, got {found}")));
        }
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

/// `table` when a list of numbers is wanted as an array of `dtype`.
pub(super) fn array_from_table(table: &Table, dtype: DType, path: &str) -> Result<Array, String> {
    let values = convert::read(&LuaValue::Table(table.clone()), path)?;
    Array::from_value(&values, dtype).map_err(|problem| format!("`{path}`: {problem}"))
}
