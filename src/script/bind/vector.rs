//! `skyfall.env.vector`: many copies of a native world in a script's hands.
//!
//! Batches cross the border as native arrays; a script that wants speed gives its actions as
//! `i64` or `f32` arrays, which are read in place.

use mlua::{Lua, UserData, UserDataFields, UserDataMethods, Value as LuaValue};

use super::array::LuaArray;
use super::space::LuaSpace;
use super::{Fault, line};
use crate::array::{Array, DType};
use crate::env::vector::{Actions, Batch, Vector};
use crate::script::convert;
use crate::script::error::fail;
use crate::space::Space;

/// Copies of a world in a script's hands.
pub(super) struct LuaVector(Vector);

impl LuaVector {
    /// `n` copies of the world `id`.
    pub(super) fn new(id: &LuaValue, n: &LuaValue, kwargs: &LuaValue) -> Result<Self, Fault> {
        let id = convert::text(id, "id")?;
        let n = convert::integer(n, "n")?;
        let copies = usize::try_from(n).map_err(|_| format!("`n` must be at least 1, got {n}"))?;
        let kwargs = convert::read_map(kwargs, "kwargs")?;
        Vector::new(&id, copies, &kwargs).map(Self).map_err(line)
    }

    /// Takes one step or as many as `actions` holds for each copy.
    fn advance(&mut self, actions: &LuaValue, several: bool) -> Result<Rows, Fault> {
        let dtype = match self.0.action_space() {
            Space::Box(_) => DType::F32,
            _ => DType::I64,
        };
        let given = match actions {
            LuaValue::UserData(data) => data.borrow::<LuaArray>().ok(),
            _ => None,
        };
        let read;
        let array = match &given {
            Some(array) if array.0.dtype() == dtype => &array.0,
            Some(array) => {
                read = array.0.astype(dtype).map_err(|problem| format!("`actions`: {problem}"))?;
                &read
            }
            None => {
                let values = convert::read(actions, "actions")?;
                read = Array::from_value(&values, dtype).map_err(|problem| format!("`actions`: {problem}"))?;
                &read
            }
        };
        let copies = self.0.copies();
        let steps = match (array.shape(), several) {
            (&[n], false) | (&[n, 1], false) if n == copies => 1,
            (&[n, steps], true) | (&[n, steps, 1], true) if n == copies => steps,
            (shape, _) => {
                let wanted = if several { format!("[{copies}, steps]") } else { format!("[{copies}]") };
                return Err(Fault::Line(format!("`actions` must have the shape {wanted}, got {shape:?}")));
            }
        };
        let actions = match array {
            Array::F32(_) => Actions::Continuous(array.as_f32().unwrap_or_default()),
            _ => Actions::Discrete(array.as_i64().unwrap_or_default()),
        };
        let batch = if several { self.0.rollout(actions, steps) } else { self.0.step(actions) };
        batch.map(rows).map_err(line)
    }
}

/// Observations, rewards, terminated, truncated.
type Rows = (LuaArray, LuaArray, LuaArray, LuaArray);

fn rows(batch: &Batch) -> Rows {
    let Batch { observations, rewards, terminated, truncated } = batch.clone();
    (LuaArray::new(observations), LuaArray::new(rewards), LuaArray::new(terminated), LuaArray::new(truncated))
}

impl UserData for LuaVector {
    fn add_fields<F: UserDataFields<Self>>(fields: &mut F) {
        fields.add_field_method_get("id", |_, this| Ok(this.0.id()));
        fields.add_field_method_get("n", |_, this| Ok(this.0.copies()));
        fields.add_field_method_get("observation_space", |_, this| Ok(LuaSpace(this.0.observation_space().clone())));
        fields.add_field_method_get("action_space", |_, this| Ok(LuaSpace(this.0.action_space().clone())));
    }

    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        crate::script::bind::named(methods, "skyfall.Vector");
        methods.add_method_mut("reset", |lua, this, options: LuaValue| {
            let (seed, options) = super::env::reset_options(&options).map_err(|line| fail(lua, line))?;
            let first = this.0.reset(seed, &options).map_err(|problem| line(problem).raise(lua))?;
            Ok(LuaArray::new(first.clone()))
        });
        let advance = |lua: &Lua, this: &mut Self, actions: &LuaValue, several| {
            this.advance(actions, several).map_err(|fault| fault.raise(lua))
        };
        methods.add_method_mut("step", move |lua, this, actions: LuaValue| advance(lua, this, &actions, false));
        methods.add_method_mut("rollout", move |lua, this, actions: LuaValue| advance(lua, this, &actions, true));
        methods.add_method("parameters", |lua, this, ()| convert::write_map(lua, &this.0.parameters()));
        methods.add_method_mut("set_parameter", |lua, this, (name, value): (LuaValue, LuaValue)| {
            let name = convert::text(&name, "name").map_err(|line| fail(lua, line))?;
            let value = convert::read(&value, "value").map_err(|line| fail(lua, line))?;
            this.0.set_parameter(&name, &value).map_err(|problem| line(problem).raise(lua))
        });
    }
}
