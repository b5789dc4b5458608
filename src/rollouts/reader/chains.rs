//! Chains of one or several stores: validated, admitted, held to one contract, and given out one
//! by one as what a learner needs.
//!
//! Opening validates every store once and reads the small tables. The columns that chains are made
//! of are read whole when the first chain is asked for, unless they are too large for that.

mod admit;
mod batches;
mod contract;
mod error;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::{Columns, Store};
use crate::array::{Array, Item};
use crate::value::{Map, Value};

pub use batches::{Batch, Batches};
pub use error::ChainError;

/// A column of at most so many bytes is kept in memory.
const KEPT: usize = 1 << 30;

/// What chains to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChainOptions {
    /// Only those of this split: the campaign's where a source has one, else the physical one.
    /// `None` and `all` are all.
    pub campaign_split: Option<String>,
    /// Whether chains carry the frames that their states selected.
    pub include_selected_depth: bool,
}

/// One admitted store.
struct Part {
    store: Store,
    chains: Vec<Place>,
    /// How many states its chains have up to the end of each.
    ends: Vec<usize>,
    width: usize,
    /// Where each state's candidates begin, and where the last one's end.
    starts: Vec<usize>,
    small: Small,
    kept: [OnceLock<Array>; LARGE.len()],
}

/// Where a chain is in its store.
struct Place {
    rollout: usize,
    target: usize,
    source: usize,
    states: Range<usize>,
}

/// The columns of which every chain has a row or a few.
struct Small {
    rollouts: Columns,
    targets: Columns,
    sources: Vec<Map>,
    view: Columns,
}

/// The columns of candidates and slots.
const LARGE: [&str; 5] = [
    "candidates/pose_relative_root",
    "q_h/valid_action_mask",
    "q_h/q_train_mask",
    "q_h/one_step_target_root_gain",
    "q_h/one_step_target_rri",
];

/// One state of a chain: arrays as wide as its own shell.
#[derive(Clone, Debug)]
pub struct State {
    /// `(w, 12)` float32: the candidates' poses as the chain's root sees them.
    pub candidate_pose_relative_root: Array,
    /// `(w)` bool: valid actions.
    pub action_mask: Array,
    /// `(w)` bool: actions to learn from.
    pub label_mask: Array,
    /// `(w)` float32: each action's root-normalised gain, NaN where none was measured.
    pub candidate_reward: Array,
    /// `(w)` float32: each action's relative improvement, NaN where none was measured.
    pub one_step_target_rri: Array,
    /// How many steps are left, this one included.
    pub horizon_remaining: i64,
    /// The slot of the selected action.
    pub selected_index: i64,
    /// The discount of what follows; 0 at the end.
    pub discount: f32,
    /// Whether nothing follows.
    pub terminal: bool,
}

/// One chain: a root, its target, and the states along the way.
#[derive(Clone, Debug)]
pub struct Chain {
    /// Which store it is of, by its position among those given.
    pub store_index: usize,
    /// Its id within the store.
    pub rollout_row_id: i64,
    /// Its target's id within the store.
    pub target_row_id: i64,
    /// `(12)` float32: the root's pose.
    pub root_pose_world: Array,
    /// `(3)` float32: the target's side lengths, in metres.
    pub target_extents: Array,
    /// `(12)` float32: the target's pose.
    pub target_pose_world_object: Array,
    /// Where the root comes from: sample, scene, snippet, split, shard and row.
    pub source_ref: Map,
    /// The states, in order.
    pub states: Vec<State>,
    /// The frames that the states selected, where they were asked for: `depth_m` `(n, h, w)`
    /// float16 in metres, `valid_mask`, `focal_px`, `principal_point_px`, `image_size_hw`.
    pub selected_depth: Option<Columns>,
}

/// The chains of several stores, one after the other.
pub struct ChainReader {
    parts: Vec<Part>,
    options: ChainOptions,
    contract: Map,
    /// Of each chain, its store and its place there.
    chains: Vec<(usize, usize)>,
}

impl ChainReader {
    /// Opens, validates and admits the stores in `directories`.
    ///
    /// # Errors
    /// When a store is missing, unsound, given twice or not to be learnt from, when stores do not
    /// share their contract or name one sample differently, or when no chain is left.
    pub fn open(directories: &[PathBuf], options: ChainOptions) -> Result<Self, ChainError> {
        if directories.is_empty() {
            return Err(ChainError::NoStores);
        }
        let mut seen = std::collections::HashSet::new();
        for path in directories {
            if !seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
                return Err(ChainError::Repeated { path: path.clone() });
            }
        }
        let mut parts: Vec<Part> = Vec::new();
        let mut agreed: Option<Map> = None;
        let mut samples = std::collections::BTreeMap::new();
        for path in directories {
            let part = admit::admit(path, &options)?;
            let own = contract::of(&part.store, &options)?;
            contract::agree(path, agreed.get_or_insert_with(|| own.clone()), &own)?;
            for source in &part.small.sources {
                let sample = source.get("sample_index").and_then(Value::as_int).unwrap_or_default();
                if samples.entry(sample).or_insert_with(|| source.clone()) != source {
                    let what = format!("sample {sample} has another source than in the stores before");
                    return Err(ChainError::Refused { path: path.clone(), what });
                }
            }
            parts.push(part);
        }
        let all = parts.iter().enumerate();
        let chains: Vec<(usize, usize)> =
            all.flat_map(|(store, part)| (0..part.chains.len()).map(move |place| (store, place))).collect();
        if chains.is_empty() {
            return Err(ChainError::Empty { split: options.campaign_split.unwrap_or_else(|| "all".to_owned()) });
        }
        Ok(Self { parts, options, contract: agreed.unwrap_or_default(), chains })
    }

    /// How many chains there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.chains.len()
    }

    /// Whether there are none, which opening refuses.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chains.is_empty()
    }

    /// What all of the stores share.
    #[must_use]
    pub fn contract(&self) -> &Map {
        &self.contract
    }

    /// Of each store: its path, its manifest's digest, and how many of its states are given out.
    #[must_use]
    pub fn provenance(&self) -> Vec<(PathBuf, String, usize)> {
        let of = |part: &Part| {
            let digest = part.store.attribute("manifest_sha256").and_then(Value::as_text).unwrap_or_default();
            let states = part.chains.iter().map(|place| place.states.len()).sum();
            (part.store.directory().to_owned(), digest.to_owned(), states)
        };
        self.parts.iter().map(of).collect()
    }

    /// The chain at `index`, counted from 0.
    ///
    /// # Errors
    /// When there is no such chain, or its store cannot be read any more.
    pub fn chain(&self, index: usize) -> Result<Chain, ChainError> {
        let missing = || ChainError::Index { index, count: self.chains.len() };
        let (store, place) = self.chains.get(index).copied().ok_or_else(missing)?;
        let part = self.parts.get(store).ok_or_else(missing)?;
        let place = part.chains.get(place).ok_or_else(missing)?;
        part.chain(store, place, self.options.include_selected_depth)
    }

    /// The chains in batches of `size`, in an order drawn from `seed`, each once; the last batch
    /// may be smaller.
    #[must_use]
    pub fn chain_batches(&self, size: usize, seed: u64) -> Batches {
        Batches::new(self.len(), size, seed)
    }

    /// States in batches of `size`, in an order drawn from `seed`, each once; see
    /// [`ChainReader::state_batch`].
    #[must_use]
    pub fn state_batches(&self, size: usize, seed: u64) -> Batches {
        Batches::new(self.parts.iter().filter_map(|part| part.ends.last()).sum(), size, seed)
    }
}

impl Part {
    /// Rows of one of the large columns, from memory if it is small enough to be kept there.
    fn large(&self, which: usize, rows: Range<usize>) -> Result<Array, ChainError> {
        let path = LARGE.get(which).copied().unwrap_or_default();
        let part = |array: &Array| {
            array.slice(0, rows.start, rows.end, 1).map_err(|error| self.refuse(format!("{path}: {error}")))
        };
        let Some(kept) = self.kept.get(which) else { return Err(self.refuse(format!("{path} is unknown"))) };
        if let Some(array) = kept.get() {
            return part(array);
        }
        let (dtype, shape) = self.store.shape(path)?;
        if shape.iter().product::<usize>() * dtype.size() > KEPT {
            return Ok(self.store.rows(path, rows)?);
        }
        let array = self.store.array(path)?;
        part(kept.get_or_init(|| array))
    }

    fn refuse(&self, what: String) -> ChainError {
        ChainError::Refused { path: self.store.directory().to_owned(), what }
    }

    /// One number of a small column.
    fn cell<T: Item>(columns: &Columns, name: &str, row: usize) -> T {
        columns.get(name).and_then(Array::as_slice::<T>).and_then(|cells| cells.get(row)).copied().unwrap_or_default()
    }

    fn chain(&self, store_index: usize, place: &Place, with_depth: bool) -> Result<Chain, ChainError> {
        let vector = |columns: &Columns, name: &str, row: usize| {
            columns
                .get(name)
                .and_then(|column| column.row(row))
                .ok_or_else(|| self.refuse(format!("{name} is missing")))
        };
        let horizon = i64::from(Self::cell::<i16>(&self.small.rollouts, "horizon", place.rollout));
        let states = place.states.clone().enumerate();
        let states = states.map(|(index, row)| self.state(row, horizon - i64::try_from(index).unwrap_or_default()));
        let selected_depth = match with_depth {
            true => {
                let columns = ["depth_m", "valid_mask", "focal_px", "principal_point_px", "image_size_hw"];
                Some(self.store.table("selected_depth", &columns, place.states.clone())?)
            }
            false => None,
        };
        Ok(Chain {
            store_index,
            rollout_row_id: Self::cell(&self.small.rollouts, "rollout_row_id", place.rollout),
            target_row_id: Self::cell(&self.small.rollouts, "target_row_id", place.rollout),
            root_pose_world: vector(&self.small.rollouts, "root_pose_world", place.rollout)?,
            target_extents: vector(&self.small.targets, "target_extents", place.target)?,
            target_pose_world_object: vector(&self.small.targets, "target_pose_world_object", place.target)?,
            source_ref: self.small.sources.get(place.source).cloned().unwrap_or_default(),
            states: states.collect::<Result<_, _>>()?,
            selected_depth,
        })
    }

    fn state(&self, row: usize, horizon_remaining: i64) -> Result<State, ChainError> {
        let start = self.starts.get(row).copied().unwrap_or_default();
        let end = self.starts.get(row + 1).copied().unwrap_or(start);
        let slots = |which: usize| {
            let padded = self.large(which, row..row + 1)?;
            let own = padded.slice(1, 0, (end - start).min(self.width), 1).and_then(|own| own.pick(0, 0));
            own.map_err(|error| self.refuse(error.to_string()))
        };
        Ok(State {
            candidate_pose_relative_root: self.large(0, start..end)?,
            action_mask: slots(1)?,
            label_mask: slots(2)?,
            candidate_reward: slots(3)?,
            one_step_target_rri: slots(4)?,
            horizon_remaining,
            selected_index: i64::from(Self::cell::<i32>(&self.small.view, "selected_candidate_index", row)),
            discount: Self::cell(&self.small.view, "td_discount", row),
            terminal: Self::cell(&self.small.view, "td_terminal_mask", row),
        })
    }
}

/// The column of 64-bit integers, or nothing.
fn ids<'a>(columns: &'a Columns, name: &str) -> &'a [i64] {
    columns.get(name).and_then(Array::as_i64).unwrap_or_default()
}

/// What a store refuses to be read for.
fn refused<T>(path: &Path, what: impl Into<String>) -> Result<T, ChainError> {
    Err(ChainError::Refused { path: path.to_owned(), what: what.into() })
}
