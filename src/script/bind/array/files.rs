//! `load_npy`, `save_npy` and their kin for `.npz`.

use std::rc::Rc;

use indexmap::IndexMap;
use mlua::{Lua, Table, Value as LuaValue};

use super::super::{Fault, allowed, line, readable};
use super::held::room;
use super::numeric::given;
use super::{LuaArray, admit};
use crate::array::{Array, npy, npz};
use crate::script::convert;
use crate::script::host::Host;

pub(super) fn load_npy(lua: &Lua, host: &Rc<Host>, path: LuaValue) -> Result<LuaArray, Fault> {
    let path = readable(host, &convert::text(&path, "path")?)?;
    let array = npy::open_at_most(&path, room(lua)).map_err(line)?;
    admit(lua, array.len())?;
    Ok(LuaArray::new(array))
}

pub(super) fn save_npy(_: &Lua, host: &Rc<Host>, (path, array): (LuaValue, LuaValue)) -> Result<(), Fault> {
    let path = allowed(host, &convert::text(&path, "path")?)?;
    npy::save(&path, &given(&array, "array")?).map_err(line)
}

pub(super) fn load_npz(lua: &Lua, host: &Rc<Host>, path: LuaValue) -> Result<Table, Fault> {
    let path = readable(host, &convert::text(&path, "path")?)?;
    let arrays = npz::open_at_most(&path, room(lua)).map_err(line)?;
    admit(lua, arrays.values().map(Array::len).sum())?;
    let table = lua.create_table()?;
    for (key, array) in arrays {
        table.raw_set(key, LuaArray::new(array))?;
    }
    Ok(table)
}

pub(super) fn save_npz(
    _: &Lua,
    host: &Rc<Host>,
    (path, arrays, options): (LuaValue, LuaValue, LuaValue),
) -> Result<(), Fault> {
    let path = allowed(host, &convert::text(&path, "path")?)?;
    let LuaValue::Table(table) = &arrays else {
        return Err(Fault::Line(format!("`arrays` must be a table of arrays, got {}", convert::describe(&arrays))));
    };
    let mut named = IndexMap::new();
    for (key, value) in convert::entries(table, "arrays")? {
        let name = convert::text(&key, "a key of arrays")?;
        let array = given(&value, &format!("arrays.{name}"))?;
        named.insert(name, array);
    }
    let mut compressed = false;
    for (key, value) in convert::read_map(&options, "options")? {
        compressed = match (key.as_str(), value) {
            ("compressed", crate::value::Value::Bool(compressed)) => compressed,
            ("compressed", other) => {
                return Err(Fault::Line(format!("`options.compressed` must be a boolean, got {}", other.kind())));
            }
            _ => return Err(Fault::Line(format!("unknown option `{key}`: save_npz takes `compressed`"))),
        };
    }
    npz::save(&path, &named, compressed).map_err(line)
}
