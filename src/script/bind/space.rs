//! `skyfall.space`.

use mlua::{IntoLua, Lua, UserData, UserDataFields, UserDataMethods, Value as LuaValue};

use super::array::LuaArray;
use super::random::{LuaRng, seed};
use super::{Fault, Module, element};
use crate::array::{Array, DType, Scalar};
use crate::script::convert;
use crate::script::error::fail;
use crate::space::{DictSpace, Sampler, Space, SpaceError};
use crate::value::{Map, Value};

/// A space in a script's hands.
#[derive(Clone)]
pub(super) struct LuaSpace(pub(super) Space);

/// A space with Gymnasium's generators.
struct LuaSampler(Sampler);

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module
        .function("box", |_, _, spec: LuaValue| {
            let spec = convert::read_map(&spec, "spec")?;
            decode("box", "Box", checked(spec, &["low", "high", "shape", "dtype"], "box")?)
        })?
        .function("discrete", |_, _, (n, start, dtype): (LuaValue, LuaValue, LuaValue)| {
            decode("discrete", "Discrete", arguments([("n", &n), ("start", &start), ("dtype", &dtype)])?)
        })?
        .function("multi_discrete", |_, _, (nvec, start, dtype): (LuaValue, LuaValue, LuaValue)| {
            let arguments = arguments([("nvec", &nvec), ("start", &start), ("dtype", &dtype)])?;
            decode("multi_discrete", "MultiDiscrete", arguments)
        })?
        .function("multi_binary", |_, _, n: LuaValue| decode("multi_binary", "MultiBinary", arguments([("n", &n)])?))?
        .function("text", |_, _, spec: LuaValue| {
            let spec = match spec {
                LuaValue::Integer(_) | LuaValue::Number(_) => arguments([("max_length", &spec)])?,
                spec => convert::read_map(&spec, "spec")?,
            };
            decode("text", "Text", checked(spec, &["min_length", "max_length", "charset"], "text")?)
        })?
        .function("dict", |_, _, spaces: LuaValue| made("dict", Space::dict(named(&spaces)?)))?
        .function("tuple", |_, _, spaces: LuaValue| made("tuple", Space::tuple(listed(&spaces)?)))?
        .function("one_of", |_, _, spaces: LuaValue| made("one_of", Space::one_of(listed(&spaces)?)))?
        .function("sequence", |_, _, (space, stack): (LuaValue, LuaValue)| {
            let stack = match stack {
                LuaValue::Nil => false,
                LuaValue::Boolean(stack) => stack,
                other => {
                    return Err(Fault::Line(format!("`stack` must be a boolean, got {}", convert::describe(&other))));
                }
            };
            made("sequence", Space::sequence(space_of(&space, "space")?, stack))
        })?
        .function("graph", |_, _, (nodes, edges): (LuaValue, LuaValue)| {
            let edges = if edges.is_nil() { None } else { Some(space_of(&edges, "edge_space")?) };
            made("graph", Space::graph(space_of(&nodes, "node_space")?, edges))
        })?
        .function("encode", |lua, _, space: LuaValue| Ok(convert::write(lua, &encode(&space_of(&space, "space")?))?))?
        .function("decode", |_, _, data: LuaValue| made("decode", Space::decode(&convert::read(&data, "data")?)))
}

/// A space as plain data for Lua, whose tables have no order: the parts of a `Dict` are a list of
/// pairs where their order is not that of their names.
pub(super) fn encode(space: &Space) -> Value {
    fn ordered(value: Value) -> Value {
        match value {
            Value::List(items) => Value::List(items.into_iter().map(ordered).collect()),
            Value::Map(map) => {
                let is_dict = map.get("type").and_then(Value::as_text) == Some("Dict");
                let entries = map.into_iter().map(|(name, value)| match value {
                    Value::Map(spaces) if is_dict && name == "spaces" && !spaces.keys().is_sorted() => {
                        let pairs =
                            spaces.into_iter().map(|(name, space)| Value::List(vec![name.into(), ordered(space)]));
                        (name, Value::List(pairs.collect()))
                    }
                    value => (name, ordered(value)),
                });
                Value::Map(entries.collect())
            }
            other => other,
        }
    }
    ordered(space.encode())
}

fn made(function: &str, space: Result<Space, SpaceError>) -> Result<LuaSpace, Fault> {
    space.map(LuaSpace).map_err(|error| Fault::Line(format!("space.{function}: {error}")))
}

/// The space of a kind, from its constructor's arguments.
fn decode(function: &str, kind: &str, mut arguments: Map) -> Result<LuaSpace, Fault> {
    arguments.insert("type".to_owned(), kind.into());
    made(function, Space::decode(&Value::Map(arguments)))
}

/// The arguments that are given, by name.
fn arguments<const N: usize>(given: [(&str, &LuaValue); N]) -> Result<Map, String> {
    let given = given.into_iter().filter(|(_, value)| !value.is_nil());
    given.map(|(name, value)| Ok((name.to_owned(), convert::read(value, name)?))).collect()
}

/// `data`, if it has no other keys than `known` ones.
fn checked(data: Map, known: &[&str], function: &str) -> Result<Map, Fault> {
    match data.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(data),
        Some(key) => {
            let hint = crate::suggest::hint(key, "it takes", known.iter().copied());
            Err(Fault::Line(format!("space.{function}: unknown key `{key}`; {hint}")))
        }
    }
}

fn space_of(value: &LuaValue, name: &str) -> Result<Space, Fault> {
    if let LuaValue::UserData(data) = value
        && let Ok(space) = data.borrow::<LuaSpace>()
    {
        return Ok(space.0.clone());
    }
    Err(Fault::Line(format!("`{name}` must be a space, got {}", convert::describe(value))))
}

/// A list of spaces.
fn listed(value: &LuaValue) -> Result<Vec<Space>, Fault> {
    let LuaValue::Table(table) = value else {
        return Err(Fault::Line(format!("`spaces` must be a list of spaces, got {}", convert::describe(value))));
    };
    let entries = convert::entries(table, "spaces")?;
    let items = entries.iter().zip(1..).map(|((key, space), index)| match key {
        LuaValue::Integer(key) if *key == index => space_of(space, &format!("spaces[{index}]")),
        key => Err(Fault::Line(format!("`spaces` must be a list, but has the key {}", convert::key_text(key)))),
    });
    items.collect()
}

/// Spaces by name, which are then in the order of their names, or pairs of a name and a space.
fn named(value: &LuaValue) -> Result<DictSpace, Fault> {
    let LuaValue::Table(table) = value else {
        return Err(Fault::Line(format!("`spaces` must be a table of spaces, got {}", convert::describe(value))));
    };
    let mut found = indexmap::IndexMap::new();
    for (key, value) in convert::entries(table, "spaces")? {
        let (name, space) = match (&key, &value) {
            (LuaValue::Integer(_), LuaValue::Table(pair)) if pair.raw_len() == 2 => {
                (pair.raw_get(1)?, pair.raw_get(2)?)
            }
            _ => (key, value),
        };
        let LuaValue::String(text) = &name else {
            return Err(Fault::Line(format!(
                "`spaces` must be named by text, or be pairs of a name and a space, not by {}",
                convert::describe(&name)
            )));
        };
        let name = convert::text(&name, "name")?;
        if found.insert(name.clone(), space_of(&space, &format!("spaces.{name}"))?).is_some() {
            return Err(Fault::Line(format!("`spaces` has the name `{}` twice", text.to_string_lossy())));
        }
    }
    Ok(found.into())
}

/// Bounds as an array of the space's dtype, or of floats where some are infinite.
fn bounds(shape: &[usize], dtype: DType, bounds: &[Scalar]) -> Option<LuaArray> {
    let scalars = || bounds.iter().copied();
    let exact = Array::from_scalars(dtype, shape, scalars());
    exact.or_else(|_| Array::from_scalars(DType::F64, shape, scalars())).ok().map(LuaArray::new)
}

impl UserData for LuaSpace {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("type", |_, this| Ok(this.0.kind()));
        fields.add_field_method_get("n", |_, this| {
            Ok(match &this.0 {
                Space::Discrete { n, .. } => Some(*n),
                _ => None,
            })
        });
        fields.add_field_method_get("start", |lua, this| match &this.0 {
            Space::Discrete { start, .. } => start.into_lua(lua),
            Space::MultiDiscrete(space) => integers(space.shape(), space.start()).into_lua(lua),
            _ => Ok(LuaValue::Nil),
        });
        fields.add_field_method_get("nvec", |_, this| {
            Ok(match &this.0 {
                Space::MultiDiscrete(space) => integers(space.shape(), space.nvec()),
                _ => None,
            })
        });
        fields.add_field_method_get("low", |_, this| {
            Ok(match &this.0 {
                Space::Box(space) => bounds(space.shape(), space.dtype(), space.low()),
                _ => None,
            })
        });
        fields.add_field_method_get("high", |_, this| {
            Ok(match &this.0 {
                Space::Box(space) => bounds(space.shape(), space.dtype(), space.high()),
                _ => None,
            })
        });
        fields.add_field_method_get("shape", |_, this| {
            Ok(match &this.0 {
                Space::Box(space) => Some(space.shape().to_vec()),
                Space::MultiDiscrete(space) => Some(space.shape().to_vec()),
                Space::MultiBinary(space) => Some(space.shape().to_vec()),
                Space::Discrete { .. } => Some(Vec::new()),
                _ => None,
            })
        });
        fields.add_field_method_get("spaces", parts);
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method("encode", |lua, this, ()| convert::write(lua, &encode(&this.0)));
        methods.add_method("contains", |_, this, value: LuaValue| {
            Ok(element::from_lua(&value, &this.0, "element").is_ok_and(|element| this.0.contains(&element)))
        });
        methods.add_method("sample", |lua, this, source: LuaValue| {
            let element = match &source {
                LuaValue::UserData(data) if data.is::<LuaRng>() => this.0.sample(&mut data.borrow_mut::<LuaRng>()?.0),
                LuaValue::Integer(_) => Sampler::new(this.0.clone(), seeded(lua, &source)?).sample(),
                other => {
                    let found = convert::describe(other);
                    return Err(fail(lua, format!("space:sample: needs a stream or a seed, got {found}")));
                }
            };
            element::to_lua(lua, &element)
        });
        methods.add_method("sampler", |lua, this, source: LuaValue| {
            Ok(LuaSampler(Sampler::new(this.0.clone(), seeded(lua, &source)?)))
        });
        methods.add_meta_method(mlua::MetaMethod::ToString, |_, this, ()| Ok(this.0.to_string()));
        methods.add_meta_method(mlua::MetaMethod::Eq, |_, this, other: LuaValue| {
            Ok(space_of(&other, "other").is_ok_and(|other| other == this.0))
        });
    }
}

impl UserData for LuaSampler {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        crate::script::bind::named(methods, "skyfall.Sampler");
        methods.add_method_mut("sample", |lua, this, ()| element::to_lua(lua, &this.0.sample()));
    }
}

fn seeded(lua: &Lua, value: &LuaValue) -> mlua::Result<u64> {
    seed(value).map_err(|line| fail(lua, line))
}

fn integers(shape: &[usize], numbers: &[i64]) -> Option<LuaArray> {
    Array::from_vec(shape, numbers.to_vec()).ok().map(LuaArray::new)
}

/// The parts: by name of a `Dict`, a list of a `Tuple` or `OneOf`.
fn parts(lua: &Lua, space: &LuaSpace) -> mlua::Result<LuaValue> {
    match &space.0 {
        Space::Dict(dict) => {
            let parts = dict.spaces().iter().map(|(name, space)| (name.as_str(), LuaSpace(space.clone())));
            lua.create_table_from(parts).map(LuaValue::Table)
        }
        Space::Tuple(spaces) | Space::OneOf(spaces) => {
            lua.create_sequence_from(spaces.iter().cloned().map(LuaSpace)).map(LuaValue::Table)
        }
        _ => Ok(LuaValue::Nil),
    }
}
