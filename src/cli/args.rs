//! What can be typed: the typed form of every command and flag.

mod campaign;
mod cluster;
mod eval;
mod limits;
mod stores;
mod sweep;
mod tools;
#[cfg(test)]
mod vocabulary;

use std::num::NonZeroU64;
use std::path::PathBuf;

pub(super) use campaign::{CampaignStatusArguments, GcArguments, PlanArguments, RecipeArguments, RunShardsArguments};
use clap::{Args, Parser, Subcommand, ValueEnum};
pub(super) use cluster::{LauncherArguments, LauncherName, TaskArguments};
pub(super) use eval::EvalArguments;
pub(super) use limits::{LimitArguments, WholeLimitArguments};
pub(super) use stores::{
    InfoArguments, JoinArguments, ProfileArgument, RolloutsMergeArguments, RolloutsSelectArguments,
    RolloutsSplitArguments, RolloutsWriteArguments, StoreArguments,
};
pub(super) use sweep::{
    PoolArguments, SweepArguments, SweepBestArguments, SweepCommand, SweepLook, SweepReportArguments,
    SweepStatusArguments, SweepTableArguments, TableFormat,
};
pub(super) use tools::{
    CompletionsArguments, DocArguments, NewArguments, ReplArguments, TestArguments, TypesArguments,
};

use crate::experiment::Checkpoints;

/// Where help lists the flags that every command has.
const LAST: usize = 1000;

/// Continual-RL experiments as small Lua scripts on a fast native core.
#[derive(Debug, Parser)]
#[command(
    name = "skyfall",
    version,
    arg_required_else_help = true,
    after_help = "Example: skyfall new lab && cd lab && skyfall script experiment.lua\n         skyfall eval --traces calm-windy-calm\n\nExit codes: 0 ok, 1 the script, run or check failed, 2 usage, 3 input unreadable, 70 a bug in skyfall, 130 interrupted;\nof a cluster's jobs 65 no use to try again, 75 try again."
)]
pub(super) struct Arguments {
    /// Print warnings and errors only: no progress, no notes
    #[arg(long, short, global = true, display_order = LAST)]
    pub(super) quiet: bool,

    /// How errors are printed: for people, or one JSON object a line
    #[arg(long, global = true, display_order = LAST, value_enum, default_value_t, value_name = "FORMAT")]
    pub(super) error_format: ErrorFormat,
    /// This process is a sweep's trial, which works in DIR
    #[arg(long, hide = true, value_name = "DIR")]
    pub(super) attempt: Option<PathBuf>,
    /// This process is a child of that one, and ends with it
    #[arg(long, hide = true, global = true, value_name = "PID")]
    pub(super) child_of: Option<i32>,

    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ErrorFormat {
    #[default]
    Text,
    Json,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run a Lua script
    #[command(after_help = "Example: skyfall script experiment.lua -- --noise 0.2")]
    Script(ScriptArguments),
    /// Run one experiment from a configuration (YAML, JSON, or Lua that returns one)
    #[command(
        after_help = "Example: skyfall run experiment.yaml --traces out/traces.jsonl --export out/bundle --set run.seed=3"
    )]
    Run(RunArguments),
    /// Evaluate traces: the numbers of a continual-RL paper, from files alone
    #[command(
        after_help = "Example: skyfall eval --traces out/traces.jsonl --window 200\n         skyfall eval --traces runs/ --compare linear knn --format html -o report.html\n         skyfall eval --traces runs/ --plots figures/ --metrics mine.lua\n         skyfall eval --traces runs/ --fail-if 'forgetting>0.1'"
    )]
    Eval(Box<EvalArguments>),
    /// Run a bundle's policy, frozen, in the world and the regimes it was trained in
    #[command(after_help = "Example: skyfall serve out/bundle --steps 5000 --traces served.jsonl")]
    Serve(ServeArguments),
    /// Look at traces
    #[command(subcommand, after_help = "Example: skyfall trace stats out/traces.jsonl")]
    Trace(TraceCommand),
    /// Look at bundles
    #[command(subcommand, after_help = "Example: skyfall bundle show out/bundle")]
    Bundle(BundleCommand),
    /// Run an experiment at many points, each trial in a process of its own; look at sweeps
    #[command(
        after_help = "Example: skyfall sweep noise.lua --jobs 2 --out noise\n         skyfall sweep experiment.yaml --axis algorithm.params.noise=0.1,0.2 --axis run.seed=1,2,3\n         skyfall sweep table noise"
    )]
    Sweep(Box<SweepCommand>),
    /// Write, look at and check rollout stores, one or many
    #[command(subcommand, after_help = "Example: skyfall rollouts info rollouts.zarr")]
    Rollouts(Box<RolloutsCommand>),
    /// Run tests written in Lua
    #[command(after_help = "Example: skyfall test tests/ --junit results.xml")]
    Test(TestArguments),
    /// Type Lua line by line, with the library at hand
    #[command(after_help = "Example: skyfall repl")]
    Repl(ReplArguments),
    /// Start a project: an experiment, its rewards, their tests
    #[command(after_help = "Example: skyfall new lab && cd lab && skyfall script experiment.lua")]
    New(NewArguments),
    /// Write the library's definitions for editors (LuaLS)
    #[command(after_help = "Example: skyfall types .skyfall/types")]
    Types(TypesArguments),
    /// Print the library's reference
    #[command(after_help = "Example: skyfall doc reward.term")]
    Doc(DocArguments),
    /// Print completions for a shell
    #[command(after_help = "Example: skyfall completions bash > ~/.local/share/bash-completion/completions/skyfall")]
    Completions(CompletionsArguments),
}

/// What a script may touch beyond the directory it was started in and its own.
#[derive(Args, Debug)]
pub(super) struct PermissionArguments {
    /// Let the script read and write below DIR, or read below an s3:// address
    #[arg(long, value_name = "DIR")]
    pub(super) allow_path: Vec<PathBuf>,
    /// Let the script start processes, environments in other programs among them
    #[arg(long)]
    pub(super) allow_run: bool,
    /// Let the script read the environment
    #[arg(long)]
    pub(super) allow_env: bool,
    /// Let the script do all of this
    #[arg(long)]
    pub(super) allow_all: bool,
}

/// How a run that may be killed goes on.
#[derive(Args, Debug)]
pub(super) struct CheckpointArguments {
    /// Go on from the checkpoint beside the trace, if a killed run left one
    #[arg(long)]
    pub(super) resume: bool,
    /// Write a checkpoint after every N windows [default: at a window's end every few seconds]
    #[arg(long, value_name = "N")]
    pub(super) checkpoint_every: Option<NonZeroU64>,
}

impl CheckpointArguments {
    pub(super) fn checkpoints(&self) -> Checkpoints {
        Checkpoints { every: self.checkpoint_every, resume: self.resume }
    }
}

#[derive(Args, Debug)]
pub(super) struct ScriptArguments {
    /// The script; `-` reads it from standard input
    #[arg(required_unless_present = "code", value_name = "FILE")]
    pub(super) file: Option<PathBuf>,
    /// Run CODE instead of a file
    #[arg(short = 'e', value_name = "CODE")]
    pub(super) code: Option<String>,
    /// Where a returned experiment's trace and bundle go, or a sweep's trials [default: its name]
    #[arg(short, long, alias = "output", value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Replace a field of every experiment's configuration (VALUE is JSON, else text)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(super) overrides: Vec<String>,
    /// Print a returned experiment's resolved configuration instead of running it
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Run nothing: say whether it compiles and whether the names in it are there
    #[arg(long, conflicts_with_all = ["check_determinism", "watch", "dry_run"])]
    pub(super) check: bool,
    /// Run it twice, in two processes, and compare what it prints and writes
    #[arg(long, conflicts_with = "watch")]
    pub(super) check_determinism: bool,
    /// Run it again whenever it or one of its modules changes, until Ctrl-C
    #[arg(long, conflicts_with = "code")]
    pub(super) watch: bool,
    /// Write the names of the files it had to do with to FILE
    #[arg(long, value_name = "FILE", hide = true)]
    pub(super) touched: Option<PathBuf>,
    #[command(flatten)]
    pub(super) pool: PoolArguments,
    #[command(flatten)]
    pub(super) checkpoints: CheckpointArguments,
    #[command(flatten)]
    pub(super) permissions: PermissionArguments,
    #[command(flatten)]
    pub(super) limits: LimitArguments,
    /// The script's arguments: `...` and `arg`
    #[arg(last = true, value_name = "ARGS")]
    pub(super) arguments: Vec<String>,
}

#[derive(Args, Debug)]
pub(super) struct RunArguments {
    /// The configuration: .yaml, .yml, .json, or .lua that returns one
    #[arg(value_name = "CONFIG")]
    pub(super) config: PathBuf,
    /// Where to write the trace
    #[arg(long, value_name = "FILE")]
    pub(super) traces: Option<PathBuf>,
    /// Where to export the bundle
    #[arg(long, value_name = "DIR")]
    pub(super) export: Option<PathBuf>,
    /// Leave the bundle's checkpoint outside and record its absolute path
    #[arg(long, requires = "export")]
    pub(super) export_external: bool,
    /// The experiment's seed, instead of the configuration's
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    /// Replace a field of the configuration (VALUE is JSON, else text)
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(super) overrides: Vec<String>,
    /// Print the resolved configuration and run nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) checkpoints: CheckpointArguments,
    #[command(flatten)]
    pub(super) permissions: PermissionArguments,
    #[command(flatten)]
    pub(super) limits: LimitArguments,
}

#[derive(Args, Debug)]
pub(super) struct ServeArguments {
    /// The bundle's directory
    #[arg(value_name = "BUNDLE")]
    pub(super) bundle: PathBuf,
    /// How many steps [default: one full pass of a schedule, else 1000]
    #[arg(long, value_name = "N")]
    pub(super) steps: Option<u64>,
    /// Where to write the served trace
    #[arg(long, value_name = "FILE")]
    pub(super) traces: Option<PathBuf>,
    /// Note in the served rows after which training step the policy was taken: `eval --frozen` tells
    /// checkpoints apart by it
    #[arg(long, value_name = "STEP")]
    pub(super) checkpoint_step: Option<u64>,
    /// Serve against another environment
    #[arg(long, value_name = "ID")]
    pub(super) env: Option<String>,
    /// The environment's keyword arguments, as a JSON object
    #[arg(long, value_name = "JSON")]
    pub(super) env_kwargs: Option<String>,
    /// Serve under another regime: a YAML or JSON file with `provider` and `params`
    #[arg(long, value_name = "CONFIG")]
    pub(super) regime: Option<PathBuf>,
    /// Answer observations over HTTP instead: HOST:PORT, or PORT for this machine alone
    #[arg(long, value_name = "ADDR", conflicts_with_all = ["steps", "traces", "checkpoint_step", "env", "env_kwargs", "regime", "seed"])]
    pub(super) listen: Option<String>,
    /// The seed of the served run [default: the training run's]
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    /// Print JSON
    #[arg(long, conflicts_with = "listen")]
    pub(super) json: bool,
    /// Let the bundle's environment be another program (`python:...`, `program:...`)
    #[arg(long)]
    pub(super) allow_run: bool,
    #[command(flatten)]
    pub(super) limits: WholeLimitArguments,
}

#[derive(Debug, Subcommand)]
pub(super) enum TraceCommand {
    /// Say what is odd about traces; fails when rows are lost
    #[command(after_help = "Example: skyfall trace check yours.jsonl")]
    Check(TraceCheckArguments),
    /// Sum up traces: runs, rows, regimes, components, spans
    #[command(after_help = "Example: skyfall trace stats out/traces.jsonl")]
    Stats(TraceStatsArguments),
    /// Print rows as they stand, or as CSV; lines that are no rows are left out
    #[command(after_help = "Example: skyfall trace cat out --run seed=3 --regime windy --format csv -o windy.csv")]
    Cat(TraceCatArguments),
    /// Score recorded rows anew with a reward composition written in Lua
    #[command(
        after_help = "FILE.lua returns a composition, an experiment with one, or a table that holds one as NAME\n\
                      (`reward` if there is no NAME).\n\
                      Each file is scored in its order by a fresh run of the script.\n\
                      Example: skyfall trace rescore out/traces.jsonl --reward reward.lua -o rescored.jsonl"
    )]
    Rescore(TraceRescoreArguments),
}

#[derive(Args, Debug)]
pub(super) struct TraceCheckArguments {
    /// Trace files, directories of them, or `-` for standard input
    #[arg(required = true, value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// Fail also where values are lost, not only rows
    #[arg(long)]
    pub(super) strict: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args, Debug)]
pub(super) struct TraceStatsArguments {
    /// Trace files, directories of them, or `-` for standard input
    #[arg(required = true, value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
    /// Stop where rows or values would be lost
    #[arg(long)]
    pub(super) strict: bool,
}

#[derive(Args, Debug)]
pub(super) struct TraceCatArguments {
    /// Trace files, directories of them, or `-` for standard input
    #[arg(required = true, value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,
    /// Only rows of runs whose identity or metadata has this
    #[arg(long, value_name = "KEY=VALUE")]
    pub(super) run: Vec<String>,
    /// Only rows of this regime, or of any of several
    #[arg(long, value_name = "LABEL")]
    pub(super) regime: Vec<String>,
    /// Only rows from this step on
    #[arg(long, value_name = "STEP", allow_negative_numbers = true)]
    pub(super) from_step: Option<i64>,
    /// Only rows before this step
    #[arg(long, value_name = "STEP", allow_negative_numbers = true)]
    pub(super) until_step: Option<i64>,
    /// How to print them [default: by FILE's ending, else jsonl]
    #[arg(long, value_enum)]
    pub(super) format: Option<RowFormat>,
    /// Write to FILE instead of standard output
    #[arg(short, long = "out", alias = "output", value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum RowFormat {
    Jsonl,
    Csv,
    Parquet,
}

impl TraceCatArguments {
    /// The format asked for, by name or by the ending of the file.
    pub(super) fn row_format(&self) -> RowFormat {
        let ending = || self.output.as_ref()?.extension()?.to_str();
        self.format.unwrap_or_else(|| match ending() {
            Some("csv") => RowFormat::Csv,
            Some("parquet") => RowFormat::Parquet,
            _ => RowFormat::Jsonl,
        })
    }
}

#[derive(Args, Debug)]
pub(super) struct TraceRescoreArguments {
    /// A trace file, or a directory of them
    #[arg(value_name = "PATH")]
    pub(super) path: PathBuf,
    /// The script that returns the composition
    #[arg(long, value_name = "FILE.lua[:NAME]")]
    pub(super) reward: String,
    /// Where the rescored trace goes; a directory for a directory
    #[arg(short, long = "out", alias = "output", value_name = "OUT")]
    pub(super) output: PathBuf,
    #[command(flatten)]
    pub(super) permissions: PermissionArguments,
}

#[derive(Debug, Subcommand)]
pub(super) enum BundleCommand {
    /// Print a bundle's manifest
    #[command(after_help = "Example: skyfall bundle show out/bundle")]
    Show(BundleArguments),
    /// Check that a bundle can be served
    #[command(after_help = "Example: skyfall bundle check out/bundle")]
    Check(BundleArguments),
}

#[derive(Debug, Subcommand)]
pub(super) enum RolloutsCommand {
    /// Print what a store holds
    #[command(after_help = "Example: skyfall rollouts info --stats rollouts.zarr")]
    Info(InfoArguments),
    /// Check a store against its contract, one line a violation
    #[command(after_help = "Example: skyfall rollouts validate rollouts.zarr")]
    Validate(StoreArguments),
    /// Write a store from a file of records, one JSON object a line
    #[command(
        after_help = "Example: skyfall rollouts write records.jsonl -o rollouts.zarr --set selected_depth_enabled=false"
    )]
    Write(RolloutsWriteArguments),
    /// Plan a campaign: cut the rows of a source store into shards
    #[command(
        after_help = "Example: skyfall rollouts plan index.csv --script oracle.lua --rows-per-shard 16 --out campaign"
    )]
    Plan(PlanArguments),
    /// Run shards of a campaign: write each store, check it, promote it
    #[command(
        after_help = "Example: skyfall rollouts run --shard-manifest campaign/shard-manifest.jsonl --script oracle.lua --all --jobs 8\n         skyfall rollouts run --shard-manifest campaign/shard-manifest.jsonl --script oracle.lua --shard-id 7\n\nExit codes: 0 done or there already, 1 failed, 3 over its time, 65 not as planned (no use to try again), 75 try again (a full disk, say), 130 interrupted."
    )]
    Run(RunShardsArguments),
    /// Say how far a campaign is, from the files; of what a cluster has, where it stands there
    #[command(after_help = "Example: skyfall rollouts status campaign/shard-manifest.jsonl --require-complete")]
    Status(CampaignStatusArguments),
    /// List what dead attempts left beside a campaign's stores, and remove it
    #[command(after_help = "Example: skyfall rollouts gc campaign/shards --remove")]
    Gc(GcArguments),
    /// Join stores of one split into a new one
    #[command(after_help = "Example: skyfall rollouts merge shards/shard-000000 shards/shard-000001 -o rollouts.zarr")]
    Merge(RolloutsMergeArguments),
    /// Write some of a store's chains to a new store
    #[command(after_help = "Example: skyfall rollouts select rollouts.zarr --scene kitchen -o kitchen.zarr")]
    Select(RolloutsSelectArguments),
    /// Write one store for each scene, snippet, split or target
    #[command(after_help = "Example: skyfall rollouts split rollouts.zarr --by scene -o scenes/")]
    Split(RolloutsSplitArguments),
    /// Work on one task of what `run --launcher` submitted: what a cluster's job runs
    #[command(after_help = "Example: skyfall rollouts task campaign/shard-manifest.tasks/0001 7")]
    Task(TaskArguments),
}

#[derive(Args, Debug)]
pub(super) struct BundleArguments {
    /// The bundle's directory
    #[arg(value_name = "DIR")]
    pub(super) directory: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}
