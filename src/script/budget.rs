//! What code from a bundle may spend on one call: a number of Lua instructions, far beyond what
//! a term or a policy needs, so that code without an end is stopped and named.
//!
//! Counting costs about as much as the instructions themselves, so it begins with the first code that
//! is not seen to end by itself ([`recorded`]). The count begins anew with each call from outside ([`Meter::start`]). Once it is spent nothing
//! in Lua may catch that: every later instruction count raises again, and so does `pcall`.

use std::cell::Cell;
use std::rc::Rc;

use mlua::chunk::ChunkMode;
use mlua::{FromLuaMulti, Function, HookTriggers, Lua, MultiValue, VmState};

use crate::script::check::ends;

/// The instructions of one call: some seconds.
const MOST: u64 = 100_000_000;
/// How many instructions pass between two looks at the count.
const STRIDE: u32 = 10_000;

/// One machine's count, and whether anything is counted yet.
struct Budget(Rc<Cell<u64>>, Cell<bool>);

/// Begins the count anew, in machines that have one.
#[derive(Clone, Default)]
pub(super) struct Meter(Option<Rc<Cell<u64>>>);

impl Meter {
    /// The meter of `lua`.
    pub(super) fn of(lua: &Lua) -> Self {
        Self(lua.app_data_ref::<Budget>().map(|budget| Rc::clone(&budget.0)))
    }

    /// A call from outside begins.
    pub(super) fn start(&self) {
        if let Some(spent) = &self.0 {
            spent.set(0);
        }
    }
}

/// Gives `lua` a budget.
pub(super) fn install(lua: &Lua) -> mlua::Result<()> {
    let spent = Rc::new(Cell::new(0));
    lua.set_app_data(Budget(Rc::clone(&spent), Cell::new(false)));
    let globals = lua.globals();
    let stock: Function = globals.raw_get("pcall")?;
    let seen = Rc::clone(&spent);
    let guarded = lua.create_function(move |_, arguments: MultiValue| {
        let results = stock.call::<MultiValue>(arguments)?;
        if seen.get() > MOST { Err(exhausted()) } else { Ok(results) }
    })?;
    globals.raw_set("pcall", guarded)
}

/// What the chunk recorded as `name` in a bundle returns, its instructions counted where they must be.
///
/// # Errors
/// When it does not compile, or raises.
pub(super) fn recorded<T: FromLuaMulti>(lua: &Lua, name: &str, source: &str) -> mlua::Result<T> {
    let chunk = lua.load(source).set_name(format!("={name} (from the bundle)")).set_mode(ChunkMode::Text);
    let chunk = chunk.into_function()?;
    admit(lua, &chunk)?;
    chunk.call(())
}

/// Counts instructions from now on where `lua` has a budget, unless `chunk` is seen to end.
fn admit(lua: &Lua, chunk: &Function) -> mlua::Result<()> {
    let spent = match lua.app_data_ref::<Budget>() {
        Some(budget) if !budget.1.get() && !ends(&chunk.dump(false)) => {
            budget.1.set(true);
            Rc::clone(&budget.0)
        }
        _ => return Ok(()),
    };
    lua.set_hook(HookTriggers::new().every_nth_instruction(STRIDE), move |_, _| {
        spent.set(spent.get().saturating_add(u64::from(STRIDE)));
        if spent.get() > MOST { Err(exhausted()) } else { Ok(VmState::Continue) }
    })
}

fn exhausted() -> mlua::Error {
    mlua::Error::RuntimeError(format!("the code ran for more than {MOST} instructions in one call"))
}
