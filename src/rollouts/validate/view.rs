//! The persisted view against one derived here from the tables, state by state.

use std::collections::BTreeMap;

use super::columns::{Columns, at};
use crate::array::Array;
use crate::rollouts::schema::{REWARD_METRIC, TD_SEMANTICS};
use crate::rollouts::tables::id;
use crate::value::Value;

pub(super) fn check(columns: &mut Columns<'_>) {
    let expected = derive(columns);
    for (name, expected) in &expected {
        match columns.store.array(&format!("q_h/{name}")) {
            Err(problem) => columns.errors.push(format!("q_h/{name}: {problem}")),
            Ok(found) if found.dtype() != expected.dtype() || found.shape() != expected.shape() => {
                columns.errors.push(format!(
                    "q_h/{name}: {} {:?} instead of {} {:?}",
                    found.dtype(),
                    found.shape(),
                    expected.dtype(),
                    expected.shape()
                ));
            }
            Ok(found) => {
                let same =
                    |(a, b): (f64, f64)| a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-8 + 1e-5 * b.abs();
                let differing = found.numbers().zip(expected.numbers()).filter(|pair| !same(*pair)).count();
                if differing > 0 {
                    columns
                        .errors
                        .push(format!("q_h/{name}: {differing} values differ from those derived from the tables"));
                }
            }
        }
    }
    attributes(columns);
    dense_profile(columns, &expected);
}

fn attributes(columns: &mut Columns<'_>) {
    let group = columns.store.group_attributes("q_h");
    let root = columns.store.attributes();
    let steps = columns.get::<i64>("steps/step_row_id").len();
    let widest = columns.get::<i32>("steps/num_candidates").into_iter().max().unwrap_or(0);
    let horizon = columns.get::<i16>("rollouts/horizon").into_iter().max().unwrap_or(1);
    for (key, expected) in [
        ("state_count", Value::Int(id(steps))),
        ("max_candidates", Value::Int(widest.into())),
        ("horizon", Value::Int(horizon.into())),
        ("td_semantics", TD_SEMANTICS.into()),
        ("reward_metric", REWARD_METRIC.into()),
        ("return_semantics", root.get("return_semantics").cloned().unwrap_or_default()),
    ] {
        if group.get(key) != Some(&expected) {
            columns.errors.push(format!("q_h: attribute {key} is not {}", crate::text::json::to_string(&expected)));
        }
    }
    let gamma = |map: &crate::value::Map| map.get("discount_gamma").and_then(Value::as_float);
    if gamma(&group) != gamma(&root) {
        columns.errors.push("q_h: attribute discount_gamma is not the root's".to_owned());
    }
}

fn dense_profile(columns: &mut Columns<'_>, view: &BTreeMap<&'static str, Array>) {
    let root = columns.store.attributes();
    let dense = root.get("oracle_query_mode").and_then(Value::as_text) == Some("dense_valid");
    if dense && view.get("q_train_mask") != view.get("valid_action_mask") {
        columns.errors.push("q_h: the dense profile needs q_train_mask equal to valid_action_mask".to_owned());
    }
}

/// The 17 arrays, by joining tables on their ids.
fn derive(columns: &mut Columns<'_>) -> BTreeMap<&'static str, Array> {
    let step_ids = columns.get::<i64>("steps/step_row_id");
    let (step_rollout, step_index) =
        (columns.get::<i64>("steps/rollout_row_id"), columns.get::<i16>("steps/step_index"));
    let selected = columns.get::<i64>("steps/selected_candidate_row_id");
    let rollout_ids = columns.get::<i64>("rollouts/rollout_row_id");
    let (sources, targets) =
        (columns.get::<i64>("rollouts/source_row_id"), columns.get::<i64>("rollouts/target_row_id"));
    let owner = columns.get::<i64>("candidates/step_row_id");
    let candidate = columns.get::<i64>("candidates/candidate_row_id");
    let (valid, train) =
        (columns.get::<bool>("candidates/actor_action_mask"), columns.get::<bool>("candidates/q_train_mask"));
    let position = columns.get::<i32>("candidates/position_id");
    let (rri, gain) = (columns.get::<f32>("candidates/target_rri"), columns.get::<f32>("candidates/target_root_gain"));
    let bits = columns.get::<u32>("candidates/invalid_reason_bitset");
    let gamma = columns.store.attributes().get("discount_gamma").and_then(Value::as_float).unwrap_or(f64::NAN);

    let mut shells: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for (row, step) in owner.iter().enumerate() {
        shells.entry(*step).or_default().push(row);
    }
    let shell = |step: i64| shells.get(&step).map_or(&[][..], Vec::as_slice);
    let width = step_ids.iter().map(|step| shell(*step).len()).max().unwrap_or(0);
    let successor: BTreeMap<(i64, i16), i64> =
        (0..step_ids.len()).map(|row| ((at(&step_rollout, row), at(&step_index, row)), at(&step_ids, row))).collect();
    let chain: BTreeMap<i64, usize> = rollout_ids.iter().enumerate().map(|(row, rollout)| (*rollout, row)).collect();

    /// A padded matrix, filled slot by slot.
    macro_rules! padded {
        ($missing:expr, $cell:expr) => {
            step_ids
                .iter()
                .flat_map(|step| {
                    let rows = shell(*step);
                    (0..width).map(move |local| rows.get(local).copied())
                })
                .map(|row| row.map_or($missing, $cell))
                .collect::<Vec<_>>()
        };
    }
    let masked = |values: &[f32], row: usize| {
        if at(&valid, row) { values.get(row).copied().unwrap_or(f32::NAN) } else { f32::NAN }
    };
    let chosen: Vec<Option<(usize, usize)>> = step_ids
        .iter()
        .zip(&selected)
        .map(|(step, selected)| {
            let mut rows = shell(*step).iter().copied().enumerate();
            rows.rfind(|(_, row)| candidate.get(*row) == Some(selected))
        })
        .collect();
    let next: Vec<i64> = (0..step_ids.len())
        .map(|row| {
            let key = (at(&step_rollout, row), at(&step_index, row).saturating_add(1));
            chosen.get(row).copied().flatten().and_then(|_| successor.get(&key).copied()).unwrap_or(-1)
        })
        .collect();
    let label = |values: &[f32]| -> Vec<f32> {
        chosen.iter().map(|chosen| chosen.and_then(|(_, row)| values.get(row).copied()).unwrap_or(f32::NAN)).collect()
    };
    let chained = |values: &[i64], missing: i64| -> Vec<i64> {
        step_rollout
            .iter()
            .map(|rollout| chain.get(rollout).and_then(|row| values.get(*row)).copied().unwrap_or(missing))
            .collect()
    };
    let states = step_ids.len();
    let local = |chosen: &Option<(usize, usize)>| chosen.map_or(-1, |(local, _)| i32::try_from(local).unwrap_or(-1));
    let discount = next.iter().map(|next| if *next < 0 { 0.0 } else { crate::rollouts::datum::narrow(gamma) });
    let mut view = BTreeMap::new();
    macro_rules! put {
        ($name:literal, $shape:expr, $cells:expr) => {
            if let Ok(array) = Array::from_vec($shape, $cells) {
                view.insert($name, array);
            }
        };
    }
    let (line, grid) = (&[states][..], &[states, width][..]);
    put!("state_step_row_id", line, step_ids.clone());
    put!("source_row_id", line, chained(&sources, -1));
    put!("target_row_id", line, chained(&targets, 0));
    put!("candidate_row_id", grid, padded!(-1_i64, |row| at(&candidate, row)));
    put!("valid_action_mask", grid, padded!(false, |row| at(&valid, row)));
    put!("q_train_mask", grid, padded!(false, |row| at(&train, row) && at(&valid, row)));
    put!("position_id", grid, padded!(-1_i32, |row| at(&position, row)));
    put!("one_step_target_rri", grid, padded!(f32::NAN, |row| masked(&rri, row)));
    put!("one_step_target_root_gain", grid, padded!(f32::NAN, |row| masked(&gain, row)));
    put!("invalid_reason_bitset", grid, padded!(0_u32, |row| at(&bits, row)));
    put!("selected_candidate_index", line, chosen.iter().map(local).collect::<Vec<i32>>());
    put!("td_selected_candidate_row_id", line, selected.clone());
    put!("td_reward", line, label(&gain));
    put!("td_reward_target_rri", line, label(&rri));
    put!("td_terminal_mask", line, next.iter().map(|next| *next < 0).collect::<Vec<bool>>());
    put!("td_discount", line, discount.collect::<Vec<f32>>());
    put!("td_next_step_row_id", line, next);
    view
}
