//! The optional parts: selected depth and evaluation crops, which this version's stores leave
//! empty.

use super::findings::Findings;
use super::root::Root;
use crate::rollouts::zarr::StoreReader;

pub(super) fn check(reader: &StoreReader, root: &Root, findings: &mut Findings) {
    for (group, flag) in
        [("selected_depth", "selected_depth_enabled"), ("target_eval_crops", "target_eval_crops_enabled")]
    {
        if root.flag(flag) {
            findings.add(format!("{group}: the store carries it, which this version does not check"));
            continue;
        }
        for name in reader.arrays(group) {
            // Dictionaries beside the rows.
            if ["source_role_names", "crop_policy_dictionary"].contains(&name.as_str()) {
                continue;
            }
            let path = format!("{group}/{name}");
            match reader.shape(&path) {
                Ok((_, shape)) if shape.first().is_some_and(|rows| *rows > 0) => {
                    findings.add(format!("{path}: has rows, but {flag} is not set"));
                }
                Ok(_) => {}
                Err(error) => findings.add(error.to_string()),
            }
        }
    }
}
