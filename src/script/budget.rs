//! What code from a bundle may spend on one call: a number of Lua instructions, far beyond what
//! a term or a policy needs, so that code without an end is stopped and named.
//!
//! The count begins anew with each call from outside ([`Meter::start`]). Once it is spent nothing
//! in Lua may catch that: every later instruction count raises again, and so does `pcall`.

use std::cell::Cell;
use std::rc::Rc;

use mlua::{HookTriggers, Lua, MultiValue, VmState};

/// The instructions of one call: some seconds.
const MOST: u64 = 100_000_000;
/// How many instructions pass between two looks at the count.
const STRIDE: u32 = 10_000;

/// One machine's count.
struct Budget(Rc<Cell<u64>>);

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
    lua.set_app_data(Budget(Rc::clone(&spent)));
    let globals = lua.globals();
    let stock: mlua::Function = globals.raw_get("pcall")?;
    let seen = Rc::clone(&spent);
    let guarded = lua.create_function(move |_, arguments: MultiValue| {
        let results = stock.call::<MultiValue>(arguments)?;
        if seen.get() > MOST { Err(exhausted()) } else { Ok(results) }
    })?;
    globals.raw_set("pcall", guarded)?;
    lua.set_hook(HookTriggers::new().every_nth_instruction(STRIDE), move |_, _| {
        spent.set(spent.get().saturating_add(u64::from(STRIDE)));
        if spent.get() > MOST { Err(exhausted()) } else { Ok(VmState::Continue) }
    })
}

fn exhausted() -> mlua::Error {
    mlua::Error::RuntimeError(format!("the code ran for more than {MOST} instructions in one call"))
}
