//! `skyfall.trace` from Lua: scalars and columns written, rows read.

use crate::command::Scratch;

const HEAD: &str = "local skyfall = require 'skyfall'\nlocal trace = skyfall.trace\n";

fn script(code: &str) -> (Scratch, crate::command::Ran) {
    let scratch = Scratch::new();
    let ran = scratch.script(&format!("{HEAD}{code}"));
    (scratch, ran)
}

#[test]
fn scalars_columns_and_tables_write_the_same_bytes() {
    let (scratch, ran) = script(
        r#"
        local meta = { run_id = "a", seed = 1 }
        local columns = { "step", "reward", "regime_id", "action.index", "invalid_action", "effective_rank",
                          "reward_components.up", "reward_components.mid", "reward_detail.mid.x", "note" }
        local w = trace.writer("push.jsonl", meta, { columns = columns })
        w:push(0, 1, "calm", 2, false, nil, 0.5, 0.5, 3, "n")
        w:push(1, 0.25, nil, 0, true, 4.5, 0.25, 0, 4)
        w:close()
        w = trace.writer("extend.jsonl", meta, { columns = columns })
        assert(w:extend {
          step = { 0, 1 }, reward = skyfall.array.from({ 1, 0.25 }, "f64"), regime_id = { "calm", "windy" },
          ["action.index"] = skyfall.array.from({ 2, 0 }, "i64"), invalid_action = { false, true },
          ["effective_rank"] = 4.5, ["reward_components.up"] = { 0.5, 0.25 }, ["reward_components.mid"] = { 0.5, 0 },
          ["reward_detail.mid.x"] = { 3, 4 }, note = "n",
        } == 2)
        w:close()
        w = trace.writer("write.jsonl", meta)
        w:write { step = 0, reward = 1, regime_id = "calm", action = { index = 2 }, reward_components = { up = 0.5 },
                  reward_detail = { mid = { x = 3 } }, note = "n" }
        w:close()
        "#,
    );
    ran.ok();
    let push = scratch.read("push.jsonl");
    let rows: Vec<&str> = push.lines().collect();
    assert_eq!(
        rows[0],
        "{\"run_id\": \"a\", \"seed\": 1, \"step\": 0, \"regime_id\": \"calm\", \"regime_origin\": null, \"observed_at\": null, \
         \"action\": {\"index\": 2}, \"reward\": 1.0, \"reward_components\": {\"up\": 0.5, \"mid\": 0.5}, \
         \"reward_detail\": {\"mid\": {\"x\": 3}}, \"invalid_action\": false, \"effective_rank\": null, \
         \"ticket_snapshot\": {}, \"verifier_snapshot\": {}, \"note\": \"n\"}"
    );
    assert!(rows[1].contains("\"regime_id\": null") && rows[1].ends_with("\"note\": null}"), "{push}");
    let expected = push
        .replacen("\"effective_rank\": null", "\"effective_rank\": 4.5", 1)
        .replace("\"note\": null", "\"note\": \"n\"");
    let expected = expected.replacen("\"regime_id\": null", "\"regime_id\": \"windy\"", 1);
    assert_eq!(scratch.read("extend.jsonl"), expected);
    assert_eq!(scratch.read("write.jsonl").trim_end(), rows[0].replace("\"up\": 0.5, \"mid\": 0.5", "\"up\": 0.5"));
}

#[test]
fn what_no_column_can_hold_is_told_with_its_name() {
    for (code, words) in [
        ("trace.writer('t.jsonl', {}, { columns = { 'step' } })", &["a row needs `reward`"][..]),
        ("trace.writer('t.jsonl', {}, { columns = { 'step', 'reward', 'action' } })", &["`action.index`"]),
        ("trace.writer('t.jsonl', {}, { columns = { 'step', 'reward', 'reward' } })", &["`reward` stands there twice"]),
        ("trace.writer('t.jsonl', {}, { column = {} })", &["unknown option `column`", "columns"]),
        ("trace.writer('t.jsonl', {}, { flush_every = 0 })", &["options.flush_every"]),
        ("trace.writer('t.jsonl', {}):push(1, 2)", &["declare the columns"]),
        ("trace.writer('t.jsonl', {}, { columns = { 'step', 'reward' } }):push(1, 2, 3)", &["3 values for 2 columns"]),
        (
            "trace.writer('t.jsonl', {}, { columns = { 'step', 'reward' } }):push(1.5, 2)",
            &["`step` must be an integer"],
        ),
        (
            "trace.writer('t.jsonl', {}, { columns = { 'step', 'reward' } }):push(1)",
            &["`reward` must be a number, got nothing"],
        ),
        (
            "trace.writer('t.jsonl', {}):extend { step = { 1, 2 }, reward = { 1 } }",
            &["`step` has 2 entries and `reward` 1"],
        ),
        ("trace.writer('t.jsonl', {}):extend { step = { 1, 2 } }", &["a row needs `reward`"]),
        ("trace.writer('t.jsonl', {}):extend { step = 1, reward = 1 }", &["at least one column must be a list"]),
        ("trace.writer('t.jsonl', {}):extend { step = { 1, {} }, reward = 1 }", &["row 2: `step` must be a scalar"]),
        (
            "trace.writer('t.jsonl', { note = 1 }, { columns = { 'step', 'reward', 'note' } }):push(1, 2, 3)",
            &["`note` is taken"],
        ),
    ] {
        let (_, ran) = script(code);
        ran.failed(1, &[&["script.lua:3"], words].concat());
    }
}

#[test]
fn rows_are_objects_whose_fields_appear_when_touched() {
    let (scratch, ran) = script(
        r#"
        local w = trace.writer("t.jsonl", { run_id = "a", host = "h" })
        for step = 0, 2 do
          w:write { step = step, reward = step / 2, regime_id = step > 0 and "windy" or nil, action = { index = step },
                    reward_components = { up = step / 2 }, observation = { 1, 2.5 } }
        end
        w:close()
        local metas, copy = {}, trace.writer("copy.jsonl", { run_id = "a", host = "h" })
        for row, meta in trace.rows "t.jsonl" do
          metas[meta] = true
          assert(meta.run_id == "a" and meta.host == "h" and row.missing == nil)
          assert(row.reward_components.up == row.reward and row.observation[2] == 2.5)
          local seen = {}
          for key, value in pairs(row) do seen[key] = value end
          assert(seen.step == row.step and seen.regime_id == row.regime_id and seen.reward_components.up == row.reward)
          local ok, problem = pcall(function() row.reward = 1 end)
          assert(not ok and problem:find "cannot be changed", problem)
          local own = row:totable()
          own.reward = own.reward + 1
          assert(own.action.index == row.step and own.reward == row.reward + 1)
          copy:write(row)
        end
        copy:close()
        local count = 0
        for _ in pairs(metas) do count = count + 1 end
        assert(count == 1, "one table a run")

        local run = trace.load("t.jsonl")[1]
        assert(#run.steps == 3 and run.steps[4] == nil and run.steps[0] == nil and run.meta.host == "h")
        local sum = 0
        for at, row in ipairs(run.steps) do
          assert(row.step == at - 1)
          sum = sum + row.reward_components.up
        end
        print(sum, #trace.check "t.jsonl")
        "#,
    );
    assert_eq!(ran.ok().stdout, "1.5\t0\n");
    assert_eq!(scratch.read("copy.jsonl"), scratch.read("t.jsonl"));
}

#[test]
fn check_tells_what_the_command_tells() {
    let scratch = Scratch::new();
    scratch.write("t.jsonl", "{\"step\": 0, \"reward\": 1}\nx\n{\"step\": 1, \"rew");
    let ran = scratch.script(&format!(
        "{HEAD}for _, f in ipairs(trace.check 't.jsonl') do print(f.code, f.file, f.line, f.count) end"
    ));
    assert_eq!(ran.ok().stdout, "bad_line\tt.jsonl\t2\t1\ntruncated_tail\tt.jsonl\t3\t1\n");
}

#[test]
fn a_killed_script_leaves_the_rows_it_flushed_and_no_fused_line() {
    use std::io::{BufRead, BufReader};
    let scratch = Scratch::new();
    scratch.write(
        "endless.lua",
        &format!(
            "{HEAD}local w = trace.writer('t.jsonl', {{ run_id = 'a' }}, {{ append = true, columns = {{ 'step', 'reward' }} }})\n\
             local step = tonumber(arg[1])\n\
             while true do\n  for _ = 1, 1000 do w:push(step, 0.5) step = step + 1 end\n  w:flush()\n  print(step) io.stdout:flush()\nend"
        ),
    );
    let mut flushed = 0_usize;
    for _ in 0..3 {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_skyfall"))
            .args(["script", "endless.lua", "--", &flushed.to_string()])
            .current_dir(scratch.path())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut told = BufReader::new(child.stdout.take().unwrap()).lines();
        for _ in 0..5 {
            flushed = told.next().unwrap().unwrap().parse().unwrap();
        }
        // SIGKILL: nothing of the writer runs after it.
        child.kill().unwrap();
        child.wait().unwrap();
        let columns = super::read(std::fs::read(scratch.file("t.jsonl")).unwrap());
        let steps = &columns.runs[0].step;
        assert!(steps.len() >= flushed, "{} rows, {flushed} were flushed", steps.len());
        assert!(
            super::told(&columns).iter().all(|told| told.starts_with("truncated_tail")),
            "{:?}",
            super::told(&columns)
        );
        assert!(steps.iter().enumerate().all(|(at, step)| *step == at as i64), "none is lost, fused or repeated");
        flushed = steps.len();
    }
}

#[test]
#[cfg(unix)]
fn a_disk_that_fills_up_stops_the_run_and_leaves_whole_rows() {
    let scratch = Scratch::new();
    scratch.write(
        "endless.lua",
        &format!(
            "{HEAD}local w = trace.writer('t.jsonl', {{ run_id = 'a' }}, {{ append = true, columns = {{ 'step', 'reward' }} }})\n\
             for step = tonumber(arg[1]), 1e6 do w:push(step, 0.5) end"
        ),
    );
    let run = |from: &str| {
        // A limit on the file's size is a full disk, but for the word that the system has for it.
        std::process::Command::new("sh")
            .args([
                "-c",
                "trap '' XFSZ; ulimit -f 400; exec \"$@\"",
                "sh",
                env!("CARGO_BIN_EXE_skyfall"),
                "script",
                "endless.lua",
                "--",
                from,
            ])
            .current_dir(scratch.path())
            .output()
            .unwrap()
    };
    let first = run("0");
    let told = String::from_utf8_lossy(&first.stderr).into_owned();
    assert_eq!(first.status.code(), Some(1), "{told}");
    assert!(told.contains("t.jsonl") && told.contains("File too large"), "{told}");
    let left = std::fs::read(scratch.file("t.jsonl")).unwrap();
    assert_eq!(left.last(), Some(&b'\n'), "half a row was cut off again");
    let columns = super::read(left.clone());
    let steps = &columns.runs[0].step;
    assert!(steps.len() > 100 && steps.iter().enumerate().all(|(at, step)| *step == at as i64), "{}", steps.len());
    assert_eq!(super::told(&columns), [""; 0]);
    // The next attempt fails likewise, and what was good stays.
    assert_eq!(run(&steps.len().to_string()).status.code(), Some(1));
    let again = std::fs::read(scratch.file("t.jsonl")).unwrap();
    assert!(again.starts_with(&left) && again.ends_with(b"\n"));
}
