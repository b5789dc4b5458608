//! Which fields of a step go along with a call, and the Lua that puts them in place.

use mlua::{Function, Lua, MultiValue, Table, Value as LuaValue};

use super::frame;
use crate::array::Array;
use crate::reward::{Known, StepField, StepView};
use crate::script::error::LIBRARY_CHUNK;
use crate::space::Element;

/// The longest list that is fed; of a longer one the code is likely to look at a part only.
const LONGEST: usize = 32;

/// A field that may be fed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    Step,
    Observation,
    Action,
    NextObservation,
    EnvReward,
    Terminated,
    Truncated,
    RegimeId,
}

impl Field {
    /// Every one, in the order of the arguments.
    pub(super) const ALL: [Self; 8] = [
        Self::Step,
        Self::Observation,
        Self::Action,
        Self::NextObservation,
        Self::EnvReward,
        Self::Terminated,
        Self::Truncated,
        Self::RegimeId,
    ];

    pub(super) fn name(self) -> &'static str {
        match self.recorded() {
            Some(field) => field.name(),
            None if self == Self::Step => "step",
            None => "regime_id",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|field| field.name() == name)
    }

    pub(super) fn bit(self) -> u8 {
        1 << self as u8
    }

    /// The part of a step that it is, where a record of the step may lack it.
    fn recorded(self) -> Option<StepField> {
        match self {
            Self::Step | Self::RegimeId => None,
            Self::Observation => Some(StepField::Observation),
            Self::Action => Some(StepField::Action),
            Self::NextObservation => Some(StepField::NextObservation),
            Self::EnvReward => Some(StepField::EnvReward),
            Self::Terminated => Some(StepField::Terminated),
            Self::Truncated => Some(StepField::Truncated),
        }
    }

    /// Whether a step has it.
    fn known(self, known: Known) -> bool {
        self.recorded().is_none_or(|field| known.has(field))
    }
}

/// How one field goes along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Share {
    /// One argument.
    One,
    /// A list, an argument for each number.
    List(usize),
}

impl Share {
    fn of(element: &Element) -> Option<Self> {
        match element {
            Element::Discrete(_) => Some(Self::One),
            Element::Array(array) => match array.shape() {
                [length] if *length <= LONGEST => Some(Self::List(*length)),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Whether `element` can be fed.
pub(super) fn feeds(element: &Element) -> bool {
    Share::of(element).is_some()
}

/// What goes along with a step, in the order of the arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout(Vec<(Field, Share)>);

impl Layout {
    /// The layout for `step`, whose code asked for the fields with the bits `asked`.
    pub(super) fn of(step: &StepView<'_>, asked: u8) -> Self {
        let share = |field: Field| {
            let wanted = asked & field.bit() != 0 && field.known(step.known);
            let share = if wanted { element(step, field).map_or(Some(Share::One), Share::of) } else { None };
            share.map(|share| (field, share))
        };
        Self(Field::ALL.into_iter().filter_map(share).collect())
    }

    /// The bits of the fields that go along.
    pub(super) fn bits(&self) -> u8 {
        self.0.iter().fold(0, |bits, (field, _)| bits | field.bit())
    }

    /// Appends what of `step` goes along; the label is a value of the script's. Whether the step's
    /// elements are of the kinds that the layout is made for.
    pub(super) fn push(&self, step: &StepView<'_>, label: &LuaValue, arguments: &mut Arguments) -> bool {
        for (field, share) in &self.0 {
            arguments.put(match field {
                Field::Step => LuaValue::Integer(i64::try_from(step.step).unwrap_or(i64::MAX)),
                Field::EnvReward => LuaValue::Number(step.env_reward),
                Field::Terminated => LuaValue::Boolean(step.terminated),
                Field::Truncated => LuaValue::Boolean(step.truncated),
                Field::RegimeId => label.clone(),
                Field::Observation | Field::Action | Field::NextObservation => {
                    let Some(element) = element(step, *field) else { return false };
                    match (element, share) {
                        (Element::Discrete(index), Share::One) => LuaValue::Integer(*index),
                        (Element::Array(array), Share::List(length)) if push_numbers(array, *length, arguments) => {
                            continue;
                        }
                        _ => return false,
                    }
                }
            });
        }
        true
    }

    /// The function that takes this layout's arguments, puts them into `fed` and calls
    /// `function(view)`, or `function(owner, view, reward)` with the last argument, the reward.
    pub(super) fn feed(
        &self,
        lua: &Lua,
        function: &Function,
        owner: Option<&Table>,
        view: &Table,
        fed: &Table,
    ) -> mlua::Result<Function> {
        let (mut parameters, mut body) = (Vec::new(), String::new());
        let lists = lua.create_table()?;
        let mut outer = String::new();
        for (field, share) in &self.0 {
            let name = field.name();
            if let Share::List(length) = share {
                // Its places are made here: code cannot add any, and neither can what fills them.
                let places = std::iter::repeat_n(LuaValue::Integer(0), *length);
                lists.raw_set(name, frame::list(lua, name, places)?)?;
                outer.push_str(&format!("local {name} = lists.{name}\n"));
                body.push_str(&format!("local list = {name}\n"));
                for index in 1..=*length {
                    let parameter = format!("{name}{index}");
                    body.push_str(&format!("list[{index}] = {parameter}\n"));
                    parameters.push(parameter);
                }
                body.push_str(&format!("fed.{name} = list\n"));
            } else {
                parameters.push(name.to_owned());
                body.push_str(&format!("fed.{name} = {name}\n"));
            }
        }
        parameters.push("reward".to_owned());
        let call = if owner.is_some() { "call(owner, view, reward)" } else { "call(view)" };
        let parameters = parameters.join(", ");
        let code = format!(
            "local call, owner, view, fed, lists = ...\n{outer}return function({parameters})\n{body}return {call}\nend"
        );
        let make = lua.load(code).set_name(format!("={LIBRARY_CHUNK}step")).set_mode(mlua::chunk::ChunkMode::Text);
        make.call((function, owner, view, fed, lists))
    }
}

/// The arguments of one call, written over those of the last.
#[derive(Default)]
pub(super) struct Arguments {
    values: MultiValue,
    count: usize,
}

impl Arguments {
    pub(super) fn begin(&mut self) {
        self.count = 0;
    }

    pub(super) fn put(&mut self, value: LuaValue) {
        match self.values.get_mut(self.count) {
            Some(place) => *place = value,
            None => self.values.push_back(value),
        }
        self.count += 1;
    }

    /// What was put since the beginning.
    pub(super) fn all(&mut self) -> &MultiValue {
        self.values.truncate(self.count);
        &self.values
    }
}

/// The part of `step` that is an element.
fn element<'a>(step: &StepView<'a>, field: Field) -> Option<&'a Element> {
    match field {
        Field::Observation => Some(step.observation),
        Field::Action => Some(step.action),
        Field::NextObservation => Some(step.next_observation),
        _ => None,
    }
}

/// Appends the numbers of `array`; whether it is a vector of `length`.
fn push_numbers(array: &Array, length: usize, arguments: &mut Arguments) -> bool {
    if *array.shape() != [length] {
        return false;
    }
    match array {
        Array::F32(array) => {
            for number in array.as_slice().unwrap_or_default() {
                arguments.put(LuaValue::Number(f64::from(*number)));
            }
        }
        array => frame::numbers(array).for_each(|number| arguments.put(number)),
    }
    true
}
