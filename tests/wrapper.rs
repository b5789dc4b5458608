//! Wrappers: what each does exactly, that neutral ones do nothing, and that stacks of them are
//! deterministic, shiftable, and travel by value.

mod effects;
mod errors;
mod runs;
mod stacks;

use std::cell::RefCell;
use std::rc::Rc;

use skyfall::array::{Array, DType};
use skyfall::env::wrapper::{WrapperRecord, wrap};
use skyfall::env::{Env, EnvError, Info, Transition};
use skyfall::space::{BoxSpace, Element, Space};
use skyfall::text::json;
use skyfall::value::{Map, Value};

type Received = Rc<RefCell<Vec<Element>>>;

/// Shows the number of its step in every element, with its place as the fraction; rewards step
/// `t` with `t`, and keeps the actions that reach it.
struct Probe {
    observations: Space,
    actions: Space,
    steps: i64,
    length: i64,
    gain: f64,
    received: Received,
}

impl Probe {
    fn show(&self, observation: &mut Element) {
        match observation {
            Element::Discrete(value) => *value = self.steps,
            Element::Array(array) => {
                for index in 0..array.len() {
                    let whole = !array.dtype().is_float();
                    let value = self.steps as f64 + if whole { 0.0 } else { index as f64 / 4.0 };
                    array.set(index, &Value::Float(value)).unwrap();
                }
            }
            Element::Dict(parts) => parts.values_mut().for_each(|part| self.show(part)),
            Element::Tuple(parts) => parts.iter_mut().for_each(|part| self.show(part)),
            Element::Text(_) => panic!("no such space here"),
        }
    }
}

impl Env for Probe {
    fn id(&self) -> &str {
        "Probe-v0"
    }

    fn observation_space(&self) -> &Space {
        &self.observations
    }

    fn action_space(&self) -> &Space {
        &self.actions
    }

    fn reset(&mut self, _: Option<u64>, observation: &mut Element) -> Result<Info, EnvError> {
        self.steps = 0;
        self.show(observation);
        Ok(Info { invalid_action: false, entries: Some(Box::new(Map::from_iter([("fresh".into(), true.into())]))) })
    }

    fn step(&mut self, action: &Element, observation: &mut Element) -> Result<Transition, EnvError> {
        self.received.borrow_mut().push(action.clone());
        self.steps += 1;
        self.show(observation);
        let info = Info { invalid_action: self.steps == 2, entries: None };
        let terminated = self.steps == self.length;
        Ok(Transition { reward: self.steps as f64 * self.gain, terminated, truncated: false, info })
    }

    fn parameters(&self) -> Map {
        Map::from_iter([("gain".to_owned(), Value::Float(self.gain))])
    }

    fn set_parameter(&mut self, name: &str, value: &Value) -> Result<(), EnvError> {
        assert_eq!(name, "gain");
        self.gain = value.as_float().unwrap();
        Ok(())
    }

    fn describe(&self) -> Map {
        Map::from_iter([("made_by".to_owned(), "the probe".into())])
    }
}

/// A stack of wrappers from JSON.
fn stack(text: &str) -> Vec<WrapperRecord> {
    let read = |item: &Value| {
        let map = item.as_map().unwrap();
        let params = map.get("params").and_then(Value::as_map).cloned().unwrap_or_default();
        WrapperRecord { name: map["name"].as_text().unwrap().to_owned(), params }
    };
    json::parse(text).unwrap().as_list().unwrap().iter().map(read).collect()
}

fn boxed(elements: usize, dtype: DType, bound: f64) -> Space {
    let low = if dtype == DType::U8 { 0.0 } else { -bound };
    Space::Box(BoxSpace::new(&[elements], dtype, &[low], &[bound]).unwrap())
}

fn discrete(n: i64, start: i64) -> Space {
    Space::discrete(n, start).unwrap()
}

/// A wrapped probe, and what reaches it.
struct Bench {
    env: Box<dyn Env>,
    received: Received,
    observation: Element,
}

impl Bench {
    fn new(observations: Space, actions: Space, wrappers: &str) -> Self {
        Self::with_length(observations, actions, wrappers, 1_000_000)
    }

    fn with_length(observations: Space, actions: Space, wrappers: &str, length: i64) -> Self {
        let received = Received::default();
        let observation = observations.blank();
        let probe = Probe { observations, actions, steps: 0, length, gain: 1.0, received: Rc::clone(&received) };
        let env = wrap(Box::new(probe), &stack(wrappers)).unwrap();
        Self { env, received, observation }
    }

    fn reset(&mut self, seed: Option<u64>) -> Element {
        self.env.reset(seed, &mut self.observation).unwrap();
        self.observation.clone()
    }

    fn step(&mut self, action: &Element) -> (Element, Transition) {
        let transition = self.env.step(action, &mut self.observation).unwrap();
        (self.observation.clone(), transition)
    }

    /// The discrete observations of a reset and of the steps after it.
    fn states(&mut self, steps: usize) -> Vec<i64> {
        let mut states = vec![self.reset(Some(5))];
        states.extend((0..steps).map(|_| self.step(&Element::Discrete(0)).0));
        states.iter().map(state).collect()
    }

    /// What reaches the environment of these actions.
    fn sent(&mut self, actions: &[i64]) -> Vec<i64> {
        self.received.borrow_mut().clear();
        actions.iter().for_each(|action| drop(self.step(&Element::Discrete(*action))));
        self.received.borrow().iter().map(state).collect()
    }

    fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.env.set_parameter(name, &value.into()).unwrap();
    }
}

fn state(element: &Element) -> i64 {
    match element {
        Element::Discrete(value) => *value,
        other => panic!("{other} is not discrete"),
    }
}

fn floats(values: &[f32]) -> Element {
    Element::Array(Array::from_vec(&[values.len()], values.to_vec()).unwrap())
}
