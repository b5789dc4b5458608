//! What can be typed after `skyfall sweep`.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};

use super::{LauncherArguments, PermissionArguments, TaskArguments};

/// Trials, or a look at them.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(in crate::cli) struct SweepCommand {
    #[command(subcommand)]
    pub(in crate::cli) look: Option<SweepLook>,
    #[command(flatten)]
    pub(in crate::cli) run: SweepArguments,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum SweepLook {
    /// Say how far a sweep is, from the files; of what a cluster has, where it stands there
    #[command(after_help = "Example: skyfall sweep status noise --require-complete")]
    Status(SweepStatusArguments),
    /// Print a sweep's results: means over seeds, with 95 % bootstrap intervals
    #[command(
        after_help = "Example: skyfall sweep table noise --sort -mean_reward\n         skyfall sweep table noise --each --only noise=0.2 -o noise.parquet"
    )]
    Table(SweepTableArguments),
    /// Print a sweep's best point, and where its trials are
    #[command(after_help = "Example: skyfall sweep best noise")]
    Best(SweepBestArguments),
    /// Write a sweep as one HTML page: its table, and what its axes do to the metric
    #[command(after_help = "Example: skyfall sweep report noise -o noise.html")]
    Report(SweepReportArguments),
    /// Work on one task of what `--launcher` submitted: what a cluster's job runs
    #[command(after_help = "Example: skyfall sweep task noise/tasks/0001 7")]
    Task(TaskArguments),
}

#[derive(Args, Debug)]
pub(in crate::cli) struct SweepReportArguments {
    /// The sweep's directory
    #[arg(value_name = "DIR")]
    pub(in crate::cli) directory: PathBuf,
    /// The axis whose values are repeats; `seed` stands for `run.seed`, too
    #[arg(long, value_name = "AXIS", default_value = "seed")]
    pub(in crate::cli) over: String,
    /// Also what was finished for earlier plans of the sweep
    #[arg(long)]
    pub(in crate::cli) all: bool,
    /// Where the page goes
    #[arg(short, long = "out", alias = "output", value_name = "FILE")]
    pub(in crate::cli) output: PathBuf,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct SweepTableArguments {
    /// The sweep's directory
    #[arg(value_name = "DIR")]
    pub(in crate::cli) directory: PathBuf,
    /// The axis whose values are repeats; `seed` stands for `run.seed`, too
    #[arg(long, value_name = "AXIS", default_value = "seed")]
    pub(in crate::cli) over: String,
    /// Also what was finished for earlier plans of the sweep
    #[arg(long)]
    pub(in crate::cli) all: bool,
    /// A row a trial, with every metric
    #[arg(long, conflicts_with = "over")]
    pub(in crate::cli) each: bool,
    /// Sort by this column, from the greatest with a `-` before it
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub(in crate::cli) sort: Option<String>,
    /// Only rows with this value in a column
    #[arg(long, value_name = "COLUMN=VALUE")]
    pub(in crate::cli) only: Vec<String>,
    /// How to print it [default: by FILE's ending, else text]
    #[arg(long, value_enum)]
    pub(in crate::cli) format: Option<TableFormat>,
    /// Print JSON, as with --format json
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Write to FILE instead of standard output
    #[arg(short, long = "out", alias = "output", value_name = "FILE")]
    pub(in crate::cli) output: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct SweepBestArguments {
    /// The sweep's directory
    #[arg(value_name = "DIR")]
    pub(in crate::cli) directory: PathBuf,
    /// The axis whose values are repeats; `seed` stands for `run.seed`, too
    #[arg(long, value_name = "AXIS", default_value = "seed")]
    pub(in crate::cli) over: String,
    /// Also what was finished for earlier plans of the sweep
    #[arg(long)]
    pub(in crate::cli) all: bool,
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum TableFormat {
    Text,
    Csv,
    Md,
    Json,
    Parquet,
}

impl TableFormat {
    /// The format that a file's ending asks for.
    pub(in crate::cli) fn of_file(path: &Path) -> Option<Self> {
        Some(match path.extension()?.to_str()? {
            "csv" => Self::Csv,
            "md" => Self::Md,
            "json" => Self::Json,
            "parquet" => Self::Parquet,
            "txt" => Self::Text,
            _ => return None,
        })
    }
}

#[derive(Args, Debug)]
pub(in crate::cli) struct SweepStatusArguments {
    /// The sweep's directory
    #[arg(value_name = "DIR")]
    pub(in crate::cli) directory: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Fail unless every trial is finished
    #[arg(long)]
    pub(in crate::cli) require_complete: bool,
}

/// How trials are run.
#[derive(Args, Clone, Copy, Debug)]
pub(in crate::cli) struct PoolArguments {
    /// How many of a sweep's trials run at a time [default: one a core]
    #[arg(long, short, value_name = "N")]
    pub(in crate::cli) jobs: Option<NonZeroUsize>,
    /// Try a trial that fails N times more
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(in crate::cli) retries: u64,
    /// End a sweep at its first trial that fails
    #[arg(long)]
    pub(in crate::cli) fail_fast: bool,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct SweepArguments {
    /// What returns a sweep, or with --axis an experiment: .lua, or a configuration (.yaml, .json)
    #[arg(required = true, value_name = "FILE")]
    pub(in crate::cli) file: Option<PathBuf>,
    /// Where the trials go [default: the sweep's name]
    #[arg(short, long, alias = "output", value_name = "DIR")]
    pub(in crate::cli) out: Option<PathBuf>,
    /// Try each of these values of a field of the configuration (each is JSON, else text)
    #[arg(long = "axis", value_name = "KEY=VALUE,...")]
    pub(in crate::cli) axes: Vec<String>,
    /// Replace a field of every trial's configuration (VALUE is JSON, else text)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(in crate::cli) overrides: Vec<String>,
    /// Go on with the sweep in DIR: run what is missing
    #[arg(long)]
    pub(in crate::cli) resume: bool,
    /// List the trials and run none
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
    #[command(flatten)]
    pub(in crate::cli) pool: PoolArguments,
    #[command(flatten)]
    pub(in crate::cli) launcher: LauncherArguments,
    /// With a launcher: how many trials a task works on
    #[arg(long, value_name = "N", default_value = "1", requires = "launcher")]
    pub(in crate::cli) batch: NonZeroUsize,
    #[command(flatten)]
    pub(in crate::cli) permissions: PermissionArguments,
    /// The script's arguments: `...` and `arg`
    #[arg(last = true, value_name = "ARGS")]
    pub(in crate::cli) arguments: Vec<String>,
}
