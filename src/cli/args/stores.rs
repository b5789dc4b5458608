//! What can be typed after `skyfall rollouts write`, `info`, `validate`, `merge`, `select` and `split`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args, ValueEnum};

use crate::rollouts::By;

#[derive(Args, Debug)]
#[command(group(ArgGroup::new("stores").required(true).args(["parts", "shard_manifest"])))]
pub(in crate::cli) struct RolloutsMergeArguments {
    /// The stores to join, in this order
    #[arg(value_name = "PART")]
    pub(in crate::cli) parts: Vec<PathBuf>,
    /// Join the shards of this manifest, in its order
    #[arg(long, value_name = "MANIFEST.jsonl")]
    pub(in crate::cli) shard_manifest: Option<PathBuf>,
    /// The directory or s3:// address that holds the promoted stores [default: `shards` beside the manifest]
    #[arg(long, value_name = "DIR", requires = "shard_manifest")]
    pub(in crate::cli) final_root: Option<PathBuf>,
    /// Only the manifest's shards of this split
    #[arg(long, value_name = "NAME", requires = "shard_manifest")]
    pub(in crate::cli) split: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) target: JoinArguments,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct RolloutsSelectArguments {
    /// The store to choose from
    #[arg(value_name = "STORE")]
    pub(in crate::cli) source: PathBuf,
    /// Chains of this scene
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) scene: Vec<String>,
    /// Chains of this snippet
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) snippet: Vec<String>,
    /// Chains of this split: the campaign's where there is one
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) split: Vec<String>,
    /// Chains towards this target
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) target: Vec<String>,
    /// The chain of this text id
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) rollout: Vec<String>,
    /// Chains from this sample
    #[arg(long, value_name = "KEY")]
    pub(in crate::cli) sample_key: Vec<String>,
    #[command(flatten)]
    pub(in crate::cli) destination: JoinArguments,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct RolloutsSplitArguments {
    /// The store to split
    #[arg(value_name = "STORE")]
    pub(in crate::cli) source: PathBuf,
    /// What each store's chains share
    #[arg(long, value_name = "WHAT", value_parser = kinds())]
    pub(in crate::cli) by: By,
    #[command(flatten)]
    pub(in crate::cli) destination: JoinArguments,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct JoinArguments {
    /// Where to write; what stands there is replaced when the new store is complete
    #[arg(short, long = "out", alias = "output", value_name = "DIR")]
    pub(in crate::cli) output: PathBuf,
    /// About how much memory rows may take on their way, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 512, value_parser = clap::value_parser!(u64).range(64..1 << 20))]
    pub(in crate::cli) memory: u64,
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct RolloutsWriteArguments {
    /// The records; `-` reads standard input
    #[arg(value_name = "RECORDS.jsonl")]
    pub(in crate::cli) records: PathBuf,
    /// The store's directory, replaced when the new store is complete
    #[arg(short = 'o', long, visible_alias = "out", alias = "output", value_name = "DIR")]
    pub(in crate::cli) store: PathBuf,
    /// The writer's options, a map in YAML or JSON
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) options: Option<PathBuf>,
    /// Set one of the writer's options, over those of the file
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(in crate::cli) overrides: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct StoreArguments {
    /// The store's directory
    #[arg(value_name = "DIR")]
    pub(in crate::cli) directory: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct InfoArguments {
    /// The store's directory
    #[arg(value_name = "DIR")]
    pub(in crate::cli) directory: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Check the store too; fail if it is not sound
    #[arg(long)]
    pub(in crate::cli) validate: bool,
    /// Count candidates, reasons, selections and paths
    #[arg(long)]
    pub(in crate::cli) stats: bool,
    /// Say whether the store is fit to be trained from; fail if it is not
    #[arg(long)]
    pub(in crate::cli) preflight: bool,
    /// How strict the preflight is
    #[arg(long, value_enum, default_value_t = ProfileArgument::Smoke, requires = "preflight")]
    pub(in crate::cli) profile: ProfileArgument,
    /// Print the row of a rollout drawn at random
    #[arg(long, conflicts_with_all = ["plot", "validate", "stats", "preflight"])]
    pub(in crate::cli) random_index: bool,
    /// Draw among rollouts with at least this horizon
    #[arg(long, value_name = "STEPS", default_value_t = 2, requires = "random_index")]
    pub(in crate::cli) min_horizon: i64,
    /// Draw a step's shell, and the frames along its chain, as PNG files in DIR
    #[arg(long, value_name = "DIR", conflicts_with_all = ["json", "validate", "stats", "preflight"])]
    pub(in crate::cli) plot: Option<PathBuf>,
    /// The step to draw, counted from 0
    #[arg(long, value_name = "ROW", default_value_t = 0, requires = "plot")]
    pub(in crate::cli) step: usize,
    /// The seed of the draw
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, requires = "random_index")]
    pub(in crate::cli) seed: i64,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(in crate::cli) enum ProfileArgument {
    /// Doubts are warnings
    Smoke,
    /// Doubts stand against the store
    Production,
}

fn kinds() -> impl TypedValueParser<Value = By> {
    let names = By::ALL.map(By::name);
    PossibleValuesParser::new(names).map(|name| By::ALL.into_iter().find(|by| by.name() == name).unwrap_or(By::Scene))
}
