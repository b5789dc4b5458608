//! A trace's rows in a script's hands: objects whose fields become Lua values where they are
//! touched, and not before.

use std::rc::Rc;

use mlua::{IntoLua, Lua, MetaMethod, Table, UserData, UserDataMethods, Value as LuaValue};

use crate::script::convert;
use crate::script::error::fail;
use crate::trace::row::STEP_FIELDS;
use crate::trace::{Row, Run};
use crate::value::Value;

/// A row that was read; it cannot be changed.
pub(super) enum LuaRow {
    /// A row of its own.
    One(Box<Row>),
    /// A row of a run that is held whole.
    Of(Rc<Run>, usize),
}

impl LuaRow {
    /// Looks at the row.
    pub(super) fn with<R>(&self, look: impl FnOnce(&Row) -> R) -> Option<R> {
        match self {
            Self::One(row) => Some(look(row)),
            Self::Of(run, at) => run.steps.get(*at).map(look),
        }
    }

    fn field(&self, lua: &Lua, name: &[u8]) -> mlua::Result<LuaValue> {
        self.with(|row| field(lua, row, name)).unwrap_or(Ok(LuaValue::Nil))
    }
}

fn field(lua: &Lua, row: &Row, name: &[u8]) -> mlua::Result<LuaValue> {
    match name {
        b"step" => row.step.into_lua(lua),
        b"reward" => row.reward.into_lua(lua),
        b"regime_id" => row.regime_id.as_deref().into_lua(lua),
        b"regime_origin" => row.regime_origin.as_deref().into_lua(lua),
        b"observed_at" => row.observed_at.as_deref().into_lua(lua),
        b"action" => convert::write(lua, row.action.as_ref().unwrap_or(&Value::Null)),
        b"reward_components" => {
            let components = lua.create_table_with_capacity(0, row.reward_components.len())?;
            for (name, value) in &row.reward_components {
                components.raw_set(name.as_str(), *value)?;
            }
            Ok(LuaValue::Table(components))
        }
        b"reward_detail" => convert::write_map(lua, &row.reward_detail)?.into_lua(lua),
        b"invalid_action" => row.invalid_action.into_lua(lua),
        b"effective_rank" => row.effective_rank.into_lua(lua),
        b"ticket_snapshot" => convert::write_map(lua, &row.ticket_snapshot)?.into_lua(lua),
        b"verifier_snapshot" => convert::write_map(lua, &row.verifier_snapshot)?.into_lua(lua),
        other => match std::str::from_utf8(other).ok().and_then(|name| row.extra.get(name)) {
            Some(value) => convert::write(lua, value),
            None => Ok(LuaValue::Nil),
        },
    }
}

/// The row as a table of the script's own; null fields are absent.
fn table(lua: &Lua, row: &Row) -> mlua::Result<Table> {
    let table = convert::write_map(lua, &row.extra)?;
    for name in STEP_FIELDS {
        table.raw_set(name, field(lua, row, name.as_bytes())?)?;
    }
    Ok(table)
}

impl UserData for LuaRow {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        crate::script::bind::named(methods, "skyfall.ReadRow");
        methods.add_method("totable", |lua, this, ()| {
            this.with(|row| table(lua, row)).unwrap_or_else(|| lua.create_table())
        });
        methods.add_meta_method(MetaMethod::Index, |lua, this, name: LuaValue| match name {
            LuaValue::String(name) => this.field(lua, &name.as_bytes()),
            _ => Ok(LuaValue::Nil),
        });
        methods.add_meta_method(MetaMethod::NewIndex, |lua, _, (name, _): (LuaValue, LuaValue)| -> mlua::Result<()> {
            let name = convert::key_text(&name);
            Err(fail(lua, format!("a row that was read cannot be changed: set `{name}` in row:totable()")))
        });
        methods.add_meta_method(MetaMethod::Pairs, |lua, this, ()| {
            let next: LuaValue = lua.globals().get("next")?;
            let table = this.with(|row| table(lua, row)).unwrap_or_else(|| lua.create_table())?;
            Ok((next, table))
        });
    }
}

/// A run's rows, counted from 1.
pub(super) struct LuaSteps(pub(super) Rc<Run>);

impl UserData for LuaSteps {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        crate::script::bind::named(methods, "skyfall.Steps");
        methods.add_meta_method(MetaMethod::Len, |_, this, ()| Ok(this.0.steps.len()));
        methods.add_meta_method(MetaMethod::Index, |_, this, at: LuaValue| {
            let LuaValue::Integer(at) = at else { return Ok(None) };
            let at = usize::try_from(at).ok().and_then(|at| at.checked_sub(1));
            Ok(at.filter(|at| *at < this.0.steps.len()).map(|at| LuaRow::Of(Rc::clone(&this.0), at)))
        });
        methods.add_meta_method(MetaMethod::NewIndex, |lua, _, _: (LuaValue, LuaValue)| -> mlua::Result<()> {
            Err(fail(lua, "the rows of a trace that was read cannot be changed"))
        });
    }
}

/// Reads a row from a table into `row`, whose buffers are kept. Maps are written in sorted order,
/// for a table has none; unknown keys become further keys of the row.
pub(super) fn read_row(table: &Table, row: &mut Row) -> Result<(), String> {
    let get = |name: &str| table.raw_get::<LuaValue>(name).map_err(|error| error.to_string());
    let text = |name: &str| match get(name)? {
        LuaValue::Nil => Ok(None),
        value => convert::text(&value, name).map(Some),
    };
    row.step = match get("step")? {
        LuaValue::Nil => return Err("the row has no `step`".to_owned()),
        value => convert::integer(&value, "step")?,
    };
    row.reward = match get("reward")? {
        LuaValue::Nil => return Err("the row has no `reward`".to_owned()),
        value => convert::number(&value, "reward")?,
    };
    row.regime_id = text("regime_id")?;
    row.regime_origin = text("regime_origin")?;
    row.observed_at = text("observed_at")?;
    row.action = match convert::read(&get("action")?, "action")? {
        Value::Null => None,
        action @ Value::Map(_) => Some(action),
        other => return Err(format!("`action` must be a table of named fields, got {}", other.kind())),
    };
    row.reward_components.clear();
    for (name, value) in convert::read_map(&get("reward_components")?, "reward_components")? {
        let number = value.as_float();
        let number =
            number.ok_or_else(|| format!("`reward_components.{name}` must be a number, got {}", value.kind()))?;
        row.reward_components.insert(name, number);
    }
    row.reward_detail = convert::read_map(&get("reward_detail")?, "reward_detail")?;
    row.invalid_action = match get("invalid_action")? {
        LuaValue::Nil => false,
        LuaValue::Boolean(value) => value,
        other => return Err(format!("`invalid_action` must be a boolean, got {}", convert::describe(&other))),
    };
    row.effective_rank = match get("effective_rank")? {
        LuaValue::Nil => None,
        value => Some(convert::number(&value, "effective_rank")?),
    };
    row.ticket_snapshot = convert::read_map(&get("ticket_snapshot")?, "ticket_snapshot")?;
    row.verifier_snapshot = convert::read_map(&get("verifier_snapshot")?, "verifier_snapshot")?;
    row.extra.clear();
    for (key, value) in convert::entries(table, "row")? {
        let name = convert::key_text(&key);
        if !STEP_FIELDS.contains(&name.as_str()) {
            row.extra.insert(name.clone(), convert::read(&value, &name)?);
        }
    }
    Ok(())
}
