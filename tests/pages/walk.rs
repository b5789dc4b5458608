//! Walking a page: its blocks, one after the other, in one directory.

use std::path::Path;
use std::process::{Command, Stdio};

use super::markdown::{Block, blocks, pictures};
use super::{REASONS, home};
use crate::command::Scratch;

/// The experiment that shown fields take their place in.
const LUA: &str = r#"local skyfall = require "skyfall"
local experiment = {
  env = { id = "CartPole-v1" },
  algorithm = { name = "none", policy = { id = "random" } },
  rollout = { total_steps = 20 },
}
for name, field in pairs {
"#;
const LUA_END: &str = "} do experiment[name] = field end\nreturn skyfall.experiment(experiment)\n";
const YAML: &[&str] =
    &["env: {id: CartPole-v1}\n", "algorithm: {policy: {id: random}}\n", "rollout: {total_steps: 20}\n"];

/// Walks a page of the project; its directory begins with a copy of `scripts`.
pub fn walk(page: &str, scripts: &str) {
    let path = home().join(page);
    let text = std::fs::read_to_string(&path).unwrap();
    let scratch = Scratch::in_memory();
    let into = if scripts == "scripts" { scratch.file("scripts") } else { scratch.path().to_owned() };
    copy(&home().join(scripts), &into);
    let mut written = text.clone();
    for block in blocks(&text) {
        let at = format!("{page}:{}", block.line);
        if let Some(mark) = block.mark {
            assert!(REASONS.contains(&mark), "{at}: `{mark}` is no reason that is known");
            continue;
        }
        if let Some(shown) = block_done(&scratch, &block, &at) {
            let moved = written.len() as isize - text.len() as isize;
            let place = |offset: usize| offset.checked_add_signed(moved).unwrap();
            written.replace_range(place(block.place.start)..place(block.place.end), &shown);
        }
    }
    if written != text {
        std::fs::write(&path, written).unwrap();
    }
    for picture in pictures(&text) {
        let (_, name) = picture.rsplit_once('/').unwrap_or(("", picture));
        let drawn = scratch.tree().into_iter().find(|file| file.rsplit('/').next() == Some(name));
        let drawn =
            std::fs::read(scratch.file(&drawn.unwrap_or_else(|| panic!("{page} does not draw {name}")))).unwrap();
        let shown = path.parent().unwrap().join(picture);
        if std::fs::read(&shown).unwrap() != drawn {
            assert!(writing(), "{page} draws another {name} (SKYFALL_SNAPSHOTS=write keeps it)");
            std::fs::write(shown, drawn).unwrap();
        }
    }
}

/// Does what a block says; what it should have shown, if that is asked for.
fn block_done(scratch: &Scratch, block: &Block, at: &str) -> Option<String> {
    if let Some(name) = file_name(block) {
        if scratch.file(name).exists() {
            assert_eq!(scratch.read(name), block.text, "{at}: {name} is another one");
        }
        scratch.write(name, block.text);
        return None;
    }
    let fields = block.text.split_once([' ', ':']).is_some_and(|(first, rest)| {
        let field = first.chars().all(|letter| letter.is_ascii_lowercase());
        field && (block.language == "yaml" || rest.starts_with("= "))
    });
    let done = match block.language {
        "sh" => shell(scratch, &format!("set -e\n{}", block.text)),
        "console" => return console(scratch, block.text, at),
        "lua" if fields => {
            scratch.write("shown.lua", &format!("{LUA}{}{LUA_END}", block.text));
            shell(scratch, "skyfall run shown.lua --traces shown.jsonl")
        }
        "lua" => {
            scratch.write("shown.lua", block.text);
            shell(scratch, "skyfall script shown.lua")
        }
        "yaml" if fields => {
            let lacks = |field: &&&str| {
                let name = &field[..=field.find(':').unwrap()];
                !block.text.lines().any(|line| line.starts_with(name))
            };
            let rest: String = YAML.iter().filter(lacks).copied().collect();
            scratch.write("shown.yaml", &format!("{}{rest}", block.text));
            shell(scratch, "skyfall run shown.yaml --dry-run")
        }
        "python" => {
            scratch.write("shown.py", block.text);
            shell(scratch, "python3 shown.py")
        }
        other => panic!("{at}: what is to be done with a block of `{other}`? If nothing: <!-- not run: WHY -->"),
    };
    assert!(done.0, "{at}: {}\n{}", block.text, done.1);
    None
}

/// The file that a block's first line names.
fn file_name<'a>(block: &Block<'a>) -> Option<&'a str> {
    let lines = block.text.lines().filter(|line| !line.starts_with("#!"));
    let first = lines.take(1).next()?;
    let name = first.strip_prefix("-- ").or_else(|| first.strip_prefix("# "))?;
    let name = name.split_once(": ").map_or(name, |(name, _)| name);
    let (_, kind) = name.rsplit_once(['.', '/'])?;
    (!name.contains(' ') && !kind.is_empty()).then_some(name)
}

/// Runs every command of a block and compares what they say with what is shown.
fn console(scratch: &Scratch, text: &str, at: &str) -> Option<String> {
    let mut real = String::new();
    let mut same = true;
    for part in text.split_inclusive('\n').collect::<Vec<_>>().chunk_by(|_, line| !line.starts_with("$ ")) {
        let (command, shown) = part.split_first().unwrap();
        let line = command.strip_prefix("$ ").unwrap_or_else(|| panic!("{at}: the block begins without a command"));
        let (shown, (well, said)) = (shown.concat(), shell(scratch, line));
        assert!(well || said.contains("error["), "{at}: {line}{said}");
        real.push_str(command);
        let fits = fits(&shown, &said);
        real.push_str(if fits { &shown } else { &said });
        same &= fits;
    }
    if same {
        return None;
    }
    assert!(
        writing(),
        "{at} shows\n{text}\nbut this is said\n{real}\n(SKYFALL_SNAPSHOTS=write writes it into the page)"
    );
    Some(real)
}

fn writing() -> bool {
    std::env::var("SKYFALL_SNAPSHOTS").is_ok_and(|value| value == "write")
}

/// Whether what was said is what is shown, where `…` is any text in a line, or any lines.
fn fits(shown: &str, said: &str) -> bool {
    fn lines(shown: &[&str], said: &[&str]) -> bool {
        match shown.split_first() {
            None => said.is_empty(),
            Some((&"…", rest)) => (0..=said.len()).any(|skipped| lines(rest, &said[skipped..])),
            Some((line, rest)) => {
                said.split_first().is_some_and(|(first, others)| within(line, first) && lines(rest, others))
            }
        }
    }
    lines(&shown.lines().collect::<Vec<_>>(), &said.lines().collect::<Vec<_>>())
}

fn within(shown: &str, said: &str) -> bool {
    match shown.split_once('…') {
        None => shown == said,
        Some((head, tail)) => said.strip_prefix(head).is_some_and(|rest| {
            rest.char_indices().map(|(at, _)| at).chain([rest.len()]).any(|at| within(tail, &rest[at..]))
        }),
    }
}

/// Runs commands as a person does: whether they succeed, and what they say.
fn shell(scratch: &Scratch, commands: &str) -> (bool, String) {
    let binary = Path::new(env!("CARGO_BIN_EXE_skyfall")).parent().unwrap().to_owned();
    let python = std::env::var("SKYFALL_PYTHON").ok();
    let python = python.as_deref().map(Path::new).and_then(Path::parent).filter(|place| place.is_absolute());
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = [binary].into_iter().chain(python.map(Path::to_owned)).chain(std::env::split_paths(&others));
    let output = Command::new("bash")
        .args(["-c", &format!("exec 2>&1\n{commands}")])
        .current_dir(scratch.path())
        .env("PATH", std::env::join_paths(path).unwrap())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

fn copy(from: &Path, into: &Path) {
    std::fs::create_dir_all(into).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let to = into.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &to);
        } else {
            std::fs::copy(&path, to).unwrap();
        }
    }
}

#[test]
fn what_varies_is_left_open_and_nothing_else() {
    assert!(fits("a\n…\nd\n", "a\nb\nc\nd\n") && fits("a\n…\nd\n", "a\nd\n"));
    assert!(fits("6000 steps in … s\n", "6000 steps in 0.3 s\n"));
    assert!(!fits("6000 steps in … s\n", "600 steps in 0.3 s\n"));
    assert!(!fits("a\n", "a\nb\n") && !fits("a\nb\n", "a\n"));
}
