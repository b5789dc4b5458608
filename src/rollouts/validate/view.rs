//! The derived view: every slot is derived once more from the tables, by code of its own, and
//! compared with what is on disk.

use std::ops::Range;

use super::block::Block;
use super::findings::Findings;
use super::root::Root;
use super::states::States;
use super::tables::{Columns, Table, Tables};
use crate::array::Item;
use crate::rollouts::schema::{self, RETURN_SEMANTICS, REWARD_METRIC, TD_SEMANTICS};
use crate::rollouts::zarr::StoreReader;
use crate::text::json;
use crate::value::{Map, Value};

/// The view as it is on disk.
pub(super) struct View {
    table: Table,
    width: usize,
    gamma: f64,
}

impl View {
    /// Describes the view and checks the attributes of its group.
    pub(super) fn describe(
        reader: &StoreReader,
        root: &Root,
        tables: &Tables,
        states: &States,
        findings: &mut Findings,
    ) -> Self {
        let width = states.width();
        let mut table = Table::of_rows(tables.steps.rows);
        for (name, dtype, matrix) in schema::VIEW {
            let shape: Vec<usize> = [tables.steps.rows].into_iter().chain(matrix.then_some(width)).collect();
            table.expect(reader, "q_h", (name, dtype), &shape, findings);
        }
        attributes(reader, root, tables, width, findings);
        let gamma = root.attributes.get("discount_gamma").and_then(Value::as_float).unwrap_or(f64::NAN);
        Self { table, width, gamma }
    }

    pub(super) fn read(&self, states: Range<usize>, findings: &mut Findings) -> Columns {
        self.table.read(states, findings)
    }
}

/// Equal, or for floats near, with NaN equal to NaN.
fn same<T: Item>(stored: T, derived: T) -> bool {
    if stored == derived {
        return true;
    }
    if !T::DTYPE.is_float() {
        return false;
    }
    let (stored, derived) = (stored.to_f64(), derived.to_f64());
    stored.is_nan() && derived.is_nan()
        || (stored - derived).abs() <= 1e-8 + 1e-5 * derived.abs() && derived.is_finite()
}

/// One block's view beside what its tables give.
struct Comparison<'a> {
    block: &'a Block,
    view: &'a View,
    findings: Findings,
}

const DIFFERS: &str = "is not what the tables give";

impl Comparison<'_> {
    /// Compares a vector of states.
    fn vector<T: Item>(&mut self, name: &str, derive: impl Fn(usize) -> T) {
        let stored = self.block.view.get::<T>(name);
        let wrong = stored.iter().enumerate().map(|(state, stored)| !same(*stored, derive(state)));
        self.findings.flagged(&format!("q_h/{name}"), wrong, DIFFERS);
    }

    /// Compares a matrix of states by slots with a column, `padding` where a shell has ended and
    /// `derive` of the candidate's row and its cell before.
    fn matrix<T: Item>(&mut self, name: &str, column: &str, padding: T, derive: impl Fn(usize, T) -> T) {
        let width = self.view.width;
        let cells = self.block.candidates.get::<T>(column);
        let rows = self.block.view.get::<T>(name).chunks(width.max(1));
        let wrong = rows.zip(&self.block.shells).map(|(stored, shell)| {
            let (slots, rest) = stored.split_at(shell.len().min(stored.len()));
            let own = cells.get(shell.clone()).unwrap_or_default();
            let mut pairs = slots.iter().zip(own).enumerate();
            own.len() != slots.len()
                || pairs.any(|(slot, (stored, cell))| !same(*stored, derive(shell.start + slot, *cell)))
                || rest.iter().any(|stored| !same(*stored, padding))
        });
        self.findings.flagged(&format!("q_h/{name}"), wrong, DIFFERS);
    }
}

/// What belongs to a state.
pub(super) fn of_states(tables: &Tables, states: &States, view: &View, block: &Block) -> Findings {
    let mut compare = Comparison { block, view, findings: Findings::from(block.states.start) };
    let of = |column: &str| {
        let rollouts = tables.rollouts.get::<i64>(column);
        move |state: usize| {
            let chain = states.chain.get(block.states.start + state).copied().flatten();
            chain.and_then(|row| rollouts.get(row).copied())
        }
    };
    let (source, target) = (of("source_row_id"), of("target_row_id"));
    let step = |name: &str| {
        let column = block.steps::<i64>(tables, name);
        move |state: usize| column.get(state).copied().unwrap_or_default()
    };
    let slot = |state: usize| {
        let row = block.selected.get(state).copied().flatten()?;
        i32::try_from(row - block.shells.get(state)?.start).ok()
    };
    let next = |state: usize| {
        let follows = slot(state).and_then(|_| states.next.get(block.states.start + state).copied());
        follows.unwrap_or(-1)
    };
    let reward = |name: &str| {
        let label = block.candidates.get::<f32>(name);
        move |state: usize| {
            let row = block.selected.get(state).copied().flatten();
            row.and_then(|row| label.get(row)).copied().unwrap_or(f32::NAN)
        }
    };
    compare.vector("state_step_row_id", step("step_row_id"));
    compare.vector("source_row_id", |state| source(state).unwrap_or(-1));
    compare.vector("target_row_id", |state| target(state).unwrap_or(0));
    compare.vector("selected_candidate_index", |state| slot(state).unwrap_or(-1));
    compare.vector("td_selected_candidate_row_id", step("selected_candidate_row_id"));
    compare.vector("td_reward", reward("target_root_gain"));
    compare.vector("td_reward_target_rri", reward("target_rri"));
    compare.vector("td_next_step_row_id", next);
    compare.vector("td_terminal_mask", |state| next(state) < 0);
    #[expect(clippy::cast_possible_truncation, reason = "the view holds float32")]
    let gamma = view.gamma as f32;
    compare.vector("td_discount", |state| if next(state) < 0 { 0.0 } else { gamma });
    let terminal = block.view.get::<bool>("td_terminal_mask").iter().zip(block.view.get::<f32>("td_discount"));
    let wrong = terminal.map(|(end, gamma)| *end && *gamma != 0.0);
    compare.findings.flagged("q_h/td_discount", wrong, "is not 0 at a terminal state");
    compare.findings
}

/// What belongs to a candidate.
pub(super) fn of_slots(root: &Root, view: &View, block: &Block) -> Findings {
    let mut compare = Comparison { block, view, findings: Findings::from(block.states.start) };
    let valid = block.candidates.get::<bool>("actor_action_mask");
    let valid = |row: usize| valid.get(row).copied().unwrap_or(false);
    let masked = |row: usize, label: f32| if valid(row) { label } else { f32::NAN };
    compare.matrix::<i64>("candidate_row_id", "candidate_row_id", -1, |_, id| id);
    compare.matrix("valid_action_mask", "actor_action_mask", false, |_, valid| valid);
    compare.matrix("q_train_mask", "q_train_mask", false, |row, trained| trained && valid(row));
    compare.matrix::<i32>("position_id", "position_id", -1, |_, id| id);
    compare.matrix("one_step_target_rri", "target_rri", f32::NAN, masked);
    compare.matrix("one_step_target_root_gain", "target_root_gain", f32::NAN, masked);
    compare.matrix::<u32>("invalid_reason_bitset", "invalid_reason_bitset", 0, |_, bits| bits);
    let mut findings = compare.findings;
    invariants(root, view, block, &mut findings);
    findings
}

/// What holds of the persisted view by itself, said of states.
fn invariants(root: &Root, view: &View, block: &Block, findings: &mut Findings) {
    let width = view.width.max(1);
    let trained = block.view.get::<bool>("q_train_mask");
    let valid = block.view.get::<bool>("valid_action_mask");
    let path = "q_h/q_train_mask";
    let masks = || trained.chunks(width).zip(valid.chunks(width));
    let some =
        |(trained, valid): (&[bool], &[bool])| trained.iter().zip(valid).any(|(trained, valid)| *trained && !valid);
    findings.flagged(path, masks().map(some), "trains on what is not a valid action");
    if root.is_dense() {
        let what = "is not valid_action_mask, as label_support_semantics demands";
        findings.flagged(path, masks().map(|(trained, valid)| trained != valid), what);
    }
    for label in ["one_step_target_root_gain", "one_step_target_rri"] {
        let labels = trained.chunks(width).zip(block.view.get::<f32>(label).chunks(width));
        let hole = |(trained, labels): (&[bool], &[f32])| {
            trained.iter().zip(labels).any(|(trained, label)| *trained && !label.is_finite())
        };
        findings.flagged(path, labels.map(hole), &format!("trains where {label} is not finite"));
    }
}

/// The group's attributes.
fn attributes(reader: &StoreReader, root: &Root, tables: &Tables, width: usize, findings: &mut Findings) {
    let own = match reader.attributes("q_h") {
        Ok(attributes) => attributes,
        Err(error) => {
            findings.add(error.to_string());
            Map::new()
        }
    };
    let horizon = tables.rollouts.get::<i16>("horizon").iter().copied().max().map_or(1, i64::from);
    let count = |count: usize| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
    let returns = root.attributes.get("return_semantics").cloned().unwrap_or_else(|| RETURN_SEMANTICS.into());
    for (key, expected) in [
        ("state_count", count(tables.steps.rows)),
        ("max_candidates", count(width)),
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
