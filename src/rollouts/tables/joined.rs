//! Rows of other stores: sources and targets by the rules that records' are held to.

use super::{Tables, split_of};
use crate::rollouts::record::{Source, Target};
use crate::rollouts::target::{Evidence, TargetInputProtocol};

impl Tables {
    /// Takes a source over, as row `source_row_id`; one that is there already stays as it is.
    pub(in crate::rollouts) fn take_source(&mut self, source_row_id: i64, source: &Source) {
        self.agreed.split.get_or_insert_with(|| split_of(source));
        self.campaign_splits.insert(source.campaign().unwrap_or("unknown").to_owned());
        self.add_source(source, source_row_id);
    }

    /// Takes a target over and returns its row; what is there of the same target is filled with
    /// what this one says, as a later record's would be.
    ///
    /// # Errors
    /// When the two do not agree on whether it can be trained on: its labels are settled.
    pub(in crate::rollouts) fn take_target(
        &mut self,
        source_row_id: i64,
        target: &Target,
        protocol: TargetInputProtocol,
    ) -> Result<i64, String> {
        let (key, target) = self.keyed_target(target, source_row_id);
        let trainable = |target: &Target| Evidence::of(target, protocol).trainable(protocol);
        let own = trainable(&target);
        let before = self.known_targets.get(&key).map(&trainable);
        let name = target.target_id.clone().unwrap_or_default();
        let row = self.add_target(key.clone(), target);
        let after = self.known_targets.get(&key).map(&trainable);
        match before {
            Some(before) if before != own || after != Some(own) => {
                Err(format!("its target `{name}` can be trained on here or in an earlier part, but not in both"))
            }
            _ => Ok(row),
        }
    }
}
