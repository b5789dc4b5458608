//! What can be typed to have work done elsewhere.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Who starts the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum LauncherName {
    /// This command, on this machine
    Local,
    /// Slurm, as a job array; the command returns at once
    Slurm,
    /// Nobody: the tasks are written down, for an engine that runs a command by its number
    Files,
}

/// Who starts the work, and what is asked of them.
#[derive(Args, Clone, Debug)]
pub(in crate::cli) struct LauncherArguments {
    /// Who starts the work [default: local]
    #[arg(long, value_enum, value_name = "NAME")]
    pub(in crate::cli) launcher: Option<LauncherName>,
    /// How many tasks run at a time at most (`%N` of --array)
    #[arg(long, value_name = "N", requires = "launcher", help_heading = "Slurm")]
    pub(in crate::cli) slurm_limit: Option<NonZeroUsize>,
    /// Processors of a task; it works on that many units at a time
    #[arg(long, value_name = "N", default_value = "1", requires = "launcher", help_heading = "Slurm")]
    pub(in crate::cli) slurm_cpus: NonZeroUsize,
    /// Memory of a task: 500M, 2G
    #[arg(long, value_name = "SIZE", requires = "launcher", help_heading = "Slurm")]
    pub(in crate::cli) slurm_memory: Option<String>,
    /// How long a task may take: minutes, 1:30:00, 2-0
    #[arg(long, value_name = "TIME", requires = "launcher", help_heading = "Slurm")]
    pub(in crate::cli) slurm_time: Option<String>,
    /// The partition
    #[arg(long, value_name = "NAME", requires = "launcher", help_heading = "Slurm")]
    pub(in crate::cli) slurm_partition: Option<String>,
    /// Another option of sbatch, as one word: --slurm-option=--account=lab
    #[arg(long, value_name = "OPTION", requires = "launcher", allow_hyphen_values = true, help_heading = "Slurm")]
    pub(in crate::cli) slurm_option: Vec<String>,
}

/// One task of a submission.
#[derive(Args, Debug)]
pub(in crate::cli) struct TaskArguments {
    /// The submission's directory
    #[arg(value_name = "DIR")]
    pub(in crate::cli) submission: PathBuf,
    /// The task's number, from 0
    #[arg(value_name = "NUMBER")]
    pub(in crate::cli) task: usize,
}
