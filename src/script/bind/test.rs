//! `skyfall.test`: the cases that a file of tests registers, and what they are given.

use std::cell::RefCell;
use std::path::PathBuf;

use mlua::{Function, Value};

use super::random::stream;
use super::{Fault, Module};
use crate::script::convert;

/// The tests of one file under `skyfall test`.
#[derive(Default)]
pub(in crate::script) struct Tests {
    /// Where their directories are made.
    pub(in crate::script) directory: PathBuf,
    pub(in crate::script) seed: u64,
    pub(in crate::script) cases: RefCell<Vec<(String, Function)>>,
    /// The case that runs.
    pub(in crate::script) present: RefCell<String>,
    made: RefCell<u32>,
}

impl Tests {
    pub(in crate::script) fn new(directory: PathBuf, seed: u64) -> Self {
        Self { directory, seed, ..Self::default() }
    }
}

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module
        .function("case", |_, host, (name, body): (Value, Value)| {
            let name = convert::text(&name, "name")?;
            let Value::Function(body) = body else {
                return Err(Fault::Line(format!("`body` must be a function, got {}", convert::describe(&body))));
            };
            tests(host)?.cases.borrow_mut().push((name, body));
            Ok(())
        })?
        .function("tmpdir", |_, host, ()| {
            let tests = tests(host)?;
            *tests.made.borrow_mut() += 1;
            let path = tests.directory.join(tests.made.borrow().to_string());
            std::fs::create_dir_all(&path)
                .map_err(|error| Fault::Line(format!("cannot make {}: {error}", path.display())))?;
            Ok(path.display().to_string())
        })?
        .function("rng", |_, host, ()| {
            let tests = tests(host)?;
            let name = tests.present.borrow();
            Ok(stream(tests.seed, &name))
        })
}

fn tests(host: &crate::script::host::Host) -> Result<&Tests, Fault> {
    host.tests.as_ref().ok_or_else(|| Fault::Line("tests are run by `skyfall test FILE`".to_owned()))
}
