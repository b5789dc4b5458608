//! Leave to start the programs of environments elsewhere, with the console as their listener.

use std::rc::Rc;

use super::Console;
use crate::env::EnvError;
use crate::env::foreign::{Programs, Watch};

/// Leave to start programs; what they say on standard error reaches `console`, and Ctrl-C there
/// ends one that does not answer.
///
/// # Errors
/// When an environment variable that says how programs are started is malformed.
pub(crate) fn programs(console: Rc<dyn Console>) -> Result<Programs, EnvError> {
    Programs::from_environment(Rc::new(Listener(console)))
}

struct Listener(Rc<dyn Console>);

impl Watch for Listener {
    fn said(&self, line: &str) {
        self.0.info(line);
    }

    fn warn(&self, message: &str) {
        self.0.warn(message);
    }

    fn interrupted(&self) -> bool {
        self.0.interrupted()
    }
}
