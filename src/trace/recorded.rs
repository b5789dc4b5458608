//! A step as its row recorded it, for reward terms to see again.
//!
//! A row does not say what a number was in the run. Whole numbers alone are elements of
//! `Discrete`; a list of numbers is an array: of float32 if every number in it is one, as nearly
//! all environments' are, else of float64, or of int64.

use crate::array::{Array, DType};
use crate::reward::{Known, StepField};
use crate::space::Element;
use crate::value::{Map, Value};

/// The parts of a step that its row holds; those it lacks are not [`Known`].
pub(super) struct RecordedStep {
    pub(super) observation: Element,
    pub(super) action: Element,
    pub(super) next_observation: Element,
    pub(super) env_reward: f64,
    pub(super) terminated: bool,
    pub(super) truncated: bool,
    pub(super) known: Known,
}

impl RecordedStep {
    /// The step of a row with this action and these further keys.
    pub(super) fn new(action: Option<&Value>, keys: [&Map; 2]) -> Self {
        let mut known = Known::NONE;
        let mut value = |field: StepField| {
            let value = keys.into_iter().find_map(|keys| keys.get(field.name())).filter(|value| !value.is_null())?;
            known = known.with(field);
            Some(value)
        };
        let blank = || Element::Discrete(0);
        let mut step = Self {
            observation: value(StepField::Observation).map_or_else(blank, element),
            next_observation: value(StepField::NextObservation).map_or_else(blank, element),
            action: action.map_or_else(blank, action_element),
            env_reward: 0.0,
            terminated: false,
            truncated: false,
            known,
        };
        if action.is_some() {
            step.known = step.known.with(StepField::Action);
        }
        let scalar = |field: StepField| keys.into_iter().find_map(|keys| keys.get(field.name()));
        if let Some(reward) = scalar(StepField::EnvReward).and_then(Value::as_float) {
            step.env_reward = reward;
            step.known = step.known.with(StepField::EnvReward);
        }
        for (field, flag) in
            [(StepField::Terminated, &mut step.terminated), (StepField::Truncated, &mut step.truncated)]
        {
            if let Some(value) = scalar(field).and_then(Value::as_bool) {
                *flag = value;
                step.known = step.known.with(field);
            }
        }
        step
    }
}

/// An action from its mapping: `{"index": n}`, `{"value": ...}`, or that of a `Dict`.
fn action_element(action: &Value) -> Element {
    let inner = action.as_map().filter(|map| map.len() == 1);
    match inner.and_then(|map| map.get("index").or_else(|| map.get("value"))) {
        Some(inner) => element(inner),
        None => element(action),
    }
}

fn element(value: &Value) -> Element {
    match value {
        Value::Int(number) => Element::Discrete(*number),
        Value::Text(text) => Element::Text(text.clone()),
        Value::Map(map) => Element::Dict(map.iter().map(|(key, value)| (key.clone(), element(value))).collect()),
        Value::List(items) => match array(value) {
            Some(array) => Element::Array(array),
            None => Element::Tuple(items.iter().map(element).collect()),
        },
        other => array(other).map_or_else(|| Element::Text(String::new()), Element::Array),
    }
}

fn array(value: &Value) -> Option<Array> {
    let array = Array::infer(value).ok()?;
    if array.dtype() == DType::F64 && is_f32(value) {
        return Array::from_value(value, DType::F32).ok();
    }
    Some(array)
}

fn is_f32(value: &Value) -> bool {
    match value {
        Value::List(items) => items.iter().all(is_f32),
        #[expect(clippy::cast_possible_truncation, reason = "whether it is one is the question")]
        other => other.as_float().is_some_and(|number| number.is_nan() || f64::from(number as f32) == number),
    }
}
