//! What one script may spend: time, memory, instructions. And whatever else ends it from outside:
//! `os.exit` and Ctrl-C.
//!
//! A limit is looked at by a hook between instructions, in coroutines as well. Once it is reached
//! nothing in Lua catches that: the hook raises again and again, and so do `pcall`, `xpcall` and
//! `coroutine.resume`. What no hook sees - a long native call, a finaliser - is left to the
//! process: with a time limit the command line ends it from outside (`cli::watchdog`); with an
//! instruction limit such calls are bounded before they begin ([`super::bare`]'s rules).

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use mlua::{Function, HookTriggers, Lua, MultiValue, Table, VmState};

use crate::diagnostic::{Diagnostic, Exit};
use crate::script::error::{OUT_OF_MEMORY, fail};
use crate::script::host::Host;

/// How many instructions pass between two looks. What a look costs is little beside what counting
/// costs, which is about as much as the instructions themselves.
const STRIDE: u32 = 1_000;

/// What a script may spend; `None` is without end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Until when it may run, and what span that was.
    pub time: Option<Deadline>,
    /// How many bytes its values may take, and its arrays as many again.
    pub memory: Option<usize>,
    /// How many instructions it may execute.
    pub instructions: Option<u64>,
}

/// A moment, and the span that was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// The moment.
    pub at: Instant,
    /// How long it was away when it was set.
    pub span: Duration,
}

impl Deadline {
    /// `span` from now.
    #[must_use]
    pub fn after(span: Duration) -> Self {
        let now = Instant::now();
        // A span beyond the clock's reach is as good as none.
        Self { at: now.checked_add(span).unwrap_or(now + Duration::from_secs(1 << 32)), span }
    }

    /// Whether it has passed.
    #[must_use]
    pub(crate) fn passed(&self) -> bool {
        Instant::now() >= self.at
    }

    /// What is said of work that went on beyond it.
    #[must_use]
    pub(crate) fn diagnostic(&self) -> Diagnostic {
        Stop::Time(self.span).diagnostic()
    }
}

/// Why a script was ended from outside its own course.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It called `os.exit`.
    Exit(u8),
    /// The user asked to stop.
    Interrupted,
    /// It ran too long.
    Time(Duration),
    /// It executed too many instructions.
    Instructions(u64),
}

impl Stop {
    /// What is said of it.
    pub(super) fn diagnostic(self) -> Diagnostic {
        let (code, message, hint) = match self {
            Self::Exit(_) => ("script/exit", "the script asked to exit".to_owned(), None),
            Self::Interrupted => return Diagnostic::new("script/interrupted", "interrupted", Exit::Interrupted),
            Self::Time(span) => (
                "limit/time",
                format!("it took longer than {} s, its time limit", span.as_secs_f64()),
                Some("let it run longer with --time-limit"),
            ),
            Self::Instructions(most) => (
                "limit/instructions",
                format!("the script ran for more than {most} instructions"),
                Some("let it run longer with --max-instructions"),
            ),
        };
        let mut diagnostic = Diagnostic::new(code, message, Exit::Input);
        diagnostic.hints.extend(hint.map(str::to_owned));
        diagnostic
    }

    /// What it raises in Lua.
    pub(super) fn error(self) -> mlua::Error {
        mlua::Error::RuntimeError(self.diagnostic().message)
    }
}

/// What is said of a script whose values took more than `most` bytes, where `said` is what it was told.
pub(super) fn out_of_memory(most: Option<usize>, said: &str) -> Diagnostic {
    let message = match (said.strip_suffix(OUT_OF_MEMORY).and_then(|said| said.strip_suffix(": ")), most) {
        (Some(array), _) => array.to_owned(),
        (None, Some(most)) => format!("the script's values took more than {} MiB, its memory limit", most >> 20),
        (None, None) => OUT_OF_MEMORY.to_owned(),
    };
    let diagnostic = Diagnostic::new("limit/memory", message, Exit::Input);
    if most.is_some() { diagnostic.with_hint("let it have more with --memory-limit") } else { diagnostic }
}

/// Puts `limits` on `lua`; where it is `interactive`, Ctrl-C is looked for as well.
pub(super) fn install(lua: &Lua, host: &Rc<Host>, limits: Limits, interactive: bool) -> mlua::Result<()> {
    lua.set_memory_limit(limits.memory.unwrap_or_else(machine_memory))?;
    let spent = Rc::new(Cell::new(0_u64));
    if limits.instructions.is_some() {
        super::bare::limits::install(lua)?;
        charge_coroutines(lua, &spent)?;
    }
    if limits.instructions.is_none() && limits.time.is_none() && !interactive {
        return Ok(());
    }
    let host = Rc::clone(host);
    lua.set_global_hook(HookTriggers::new().every_nth_instruction(STRIDE), move |lua, _| {
        spent.set(spent.get().saturating_add(u64::from(STRIDE)));
        let stop = host.stop.get().or_else(|| due(&host, limits, spent.get()));
        host.stop.set(stop);
        match stop {
            None => Ok(VmState::Continue),
            Some(stop) => Err(fail(lua, stop.diagnostic().message)),
        }
    })
}

/// How many bytes the machine has: what a script's values may take where no limit is asked, since the
/// process ends where memory does.
pub(super) fn machine_memory() -> usize {
    const FALLBACK: usize = 64 << 30;
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse().ok());
    total.map_or(FALLBACK, |kilobytes: usize| kilobytes.saturating_mul(1024))
}

fn due(host: &Host, limits: Limits, spent: u64) -> Option<Stop> {
    if let Some(most) = limits.instructions.filter(|most| spent > *most) {
        return Some(Stop::Instructions(most));
    }
    asked(host)
}

/// Whether the time is over, or the user asked to stop.
pub(super) fn asked(host: &Host) -> Option<Stop> {
    // The console counts a passed deadline as a wish to stop: asked first, it cannot be ahead.
    let interrupted = host.console.interrupted();
    if let Some(deadline) = host.deadline.filter(Deadline::passed) {
        return Some(Stop::Time(deadline.span));
    }
    interrupted.then_some(Stop::Interrupted)
}

/// Each coroutine counts anew up to [`STRIDE`], which is charged for before it begins.
fn charge_coroutines(lua: &Lua, spent: &Rc<Cell<u64>>) -> mlua::Result<()> {
    let coroutine: Table = lua.globals().raw_get("coroutine")?;
    for name in ["create", "wrap"] {
        let stock: Function = coroutine.raw_get(name)?;
        let spent = Rc::clone(spent);
        let charged = lua.create_function(move |_, arguments: MultiValue| {
            spent.set(spent.get().saturating_add(u64::from(STRIDE)));
            stock.call::<MultiValue>(arguments)
        })?;
        coroutine.raw_set(name, charged)?;
    }
    Ok(())
}
