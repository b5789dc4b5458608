//! The commands for writing scripts: `test`, `repl`, `new`, `types`, `doc`, `completions`.

use std::path::PathBuf;

use clap::Args;

use super::{LimitArguments, PermissionArguments};

#[derive(Args, Debug)]
pub(in crate::cli) struct TestArguments {
    /// Files, or directories of files called `test_*.lua` or `*_test.lua`
    #[arg(required = true, value_name = "PATH")]
    pub(in crate::cli) paths: Vec<PathBuf>,
    /// Only tests whose name has TEXT in it
    #[arg(long, value_name = "TEXT")]
    pub(in crate::cli) filter: Option<String>,
    /// The seed of `skyfall.test.rng` and `math.random`
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(in crate::cli) seed: u64,
    /// Write the results as JUnit XML, too
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) junit: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
    #[command(flatten)]
    pub(in crate::cli) permissions: PermissionArguments,
    #[command(flatten)]
    pub(in crate::cli) limits: LimitArguments,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct ReplArguments {
    #[command(flatten)]
    pub(in crate::cli) permissions: PermissionArguments,
    #[command(flatten)]
    pub(in crate::cli) limits: LimitArguments,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct NewArguments {
    /// The project's directory, which must not exist or be empty
    #[arg(value_name = "DIR")]
    pub(in crate::cli) directory: PathBuf,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct TypesArguments {
    /// Where the definitions go; beside it, `.luarc.json` is written unless there is one
    #[arg(value_name = "DIR")]
    pub(in crate::cli) directory: PathBuf,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct DocArguments {
    /// A module, function, class or method, such as `reward.term` or `Array:sum` [default: the modules]
    #[arg(value_name = "NAME")]
    pub(in crate::cli) name: Option<String>,
    /// Print all of it, as one page of Markdown unless with --json
    #[arg(long, conflicts_with = "name")]
    pub(in crate::cli) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct CompletionsArguments {
    /// The shell whose completions are printed
    #[arg(value_enum, value_name = "SHELL")]
    pub(in crate::cli) shell: clap_complete::Shell,
}
