//! Native terms, by name.
//!
//! | name | value | parameters |
//! |---|---|---|
//! | `env` | the environment's own reward | - |
//! | `alive` | 1, and 0 at the step that terminates the episode | - |
//! | `action_cost` | minus the squared length of the action; minus `costs[index]` for a discrete one | `costs` (a number an action, counted from 0) |
//! | `target_distance` | minus the Euclidean distance of the next observation to `target`; detail `distance` | `target` (numbers), `indices` (which numbers of the observation, from 0; default: the first ones) |

use super::{StepField, StepView, Term, TermError, TermOrigin, TermRecord, TermValue};
use crate::snapshot::SnapshotError;
use crate::space::Element;
use crate::suggest;
use crate::value::{Map, Value};

/// The native terms' names.
const BUILTINS: [&str; 4] = ["env", "alive", "action_cost", "target_distance"];

/// The native term `name` with `params`; its component has the same name.
///
/// # Errors
/// When there is no such term, or `params` are not what it takes.
pub fn builtin(name: &str, params: &Map) -> Result<Box<dyn Term>, TermError> {
    make(name, name, params)
}

/// The native term that `record` describes.
///
/// # Errors
/// As [`builtin`]; also when the record is one of a Lua term.
pub(crate) fn builtin_from_record(record: &TermRecord) -> Result<Box<dyn Term>, TermError> {
    match &record.origin {
        TermOrigin::Builtin(builtin) => make(&record.name, builtin, &record.params),
        TermOrigin::Lua(_) => Err(TermError {
            term: record.name.clone(),
            message: "it is written in Lua, and nothing that runs Lua is at hand here".to_owned(),
        }),
    }
}

fn make(name: &str, builtin: &str, params: &Map) -> Result<Box<dyn Term>, TermError> {
    let fail = |message: String| TermError { term: name.to_owned(), message };
    let (known, kind): (&[&str], Kind) = match builtin {
        "env" => (&[], Kind::Env),
        "alive" => (&[], Kind::Alive),
        "action_cost" => {
            let costs = params.get("costs").map(|costs| numbers(costs, "costs")).transpose().map_err(fail)?;
            (&["costs"], Kind::ActionCost { costs })
        }
        "target_distance" => (&["target", "indices"], target_distance(params).map_err(fail)?),
        _ => {
            let hint = suggest::hint(builtin, "known are", BUILTINS);
            return Err(fail(format!("there is no native term `{builtin}`; {hint}")));
        }
    };
    if let Some(key) = params.keys().find(|key| !known.contains(&key.as_str())) {
        let hint = suggest::hint(key, "it takes", known.iter().copied());
        return Err(fail(format!("`params.{key}` is not a parameter of `{builtin}`; {hint}")));
    }
    Ok(Box::new(Builtin {
        name: name.to_owned(),
        builtin: builtin.to_owned(),
        params: params.clone(),
        kind,
        scratch: Vec::new(),
    }))
}

fn target_distance(params: &Map) -> Result<Kind, String> {
    let target = params.get("target").ok_or("`params.target` is missing: the numbers to be near to")?;
    let target = numbers(target, "target")?;
    let indices: Vec<usize> = match params.get("indices") {
        None => (0..target.len()).collect(),
        Some(list) => {
            let index = |item: &Value| item.as_int().and_then(|index| usize::try_from(index).ok());
            let indices: Option<Vec<usize>> = list.as_list().and_then(|list| list.iter().map(index).collect());
            indices.ok_or("`params.indices` must be a list of integers from 0")?
        }
    };
    if indices.len() != target.len() || target.is_empty() {
        let (given, wanted) = (indices.len(), target.len());
        return Err(format!(
            "`params.indices` has {given} entries and `params.target` {wanted}; each index needs its target"
        ));
    }
    Ok(Kind::TargetDistance { parts: indices.into_iter().zip(target).collect() })
}

fn numbers(value: &Value, name: &str) -> Result<Vec<f64>, String> {
    let number = |item: &Value| item.as_float().filter(|number| number.is_finite());
    let list: Option<Vec<f64>> = value.as_list().and_then(|list| list.iter().map(number).collect());
    list.ok_or_else(|| format!("`params.{name}` must be a list of finite numbers, got {}", value.kind()))
}

/// A native term.
struct Builtin {
    name: String,
    builtin: String,
    params: Map,
    kind: Kind,
    scratch: Vec<f64>,
}

enum Kind {
    Env,
    Alive,
    ActionCost { costs: Option<Vec<f64>> },
    TargetDistance { parts: Vec<(usize, f64)> },
}

impl Kind {
    /// The field of a step that its value comes from.
    fn reads(&self) -> StepField {
        match self {
            Self::Env => StepField::EnvReward,
            Self::Alive => StepField::Terminated,
            Self::ActionCost { .. } => StepField::Action,
            Self::TargetDistance { .. } => StepField::NextObservation,
        }
    }
}

impl Builtin {
    fn error(&self, message: String) -> TermError {
        TermError { term: self.name.clone(), message }
    }

    fn read(&mut self, element: &Element, what: &str) -> Result<(), TermError> {
        self.scratch.clear();
        if element.append_numbers(&mut self.scratch) {
            return Ok(());
        }
        Err(self.error(format!("the {what} holds text; the term needs numbers")))
    }
}

impl Term for Builtin {
    fn name(&self) -> &str {
        &self.name
    }

    fn check_stateless(&self) -> Result<(), SnapshotError> {
        Ok(())
    }

    fn evaluate(&mut self, step: &StepView<'_>) -> Result<TermValue, TermError> {
        step.known.need(self.kind.reads()).map_err(|line| self.error(line))?;
        let value = match &self.kind {
            Kind::Env => step.env_reward,
            Kind::Alive => f64::from(u8::from(!step.terminated)),
            Kind::ActionCost { costs: Some(costs) } => {
                let cost = match step.action {
                    Element::Discrete(index) => usize::try_from(*index).ok().and_then(|index| costs.get(index)),
                    _ => return Err(self.error("`params.costs` needs a discrete action".to_owned())),
                };
                let cost =
                    cost.ok_or_else(|| self.error(format!("`params.costs` has no entry for {:?}", step.action)))?;
                -cost
            }
            Kind::ActionCost { costs: None } => {
                if let Element::Discrete(_) = step.action {
                    return Err(self.error("a discrete action has no length; give `params.costs`".to_owned()));
                }
                self.read(step.action, "action")?;
                -self.scratch.iter().map(|number| number * number).sum::<f64>()
            }
            Kind::TargetDistance { .. } => {
                self.read(step.next_observation, "observation")?;
                return self.distance();
            }
        };
        if value.is_finite() {
            Ok(TermValue { value, detail: None })
        } else {
            Err(self.error(format!("its value is {value}, not a finite number")))
        }
    }

    fn record(&self) -> Result<TermRecord, TermError> {
        let origin = TermOrigin::Builtin(self.builtin.clone());
        Ok(TermRecord { name: self.name.clone(), params: self.params.clone(), origin })
    }
}

impl Builtin {
    fn distance(&self) -> Result<TermValue, TermError> {
        let Kind::TargetDistance { parts } = &self.kind else { return Ok(TermValue::default()) };
        let mut squares = 0.0;
        for (index, target) in parts {
            let number = self.scratch.get(*index).ok_or_else(|| {
                self.error(format!("the observation has {} numbers, none at index {index}", self.scratch.len()))
            })?;
            squares += (number - target) * (number - target);
        }
        let distance = squares.sqrt();
        if !distance.is_finite() {
            return Err(self.error(format!("the distance is {distance}, not a finite number")));
        }
        let detail = Map::from_iter([("distance".to_owned(), Value::Float(distance))]);
        Ok(TermValue { value: -distance, detail: Some(detail) })
    }
}
