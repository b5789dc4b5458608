//! A sweep's directory: whatever stands in the place of its header, plan, outcomes, markers and
//! records of failure is read without a panic, and what was read reads back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skyfall::sweep::table::{Query, Scope, table};
use skyfall::sweep::{Directory, Trial, report};
use skyfall::text::json;
use skyfall_fuzz::{place, scratch};

const NAME: &str = "trials/0000-3b24a766147d72c4";
const HEADER: &[u8] = include_bytes!("../seeds/read_sweep/sweep.json");
const PLAN: &[u8] = include_bytes!("../seeds/read_sweep/plan.jsonl");
const OUTCOME: &[u8] = include_bytes!("../seeds/read_sweep/result.json");

fn read_all() {
    let directory = Directory::new(scratch());
    let Ok(header) = directory.header() else { return };
    let _ = table(&directory, &header, &Query::default());
    let _ = report(&directory, &header, "seed", Scope::All);
    let Ok(plan) = directory.plan() else { return };
    for trial in plan.of(&header.totals).take(64) {
        // A row that cannot be read ends it.
        let Ok(trial) = trial else { break };
        let written = trial.to_value();
        assert_eq!(Trial::from_value(&written).map(|trial| format!("{trial:?}")), Ok(format!("{trial:?}")));
        let _ = directory.failure(&trial);
    }
}

fuzz_target!(|bytes: &[u8]| {
    let first = std::str::from_utf8(bytes).ok().and_then(|text| json::parse(text.lines().next().unwrap_or("")).ok());
    let sound: [(&str, &[u8]); 3] =
        [("sweep.json", HEADER), (".plan.jsonl", PLAN), (&format!("{NAME}/result.json"), OUTCOME)];
    for (name, bytes) in sound {
        place(name, bytes);
    }
    place(&format!("{NAME}/_SUCCESS.json"), bytes);
    let _ = Directory::new(scratch()).check_files("0000-3b24a766147d72c4");
    read_all();
    // A trial's process is told by such a row, too.
    let _ = first.as_ref().map(Trial::from_value);
    // What is no JSON is told apart at once.
    for (name, sound) in if first.is_some() { &sound[..] } else { &sound[..1] } {
        place(name, bytes);
        read_all();
        place(name, sound);
    }
});
