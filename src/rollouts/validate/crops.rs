//! Evaluation crops: points that an oracle kept, row by row, for states and their candidates.

use super::findings::Findings;
use super::root::Root;
use super::states::States;
use super::tables::{Columns, Table, Tables, texts};
use crate::array::DType;
use crate::rollouts::dictionary::Dictionary;
use crate::rollouts::zarr::StoreReader;
use crate::value::Value;

/// About how many bytes of points are looked at at once.
const BYTES: usize = 1 << 24;

const ROLES: [&str; 2] = ["current_eval", "candidate_eval"];

pub(super) fn check(reader: &StoreReader, root: &Root, tables: &Tables, states: &States, findings: &mut Findings) {
    let group = "target_eval_crops";
    let rows = |name: &str| reader.shape(&format!("{group}/{name}")).ok().and_then(|(_, shape)| shape.first().copied());
    let count = rows("crop_row_id").unwrap_or(0);
    root.counts("target_eval_crops_num_rows", "target_eval_crops", count, findings);
    if !root.flag("target_eval_crops_enabled") {
        for name in reader.arrays(group) {
            // Dictionaries beside the rows.
            let beside = ["source_role_names", "crop_policy_dictionary"].contains(&name.as_str());
            if !beside && rows(&name).is_some_and(|rows| rows > 0) {
                findings.add(format!("{group}/{name}: has rows, but target_eval_crops_enabled is not set"));
            }
        }
        return;
    }
    for (key, expected) in
        [("target_eval_crops_role", "oracle_eval_only"), ("target_eval_crops_coordinate_frame", "world")]
    {
        if root.text(key) != expected {
            findings.add(format!("root attribute {key}: is `{}`, not `{expected}`", root.text(key)));
        }
    }
    match texts(reader, &format!("{group}/source_role_names")) {
        Ok(names) if names == ROLES => {}
        Ok(names) => findings.add(format!("{group}/source_role_names: is {names:?}, not {ROLES:?}")),
        Err(what) => findings.add(what),
    }
    let most = root.attributes.get("target_eval_crops_max_points").and_then(Value::as_int);
    let Some(points) = most.and_then(|most| usize::try_from(most).ok()).filter(|most| *most > 0) else {
        return findings.add("root attribute target_eval_crops_max_points: is not a positive integer");
    };
    let mut table = Table::of_rows(count);
    for (name, dtype, shape) in [
        ("crop_row_id", DType::I64, vec![count]),
        ("step_row_id", DType::I64, vec![count]),
        ("candidate_row_id", DType::I64, vec![count]),
        ("source_role_id", DType::I32, vec![count]),
        ("crop_policy_id", DType::I32, vec![count]),
        ("voxel_size_m", DType::F32, vec![count]),
        ("max_points", DType::I32, vec![count]),
        ("lengths", DType::I32, vec![count]),
        ("points_world", DType::F32, vec![count, points, 3]),
        ("mask", DType::Bool, vec![count, points]),
    ] {
        table.expect(reader, group, (name, dtype), &shape, findings);
    }
    if table.is_missing(10) {
        return;
    }
    let at_once = (BYTES / (points * 13).max(1)).clamp(1, 1 << 16);
    for start in (0..count).step_by(at_once) {
        let mut damage = Findings::default();
        let block = table.read(start..count.min(start + at_once), &mut damage);
        if damage.is_empty() {
            let mut found = Findings::from(start);
            ids(tables, states, &block, start, &mut found);
            contents(&block, points, &mut found);
            findings.merge(found);
        }
        findings.merge(damage);
    }
}

fn ids(tables: &Tables, states: &States, block: &Columns, start: usize, findings: &mut Findings) {
    let wrong = block.get::<i64>("crop_row_id").iter().enumerate();
    let wrong = wrong.map(|(row, id)| usize::try_from(*id) != Ok(start + row));
    findings.flagged("target_eval_crops/crop_row_id", wrong, "ids do not count up from 0");
    let steps = block.get::<i64>("step_row_id");
    let unknown = steps.iter().map(|id| tables.step_rows.row(*id).is_none());
    findings.flagged("target_eval_crops/step_row_id", unknown, "there is no such step");
    let roles = block.get::<i32>("source_role_id");
    let wrong = roles.iter().map(|role| ![0, 1].contains(role));
    findings.flagged("target_eval_crops/source_role_id", wrong, "is neither 0 nor 1");
    let candidates = block.get::<i64>("candidate_row_id");
    let path = "target_eval_crops/candidate_row_id";
    let wrong = roles.iter().zip(candidates).map(|(role, id)| *role == 0 && *id != -1);
    findings.flagged(path, wrong, "is not -1 where the crop is the state's own");
    // Ids that do not count up from 0 are told elsewhere.
    let within = |step: i64, id: i64| {
        let state = tables.step_rows.row(step)?;
        let shell = *states.starts.get(state)?..*states.starts.get(state + 1)?;
        Some(usize::try_from(id).is_ok_and(|row| shell.contains(&row)))
    };
    let wrong = roles
        .iter()
        .zip(steps.iter().zip(candidates))
        .map(|(role, (step, id))| *role == 1 && states.ordered && within(*step, *id) == Some(false));
    findings.flagged(path, wrong, "is not a candidate of the step");
    let wrong = block.get::<i32>("crop_policy_id").iter();
    let wrong = wrong.map(|id| *id != -1 && tables.text(Dictionary::Config, *id).is_none());
    findings.flagged("target_eval_crops/crop_policy_id", wrong, "is out of its dictionary's range");
}

fn contents(block: &Columns, points: usize, findings: &mut Findings) {
    let lengths = block.get::<i32>("lengths");
    let path = "target_eval_crops/lengths";
    let wrong = lengths.iter().map(|length| !usize::try_from(*length).is_ok_and(|length| length <= points));
    findings.flagged(path, wrong, "is not between 0 and the crop's width");
    let masks = block.get::<bool>("mask").chunks(points.max(1));
    let kept = |mask: &[bool]| mask.iter().filter(|kept| **kept).count();
    let wrong = lengths.iter().zip(masks.clone()).map(|(length, mask)| usize::try_from(*length) != Ok(kept(mask)));
    findings.flagged(path, wrong, "is not how many points the mask keeps");
    let rows = block.get::<f32>("points_world").chunks((points * 3).max(1)).zip(masks);
    let broken = |points: &[f32], mask: &[bool]| {
        points.as_chunks::<3>().0.iter().zip(mask).any(|(point, kept)| *kept && !point.iter().all(|x| x.is_finite()))
    };
    let wrong = rows.map(|(points, mask)| broken(points, mask));
    findings.flagged("target_eval_crops/points_world", wrong, "a point that is kept is not finite");
}
