//! Sweeps: what is planned, run, lost and found again.

mod adaptive;
mod changed;
mod hostile;
mod kill;
mod look;
mod screen;
mod single;
mod space;

use crate::command::{Ran, Scratch};

/// A quick experiment at every point; `more` is what else the sweep is given.
pub(crate) fn quick(axes: &str, more: &str) -> String {
    format!(
        r#"
local skyfall = require "skyfall"
local sweep = skyfall.sweep
return sweep {{
  name = "quick",
  axes = {axes},
  {more}
  experiment = function(p)
    if p.fail then error("no luck with " .. p.fail) end
    return {{
      env = {{ id = "CartPole-v1" }},
      algorithm = {{ name = "none", policy = {{ id = "linear_menu", kwargs = {{ n_actions = 2, seed = p.policy or 1 }} }} }},
      rollout = {{ window_steps = 10, total_steps = p.steps or 20, auto_reset = true }},
      run = {{ seed = p.seed or 1, meta = {{ note = p.note, size = p.world and p.world.size }} }},
    }}
  end,
}}
"#
    )
}

/// What `--dry-run` lists: a line a trial, without its name.
fn listed(axes: &str, more: &str) -> (Vec<String>, String) {
    let scratch = Scratch::new();
    scratch.write("sweep.lua", &quick(axes, more));
    let ran = scratch.skyfall(&["sweep", "sweep.lua", "--dry-run"]).ok();
    assert_eq!(scratch.tree(), ["sweep.lua"], "a dry run leaves nothing");
    let place = |line: &str| line.split_once("  ").unwrap().1.to_owned();
    (ran.stdout.lines().map(place).collect(), ran.stderr)
}

/// Everything below the sweep's directory, but for the command that made it.
pub(crate) fn left(scratch: &Scratch, directory: &str) -> Vec<(String, Vec<u8>)> {
    let names = scratch.tree().into_iter().filter(|name| name.starts_with(&format!("{directory}/")));
    let names = names.filter(|name| !name.ends_with("/sweep.json"));
    names
        .map(|name| {
            let content = std::fs::read(scratch.file(&name)).unwrap();
            (name.split_once('/').unwrap().1.to_owned(), content)
        })
        .collect()
}

#[test]
fn the_order_is_that_of_names_and_the_last_axis_is_the_fastest() {
    let (points, note) = listed("{ seed = { 1, 2 }, policy = { 5, 3 } }", "");
    assert_eq!(points, ["policy=5 seed=1", "policy=5 seed=2", "policy=3 seed=1", "policy=3 seed=2"]);
    assert!(note.contains("4 trials, 80 steps"), "{note}");
}

#[test]
fn spaces_combine() {
    let (points, _) = listed("sweep.zip { policy = { 1, 2 }, steps = { 10, 20 } }", "repeats = { 7, 8 },");
    assert_eq!(
        points,
        [
            "policy=1 steps=10 seed=7",
            "policy=1 steps=10 seed=8",
            "policy=2 steps=20 seed=7",
            "policy=2 steps=20 seed=8"
        ]
    );
    let (points, _) =
        listed("sweep.chain { { policy = { 1 } }, sweep.list { { steps = 5, policy = 2 }, { seed = 4 } } }", "");
    assert_eq!(points, ["policy=1", "policy=2 steps=5", "seed=4"]);
    let conditional = "{ policy = { 1, 2 }, sweep.when({ policy = 2 }, { steps = { 10, 30 } }) }";
    assert_eq!(listed(conditional, "").0, ["policy=1", "policy=2 steps=10", "policy=2 steps=30"]);
    let computed = "{ policy = { 1, 2 }, sweep.when(function(p) return p.policy > 1 end, { steps = { 10, 30 } }) }";
    assert_eq!(listed(computed, "").0, listed(conditional, "").0);
    let (points, _) =
        listed("{ policy = { 1, 2, 3 }, steps = { 10, 20 } }", "except = { policy = { 1, 3 }, steps = 20 },");
    assert_eq!(points, ["policy=1 steps=10", "policy=2 steps=10", "policy=2 steps=20", "policy=3 steps=10"]);
    let (points, _) = listed("{ world = sweep.grid { size = { 1, 2 } } }", "repeats = 2,");
    assert_eq!(points, ["world.size=1 seed=1", "world.size=1 seed=2", "world.size=2 seed=1", "world.size=2 seed=2"]);
}

#[test]
fn points_that_come_to_one_configuration_run_once() {
    // What an axis is called, and what it makes no difference to, does not tell them apart.
    let scratch = Scratch::new();
    let points = "sweep.list { { steps = 20 }, {}, { steps = 30 }, { steps = 20.0, unused = 'x' } }";
    scratch.write("sweep.lua", &quick(points, ""));
    let ran = scratch.skyfall(&["sweep", "sweep.lua", "--dry-run"]).ok();
    assert_eq!(ran.stdout.lines().count(), 2, "{}", ran.stdout);
    assert!(ran.stderr.contains("2 trials, 50 steps at most; 2 points"), "{}", ran.stderr);
    assert!(ran.stderr.contains("already: `steps`, `unused` made no difference to them"), "{}", ran.stderr);
    let ran = scratch.skyfall(&["sweep", "sweep.lua"]).ok();
    assert!(ran.stdout.starts_with("2 of 2 trials finished\n"), "{}", ran.stdout);
    assert!(ran.stderr.contains("2 points came to a configuration that was there already"), "{}", ran.stderr);
}

#[test]
fn what_is_wrong_with_a_sweep_is_told_at_its_line() {
    let wrong = |code: &str| -> Ran {
        let scratch = Scratch::new();
        scratch.write("sweep.lua", &format!("local sweep = require('skyfall').sweep\n{code}"));
        scratch.skyfall(&["sweep", "sweep.lua", "--dry-run"])
    };
    for (code, words) in [
        ("return sweep { axis = {} }", ["unknown key `axis`; did you mean `axes`?", "sweep.lua:2"]),
        ("return sweep { axes = {} }", ["`experiment` is missing", "sweep.lua:2"]),
        ("return sweep { axes = 3 }", ["`axes` must be a space, got the integer 3", "sweep.lua:2"]),
        ("sweep.grid { a = 3 }", ["the axis `a` must be a list of values", "sweep.lua:2"]),
        ("sweep.grid { a = {} }", ["the axis `a` has no values", "sweep.lua:2"]),
        ("sweep.grid { a = sweep.uniform(0, 1) }", ["`a` is a distribution; draw it with", "sweep.lua:2"]),
        ("sweep.zip { a = { 1 }, b = { 1, 2 } }", ["the axis `b` has 2 values, the ones before 1", "sweep.lua:2"]),
        ("sweep.list { 3 }", ["each point must be a table", "sweep.lua:2"]),
        ("sweep.log_uniform(0, 1)", ["`low` must be above 0", "sweep.lua:2"]),
        ("sweep.uniform(2, 1)", ["`low` must be below `high`", "sweep.lua:2"]),
        ("sweep.random(-1, {})", ["`n` must not be negative", "sweep.lua:2"]),
        ("sweep.when(3, {})", ["`condition` must be a function of the point", "sweep.lua:2"]),
        ("sweep.grid({ sweep.list { { a = 1 } }, a = { 2 } }):points()", ["the axis `a` twice", "sweep.lua:2"]),
        (
            "return sweep { axes = { a = { 1, 0/0 } }, experiment = function() end }",
            ["the axis `a` is NaN at a=NaN", "error[sweep/space]"],
        ),
        ("return 3", ["returned nothing to sweep", "skyfall.sweep"]),
    ] {
        wrong(code).failed(1, &words);
    }
    let absent = Scratch::new();
    absent.skyfall(&["sweep", "absent.lua"]).failed(3, &["absent.lua"]);
    absent.skyfall(&["sweep", "status", "absent"]).failed(3, &["absent holds no sweep"]);
}

#[test]
fn a_trial_leaves_the_same_whatever_the_number_of_jobs() {
    let scratch = Scratch::new();
    scratch.write("sweep.lua", &quick("{ policy = { 1, 2, 3, 4, 5 } }", "repeats = 2,"));
    for (jobs, out) in [("1", "one"), ("7", "seven")] {
        let ran = scratch.skyfall(&["sweep", "sweep.lua", "--jobs", jobs, "--out", out]).ok();
        assert!(ran.stdout.contains("10 of 10 trials finished\nbest mean_reward: 1.0"), "{}", ran.stdout);
    }
    let one = left(&scratch, "one");
    assert_eq!(one.len(), 1 + 10 * 5, "{:?}", one.iter().map(|(name, _)| name).collect::<Vec<_>>());
    assert_eq!(one, left(&scratch, "seven"));
}

#[test]
fn what_a_sweep_leaves_says_whence_it_comes_and_not_where_or_when_it_was_made() {
    let scratch = Scratch::new();
    // A function that cannot be written down: the script's text counts, not its place.
    let script = quick("{ policy = { 1, 2 } }", "repeats = 2,")
        .replace("local sweep", "local own = setmetatable({}, {})\nlocal gain = require('gain')\nlocal sweep")
        .replace(
            "rollout = {",
            "reward = skyfall.reward.compose { { skyfall.reward.term('r', function() return own and gain end) } }, rollout = {",
        );
    for home in ["here", "there/deep"] {
        scratch.write(&format!("{home}/sweep.lua"), &script);
        scratch.write(&format!("{home}/gain.lua"), "return 2");
    }
    scratch.skyfall(&["sweep", "here/sweep.lua", "--jobs", "1", "--out", "a"]).ok();
    let absolute = scratch.file("there/deep/sweep.lua");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_skyfall"));
    command.args(["sweep", absolute.to_str().unwrap(), "--jobs", "3", "--out", "../b"]);
    let ran = command.current_dir(scratch.file("there")).env("TZ", "Asia/Tokyo").env("LC_ALL", "C").output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let (one, other) = (left(&scratch, "a"), left(&scratch, "b"));
    for ((name, content), (again, same)) in one.iter().zip(&other) {
        assert_eq!(name, again);
        assert!(content == same, "{name} differs");
        assert!(!String::from_utf8_lossy(content).contains(scratch.path().to_str().unwrap()), "{name} says where");
    }
    assert_eq!((one.len(), other.len()), (1 + 4 * 5, 1 + 4 * 5));
    // Where it comes from stands in its header.
    let header: serde_json::Value = serde_json::from_str(&scratch.read("a/sweep.json")).unwrap();
    let about = &header["provenance"];
    assert_eq!((&about["command"][1], &about["command"][2]), (&"sweep".into(), &"here/sweep.lua".into()));
    assert_eq!(about["version"], env!("CARGO_PKG_VERSION"));
    let sources = about["sources_sha256"].as_object().unwrap();
    let digests: Vec<&str> = sources.values().map(|digest| digest.as_str().unwrap()).collect();
    for text in [&*script, "return 2"] {
        assert!(digests.contains(&&*crate::digest::sha256_hex(text.as_bytes())), "{sources:?}");
    }
    // The module's text is part of what a trial is.
    scratch.write("here/gain.lua", "return 3");
    let ran = scratch.skyfall(&["sweep", "here/sweep.lua", "--out", "a", "--resume"]).ok();
    assert!(ran.stdout.starts_with("4 of 4 trials finished\nbest mean_reward: 3.0"), "{}", ran.stdout);
}

#[test]
fn a_failing_trial_is_recorded_and_the_rest_goes_on() {
    let scratch = Scratch::new();
    scratch.write("sweep.lua", &quick("sweep.list { { steps = 10 }, { fail = 'this' }, { steps = 30 } }", ""));
    let words = ["trial 0001 (fail=this) failed", "no luck with this"];
    let ran = scratch.skyfall(&["sweep", "sweep.lua", "--jobs", "2"]).failed(1, &words);
    assert!(ran.stdout.contains("2 of 3 trials finished, 1 failed"), "{}", ran.stdout);
    let record = scratch.tree().into_iter().find(|name| name.starts_with("quick/failed/0001-")).unwrap();
    let record: serde_json::Value = serde_json::from_str(&scratch.read(&record)).unwrap();
    assert_eq!((record["class"].as_str(), record["point"]["fail"].as_str()), (Some("config"), Some("this")));
    let status = scratch.skyfall(&["sweep", "status", "quick"]).ok();
    assert_eq!(scratch.skyfall(&["sweep", "status", "quick", "--require-complete"]).code, 1);
    let json = scratch.skyfall(&["sweep", "status", "quick", "--json"]).ok().stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((json["failed"].as_i64(), json["failures"][0]["trial"].as_str()), (Some(1), Some("0001")), "{json}");
    assert!(status.stdout.starts_with("quick: 2 of 3 trials finished, 1 failed, 0 missing\n"), "{}", status.stdout);
    assert!(status.stdout.contains("failed 0001 (fail=this): sweep.lua:"), "{}", status.stdout);
    // Mended, only that one runs.
    scratch.write("sweep.lua", &scratch.read("sweep.lua").replace("if p.fail then", "if false then"));
    let ran = scratch.skyfall(&["sweep", "sweep.lua", "--resume"]).ok();
    assert!(ran.stdout.starts_with("3 of 3 trials finished (2 of them before)"), "{}", ran.stdout);
    scratch.skyfall(&["sweep", "status", "quick", "--require-complete"]).ok();
}

#[test]
fn a_trial_cannot_take_the_others_along() {
    let scratch = Scratch::new();
    for (deed, class) in [
        ("os.exit(0)", "run"),
        ("os.exit(9)", "run"),
        ("local function deep() return 1 + deep() end deep()", "run"),
        ("local all = {} while true do all[#all + 1] = ('x'):rep(1e6) .. #all end", "signal"),
    ] {
        let deed = format!(
            "{{ skyfall.reward.term('r', function(s) if s.step == 5 and p.policy == 2 then {deed} end return 1 end) }}"
        );
        let code = quick("{ policy = { 1, 2, 3 } }", "")
            .replace("rollout = {", &format!("reward = skyfall.reward.compose {{ {deed} }}, rollout = {{"));
        scratch.write("sweep.lua", &code);
        let out = format!("out{}", scratch.tree().len());
        // Memory is the operating system's to refuse; here it does so early.
        let program = env!("CARGO_BIN_EXE_skyfall");
        let line = format!("ulimit -v 2000000; exec {program} sweep sweep.lua --jobs 2 --out {out}");
        let ran = std::process::Command::new("sh").args(["-c", &line]).current_dir(scratch.path()).output().unwrap();
        let told = String::from_utf8(ran.stdout).unwrap();
        assert_eq!(ran.status.code(), Some(1), "{deed}: {told}");
        assert!(told.starts_with("2 of 3 trials finished, 1 failed"), "{deed}: {told}");
        let _ = class;
    }
}

#[test]
fn a_trial_that_fails_is_tried_again_as_often_as_asked() {
    let scratch = Scratch::new();
    let code = quick("{ policy = { 1, 2 } }", "").replace(
        "rollout = {",
        "reward = skyfall.reward.compose { { skyfall.reward.term('r', function(s)
           if p.policy == 2 and not skyfall.fs.exists('tries/2') then
             skyfall.fs.write('tries/' .. (skyfall.fs.exists('tries/1') and 2 or 1), 'x')
             error('not yet')
           end
           return 1
         end) } }, rollout = {",
    );
    scratch.write("sweep.lua", &code);
    scratch.skyfall(&["sweep", "sweep.lua", "--out", "a"]).failed(1, &["not yet"]);
    let _ = std::fs::remove_dir_all(scratch.file("tries"));
    scratch.skyfall(&["sweep", "sweep.lua", "--out", "b", "--retries", "1"]).failed(1, &["not yet"]);
    let _ = std::fs::remove_dir_all(scratch.file("tries"));
    scratch.skyfall(&["sweep", "sweep.lua", "--out", "c", "--retries", "2"]).ok();
}

#[test]
fn fail_fast_ends_the_sweep() {
    let scratch = Scratch::new();
    let points: String = (0..40).map(|policy| format!("{{ policy = {policy} }},")).collect();
    scratch.write("sweep.lua", &quick(&format!("sweep.list {{ {{ fail = 'x' }}, {points} }}"), ""));
    let ran = scratch.skyfall(&["sweep", "sweep.lua", "--jobs", "1", "--fail-fast"]).failed(1, &["no luck"]);
    assert!(ran.stdout.starts_with("0 of 41 trials finished, 1 failed"), "{}", ran.stdout);
}

#[test]
fn going_on_is_asked_for_and_a_changed_configuration_is_a_new_trial() {
    let scratch = Scratch::new();
    scratch.write("sweep.lua", &quick("{ policy = { 1, 2 } }", ""));
    scratch.skyfall(&["sweep", "sweep.lua"]).ok();
    scratch.skyfall(&["sweep", "sweep.lua"]).failed(2, &["quick holds a sweep already", "--resume"]);
    let before = scratch.tree();
    scratch.write("sweep.lua", &quick("{ policy = { 1, 2, 3 } }", ""));
    let ran = scratch.skyfall(&["sweep", "sweep.lua", "--resume"]).ok();
    assert!(ran.stdout.starts_with("3 of 3 trials finished (2 of them before)"), "{}", ran.stdout);
    scratch.write("sweep.lua", &quick("{ policy = { 1, 2, 3 } }", "").replace("window_steps = 10", "window_steps = 5"));
    let ran = scratch.skyfall(&["sweep", "sweep.lua", "--resume"]).ok();
    assert!(ran.stdout.starts_with("3 of 3 trials finished\n"), "{}", ran.stdout);
    let after = scratch.tree();
    let kept = |name: &String| after.contains(name) || after.contains(&name.replace("quick/", "quick/.earlier/"));
    assert!(before.iter().all(kept), "what was there is kept");
}

#[test]
fn axes_are_typed_on_the_command_line() {
    let scratch = Scratch::new();
    let code = quick("{}", "")
        .replace("return sweep {", "local s = {")
        .replace("experiment = function(p)", "make = function(p)");
    scratch.write("one.lua", &(code + "return skyfall.experiment(s.make {})"));
    let arguments = ["--axis", "run.seed=1,2", "--axis", "algorithm.policy.kwargs.seed=7", "--set", "run.task=walk"];
    let ran = scratch.skyfall(&[&["sweep", "one.lua", "--out", "a"], &arguments[..]].concat()).ok();
    assert!(ran.stdout.starts_with("2 of 2 trials finished"), "{}", ran.stdout);
    let trace =
        scratch.tree().into_iter().find(|name| name.starts_with("a/trials/0001") && name.ends_with(".jsonl")).unwrap();
    let row: serde_json::Value = serde_json::from_str(scratch.read(&trace).lines().next().unwrap()).unwrap();
    assert_eq!((row["seed"].as_i64(), row["algorithm.policy.kwargs.seed"].as_i64()), (Some(2), Some(7)));
    assert_eq!(row["task"], "walk");
    // The configuration of a trial, as a sweep of its own.
    let config = trace.replace("traces.jsonl", "traces.config.yaml");
    scratch.skyfall(&["sweep", &config, "--axis", "rollout.total_steps=5,6", "--out", "b"]).ok();
    scratch
        .skyfall(&["sweep", "one.lua", "--axis", "rnu.seed=1"])
        .failed(2, &["--axis `rnu`: unknown key; known are env, algorithm"]);
    scratch.skyfall(&["sweep", "one.lua", "--axis", "run.seed"]).failed(2, &["is not of the form"]);
    scratch.skyfall(&["sweep", "one.lua"]).failed(1, &["no --axis was named"]);
}

#[test]
fn a_script_that_stands_in_no_file_is_a_sweep_all_the_same() {
    let scratch = Scratch::new();
    let script = quick("{ policy = { 1, 2 } }", "");
    scratch.write("sweep.lua", &script);
    scratch.skyfall(&["sweep", "sweep.lua", "--out", "file"]).ok();
    scratch.skyfall(&["script", "-e", &script, "--out", "text"]).ok();
    scratch.skyfall_with_input(&["script", "-", "--out", "input"], &script).ok();
    scratch.skyfall_with_input(&["sweep", "-", "--out", "swept"], &script).ok();
    let again = scratch.skyfall_with_input(&["sweep", "-", "--out", "swept", "--resume"], &script).ok();
    assert!(again.stdout.starts_with("2 of 2 trials finished (2 of them before)"), "{}", again.stdout);
    let trials =
        |out| left(&scratch, out).into_iter().filter(|(name, _)| name.starts_with("trials/")).collect::<Vec<_>>();
    for out in ["text", "input", "swept"] {
        assert!(trials(out) == trials("file"), "{out} differs");
    }
    // What can be read once only is refused before it is read.
    let program = env!("CARGO_BIN_EXE_skyfall");
    for verb in ["script", "sweep"] {
        let line = format!("{program} {verb} <(cat sweep.lua) --out pipe");
        let ran = std::process::Command::new("bash").args(["-c", &line]).current_dir(scratch.path()).output().unwrap();
        let said = String::from_utf8(ran.stderr).unwrap();
        assert!(ran.status.code() == Some(2) && said.contains("is read once only"), "{said}");
        assert!(!scratch.file("pipe").exists());
    }
}

#[test]
fn what_a_trial_does_depends_on_its_point_alone() {
    let scratch = Scratch::new();
    scratch.write("sweep.lua", &quick("{ policy = { 1 } }", "").replace("p.seed or 1", "math.random(1 << 40)"));
    let ran = scratch.skyfall(&["sweep", "sweep.lua"]);
    // `math.random` has a seed of its own here, or the trial says what is wrong.
    if ran.code != 0 {
        ran.failed(1, &["another configuration of this point"]);
    }
    scratch.write(
        "count.lua",
        &quick("{ policy = { 1, 2 } }", "")
            .replace("local skyfall", "local calls = 0\nlocal skyfall")
            .replace("p.seed or 1", "(function() calls = calls + 1 return calls end)()"),
    );
    scratch.skyfall(&["sweep", "count.lua", "--out", "c"]).failed(1, &["another configuration of this point"]);
}
