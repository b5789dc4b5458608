//! Environments in other processes: Gymnasium's through the driver, and any program that speaks
//! the protocol.

use std::rc::Rc;

use skyfall::env::foreign::{Programs, Unwatched};
use skyfall::env::{Env, registry};
use skyfall::space::Element;
use skyfall::value::Map;

fn programs() -> Programs {
    std::env::var("SKYFALL_PYTHON").expect("SKYFALL_PYTHON names no interpreter: run tests/run");
    Programs::from_environment(Rc::new(Unwatched)).unwrap()
}

fn python(id: &str) -> Box<dyn Env> {
    programs().make(&format!("python:{id}"), &Map::new()).unwrap()
}

#[test]
fn a_world_of_gymnasium_goes_the_way_of_the_native_one() {
    let mut there = python("gymnasium/CartPole-v1");
    let mut here = registry::make("CartPole-v1", &Map::new()).unwrap();
    assert_eq!(there.observation_space(), here.observation_space());
    assert_eq!(there.action_space(), here.action_space());
    let (mut a, mut b) = (there.observation_space().blank(), here.observation_space().blank());
    there.reset(Some(7), &mut a).unwrap();
    here.reset(Some(7), &mut b).unwrap();
    assert_eq!(a, b);
    for step in 0..300 {
        let action = Element::Discrete(step % 2);
        let (left, right) = (there.step(&action, &mut a).unwrap(), here.step(&action, &mut b).unwrap());
        assert_eq!((&a, &left), (&b, &right));
        if left.terminated || left.truncated {
            there.reset(None, &mut a).unwrap();
            here.reset(None, &mut b).unwrap();
            assert_eq!(a, b);
        }
    }
}
