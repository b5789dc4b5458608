//! What the arrays of this thread's scripts hold at once, and whether they may hold more.

use std::cell::Cell;
use std::rc::Rc;

use mlua::Lua;

use crate::script::error::OUT_OF_MEMORY;
use crate::script::host::Host;

/// What one array counts for among all that scripts of this thread hold.
pub(super) struct Held(usize);

thread_local! {
    /// The bytes of all arrays that scripts of this thread hold.
    static HELD: Cell<usize> = const { Cell::new(0) };
}

impl Held {
    pub(super) fn new(bytes: usize) -> Self {
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
pub(super) fn weight(elements: usize) -> usize {
    elements.saturating_mul(8)
}

/// Whether the script may hold an array of `elements` more; what it dropped is collected first.
///
/// # Errors
/// One line, when it may not.
pub(in crate::script::bind) fn admit(lua: &Lua, elements: usize) -> Result<(), String> {
    let most = most(lua);
    let fits = || HELD.get().saturating_add(weight(elements)) <= most;
    if fits() || (lua.gc_collect().is_ok() && fits()) {
        return Ok(());
    }
    let all = most >> 20;
    Err(format!("an array of {elements} elements is too large for the {all} MiB of all arrays: {OUT_OF_MEMORY}"))
}

/// How many bytes of elements the script may still hold.
pub(super) fn room(lua: &Lua) -> usize {
    most(lua).saturating_sub(HELD.get())
}

fn most(lua: &Lua) -> usize {
    lua.app_data_ref::<Rc<Host>>().map_or(usize::MAX, |host| host.array_bytes)
}
