//! The `skyfall` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    skyfall::cli::main(std::env::args_os())
}
