//! From records to rows: every record is checked and taken apart as it comes, so that what the
//! validator would reject is refused while its producer is still there to be told.
//!
//! [`Tables`] holds what is small and settled only at the end: sources, targets, chains, their
//! lineage, the dictionaries. Steps, candidates and everything larger go to [`Rows`], and from
//! there to disk.

mod joined;
mod sources;
mod targets;

use std::collections::BTreeSet;

use indexmap::IndexMap;

use super::admission::{self, Agreed};
use super::config::RolloutZarrStoreConfig;
use super::dictionary::Dictionaries;
use super::identifier::compact;
use super::labels::Cumulative;
use super::record::{RecordError, RolloutRecord, Source, Target, Trajectory};
use super::rows::{Chain, Rows, Totals};
use super::schema::{Lineage, LineageRow, RolloutRow, Rollouts, Sources, Targets};
use super::target::Evidence;
pub(super) use sources::{effective_source_row, split_of};
use targets::TargetKey;

type Checked<T> = Result<T, RecordError>;

/// What a store holds once, whatever its number of steps.
#[derive(Default)]
pub(super) struct Tables {
    pub(super) dictionaries: Dictionaries,
    pub(super) sources: Sources,
    pub(super) targets: Targets,
    pub(super) rollouts: Rollouts,
    pub(super) lineage: Lineage,
    pub(super) totals: Totals,
    /// Programs, requests and proposal revisions that the candidate codec names.
    pub(super) codec_hashes: [BTreeSet<String>; 3],
    pub(super) agreed: Agreed,
    campaign_splits: BTreeSet<String>,
    known_sources: IndexMap<i64, Source>,
    known_targets: IndexMap<TargetKey, Target>,
}

/// A row count as an id.
pub(super) fn id(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

pub(super) fn small(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

impl Tables {
    /// Adds one record's rows, or nothing at all.
    pub(super) fn add(
        &mut self,
        record: &RolloutRecord,
        config: &RolloutZarrStoreConfig,
        rows: &mut Rows,
    ) -> Checked<()> {
        let agreed = admission::check(record, config, &self.agreed)?;
        let source_row_id = effective_source_row(&record.source);
        self.check_source(record, source_row_id)?;
        let (key, target) = self.keyed_target(&record.target, source_row_id);
        self.check_target(record, &key, &target, config.target_protocol_version)?;
        self.agreed = agreed;
        self.add_source(&record.source, source_row_id);
        let target_row_id = self.add_target(key, target);
        self.campaign_splits.insert(record.source.campaign().unwrap_or("unknown").to_owned());
        let protocol = config.target_protocol_version;
        let trainable = Evidence::of(&record.target, protocol).trainable(protocol);
        for (index, trajectory) in record.trajectories.iter().enumerate() {
            let mut chain = Chain {
                rollout_row_id: id(self.rollouts.rollout_row_id.len()),
                root_pose_world: &record.root_pose_world,
                trainable,
                sums: Cumulative::default(),
            };
            for step in &trajectory.steps {
                rows.add_step(step, &mut chain, &mut self.totals, &mut self.dictionaries);
                if let Some(facts) = &step.candidate_trace_facts {
                    let named = [
                        Some(&facts.candidate_program_hash),
                        Some(&facts.request_binding_hash),
                        facts.proposal_key_revision.as_ref(),
                    ];
                    for (hashes, named) in self.codec_hashes.iter_mut().zip(named) {
                        hashes.extend(named.filter(|named| !hashes.contains(*named)).cloned());
                    }
                }
            }
            self.add_chain(record, config, (source_row_id, target_row_id), &chain, index, trajectory);
        }
        Ok(())
    }

    fn add_chain(
        &mut self,
        record: &RolloutRecord,
        config: &RolloutZarrStoreConfig,
        (source_row_id, target_row_id): (i64, i64),
        chain: &Chain<'_>,
        index: usize,
        trajectory: &Trajectory,
    ) {
        let rollout_row_id = chain.rollout_row_id;
        let codes = &mut self.dictionaries;
        let (source, recipe) = (&record.source, &record.policy);
        let termination = if trajectory.terminated_early {
            "terminated_early"
        } else if small(trajectory.steps.len()) >= i32::from(record.horizon) {
            "fixed_horizon"
        } else {
            "incomplete_rollout"
        };
        let [target_rri, scene_rri, target_root_gain, scene_root_gain] = chain.sums.values();
        self.rollouts.push(RolloutRow {
            rollout_row_id,
            rollout_id: codes.code(&format!("{}-{index:06}", record.rollout_id_prefix)),
            chain_id: small(index),
            source_row_id,
            root_pose_world: record.root_pose_world,
            root_time_ns: record.root_time_ns.unwrap_or(-1),
            root_trajectory_index: record.root_trajectory_index.unwrap_or(-1),
            root_frame_index: record.root_frame_index.unwrap_or(-1),
            scene_id: codes.code(source.scene_id.as_deref().unwrap_or_default()),
            snippet_id: codes.code(&compact(source.snippet_id.as_deref().unwrap_or_default())),
            target_row_id,
            policy_id: codes.code(&record.selection_policy),
            horizon: record.horizon,
            branch_factor: record.branch_factor,
            beam_width: record.beam_width.unwrap_or(-1),
            temperature: trajectory.steps.iter().find_map(|step| step.selection_temperature).unwrap_or(f32::NAN),
            random_seed: recipe.random_seed.unwrap_or(-1),
            termination_reason: codes.code(termination),
            final_cumulative_target_rri: target_rri,
            final_cumulative_scene_rri: scene_rri,
            final_cumulative_target_root_gain: target_root_gain,
            final_cumulative_scene_root_gain: scene_root_gain,
            split_id: codes.code(&split_of(source)),
        });
        self.lineage.push(LineageRow {
            rollout_row_id,
            candidate_config_id: codes.code_if(recipe.candidate_config_hash.as_deref()),
            oracle_config_id: codes.code_if(recipe.oracle_config_hash.as_deref()),
            rollout_config_id: codes.code_if(recipe.rollout_config_hash.as_deref()),
            model_checkpoint_id: codes.code_if(recipe.model_checkpoint_hash.as_deref()),
            mesh_version_id: codes.code_if(source.mesh_version.as_deref()),
            branch_schedule_id: codes.code_if(recipe.branch_schedule_id.as_deref()),
            target_protocol_version_id: codes.code(config.target_protocol_version.name()),
            target_crop_policy_id: codes.code_if(record.target.target_crop_policy.as_deref()),
            reason_code_version_id: codes.code(&config.reason_code_version),
            selection_rng_state_hash_id: codes.code_if(recipe.selection_rng_state_hash.as_deref()),
        });
    }

    /// Writes the targets' rows and the store's split hash; after this nothing is added.
    pub(super) fn seal(&mut self, config: &RolloutZarrStoreConfig) {
        let known = std::mem::take(&mut self.known_targets);
        for (row, target) in known.into_values().enumerate() {
            self.push_target(id(row), &target, config.target_protocol_version);
        }
        let hash = self.dictionaries.code(&config.split_manifest_hash);
        self.sources.split_manifest_hash_id.fill(hash);
        self.dictionaries.seal();
    }

    /// The physical split of all records.
    pub(super) fn split(&self) -> &str {
        self.agreed.split.as_deref().unwrap_or("mixed")
    }

    /// The one campaign split of all chains.
    pub(super) fn campaign_split(&self) -> &str {
        match (self.campaign_splits.first(), self.campaign_splits.len()) {
            (Some(split), 1) => split,
            _ => "mixed",
        }
    }

    /// The sources as given, in the order of their rows.
    pub(super) fn given_sources(&self) -> impl Iterator<Item = (i64, &Source)> {
        self.known_sources.iter().map(|(row, source)| (*row, source))
    }

    /// The hashes of targets that were given one.
    pub(super) fn explicit_hashes(&self) -> BTreeSet<&str> {
        self.known_targets.values().filter_map(|target| target.explicit_target_hash.as_deref()).collect()
    }
}
