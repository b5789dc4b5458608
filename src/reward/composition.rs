//! The composition: terms with weights, scored in the order they were declared.
//!
//! Invariant: the reward is the float64 sum of the components, added left to right, and every
//! component is finite. Weights may be replaced by a regime and fall back to the declared ones.

use indexmap::IndexMap;

use super::{RewardRecord, StepView, Term, TermError, TermOrigin, TermRecord, TermValue};
use crate::diagnostic::{Exit, Problem};
use crate::snapshot::SnapshotError;
use crate::suggest;
use crate::value::{Map, Value};

/// Weighted terms, in order of composition.
pub struct Composition {
    terms: Vec<Weighted>,
}

struct Weighted {
    term: Box<dyn Term>,
    declared: f64,
    /// The weight in force: the declared one, or a regime's.
    weight: f64,
}

impl Composition {
    /// A composition of `terms`, each with its weight.
    ///
    /// # Errors
    /// When there is no term, two share a name, or a weight is not finite.
    pub fn new(terms: Vec<(Box<dyn Term>, f64)>) -> Result<Self, TermError> {
        let mut composed: Vec<Weighted> = Vec::with_capacity(terms.len());
        for (term, weight) in terms {
            let fail = |message: String| TermError { term: term.name().to_owned(), message };
            if !weight.is_finite() {
                return Err(fail(format!("the weight must be a finite number, got {weight}")));
            }
            if composed.iter().any(|other| other.term.name() == term.name()) {
                return Err(fail("two terms of the composition have this name; rename one".to_owned()));
            }
            composed.push(Weighted { term, declared: weight, weight });
        }
        if composed.is_empty() {
            let message = "a composition needs at least one term".to_owned();
            return Err(TermError { term: String::new(), message });
        }
        Ok(Self { terms: composed })
    }

    /// The terms' names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().map(|weighted| weighted.term.name())
    }

    /// Puts the weights named in `overrides` in force and every other one back to its declared
    /// value.
    ///
    /// # Errors
    /// When an override names no term or is not a finite number; nothing is then changed.
    pub fn set_weights(&mut self, overrides: &Map) -> Result<(), TermError> {
        self.check_weights(overrides)?;
        for weighted in &mut self.terms {
            let given = overrides.get(weighted.term.name()).and_then(Value::as_float);
            weighted.weight = given.unwrap_or(weighted.declared);
        }
        Ok(())
    }

    /// Whether [`Composition::set_weights`] would take `overrides`.
    ///
    /// # Errors
    /// As [`Composition::set_weights`].
    pub fn check_weights(&self, overrides: &Map) -> Result<(), TermError> {
        for (name, weight) in overrides {
            let fail = |message: String| TermError { term: name.clone(), message };
            if !self.names().any(|known| known == name) {
                let hint = suggest::hint(name, "there are", self.names());
                return Err(fail(format!("a regime weighs it, but no term of the composition has this name; {hint}")));
            }
            if !weight.as_float().is_some_and(f64::is_finite) {
                return Err(fail(format!("a regime's weight must be a finite number, got {}", weight.kind())));
            }
        }
        Ok(())
    }

    /// Scores one step: writes weight x value of each term into `components`, what terms report
    /// of their insides into `detail`, and answers the sum. Allocates nothing once the maps hold
    /// the names, unless a term reports detail.
    ///
    /// # Errors
    /// When a term fails or a component or the sum is not finite; the error names term and step.
    pub fn score(
        &mut self,
        step: &StepView<'_>,
        components: &mut IndexMap<String, f64>,
        detail: &mut Map,
    ) -> Result<f64, ScoreError> {
        let mut sum: Option<f64> = None;
        for (position, weighted) in self.terms.iter_mut().enumerate() {
            let fail = |source: TermError| ScoreError { step: step.step, source };
            let TermValue { value, detail: inside } = weighted.term.evaluate(step).map_err(fail)?;
            let component = weighted.weight * value;
            let total = sum.map_or(component, |sum| sum + component);
            let name = weighted.term.name();
            if !component.is_finite() || !total.is_finite() {
                let message = format!("value {value}, weight {}: the reward is not finite", weighted.weight);
                return Err(fail(TermError { term: name.to_owned(), message }));
            }
            sum = Some(total);
            // The map of the step before has the names in the same places.
            match components.get_index_mut(position) {
                Some((known, place)) if known == name => *place = component,
                _ => drop(components.insert(name.to_owned(), component)),
            }
            match inside {
                None => drop(detail.shift_remove(name)),
                Some(inside) => match detail.get_mut(name) {
                    Some(place) => *place = Value::Map(inside),
                    None => drop(detail.insert_sorted(name.to_owned(), Value::Map(inside))),
                },
            }
        }
        Ok(sum.unwrap_or_default())
    }

    /// Whether every term answers from the step alone; a composition then has no state but the
    /// regime's weights.
    ///
    /// # Errors
    /// The first term that keeps state, or may.
    pub fn check_stateless(&self) -> Result<(), SnapshotError> {
        self.terms.iter().try_for_each(|weighted| weighted.term.check_stateless())
    }

    /// The composition by value, with the declared weights.
    ///
    /// # Errors
    /// When a term captures what cannot be recorded.
    pub fn record(&self) -> Result<RewardRecord, TermError> {
        let terms = self.terms.iter().map(|weighted| Ok((weighted.term.record()?, weighted.declared)));
        Ok(RewardRecord { terms: terms.collect::<Result<_, TermError>>()? })
    }

    /// As [`Composition::record`]; in place of the code of a term that captures what cannot be
    /// recorded stands why, under `unrecorded`.
    #[must_use]
    pub fn describe(&self) -> RewardRecord {
        let describe = |weighted: &Weighted| {
            let term = weighted.term.record().unwrap_or_else(|error| TermRecord {
                name: error.term,
                params: Map::new(),
                origin: TermOrigin::Lua(crate::value::unrecorded(error.message)),
            });
            (term, weighted.declared)
        };
        RewardRecord { terms: self.terms.iter().map(describe).collect() }
    }
}

/// A step that could not be scored.
#[derive(Debug, thiserror::Error)]
#[error("step {step}: {source}")]
pub struct ScoreError {
    /// The step's index within the run.
    pub step: u64,
    /// The term and what happened.
    pub source: TermError,
}

impl Problem for ScoreError {
    fn code(&self) -> &'static str {
        "reward/score"
    }

    fn exit(&self) -> Exit {
        Exit::Failure
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use std::rc::Rc;

    use super::super::{Known, StepClock, TermOrigin, TermRecord, builtin};
    use super::*;
    use crate::env::Info;
    use crate::space::Element;

    struct Fixed(&'static str, f64);

    impl Term for Fixed {
        fn name(&self) -> &str {
            self.0
        }

        fn evaluate(&mut self, _: &StepView<'_>) -> Result<TermValue, TermError> {
            if self.1.is_nan() {
                return Err(TermError { term: self.0.to_owned(), message: "raised".to_owned() });
            }
            Ok(TermValue { value: self.1, detail: None })
        }

        fn record(&self) -> Result<TermRecord, TermError> {
            let origin = TermOrigin::Builtin(self.0.to_owned());
            Ok(TermRecord { name: self.0.to_owned(), params: Map::new(), origin })
        }
    }

    fn fixed(terms: &[(&'static str, f64, f64)]) -> Composition {
        let boxed = |&(name, value, weight)| (Box::new(Fixed(name, value)) as Box<dyn Term>, weight);
        Composition::new(terms.iter().map(boxed).collect()).unwrap()
    }

    fn score(composition: &mut Composition) -> Result<(f64, IndexMap<String, f64>), ScoreError> {
        let (element, info, clock) = (Element::Discrete(1), Info::default(), Rc::new(StepClock::default()));
        let view = StepView {
            step: 12,
            observation: &element,
            action: &element,
            next_observation: &element,
            env_reward: 0.25,
            terminated: false,
            truncated: false,
            info: &info,
            regime_id: None,
            clock: &clock,
            known: Known::ALL,
        };
        let (mut components, mut detail) = (IndexMap::new(), Map::new());
        composition.score(&view, &mut components, &mut detail).map(|sum| (sum, components))
    }

    proptest::proptest! {
        #[test]
        fn components_add_up_exactly_in_declared_order(
            numbers in proptest::collection::vec((-1e6..1e6f64, -10.0..10.0f64), 1..6)
        ) {
            let names = ["e", "d", "c", "b", "a"];
            let terms: Vec<_> = names.iter().zip(&numbers).map(|(name, (value, weight))| (*name, *value, *weight)).collect();
            let (reward, components) = score(&mut fixed(&terms)).unwrap();
            let sum = components.values().copied().reduce(|sum, component| sum + component).unwrap();
            proptest::prop_assert_eq!(sum.to_bits(), reward.to_bits());
            let order: Vec<_> = components.keys().map(String::as_str).collect();
            proptest::prop_assert_eq!(order, names[..numbers.len()].to_vec());
        }
    }

    #[test]
    fn weights_are_replaced_and_come_back() {
        let mut composition = fixed(&[("a", 1.0, 0.5), ("b", 1.0, 0.25)]);
        let calm = Map::from_iter([("b".to_owned(), Value::Int(2))]);
        composition.set_weights(&calm).unwrap();
        assert_eq!(score(&mut composition).unwrap().0, 2.5);
        composition.set_weights(&Map::new()).unwrap();
        assert_eq!(score(&mut composition).unwrap().0, 0.75);
        assert_eq!(composition.record().unwrap().terms[1].1, 0.25);
    }

    #[test]
    fn an_override_that_names_no_term_says_which_one_is_near() {
        let mut composition = fixed(&[("upright", 1.0, 1.0)]);
        let error = composition.set_weights(&Map::from_iter([("uprigth".to_owned(), Value::Int(2))])).unwrap_err();
        assert!(error.to_string().contains("`uprigth`") && error.to_string().contains("`upright`"), "{error}");
    }

    #[test]
    fn a_failing_term_is_named_with_its_step() {
        let error = score(&mut fixed(&[("fine", 1.0, 1.0), ("broken", f64::NAN, 1.0)])).unwrap_err();
        assert_eq!(error.to_string(), "step 12: reward term `broken`: raised");
        let error = score(&mut fixed(&[("huge", 1e300, 1e300)])).unwrap_err();
        assert!(error.to_string().contains("`huge`"), "{error}");
    }

    #[test]
    fn names_are_unique_and_weights_finite() {
        let twice = vec![(builtin("env", &Map::new()).unwrap(), 1.0), (builtin("env", &Map::new()).unwrap(), 1.0)];
        assert!(Composition::new(twice).is_err());
        assert!(Composition::new(vec![(builtin("env", &Map::new()).unwrap(), f64::NAN)]).is_err());
        assert!(Composition::new(Vec::new()).is_err());
    }

    #[test]
    fn native_terms_score_and_say_what_they_do_not_take() {
        let costs = Map::from_iter([("costs".to_owned(), Value::List(vec![0.0.into(), 0.5.into()]))]);
        let target = Map::from_iter([("target".to_owned(), Value::List(vec![4.0.into()]))]);
        let mut composition = Composition::new(vec![
            (builtin("env", &Map::new()).unwrap(), 1.0),
            (builtin("alive", &Map::new()).unwrap(), 1.0),
            (builtin("action_cost", &costs).unwrap(), 1.0),
            (builtin("target_distance", &target).unwrap(), 1.0),
        ])
        .unwrap();
        assert_eq!(score(&mut composition).unwrap().0, 0.25 + 1.0 - 0.5 - 3.0);
        assert!(builtin("alife", &Map::new()).err().unwrap().to_string().contains("`alive`"));
        let wrong = Map::from_iter([("cost".to_owned(), Value::Null)]);
        assert!(builtin("action_cost", &wrong).err().unwrap().to_string().contains("`costs`"));
    }
}
