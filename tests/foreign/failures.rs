//! What goes wrong at the other end: one clear line, and the trace written until then.

use serde_json::json;

use super::life::executable;
use super::{RUN, configure, interpreter, rows, skyfall_with, ten_steps, worlds};
use crate::command::Scratch;

/// The trace holds exactly the steps before the one that failed, and is whole.
fn kept(scratch: &Scratch, steps: usize) {
    assert_eq!(rows(scratch).len(), steps);
    if steps > 0 {
        scratch.skyfall(&["trace", "check", "t.jsonl"]).ok();
    }
    assert!(!scratch.file("bundle").exists());
}

#[test]
fn an_exception_is_told_with_its_place() {
    let scratch = worlds();
    let ran = ten_steps(&scratch, "Raises").failed(
        1,
        &[
            "error[env/failed]: step 2: environment `python:foreign_worlds:Raises`: `step` raised ValueError: the floor \
             is lava (at foreign_worlds.py:",
            "Traceback (most recent call last):",
        ],
    );
    assert!(!ran.stderr.contains("exit status"), "{}", ran.stderr);
    kept(&scratch, 2);
}

#[test]
fn a_program_that_ends_is_told_with_its_status_and_last_words() {
    let scratch = worlds();
    ten_steps(&scratch, "Exits")
        .failed(1, &["step 2: ", "the program ended during `step` (exit status: 7); its last words: last words\n"]);
    kept(&scratch, 2);
    let scratch = worlds();
    ten_steps(&scratch, "Killed").failed(1, &["step 2: ", "the program ended during `step` (signal: 9 (SIGKILL))"]);
    kept(&scratch, 2);
}

#[test]
fn garbage_on_the_pipe_is_told() {
    let scratch = worlds();
    ten_steps(&scratch, "Spoils")
        .failed(1, &["step 2: ", "answer to `step` is no frame: it begins with \"Hello from a library\""]);
    kept(&scratch, 2);
}

#[test]
fn a_program_that_hangs_is_ended_after_the_time_out() {
    let scratch = worlds();
    configure(&scratch, "python:foreign_worlds:Hangs", &json!({}), 10);
    skyfall_with(&scratch, &[("SKYFALL_ENV_TIMEOUT", "1.5")], &RUN)
        .failed(1, &["step 2: ", "no answer to `step` within 1.5 s; the program was ended"]);
    kept(&scratch, 2);
    skyfall_with(&scratch, &[("SKYFALL_ENV_TIMEOUT", "soon")], &RUN)
        .failed(2, &["SKYFALL_ENV_TIMEOUT must be a number of seconds above 0, got `soon`"]);
}

#[test]
fn what_a_world_prints_spoils_nothing() {
    let scratch = worlds();
    let ran = ten_steps(&scratch, "Talks").ok();
    assert_eq!(rows(&scratch).len(), 10);
    for line in ["printed 10\n", "written\n"] {
        assert!(ran.stderr.contains(line), "{}", ran.stderr.len());
    }
    assert!(ran.stderr.len() > 1_000_000 && !ran.stdout.contains("printed"));
    let quiet = [&RUN[..], &["--quiet"]].concat();
    std::fs::remove_dir_all(scratch.file("bundle")).unwrap();
    let stderr = scratch.skyfall(&quiet).ok().stderr;
    assert!(!stderr.contains("printed") && !stderr.contains("xxx"), "{stderr}");
}

#[test]
fn observations_outside_their_bounds_pass_and_are_told_once() {
    let scratch = worlds();
    let ran = ten_steps(&scratch, "Nan").ok();
    let warning = "warning: environment `python:foreign_worlds:Nan`: an observation lies outside its space (told once)";
    assert_eq!(ran.stderr.matches(warning).count(), 1, "{}", ran.stderr);
    assert!(scratch.read("t.jsonl").contains("\"observation\": [NaN, Infinity]"));
}

#[test]
fn observations_of_another_shape_or_dtype_are_told_or_cast() {
    let scratch = worlds();
    ten_steps(&scratch, "WrongShape")
        .failed(1, &["step 0: ", "`step` raised an array of shape (3,) came where the space has (2,)"]);
    kept(&scratch, 0);
    let scratch = worlds();
    ten_steps(&scratch, "Wide").ok();
    let third = f64::from(1.0_f32 / 3.0);
    assert!(rows(&scratch).iter().all(|row| row["observation"][1] == json!(third)));
}

#[test]
fn what_cannot_be_made_says_why() {
    let scratch = worlds();
    for (id, words) in [
        ("python:gymnasium/LunarLandr-v3", "Environment `LunarLandr` doesn't exist. Did you mean: `LunarLander`?"),
        ("python:gymnasium/CartPole-v9", "CartPole-v9"),
        ("python:no_such_module:World", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("python:foreign_worlds:Nothing", "has no attribute 'Nothing'"),
        ("python:foreign_worlds:not_a_world", "gave int, which has no `observation_space`: not an environment"),
        ("python:foreign_worlds:Unsigned", "`observation_space` cannot be used: dtype: unknown dtype `uint64`"),
        ("python:foreign_worlds", "must be `python:gymnasium/ID` or `python:MODULE:NAME`"),
        ("python:gymnasium/", "must be `python:gymnasium/ID` or `python:MODULE:NAME`"),
        ("program:", "names no program"),
        ("program:./absent", "cannot start `./absent`: there is no such program"),
        ("pythn:gymnasium/CartPole-v1", "unknown environment `pythn:gymnasium/CartPole-v1`"),
    ] {
        configure(&scratch, id, &json!({}), 10);
        scratch.skyfall(&RUN).failed(1, &[&format!("`{id}`"), words]);
        assert!(!scratch.file("t.jsonl").exists(), "{id}");
    }
    configure(&scratch, "python:foreign_worlds:Raises", &json!({"colour": 1}), 10);
    scratch.skyfall(&RUN).failed(1, &["unexpected keyword argument 'colour'"]);
}

#[test]
fn a_missing_interpreter_or_package_is_told_with_its_mending() {
    let scratch = worlds();
    configure(&scratch, "python:gymnasium/CartPole-v1", &json!({}), 10);
    skyfall_with(&scratch, &[("SKYFALL_PYTHON", "no-such-python")], &RUN).failed(
        1,
        &["cannot start `no-such-python`: there is no such program (name a Python interpreter in SKYFALL_PYTHON)"],
    );
    // Without `site` the venv's packages are out of sight.
    let bare = executable(&scratch, "bare", &format!("#!/bin/sh\nexec {} -S -E \"$@\"\n", interpreter()));
    skyfall_with(&scratch, &[("SKYFALL_PYTHON", &bare)], &RUN).failed(
        1,
        &["Python has no module `numpy` (install it with `", "or name another interpreter in SKYFALL_PYTHON)"],
    );
    let broken = executable(&scratch, "broken", "#!/bin/sh\necho 'no libraries' >&2\nexit 3\n");
    skyfall_with(&scratch, &[("SKYFALL_PYTHON", &broken)], &RUN)
        .failed(1, &["the program ended during `hello` (exit status: 3); its last words: no libraries"]);
}

/// A program that answers every question with the same bytes.
fn parrot(scratch: &Scratch, bytes: &str) {
    executable(scratch, "parrot", &format!("#!/bin/sh\nprintf '{bytes}'\nexec cat >/dev/null\n"));
}

#[test]
fn programs_that_do_not_speak_the_protocol_are_told() {
    let scratch = worlds();
    configure(&scratch, "program:./parrot", &json!({}), 10);
    for (bytes, words) in [
        ("Welcome to parrot 1.0\\n", "is no frame: it begins with \"Welcome to parrot 1.0\""),
        ("\\002\\000\\000\\000\\000\\000\\000\\000[]", "is no frame: its JSON is a list, not an object"),
        ("\\002\\000\\000\\000\\000\\000\\000\\000{]", "is no frame: its JSON is malformed"),
        ("\\002\\000\\000\\000\\000\\000\\000\\000\\377\\376", "is no frame: its JSON is not UTF-8"),
        ("\\377\\377\\377\\377\\377\\377\\377\\377", "a frame of 8589934590 bytes at `hello` is longer than"),
        ("\\002\\000\\000\\000\\000\\000\\000\\000{}", "the program's greeting has no `version`"),
        (
            "\\016\\000\\000\\000\\000\\000\\000\\000{\"version\": 2}",
            "the program speaks version 2 of the protocol, not 1",
        ),
        (
            "\\016\\000\\000\\000\\000\\000\\000\\000{\"version\": 1}\\002\\000\\000\\000\\000\\000\\000\\000{}",
            "what came as the answer to `make` is no frame: it came before the question",
        ),
    ] {
        parrot(&scratch, bytes);
        scratch.skyfall(&RUN).failed(1, &["environment `program:./parrot`: ", words]);
    }
}

/// A program in Python that gives the answers it is told to, and good ones to the other questions.
fn answering(scratch: &Scratch, answers: &str) {
    let program = format!(
        "#!{}\n\
         import json, struct, sys\n\
         box = {{'type': 'Box', 'low': 0, 'high': 1, 'shape': [2], 'dtype': 'float32'}}\n\
         answers = {{\n\
         \x20   'hello': {{'version': 1}},\n\
         \x20   'make': {{'observation_space': box, 'action_space': {{'type': 'Discrete', 'n': 2}}}},\n\
         \x20   'reset': {{'observation': [0, 0.5]}},\n\
         \x20   'step': {{'observation': [0, 0.5], 'reward': 1, 'terminated': False, 'truncated': False}},\n\
         \x20   'parameters': {{'parameters': {{}}}},\n\
         }}\n\
         answers.update({answers})\n\
         while head := sys.stdin.buffer.read(8):\n\
         \x20   question = json.loads(sys.stdin.buffer.read(struct.unpack('<II', head)[0]))\n\
         \x20   text = json.dumps(answers[question['ask']]).encode()\n\
         \x20   sys.stdout.buffer.write(struct.pack('<II', len(text), 0) + text)\n\
         \x20   sys.stdout.buffer.flush()\n",
        interpreter()
    );
    executable(scratch, "answering", &program);
}

#[test]
fn answers_that_are_not_what_was_asked_for_are_told_with_their_field() {
    let scratch = worlds();
    configure(&scratch, "program:./answering", &json!({}), 10);
    let step = |field: &str, value: &str| {
        format!(
            "{{'step': {{'observation': [0, 0.5], 'reward': 1, 'terminated': False, 'truncated': False, '{field}': \
             {value}}}}}"
        )
    };
    answering(&scratch, "{}");
    scratch.skyfall(&RUN).ok();
    assert_eq!(rows(&scratch).len(), 10);
    std::fs::remove_dir_all(scratch.file("bundle")).unwrap();
    for (answers, words) in [
        ("{'make': {}}".to_owned(), "its answer to `make` has no `observation_space`"),
        ("{'make': {'observation_space': 3}}".to_owned(), "`observation_space` cannot be used: "),
        (
            "{'reset': {}}".to_owned(),
            "step 0: environment `program:./answering`: its answer to `reset` has no `observation`",
        ),
        ("{'reset': {'error': 'no fuel', 'at': 'tank'}}".to_owned(), "`reset` raised no fuel (at tank)"),
        ("{'step': {'error': None}}".to_owned(), "`step` raised it gave no reason"),
        (step("observation", "[0]"), "in its answer to `step`, `observation` must have shape [2], got [1]"),
        (step("observation", "'text'"), "in its answer to `step`, `observation`"),
        (step("observation", "{'raw': 0, 'shape': [2]}"), "must be lists of numbers, or `raw` and `shape` of some"),
        (
            step("observation", "{'raw': 2**62, 'shape': [2**62, 2]}"),
            "must be lists of numbers, or `raw` and `shape` of some",
        ),
        (step("reward", "'high'"), "in its answer to `step`, `reward` must be a number, got text"),
        (step("terminated", "0"), "in its answer to `step`, `terminated` must be a boolean, got an integer"),
        (step("info", "[]"), "in its answer to `step`, `info` must be a map, got a list"),
        (step("info", "{'invalid_action': 1}"), "`info.invalid_action` must be a boolean, got an integer"),
        (step("info", "{'ticket_snapshot': [1]}"), "`info.ticket_snapshot` must be a map, got a list"),
    ] {
        answering(&scratch, &answers);
        scratch.skyfall(&RUN).failed(1, &[words]);
    }
}

/// What is recorded must not be lost in silence.
#[test]
fn a_ticket_that_is_no_plain_data_is_told() {
    let scratch = worlds();
    ten_steps(&scratch, "Mutters")
        .failed(1, &["step 0: ", "`step` raised info['ticket_snapshot'] cannot be recorded: object is not plain data"]);
}
