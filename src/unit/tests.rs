//! Units of work: at most one attempt is promoted, whole, whatever happens to the others.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests say what went wrong by failing")]

use std::path::Path;

use super::{Attempt, MARKER, Promotion, Unit, UnitError, Units};
use crate::value::{Map, Value};

fn unit(id: &str, input: i64) -> Unit {
    Unit::new(id, &Value::Int(input))
}

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

#[test]
fn a_unit_is_named_by_its_id_and_its_input() {
    let (one, two) = (unit("a", 1), unit("a", 2));
    assert_eq!(one.identity(), crate::digest::sha256_hex(b"1"));
    assert_eq!(one.name(), format!("a-{}", &one.identity()[..16]));
    assert_ne!(one.name(), two.name());
    assert_eq!(unit("a", 1), one);
}

#[test]
fn only_a_completed_attempt_is_seen() {
    let home = tempfile::tempdir().unwrap();
    let units = Units::new(home.path());
    assert!(units.finished().unwrap().is_empty());
    let (kept, dropped) = (units.begin(&unit("a", 1)).unwrap(), units.begin(&unit("b", 2)).unwrap());
    write(&kept.path().join("data"), "x");
    write(&dropped.path().join("data"), "x");
    assert!(units.finished().unwrap().is_empty());
    drop(dropped);
    let about = Map::from_iter([("rows".to_owned(), Value::Int(1))]);
    assert_eq!(kept.complete(about).unwrap(), Promotion::Promoted);
    let name = unit("a", 1).name();
    assert_eq!(units.finished().unwrap().into_values().collect::<Vec<_>>(), std::slice::from_ref(&name));
    let marker = std::fs::read_to_string(home.path().join(&name).join(MARKER)).unwrap();
    let marker: serde_json::Value = serde_json::from_str(&marker).unwrap();
    assert_eq!((marker["unit"].as_str(), marker["rows"].as_i64()), (Some(&*name), Some(1)));
    assert_eq!(std::fs::read_dir(home.path().join(".attempts")).unwrap().count(), 0);
}

#[test]
fn of_many_attempts_at_once_one_is_promoted_and_stays_untouched() {
    let home = tempfile::tempdir().unwrap();
    let units = Units::new(home.path());
    for round in 0..20 {
        let unit = unit("raced", round);
        let ended: Vec<(usize, Promotion)> = std::thread::scope(|scope| {
            let racers: Vec<_> = (0..4)
                .map(|racer| {
                    let (units, unit) = (&units, &unit);
                    scope.spawn(move || {
                        let attempt = units.begin(unit).unwrap();
                        for file in 0..5 {
                            write(&attempt.path().join(file.to_string()), &racer.to_string());
                        }
                        (racer, attempt.complete(Map::new()).unwrap())
                    })
                })
                .collect();
            racers.into_iter().map(|racer| racer.join().unwrap()).collect()
        });
        let winners: Vec<_> = ended.iter().filter(|(_, end)| *end == Promotion::Promoted).collect();
        assert_eq!(winners.len(), 1);
        for file in 0..5 {
            let text = std::fs::read_to_string(home.path().join(unit.name()).join(file.to_string())).unwrap();
            assert_eq!(text, winners[0].0.to_string(), "files of two attempts are mixed");
        }
    }
    assert_eq!(std::fs::read_dir(home.path().join(".attempts")).unwrap().count(), 0);
}

#[test]
fn what_stands_in_the_way_is_left_alone_and_named() {
    let home = tempfile::tempdir().unwrap();
    let units = Units::new(home.path());
    let place = home.path().join(unit("a", 1).name());
    std::fs::create_dir(&place).unwrap();
    write(&place.join("mine"), "x");
    let refused = units.begin(&unit("a", 1)).unwrap().complete(Map::new()).unwrap_err();
    assert!(matches!(&refused, UnitError::Occupied { path } if *path == place.display().to_string()), "{refused}");
    assert_eq!(std::fs::read_to_string(place.join("mine")).unwrap(), "x");
}

#[test]
fn what_the_dead_left_is_cleared_and_the_living_are_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let units = Units::new(home.path());
    let living = units.begin(&unit("a", 1)).unwrap();
    let dead = home.path().join(".attempts").join("b-0123.4567");
    std::fs::create_dir(&dead).unwrap();
    write(&dead.join("half"), "x");
    // Another machine's locks are not seen on a shared file system.
    let elsewhere = home.path().join(".attempts").join("b-0123.01234567-0123456789abcdef");
    std::fs::create_dir(&elsewhere).unwrap();
    assert_eq!(units.clear_abandoned().unwrap(), 1);
    assert!(!dead.exists() && living.path().is_dir() && elsewhere.is_dir());
    assert_eq!(living.complete(Map::new()).unwrap(), Promotion::Promoted);
}

/// Where the file system does not know how to rename without replacing, a claim decides.
#[test]
fn without_that_call_a_claim_decides_who_puts_something_there() {
    use super::place::{claim_of, put_with};
    use std::io::{Error, ErrorKind};
    let home = tempfile::tempdir().unwrap();
    for kind in [ErrorKind::InvalidInput, ErrorKind::Unsupported] {
        for round in 0..30 {
            let place = home.path().join(format!("{kind:?}-{round}"));
            if round % 3 == 0 {
                // What a killed process left is taken over.
                std::fs::create_dir(claim_of(&place)).unwrap();
            }
            let winners: Vec<usize> = std::thread::scope(|scope| {
                let racers: Vec<_> = (0..4)
                    .map(|racer| {
                        let (home, place) = (home.path(), &place);
                        scope.spawn(move || {
                            let own = home.join(format!("{kind:?}-{round}.{racer}"));
                            std::fs::create_dir(&own).unwrap();
                            write(&own.join("who"), &racer.to_string());
                            match put_with(&own, place, &|_, _| Err(Error::from(kind))) {
                                Ok(()) => Some(racer),
                                Err(error) => {
                                    assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{error}");
                                    None
                                }
                            }
                        })
                    })
                    .collect();
                racers.into_iter().filter_map(|racer| racer.join().unwrap()).collect()
            });
            assert_eq!(winners.len(), 1, "{place:?}");
            assert_eq!(std::fs::read_to_string(place.join("who")).unwrap(), winners[0].to_string());
            assert!(!claim_of(&place).exists());
        }
    }
    let (own, place) = (home.path().join("own"), home.path().join("place"));
    std::fs::create_dir(&own).unwrap();
    let refused = put_with(&own, &place, &|_, _| Err(Error::from(ErrorKind::PermissionDenied))).unwrap_err();
    assert!(refused.kind() == ErrorKind::PermissionDenied && own.is_dir() && !place.exists());
}

#[test]
fn an_attempt_can_be_named_kept_and_set_aside() {
    let home = tempfile::tempdir().unwrap();
    let (path, place) = (home.path().join("work/mine"), home.path().join("done"));
    let attempt = Attempt::begin_at(&path, place.clone(), &unit("a", 1)).unwrap();
    let taken = Attempt::begin_at(&path, place.clone(), &unit("a", 1)).unwrap_err();
    assert!(matches!(&taken, UnitError::Taken { .. }), "{taken}");
    write(&attempt.path().join("half"), "x");
    attempt.set_aside(&home.path().join("aside/mine")).unwrap();
    assert!(!path.exists() && home.path().join("aside/mine/half").is_file());
    Attempt::begin_at(&path, place.clone(), &unit("a", 1)).unwrap().keep();
    assert!(path.is_dir());
    // Published first and sealed after; a seal that is there stays.
    let attempt = Attempt::begin(home.path(), place.clone(), &unit("a", 1)).unwrap();
    std::fs::create_dir(attempt.path().join("part")).unwrap();
    assert_eq!(attempt.publish(&attempt.path().join("part")).unwrap(), Promotion::Promoted);
    assert!(place.is_dir() && !place.join(MARKER).exists());
    attempt.seal("first").unwrap();
    attempt.seal("second").unwrap();
    assert_eq!(std::fs::read_to_string(place.join(MARKER)).unwrap(), "first");
}
