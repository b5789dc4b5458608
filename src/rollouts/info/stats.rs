//! Statistics of a store: validity, what was selected, how far chains go, where they come from.
//!
//! Candidates are read a block at a time, so that any store can be looked at.

use std::collections::BTreeMap;

use super::distribution::distribution;
use crate::array::Array;
use crate::rollouts::schema::REASONS;
use crate::rollouts::{Columns, Store, StoreError};
use crate::value::{Map, Value};

/// How many candidates are looked at at once.
const ROWS: usize = 1 << 18;

/// Families of gaze, by strategy id.
const STRATEGIES: [&str; 4] = ["forward_rig", "radial_away", "radial_towards", "target_point"];

/// Everything that candidates are counted for.
#[derive(Default)]
struct Counts {
    total: u64,
    valid: u64,
    /// Those with a label that a learner may use.
    trainable: u64,
    reasons: BTreeMap<&'static str, u64>,
    /// By strategy and by component, of valid candidates and of selected ones.
    families: [[BTreeMap<String, u64>; 2]; 2],
    /// Selected poses' translations, by step row.
    selected: Vec<(i64, [f32; 3])>,
    rewards: Moments,
}

/// The mean and spread of numbers as they come (Welford, 1962).
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    count: u64,
    mean: f64,
    squares: f64,
    least: Option<f64>,
    greatest: Option<f64>,
}

impl Moments {
    fn add(&mut self, number: f64) {
        self.count += 1;
        let away = number - self.mean;
        #[expect(clippy::cast_precision_loss, reason = "counts")]
        let count = self.count as f64;
        self.mean += away / count;
        self.squares += away * (number - self.mean);
        self.least = Some(self.least.map_or(number, |least| least.min(number)));
        self.greatest = Some(self.greatest.map_or(number, |greatest| greatest.max(number)));
    }

    fn value(&self) -> Value {
        #[expect(clippy::cast_precision_loss, reason = "counts")]
        let some = (self.count > 0).then_some(self.count as f64);
        Value::map([
            ("finite_count", count(self.count)),
            ("mean", some.map(|_| self.mean).into()),
            ("std", some.map(|count| (self.squares / count).sqrt()).into()),
            ("min", self.least.into()),
            ("max", self.greatest.into()),
        ])
    }
}

pub(super) fn count(count: u64) -> Value {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}

/// Texts with how often each occurs, sorted by text.
fn counted<K: AsRef<str>>(counts: &BTreeMap<K, u64>) -> Value {
    Value::Map(counts.iter().map(|(key, number)| (key.as_ref().to_owned(), count(*number))).collect::<Map>())
}

/// A store's statistics, and those of its rewards by themselves: `(stats, rewards)`.
pub(super) fn stats(store: &Store, manifest: &Value) -> Result<(Value, Value), StoreError> {
    let mut counts = Counts::default();
    let names = Components::of(store, manifest)?;
    let (_, shape) = store.shape("candidates/candidate_row_id")?;
    let rows = shape.first().copied().unwrap_or(0);
    for start in (0..rows).step_by(ROWS) {
        counts.add(store, &names, start..rows.min(start + ROWS))?;
    }
    let steps = store.table("steps", &["step_row_id", "rollout_row_id", "num_valid_candidates"], 0..usize::MAX)?;
    let valid = steps.get("num_valid_candidates").map(|column| column.numbers().collect()).unwrap_or_default();
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    let fraction = (counts.total > 0).then(|| counts.valid as f64 / counts.total as f64);
    let paths = paths(store, &counts.selected, &steps)?;
    let policies = policies(store)?;
    let [of_valid, of_selected] = &counts.families;
    let stats = Value::map([
        (
            "candidate_validity",
            Value::map([
                ("valid", count(counts.valid)),
                ("total", count(counts.total)),
                ("fraction", fraction.into()),
                ("valid_per_step", distribution(valid)),
                ("invalid_reasons", counted(&counts.reasons)),
                ("trainable", count(counts.trainable)),
            ]),
        ),
        (
            "selected",
            Value::map([
                ("total", count(counts.selected.len() as u64)),
                ("strategy_counts", counted(&of_selected[0])),
                ("component_counts", counted(&of_selected[1])),
                ("path_length_m", distribution(paths)),
            ]),
        ),
        (
            "valid_candidates",
            Value::map([("strategy_counts", counted(&of_valid[0])), ("component_counts", counted(&of_valid[1]))]),
        ),
        ("policy_counts", counted(&policies)),
        (
            "source_coverage",
            manifest.as_map().and_then(|map| map.get("source_coverage")).cloned().unwrap_or(Value::Null),
        ),
    ]);
    Ok((stats, counts.rewards.value()))
}

/// What a candidate's component is called.
struct Components {
    /// By mixture id, as the writer's configuration has them.
    mixture: Vec<String>,
    /// By candidate, of stores with the candidate codec: the texts of their families.
    families: Option<Vec<String>>,
}

impl Components {
    fn of(store: &Store, manifest: &Value) -> Result<Self, StoreError> {
        let listed = ["generation", "writer_config", "candidate_mixture"]
            .iter()
            .try_fold(manifest, |value, key| value.as_map()?.get(*key))
            .and_then(|mixture| mixture.as_map()?.get("components")?.as_list())
            .unwrap_or_default();
        let name = |(index, component): (usize, &Value)| {
            let name = component.as_text().or_else(|| component.as_map()?.get("name")?.as_text());
            name.map_or_else(|| format!("id_{index}"), str::to_owned)
        };
        let has_codec = store.attribute("candidate_trace_codec_version").is_some();
        let families = if has_codec { Some(store.dictionary("candidate_fact")?) } else { None };
        Ok(Self { mixture: listed.iter().enumerate().map(name).collect(), families })
    }
}

/// A name by its id; none for negative ids.
fn name<K: AsRef<str>>(id: i32, names: &[K]) -> Option<String> {
    let id = usize::try_from(id).ok()?;
    Some(names.get(id).map_or_else(|| format!("id_{id}"), |name| name.as_ref().to_owned()))
}

impl Counts {
    fn add(&mut self, store: &Store, names: &Components, rows: std::ops::Range<usize>) -> Result<(), StoreError> {
        let columns = [
            "step_row_id",
            "actor_action_mask",
            "selected_mask",
            "strategy_id",
            "mixture_id",
            "invalid_reason_bitset",
            "target_root_gain",
            "q_train_mask",
            "pose_world_cam",
        ];
        let table = store.table("candidates", &columns, rows.clone())?;
        let flags = |name: &str| table.get(name).and_then(Array::as_bool).unwrap_or_default();
        let ids = |name: &str| table.get(name).and_then(Array::as_i32).unwrap_or_default();
        let steps = table.get("step_row_id").and_then(Array::as_i64).unwrap_or_default();
        let bits = table.get("invalid_reason_bitset").and_then(Array::as_u32).unwrap_or_default();
        let gains = table.get("target_root_gain").and_then(Array::as_f32).unwrap_or_default();
        let poses = table.get("pose_world_cam").and_then(Array::as_f32).unwrap_or_default().as_chunks::<12>().0;
        let codec = match &names.families {
            Some(_) => Some(store.rows("candidate_semantics/candidate_family_id", rows)?),
            None => None,
        };
        let (components, texts) = match (&codec, &names.families) {
            (Some(column), Some(texts)) => (column.as_i32().unwrap_or_default(), texts.as_slice()),
            _ => (ids("mixture_id"), names.mixture.as_slice()),
        };
        let mut by_id: [[BTreeMap<i32, u64>; 2]; 2] = Default::default();
        let mut family = |of: usize, row: usize| {
            for (which, ids) in [ids("strategy_id"), components].into_iter().enumerate() {
                let counts = by_id.get_mut(of).and_then(|of| of.get_mut(which));
                if let (Some(counts), Some(id)) = (counts, ids.get(row)) {
                    *counts.entry(*id).or_default() += 1;
                }
            }
        };
        self.trainable += flags("q_train_mask").iter().filter(|trainable| **trainable).count() as u64;
        let (valid, selected) = (flags("actor_action_mask"), flags("selected_mask"));
        for (row, (valid, selected)) in valid.iter().zip(selected).enumerate() {
            self.total += 1;
            if *valid {
                self.valid += 1;
                family(0, row);
                if let Some(gain) = gains.get(row).filter(|gain| gain.is_finite()) {
                    self.rewards.add(f64::from(*gain));
                }
            } else {
                for (bit, reason) in REASONS.iter().enumerate() {
                    if bits.get(row).is_some_and(|bits| bits & (1 << bit) != 0) {
                        *self.reasons.entry(reason).or_default() += 1;
                    }
                }
            }
            if *selected {
                family(1, row);
                if let (Some(step), Some([.., x, y, z])) = (steps.get(row), poses.get(row)) {
                    self.selected.push((*step, [*x, *y, *z]));
                }
            }
        }
        for (of, by_id) in by_id.iter().enumerate() {
            for (which, by_id) in by_id.iter().enumerate() {
                let Some(counts) = self.families.get_mut(of).and_then(|of| of.get_mut(which)) else { continue };
                for (id, number) in by_id {
                    let name = if which == 0 { name(*id, &STRATEGIES) } else { name(*id, texts) };
                    if let Some(name) = name {
                        *counts.entry(name).or_default() += number;
                    }
                }
            }
        }
        Ok(())
    }
}

/// How far each chain goes: from its root from one selected pose to the next, in metres.
fn paths(store: &Store, selected: &[(i64, [f32; 3])], steps: &Columns) -> Result<Vec<f64>, StoreError> {
    let ids = |name: &str| steps.get(name).and_then(Array::as_i64).unwrap_or_default();
    let owner: std::collections::HashMap<i64, i64> =
        ids("step_row_id").iter().copied().zip(ids("rollout_row_id").iter().copied()).collect();
    let rollouts = store.table("rollouts", &["rollout_row_id", "root_pose_world"], 0..usize::MAX)?;
    let roots = rollouts.get("root_pose_world").and_then(Array::as_f32).unwrap_or_default().as_chunks::<12>().0;
    let chains = rollouts.get("rollout_row_id").and_then(Array::as_i64).unwrap_or_default().iter().zip(roots);
    let mut ends: BTreeMap<i64, ([f32; 3], f64)> =
        chains.map(|(id, [.., x, y, z])| (*id, ([*x, *y, *z], 0.0))).collect();
    for (step, place) in selected {
        if let Some((before, length)) = owner.get(step).and_then(|rollout| ends.get_mut(rollout)) {
            let squares = place.iter().zip(*before).map(|(to, from)| f64::from(to - from).powi(2));
            *length += squares.sum::<f64>().sqrt();
            *before = *place;
        }
    }
    Ok(ends.into_values().map(|(_, length)| length).collect())
}

/// How many chains each policy has.
fn policies(store: &Store) -> Result<BTreeMap<String, u64>, StoreError> {
    let texts = store.dictionary("policy")?;
    let mut counts = BTreeMap::new();
    for id in store.array("rollouts/policy_id")?.as_i32().unwrap_or_default() {
        if let Some(name) = name(*id, &texts) {
            *counts.entry(name).or_default() += 1;
        }
    }
    Ok(counts)
}
