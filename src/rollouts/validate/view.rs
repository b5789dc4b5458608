//! The derived view: every slot is derived once more from the tables, as the format defines it
//! for any tables - not only for the well-ordered ones that our writer makes - and compared.

use std::collections::HashMap;
use std::hash::Hash;

use super::findings::Findings;
use super::root::Root;
use super::tables::Tables;
use crate::array::{Array, Item};
use crate::rollouts::reader::VIEW;
use crate::rollouts::schema::{RETURN_SEMANTICS, REWARD_METRIC, TD_SEMANTICS};
use crate::rollouts::zarr::StoreReader;
use crate::text::json;
use crate::value::{Map, Value};

/// The tables' rows by state.
struct Derivation<'a> {
    tables: &'a Tables,
    /// The candidate rows of each state, in table order.
    shells: Vec<Vec<usize>>,
    /// The rollout of each state, if there is exactly one.
    chains: Vec<Option<usize>>,
    /// The selected slot of each state.
    selected: Vec<Option<usize>>,
    /// The step row that follows each state, -1 for none.
    next: Vec<i64>,
}

/// The positions of each key.
fn grouped<K: Eq + Hash + Copy>(keys: &[K]) -> HashMap<K, Vec<usize>> {
    let mut groups: HashMap<K, Vec<usize>> = HashMap::new();
    for (row, key) in keys.iter().enumerate() {
        groups.entry(*key).or_default().push(row);
    }
    groups
}

/// The width of the widest shell.
pub(super) fn widest(tables: &Tables) -> usize {
    let shells = grouped(tables.candidates.get::<i64>("step_row_id"));
    let steps = tables.steps.get::<i64>("step_row_id");
    steps.iter().filter_map(|step| shells.get(step).map(Vec::len)).max().unwrap_or(0)
}

impl<'a> Derivation<'a> {
    fn new(tables: &'a Tables) -> Self {
        let steps = tables.steps.get::<i64>("step_row_id");
        let owners = tables.steps.get::<i64>("rollout_row_id");
        let indices = tables.steps.get::<i16>("step_index");
        let chosen = tables.steps.get::<i64>("selected_candidate_row_id");
        let ids = tables.candidates.get::<i64>("candidate_row_id");
        let by_step = grouped(tables.candidates.get::<i64>("step_row_id"));
        let by_rollout = grouped(tables.rollouts.get::<i64>("rollout_row_id"));
        let places = || owners.iter().zip(indices).map(|(owner, index)| (*owner, i32::from(*index)));
        let by_place: HashMap<(i64, i32), i64> = places().zip(steps.iter().copied()).collect();
        let shells: Vec<Vec<usize>> = steps.iter().map(|step| by_step.get(step).cloned().unwrap_or_default()).collect();
        let selected: Vec<Option<usize>> = shells
            .iter()
            .zip(chosen)
            .map(|(shell, chosen)| shell.iter().rposition(|row| ids.get(*row) == Some(chosen)))
            .collect();
        let next = places().zip(&selected).map(|((owner, index), selected)| {
            selected.and_then(|_| by_place.get(&(owner, index + 1)).copied()).unwrap_or(-1)
        });
        let next = next.collect();
        let chains = owners.iter().map(|owner| match by_rollout.get(owner).map(Vec::as_slice) {
            Some([row]) => Some(*row),
            _ => None,
        });
        Self { tables, chains: chains.collect(), shells, selected, next }
    }

    fn width(&self) -> usize {
        self.shells.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// A column of the candidates' table at one of its rows.
    fn candidate<T: Item>(&self, name: &str) -> impl Fn(usize) -> T + use<'_, T> {
        let column = self.tables.candidates.get::<T>(name);
        move |row| column.get(row).copied().unwrap_or_default()
    }
}

/// Persisted arrays beside what is derived.
struct Comparison<'a> {
    persisted: HashMap<&'static str, Array>,
    derivation: &'a Derivation<'a>,
    findings: &'a mut Findings,
}

/// Equal, or for floats near, with NaN equal to NaN.
fn same<T: Item>(stored: T, derived: T) -> bool {
    if !T::DTYPE.is_float() {
        return stored == derived;
    }
    let (stored, derived) = (stored.to_f64(), derived.to_f64());
    stored == derived
        || stored.is_nan() && derived.is_nan()
        || (stored - derived).abs() <= 1e-8 + 1e-5 * derived.abs() && derived.is_finite()
}

impl Comparison<'_> {
    /// The array's elements, if it has the dtype and shape of the derived one.
    fn stored<T: Item>(&mut self, name: &str, shape: &[usize]) -> Option<Array> {
        let array = self.persisted.get(name)?.clone();
        let (found, expected) = (array.dtype().numpy_name(), T::DTYPE.numpy_name());
        if found != expected {
            self.findings.add(format!("q_h/{name}: dtype is {found}, not {expected}"));
            return None;
        }
        if array.shape() != shape {
            self.findings.add(format!("q_h/{name}: shape is {:?}, not {shape:?}", array.shape()));
            return None;
        }
        Some(array)
    }

    /// Compares a vector of states.
    fn vector<T: Item>(&mut self, name: &str, derive: impl Fn(usize) -> T) {
        let Some(array) = self.stored::<T>(name, &[self.derivation.shells.len()]) else { return };
        let stored = array.as_slice::<T>().unwrap_or_default();
        let wrong = stored.iter().enumerate().map(|(state, stored)| !same(*stored, derive(state)));
        self.findings.flagged(&format!("q_h/{name}"), wrong, "is not what the tables give");
    }

    /// Compares a matrix of states by slots, `padding` where a shell has ended.
    fn matrix<T: Item>(&mut self, name: &str, padding: T, derive: impl Fn(usize) -> T) {
        let width = self.derivation.width();
        let Some(array) = self.stored::<T>(name, &[self.derivation.shells.len(), width]) else { return };
        let rows = array.as_slice::<T>().unwrap_or_default().chunks(width.max(1));
        let wrong = rows.zip(&self.derivation.shells).map(|(stored, shell)| {
            let slots = shell.iter().map(|row| derive(*row)).chain(std::iter::repeat(padding));
            stored.iter().zip(slots).any(|(stored, derived)| !same(*stored, derived))
        });
        self.findings.flagged(&format!("q_h/{name}"), wrong, "is not what the tables give");
    }
}

pub(super) fn check(reader: &StoreReader, root: &Root, tables: &Tables, findings: &mut Findings) {
    let derivation = Derivation::new(tables);
    let mut persisted = HashMap::new();
    for name in VIEW {
        match reader.array(&format!("q_h/{name}")) {
            Ok(array) => {
                persisted.insert(name, array);
            }
            Err(error) => findings.add(error.to_string()),
        }
    }
    attributes(reader, root, &derivation, findings);
    invariants(root, tables, &persisted, findings);
    let gamma = root.attributes.get("discount_gamma").and_then(Value::as_float).unwrap_or(f64::NAN);
    let mut compare = Comparison { persisted, derivation: &derivation, findings };
    states(&mut compare, gamma);
    slots(&mut compare);
}

fn states(compare: &mut Comparison<'_>, gamma: f64) {
    let derivation = compare.derivation;
    let tables = derivation.tables;
    let of = |column: &str| {
        let rollouts = tables.rollouts.get::<i64>(column);
        move |state: usize| derivation.chains.get(state).copied().flatten().and_then(|row| rollouts.get(row).copied())
    };
    let (source, target) = (of("source_row_id"), of("target_row_id"));
    let step = |name: &str| {
        let column = tables.steps.get::<i64>(name);
        move |state: usize| column.get(state).copied().unwrap_or_default()
    };
    let next = |state: usize| derivation.next.get(state).copied().unwrap_or(-1);
    let slot = |state: usize| derivation.selected.get(state).copied().flatten();
    let reward = |name: &str| {
        let label = derivation.candidate::<f32>(name);
        move |state: usize| {
            let row = slot(state).and_then(|slot| derivation.shells.get(state)?.get(slot).copied());
            row.map_or(f32::NAN, &label)
        }
    };
    compare.vector("state_step_row_id", step("step_row_id"));
    compare.vector("source_row_id", |state| source(state).unwrap_or(-1));
    compare.vector("target_row_id", |state| target(state).unwrap_or(0));
    compare.vector("selected_candidate_index", |state| {
        slot(state).and_then(|slot| i32::try_from(slot).ok()).unwrap_or(-1)
    });
    compare.vector("td_selected_candidate_row_id", step("selected_candidate_row_id"));
    compare.vector("td_reward", reward("target_root_gain"));
    compare.vector("td_reward_target_rri", reward("target_rri"));
    compare.vector("td_next_step_row_id", next);
    compare.vector("td_terminal_mask", |state| next(state) < 0);
    #[expect(clippy::cast_possible_truncation, reason = "the view holds float32")]
    compare.vector("td_discount", |state| if next(state) < 0 { 0.0 } else { gamma as f32 });
}

fn slots(compare: &mut Comparison<'_>) {
    let derivation = compare.derivation;
    let valid = derivation.candidate::<bool>("actor_action_mask");
    let trained = derivation.candidate::<bool>("q_train_mask");
    let masked = |name: &str| {
        let label = derivation.candidate::<f32>(name);
        let valid = derivation.candidate::<bool>("actor_action_mask");
        move |row: usize| if valid(row) { label(row) } else { f32::NAN }
    };
    compare.matrix("candidate_row_id", -1, derivation.candidate::<i64>("candidate_row_id"));
    compare.matrix("valid_action_mask", false, &valid);
    compare.matrix("q_train_mask", false, |row| trained(row) && valid(row));
    compare.matrix("position_id", -1, derivation.candidate::<i32>("position_id"));
    compare.matrix("one_step_target_rri", f32::NAN, masked("target_rri"));
    compare.matrix("one_step_target_root_gain", f32::NAN, masked("target_root_gain"));
    compare.matrix("invalid_reason_bitset", 0, derivation.candidate::<u32>("invalid_reason_bitset"));
}

/// The group's attributes.
fn attributes(reader: &StoreReader, root: &Root, derivation: &Derivation<'_>, findings: &mut Findings) {
    let own = match reader.attributes("q_h") {
        Ok(attributes) => attributes,
        Err(error) => {
            findings.add(error.to_string());
            Map::new()
        }
    };
    let horizon = derivation.tables.rollouts.get::<i16>("horizon").iter().copied().max().map_or(1, i64::from);
    let count = |count: usize| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
    let returns = root.attributes.get("return_semantics").cloned().unwrap_or_else(|| RETURN_SEMANTICS.into());
    for (key, expected) in [
        ("state_count", count(derivation.shells.len())),
        ("max_candidates", count(derivation.width())),
        ("horizon", Value::Int(horizon)),
        ("td_semantics", TD_SEMANTICS.into()),
        ("reward_metric", REWARD_METRIC.into()),
        ("return_semantics", returns),
    ] {
        if own.get(key) != Some(&expected) {
            let found = own.get(key).map_or_else(|| "missing".to_owned(), json::to_string);
            findings.add(format!("q_h attribute {key}: is {found}, not {}", json::to_string(&expected)));
        }
    }
    let gamma = |map: &Map| map.get("discount_gamma").and_then(Value::as_float);
    match gamma(&root.attributes) {
        Some(expected) if gamma(&own) == Some(expected) => {}
        Some(expected) => findings.add(format!("q_h attribute discount_gamma: is not the root's {expected:?}")),
        None => findings.add("root attribute discount_gamma: is not a number"),
    }
}

/// What holds of the persisted view by itself.
fn invariants(root: &Root, tables: &Tables, persisted: &HashMap<&'static str, Array>, findings: &mut Findings) {
    fn flat<'a, T: Item>(persisted: &'a HashMap<&'static str, Array>, name: &str) -> &'a [T] {
        persisted.get(name).and_then(Array::as_slice).unwrap_or_default()
    }
    let known = tables.candidates.index("candidate_row_id");
    let ids = flat::<i64>(persisted, "candidate_row_id");
    let strange = ids.iter().map(|id| *id >= 0 && !known.contains_key(id));
    findings.flagged("q_h/candidate_row_id (flattened)", strange, "is no candidate");
    let (valid, trained) = (flat::<bool>(persisted, "valid_action_mask"), flat::<bool>(persisted, "q_train_mask"));
    let pairs = || trained.iter().zip(valid);
    let path = "q_h/q_train_mask (flattened)";
    findings.flagged(path, pairs().map(|(trained, valid)| *trained && !valid), "trains on what is not a valid action");
    if root.is_dense() {
        let what = "is not valid_action_mask, as label_support_semantics demands";
        findings.flagged(path, pairs().map(|(trained, valid)| trained != valid), what);
    }
    for label in ["one_step_target_root_gain", "one_step_target_rri"] {
        let labels = flat::<f32>(persisted, label);
        let holes = trained.iter().zip(labels).map(|(trained, label)| *trained && !label.is_finite());
        findings.flagged(path, holes, &format!("trains where {label} is not finite"));
    }
    let discount = flat::<f32>(persisted, "td_discount");
    let wrong =
        flat::<bool>(persisted, "td_terminal_mask").iter().zip(discount).map(|(end, gamma)| *end && *gamma != 0.0);
    findings.flagged("q_h/td_discount", wrong, "is not 0 at a terminal state");
}
