//! What can be typed after `skyfall rollouts plan`, `run`, `status`, `gc`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgGroup, Args};

use super::{LauncherArguments, PermissionArguments, WholeLimitArguments};

/// What decides the stores of a campaign.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("source").args(["script", "records"]).required(true))]
pub(in crate::cli) struct RecipeArguments {
    /// The script that makes the records: it returns `rollouts.oracle { ... }`
    #[arg(long, value_name = "ORACLE.lua")]
    pub(in crate::cli) script: Option<PathBuf>,
    /// A file of records, one JSON object a line, instead; each is of the row with its sample key
    #[arg(long, value_name = "RECORDS.jsonl")]
    pub(in crate::cli) records: Option<PathBuf>,
    /// The writer's options, a map in YAML or JSON, over those of the script
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) options: Option<PathBuf>,
    /// Set one of the writer's options, over those of the file
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(in crate::cli) overrides: Vec<String>,
    #[command(flatten)]
    pub(in crate::cli) permissions: PermissionArguments,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct PlanArguments {
    /// The source store's rows in order: JSON lines, or .csv with a header
    #[arg(value_name = "SOURCE_INDEX")]
    pub(in crate::cli) index: PathBuf,
    /// How many rows a shard has at most
    #[arg(long, value_name = "N")]
    pub(in crate::cli) rows_per_shard: NonZeroUsize,
    /// Where the manifests go
    #[arg(short, long, alias = "output", value_name = "DIR", required_unless_present = "dry_run")]
    pub(in crate::cli) out: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) site: SiteArguments,
    /// Print the plan and write nothing
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// The hash of the source store's manifest [default: of the index's rows]
    #[arg(long, value_name = "HASH")]
    pub(in crate::cli) source_manifest_hash: Option<String>,
    /// The source cache's version [default: the option source_offline_store_version]
    #[arg(long, value_name = "VERSION")]
    pub(in crate::cli) source_cache_version: Option<String>,
    /// The source store; its name alone is recorded [default: the index's name]
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) source_store: Option<PathBuf>,
    /// Plan the rows of this source manifest only, in its order
    #[arg(long, value_name = "MANIFEST.json")]
    pub(in crate::cli) source_manifest: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) recipe: RecipeArguments,
}

/// A campaign, and where its stores are.
#[derive(Args, Debug)]
pub(in crate::cli) struct SiteArguments {
    /// The directory or s3:// address that holds the promoted stores [default: `shards` beside the manifest]
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) final_root: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(group = ArgGroup::new("which").args(["shard_id", "index", "all"]).required(true))]
#[command(group = ArgGroup::new("dealt").args(["index", "launcher"]))]
pub(in crate::cli) struct RunShardsArguments {
    /// The shard manifest
    #[arg(long, value_name = "MANIFEST.jsonl")]
    pub(in crate::cli) shard_manifest: PathBuf,
    /// The shard to run: shard-000007, or 7
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) shard_id: Option<String>,
    /// The shard to run by its place in the manifest, from 0; with --batch the batch
    #[arg(long, value_name = "K")]
    pub(in crate::cli) index: Option<usize>,
    /// Run N shards of the manifest one after another: from K times N; with a launcher, N a task
    #[arg(long, value_name = "N", requires = "dealt")]
    pub(in crate::cli) batch: Option<NonZeroUsize>,
    /// Run every shard that is not there yet, each in a process of its own
    #[arg(long)]
    pub(in crate::cli) all: bool,
    /// How many shards are run at a time [default: one a core]
    #[arg(long, short, value_name = "N", requires = "all")]
    pub(in crate::cli) jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    pub(in crate::cli) launcher: LauncherArguments,
    #[command(flatten)]
    pub(in crate::cli) site: SiteArguments,
    /// Write the store in DIR, which must not be there
    #[arg(long, value_name = "DIR", requires = "shard_id")]
    pub(in crate::cli) output_tmp: Option<PathBuf>,
    /// Promote the store to DIR, or to an s3:// address
    #[arg(long, value_name = "DIR", requires = "shard_id")]
    pub(in crate::cli) output_final: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) recipe: RecipeArguments,
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
    #[command(flatten)]
    pub(in crate::cli) limits: WholeLimitArguments,
    /// This process runs that shard for the one that was asked for all
    #[arg(long, value_name = "ID", hide = true)]
    pub(in crate::cli) only: Option<String>,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct GcArguments {
    /// The directory or s3:// address that holds the promoted stores
    #[arg(value_name = "FINAL_ROOT")]
    pub(in crate::cli) final_root: PathBuf,
    /// On object storage, what wrote nothing for so long was left by a dead attempt
    #[arg(long, value_name = "HOURS", default_value_t = 24)]
    pub(in crate::cli) idle: u64,
    /// Remove what dead attempts left and what is in quarantine
    #[arg(long)]
    pub(in crate::cli) remove: bool,
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

#[derive(Args, Debug)]
pub(in crate::cli) struct CampaignStatusArguments {
    /// The shard manifest
    #[arg(value_name = "MANIFEST.jsonl")]
    pub(in crate::cli) shard_manifest: PathBuf,
    #[command(flatten)]
    pub(in crate::cli) site: SiteArguments,
    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
    /// Fail unless every shard's store is there
    #[arg(long)]
    pub(in crate::cli) require_complete: bool,
}
