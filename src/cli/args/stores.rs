//! The flags of `skyfall rollouts merge`, `select` and `split`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, Args};

use crate::rollouts::By;

#[derive(Args, Debug)]
#[command(group(ArgGroup::new("stores").required(true).args(["parts", "shard_manifest"])))]
pub(in crate::cli) struct RolloutsMergeArguments {
    /// The stores to join, in this order
    #[arg(value_name = "PART")]
    pub(in crate::cli) parts: Vec<PathBuf>,
    /// Join the shards of this manifest, in its order
    #[arg(long, value_name = "M.jsonl")]
    pub(in crate::cli) shard_manifest: Option<PathBuf>,
    /// Where the manifest's promoted shards are, each by its id [default: `shards` beside the manifest]
    #[arg(long, value_name = "DIR", requires = "shard_manifest")]
    pub(in crate::cli) final_root: Option<PathBuf>,
    /// Only the manifest's shards of this split
    #[arg(long, value_name = "SPLIT", requires = "shard_manifest")]
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
    #[arg(short = 'o', long, value_name = "DIR")]
    pub(in crate::cli) output: PathBuf,
    /// About how much memory rows may take on their way, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 512, value_parser = clap::value_parser!(u64).range(64..1 << 20))]
    pub(in crate::cli) memory: u64,
    /// Print the result as JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

fn kinds() -> impl TypedValueParser<Value = By> {
    let names = By::ALL.map(By::name);
    PossibleValuesParser::new(names).map(|name| By::ALL.into_iter().find(|by| by.name() == name).unwrap_or(By::Scene))
}
