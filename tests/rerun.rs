//! A second run in the place of a first one: what is said, and what is left when it fails.

use crate::command::Scratch;

/// An experiment whose reward fails at the step that is its argument.
const EXPERIMENT: &str = "local skyfall = require 'skyfall'
    local last = tonumber(arg[1] or '') or -1
    local alive = skyfall.reward.term('alive', function(s)
      if s.step == last then error('enough') end
      return 1
    end)
    return skyfall.experiment {
      env = { id = 'CartPole-v1' },
      algorithm = { name = 'none', policy = { id = 'random' } },
      reward = skyfall.reward.compose { { alive } }, rollout = { window_steps = 10, total_steps = 60 },
      run = { name = 'steady' },
    }\n";

fn has_bundle(scratch: &Scratch, name: &str) -> bool {
    scratch.tree().iter().any(|file| file.starts_with(name))
}

#[test]
fn a_script_that_fails_leaves_no_bundle_of_an_earlier_run() {
    let scratch = Scratch::new();
    scratch.write("e.lua", EXPERIMENT);
    assert_eq!(scratch.skyfall(&["script", "e.lua"]).ok().stderr, "");
    let again = scratch.skyfall(&["script", "e.lua"]).ok();
    assert_eq!(again.stderr, "this replaces an earlier run's steady/traces.jsonl and steady/bundle\n");
    assert_eq!(scratch.skyfall(&["--quiet", "script", "e.lua"]).ok().stderr, "");
    // What is refused before it begins costs nothing.
    scratch.skyfall(&["script", "e.lua", "--set", "algorithm.policy.kwargs.nois=1"]).failed(1, &["nois"]);
    scratch.skyfall(&["bundle", "check", "steady/bundle"]).ok();
    scratch.skyfall(&["script", "e.lua", "--", "30"]).failed(1, &["step 30: reward term `alive`: enough"]);
    assert_eq!(scratch.read("steady/traces.jsonl").lines().count(), 30);
    assert!(!has_bundle(&scratch, "steady/bundle"), "{:?}", scratch.tree());
    assert!(scratch.tree().iter().all(|file| !file.contains(".tmp")), "{:?}", scratch.tree());
}

#[test]
fn a_configuration_that_fails_leaves_no_bundle_of_an_earlier_run() {
    let scratch = Scratch::new();
    scratch.write("e.lua", EXPERIMENT);
    for (name, last) in [("whole.yaml", "-1"), ("broken.yaml", "30")] {
        let config = scratch.skyfall(&["script", "--dry-run", "e.lua", "--", last]).ok().stdout;
        scratch.write(name, &config);
    }
    let run = |config: &str, more: &[&str]| {
        scratch.skyfall(&[&["run", config, "--traces", "t.jsonl", "--export", "b"][..], more].concat())
    };
    for more in [&[][..], &["--export-external"]] {
        run("whole.yaml", more).ok();
        assert!(has_bundle(&scratch, "b/") && has_bundle(&scratch, "b-checkpoint/") != more.is_empty());
        let failed = run("broken.yaml", more);
        failed.failed(1, &["this replaces an earlier run's t.jsonl and b\n", "step 30", "enough"]);
        assert!(!has_bundle(&scratch, "b/") && !has_bundle(&scratch, "b-checkpoint/"), "{:?}", scratch.tree());
    }
}

#[test]
fn a_run_that_keeps_nothing_says_so() {
    let scratch = Scratch::new();
    scratch.write("e.lua", EXPERIMENT);
    let config = scratch.skyfall(&["script", "--dry-run", "e.lua"]).ok().stdout;
    scratch.write("e.yaml", &config);
    for file in ["e.lua", "e.yaml"] {
        let told = scratch.skyfall(&["run", file]).ok().stderr;
        assert_eq!(told, "nothing of this run is kept: --traces FILE keeps a trace, --export DIR a bundle\n");
        assert_eq!(scratch.skyfall(&["--quiet", "run", file]).ok().stderr, "");
        assert_eq!(scratch.skyfall(&["run", file, "--export", &format!("{file}-bundle")]).ok().stderr, "");
    }
}
