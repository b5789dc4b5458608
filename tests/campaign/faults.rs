//! Faults: whatever kills, races, fills or spoils, status tells the truth, a rerun completes, and
//! no promoted byte ever changes.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use skyfall::campaign::gc::{self, Kind};
use skyfall::campaign::status::{State, status};
use skyfall::campaign::{Site, manifest};
use skyfall::rollouts;

use super::{Campaign, bytes};

/// How many runs are killed.
const KILLS: usize = 200;

type Stores = BTreeMap<usize, BTreeMap<String, Vec<u8>>>;

/// A small generator of its own: the moments must not depend on what is tested.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

fn start(campaign: &Campaign, words: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_skyfall"))
        .args(["rollouts", "run", "--shard-manifest", "c/shard-manifest.jsonl", "--script", "oracle.lua"])
        .args(words)
        .current_dir(campaign.scratch.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The stores of an undisturbed run, by number.
fn reference(rows: usize) -> Stores {
    let campaign = Campaign::new(rows, 1);
    campaign.run(&["--index", "0", "--batch", &rows.to_string()]).ok();
    (0..rows).map(|shard| (shard, bytes(&place(&campaign, shard)))).collect()
}

fn place(campaign: &Campaign, shard: usize) -> PathBuf {
    campaign.file(&format!("c/shards/shard-{shard:06}"))
}

/// What is there is a whole store, but for its last marker; status says which it is. `seen` holds
/// what was looked at before, for what has not changed since has the same status.
fn check(campaign: &Campaign, whole: &Stores, seen: &mut Stores, states: &mut BTreeMap<&'static str, usize>) -> bool {
    let entries = manifest::read(&campaign.file("c/shard-manifest.jsonl")).unwrap();
    let mut complete = true;
    for (shard, expected) in whole {
        let place = place(campaign, *shard);
        let found = if place.exists() { bytes(&place) } else { BTreeMap::new() };
        let state = match (found.is_empty(), found.contains_key("_SUCCESS.json")) {
            (true, _) => State::Missing,
            (false, false) => State::Incomplete,
            (false, true) => State::Succeeded,
        };
        complete &= state == State::Succeeded;
        *states.entry(state.name()).or_default() += 1;
        if seen.get(shard) != Some(&found) {
            let entry = std::slice::from_ref(&entries[*shard]);
            let told = status(&place, entry, &Site::new(campaign.file("c/shards"))).unwrap();
            assert_eq!(told.shards[0].state, state);
            let mut sealed = found.clone();
            if state == State::Incomplete {
                sealed.insert("_SUCCESS.json".to_owned(), expected["_SUCCESS.json"].clone());
            }
            assert!(
                found.is_empty() || sealed == *expected,
                "{} is not what an undisturbed run writes",
                place.display()
            );
            seen.insert(*shard, found);
        }
    }
    complete
}

#[test]
fn killed_at_any_moment_a_campaign_comes_out_the_same() {
    const SHARDS: usize = 2;
    let seed = std::process::id().into();
    let mut chance = Chance(seed);
    let whole = reference(SHARDS);
    let began = Instant::now();
    let (mut kills, mut late, mut campaigns, mut dead) = (0, 0, 0, 0);
    let (mut states, mut aims) = (BTreeMap::new(), BTreeMap::new());
    while kills < KILLS {
        campaigns += 1;
        let campaign = Campaign::new(SHARDS, 1);
        let mut seen = Stores::new();
        // How long a run takes here and now that has nothing to do but to look.
        let mut usual = Duration::from_millis(100);
        for runs in 1.. {
            let batch = SHARDS.to_string();
            // Now and then the whole family: the children must not outlive their parent.
            let all = chance.below(8) == 0;
            let words: &[&str] = if all { &["--all", "--jobs", "2"] } else { &["--index", "0", "--batch", &batch] };
            let started = Instant::now();
            let mut child = start(&campaign, words);
            let next = (0..SHARDS).map(|shard| place(&campaign, shard)).find(|place| !place.exists());
            let aim = match (chance.below(3), next) {
                // Between the rename and the marker, or just after.
                (0, Some(place)) => until(&mut child, "promotion", &|| place.exists()),
                // While the store is written, checked and promoted.
                (1, Some(_)) => until(&mut child, "attempt", &|| attempts(&campaign) > 0),
                _ => "any moment",
            };
            let span = if aim == "promotion" { Duration::from_micros(300) } else { usual };
            std::thread::sleep(Duration::from_micros(chance.below(span.as_micros().try_into().unwrap())));
            if child.try_wait().unwrap().is_none() {
                kills += 1;
                *aims.entry(aim).or_insert(0) += 1;
            } else {
                late += 1;
                usual = usual.min(started.elapsed());
            }
            let _ = child.kill();
            child.wait().unwrap();
            settle(&campaign);
            if check(&campaign, &whole, &mut seen, &mut states) || kills >= KILLS {
                break;
            }
            // Where the machine is slow, runs get longer, until one comes through.
            usual += usual / 10;
            assert!(runs < 200, "the campaign makes no progress");
        }
        campaign.run(&["--index", "0", "--batch", &SHARDS.to_string()]).ok();
        assert!(check(&campaign, &whole, &mut seen, &mut states), "a rerun does not complete");
        let root = campaign.file("c/shards");
        for leftover in gc::leftovers(&root, Duration::ZERO, Duration::ZERO).unwrap() {
            dead += 1;
            assert!(leftover.kind == Kind::Dead && gc::remove(&leftover), "{leftover:?}");
        }
        assert_eq!(attempts(&campaign), 0);
        for shard in 0..SHARDS {
            assert!(rollouts::validate(&place(&campaign, shard)).unwrap().ok());
        }
    }
    told(format!(
        "seed {seed}: {kills} kills at {aims:?} ({late} came late) over {campaigns} campaigns of {SHARDS} shards in \
         {:.1} s; shards looked at: {states:?}; {dead} dead attempts removed",
        began.elapsed().as_secs_f64()
    ));
    assert!(states["incomplete"] > 0 && states["missing"] > 0 && dead > 0, "the kills hit nothing: {states:?}");
}

/// How many attempts have a directory.
fn attempts(campaign: &Campaign) -> usize {
    std::fs::read_dir(campaign.file("c/shards/tmp")).map_or(0, Iterator::count)
}

/// Waits for something to happen, or for the process to end; `aim` is what was waited for.
fn until(child: &mut Child, aim: &'static str, happened: &dyn Fn() -> bool) -> &'static str {
    while !happened() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_micros(20));
    }
    aim
}

fn settle(campaign: &Campaign) {
    settle_below(&campaign.file("c/shards"));
}

/// Waits until no process works in an attempt any more: children end with their parent, soon.
pub(crate) fn settle_below(root: &Path) {
    let began = Instant::now();
    loop {
        let left = gc::leftovers(root, Duration::ZERO, Duration::ZERO).unwrap();
        if left.iter().all(|leftover| leftover.kind != Kind::Live) {
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(120), "an orphan goes on: {left:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn of_two_runners_of_one_shard_one_promotes() {
    const ROUNDS: usize = 8;
    let whole = reference(ROUNDS);
    let campaign = Campaign::new(ROUNDS, 1);
    for shard in 0..ROUNDS {
        let id = shard.to_string();
        let mut racers: Vec<Child> = (0..2).map(|_| start(&campaign, &["--shard-id", &id])).collect();
        for racer in &mut racers {
            assert!(racer.wait().unwrap().success());
        }
        assert!(bytes(&place(&campaign, shard)) == whole[&shard]);
    }
    assert!(campaign.status().is_complete());
    assert_eq!(attempts(&campaign), 0);
    told(format!("{ROUNDS} races of two runners: each shard promoted once"));
}

#[test]
fn a_full_disk_leaves_nothing_behind_and_may_be_tried_again() {
    let whole = reference(1);
    // Files may have so many blocks of 512 bytes: the first file that is longer is refused.
    for blocks in [0, 1, 4, 8] {
        let campaign = Campaign::new(1, 1);
        let line = format!(
            "ulimit -f {blocks}; exec '{}' rollouts run --shard-manifest c/shard-manifest.jsonl --script oracle.lua --shard-id 0",
            env!("CARGO_BIN_EXE_skyfall")
        );
        let ran = Command::new("sh").args(["-c", &line]).current_dir(campaign.scratch.path()).output().unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(ran.status.code(), Some(75), "{said}");
        assert!(said.contains("File too large"), "{said}");
        assert!(!campaign.file("c/shards/shard-000000").exists());
        assert!(matches!(campaign.state(0), State::Missing | State::Failed));
        assert_eq!(attempts(&campaign), 0);
        campaign.run(&["--shard-id", "0"]).ok();
        assert!(check(&campaign, &whole, &mut Stores::new(), &mut BTreeMap::new()));
    }
}

/// Root may write everywhere, so that the command runs as no one.
#[test]
fn a_root_that_may_not_be_written_is_told_and_may_be_tried_again() {
    use std::os::unix::fs::PermissionsExt;
    const NOBODY: u32 = 65534;
    let campaign = Campaign::new(1, 1);
    let root = campaign.file("c/shards");
    std::fs::create_dir(&root).unwrap();
    let allow = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    allow(campaign.scratch.path(), 0o755);
    allow(&root, 0o555);
    let run = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_skyfall"));
        command.args(["rollouts", "run", "--shard-manifest", "c/shard-manifest.jsonl", "--script", "oracle.lua"]);
        command.args(["--shard-id", "0"]).current_dir(campaign.scratch.path());
        if rustix::process::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.output().unwrap()
    };
    let ran = run();
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(75), "{said}");
    assert!(said.contains("Permission denied") && !said.contains("panicked"), "{said}");
    assert_eq!((campaign.state(0), std::fs::read_dir(&root).unwrap().count()), (State::Missing, 0));
    allow(&root, 0o777);
    assert_eq!(run().status.code(), Some(0));
    assert_eq!(campaign.state(0), State::Succeeded);
}

#[test]
fn what_was_spoiled_is_seen_and_never_touched() {
    let whole = reference(1);
    let flip = |path: &Path| {
        let mut bytes = std::fs::read(path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(path, bytes).unwrap();
    };
    let cut = |path: &Path| {
        let bytes = std::fs::read(path).unwrap();
        std::fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
    };
    let damage: [(&str, &dyn Fn(&Path)); 12] = [
        ("manifest.json", &cut),
        ("manifest.json", &flip),
        ("_owner.json", &cut),
        ("_owner.json", &flip),
        ("_SUCCESS.json", &cut),
        ("_SUCCESS.json", &flip),
        ("candidates/shell_index/c/0", &flip),
        ("rollouts/horizon/c/0", &cut),
        ("q_h/td_reward/c/0/0", &flip),
        ("steps/zarr.json", &cut),
        ("candidates/shell_index/c/0", &|path| std::fs::remove_file(path).unwrap()),
        ("_owner.json", &|path| std::fs::remove_file(path).unwrap()),
    ];
    let campaign = Campaign::new(1, 1);
    let place = campaign.file("c/shards/shard-000000");
    campaign.run(&["--shard-id", "0"]).ok();
    for sealed in [true, false] {
        for (name, harm) in damage.iter().filter(|(name, _)| sealed || *name != "_SUCCESS.json") {
            if !sealed {
                std::fs::remove_file(place.join("_SUCCESS.json")).unwrap();
            }
            let named = std::iter::successors(Some(place.join(name)), |path| path.parent().map(Path::to_owned));
            let path = named.into_iter().find(|path| path.is_file());
            let path = path.unwrap_or_else(|| panic!("{name} is no file of a store: {:?}", bytes(&place).keys()));
            harm(&path);
            let spoiled = bytes(&place);
            let status = campaign.status();
            assert_eq!((status.shards[0].state, status.shards[0].errors.len()), (State::Incomplete, 1), "{name}");
            campaign.run(&["--shard-id", "0"]).failed(1, &["is not shard-000000 as it is planned", "move"]);
            assert!(bytes(&place) == spoiled, "{name}");
            let aside = campaign.file("aside");
            std::fs::rename(&place, &aside).unwrap();
            campaign.run(&["--shard-id", "0"]).ok();
            assert!(bytes(&place) == whole[&0], "{name}");
            std::fs::remove_dir_all(&aside).unwrap();
        }
    }
}

/// A child that is killed cannot say how it failed; the parent writes it down.
#[test]
fn a_killed_child_is_written_down_and_the_others_go_on() {
    let oracle = super::data("oracle.lua").replacen(
        "for _, row in ipairs(rows) do",
        "while shard.shard_id == 'shard-000001' and skyfall.fs.exists 'wait' do skyfall.fs.write('waiting', '') end\n    for _, row in ipairs(rows) do",
        1,
    );
    let campaign = Campaign::of(crate::command::Scratch::new(), &oracle, &super::index(3), 1);
    campaign.scratch.write("wait", "");
    let mut parent = start(&campaign, &["--all", "--jobs", "2"]);
    while !campaign.file("waiting").exists() {
        assert!(parent.try_wait().unwrap().is_none(), "it ended without having waited");
        std::thread::sleep(Duration::from_millis(5));
    }
    kill_child_of(parent.id(), "shard-000001");
    std::fs::remove_file(campaign.file("wait")).unwrap();
    assert_eq!(parent.wait().unwrap().code(), Some(1));
    let status = campaign.status();
    let states: Vec<State> = status.shards.iter().map(|shard| shard.state).collect();
    assert_eq!(states, [State::Succeeded, State::Failed, State::Succeeded]);
    assert!(status.shards[1].errors[0].contains("ProcessDied: killed by signal 9"), "{status:?}");
    campaign.run(&["--all"]).ok();
    assert!(campaign.status().is_complete());
}

/// Kills the process that has `word` among its arguments and this parent.
fn kill_child_of(parent: u32, word: &str) {
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let status = std::fs::read_to_string(entry.path().join("status")).unwrap_or_default();
        let arguments = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let is_child = status.lines().any(|line| line == format!("PPid:\t{parent}"));
        if is_child && arguments.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes()) {
            let process: i32 = entry.file_name().to_str().unwrap().parse().unwrap();
            let process = rustix::process::Pid::from_raw(process).unwrap();
            rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();
            return;
        }
    }
    panic!("no child of {parent} has the argument {word}");
}

/// Says what happened, where the test runner does not hide it.
pub(crate) fn told(line: String) {
    std::io::stderr().write_all(format!("faults: {line}\n").as_bytes()).unwrap();
}
