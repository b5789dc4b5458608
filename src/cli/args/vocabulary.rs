//! One vocabulary: what several commands have is called, shortened and explained alike in all, and
//! every command's help has an example. Walks the tree that clap has of them.

use clap::{Arg, Command, CommandFactory};

use super::Arguments;

/// Every command with its words, the groups among them.
fn commands() -> Vec<(String, Command)> {
    fn walk(words: &str, command: &Command, found: &mut Vec<(String, Command)>) {
        let words = format!("{words} {}", command.get_name()).trim().to_owned();
        found.push((words.clone(), command.clone()));
        let visible = command.get_subcommands().filter(|inner| inner.get_name() != "help");
        visible.for_each(|inner| walk(&words, inner, found));
    }
    let mut found = Vec::new();
    walk("", &Arguments::command(), &mut found);
    found
}

/// Every flag that can be seen, with its command's words.
fn flags() -> Vec<(String, Arg)> {
    let of = |(words, command): (String, Command)| {
        let shown: Vec<Arg> = command.get_arguments().filter(|arg| !arg.is_hide_set()).cloned().collect();
        shown.into_iter().filter(|arg| arg.get_long().is_some()).map(move |arg| (words.clone(), arg))
    };
    commands().into_iter().flat_map(of).collect()
}

fn explained(arg: &Arg) -> String {
    arg.get_help().map(ToString::to_string).unwrap_or_default()
}

#[test]
fn every_help_has_an_example_of_its_command() {
    let all = commands();
    assert!(all.len() > 30, "{} commands", all.len());
    for (words, command) in all {
        let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let example = after.split_once("Example: ").map_or("", |(_, example)| example);
        assert!(example.starts_with(&words), "{words}: its help ends with {after:?}");
    }
}

#[test]
fn every_flag_and_command_is_explained_in_one_style() {
    for (words, command) in commands() {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        assert!(!about.is_empty() && !about.ends_with('.'), "{words}: {about:?}");
    }
    for (words, arg) in flags() {
        let help = explained(&arg);
        assert!(help.starts_with(char::is_uppercase) && !help.ends_with('.'), "{words} {}: {help:?}", arg.get_id());
    }
}

/// What is shared: the flag, its short form, what its value is called, and how it is explained (the
/// beginning).
const SHARED: [(&str, Option<char>, &str, &str); 18] = [
    ("allow-path", None, "DIR", "Let the script read and write below DIR"),
    ("allow-run", None, "", "Let the "),
    ("batch", None, "N", ""),
    ("dry-run", None, "", ""),
    ("error-format", None, "FORMAT", "How errors are printed: "),
    ("final-root", None, "DIR", "The directory or s3:// address that holds the promoted stores"),
    ("format", None, "FORMAT", "How to print "),
    ("jobs", Some('j'), "N", "How many "),
    ("json", None, "", "Print JSON"),
    ("launcher", None, "NAME", "Who starts the work"),
    ("memory-limit", None, "SIZE", "Stop scripts whose values take more"),
    ("options", None, "FILE", "The writer's options, a map in YAML or JSON"),
    ("over", None, "AXIS", "The axis whose values are repeats"),
    ("quiet", Some('q'), "", "Print warnings and errors only: no progress, no notes"),
    ("require-complete", None, "", "Fail unless every "),
    ("seed", None, "N", "The "),
    ("shard-manifest", None, "MANIFEST.jsonl", ""),
    ("time-limit", None, "TIME", "Stop after so long"),
];

#[test]
fn what_commands_share_has_one_name_and_one_wording() {
    let flags = flags();
    for (long, short, value, begins) in SHARED {
        let same: Vec<_> = flags.iter().filter(|(_, arg)| arg.get_long() == Some(long)).collect();
        assert!(!same.is_empty(), "no command has --{long}");
        for (words, arg) in same {
            assert_eq!(arg.get_short(), short, "{words} --{long}");
            let help = explained(arg);
            assert!(help.starts_with(begins), "{words} --{long}: {help:?}");
            let named = arg.get_value_names().map(|names| names.iter().map(ToString::to_string).collect::<Vec<_>>());
            let takes = arg.get_action().takes_values();
            assert!(value.is_empty() || !takes || named == Some(vec![value.to_owned()]), "{words} --{long}: {named:?}");
        }
    }
}

/// A flag that is a switch in one command takes no value in another.
#[test]
fn a_flag_takes_a_value_everywhere_or_nowhere() {
    let mut kinds = std::collections::BTreeMap::<String, (bool, String)>::new();
    for (words, arg) in flags() {
        let (Some(long), takes) = (arg.get_long(), arg.get_action().takes_values()) else { continue };
        let (first, told) = kinds.entry(long.to_owned()).or_insert((takes, words.clone()));
        assert_eq!(*first, takes, "--{long} in {told} and in {words}");
    }
}

/// Commands whose standard output is not for people to read, so that it has no second form.
const WITHOUT_JSON: [(&str, &str); 10] = [
    ("skyfall completions", "prints a shell's script"),
    ("skyfall new", "prints nothing: it writes files, and notes them"),
    ("skyfall repl", "is a conversation"),
    ("skyfall rollouts task", "is run by a cluster's job; its output is a log"),
    ("skyfall script", "prints what the script prints; `run` and `sweep` have --json for what it returns"),
    ("skyfall sweep report", "prints nothing: it writes a page"),
    ("skyfall sweep task", "is run by a cluster's job; its output is a log"),
    ("skyfall trace cat", "prints rows, which are JSON unless --format says otherwise"),
    ("skyfall trace rescore", "prints nothing: it writes traces, and notes them"),
    ("skyfall types", "prints nothing: it writes files, and notes them"),
];

/// What commands print for people, they print as JSON with `--json`; one that has more formats has
/// `--format`, with the same JSON among them.
#[test]
fn what_a_command_prints_can_be_had_as_json() {
    let is_group = |command: &Command| command.is_subcommand_required_set();
    for (words, command) in commands().into_iter().filter(|(words, command)| words != "skyfall" && !is_group(command)) {
        let long = |name: &str| command.get_arguments().find(|arg| arg.get_long() == Some(name));
        let reason = WITHOUT_JSON.iter().find(|(other, _)| *other == words);
        assert_eq!(long("json").is_some(), reason.is_none(), "{words}: {reason:?}");
        let formats = long("format").map(Arg::get_possible_values).unwrap_or_default();
        let has_json = formats.iter().any(|format| format.get_name() == "json");
        assert!(long("json").is_none() || formats.is_empty() || has_json, "{words}: --json, and no --format json");
    }
}

/// The one thing that a command makes goes where `-o` says, in every command that can be told where:
/// `--out`, and `--output` will do.
#[test]
fn what_a_command_makes_goes_where_o_says() {
    let mut count = 0;
    for (words, command) in commands() {
        let short = |arg: &&Arg| arg.get_short() == Some('o');
        let Some(arg) = command.get_arguments().find(short) else {
            let named = |arg: &Arg| arg.get_long() == Some("out") || arg.get_long() == Some("output");
            assert!(!command.get_arguments().any(named), "{words}: without -o");
            continue;
        };
        let mut names: Vec<&str> = arg.get_all_aliases().unwrap_or_default();
        names.extend(arg.get_long());
        assert!(names.contains(&"out") && names.contains(&"output"), "{words} -o: {names:?}");
        count += 1;
    }
    assert!(count >= 10, "{count} commands have -o");
}

/// One letter stands for one flag, whatever the command.
#[test]
fn a_letter_means_the_same_everywhere() {
    let mut letters = std::collections::BTreeMap::<char, (String, String)>::new();
    for (words, arg) in flags() {
        let (Some(short), Some(long)) = (arg.get_short(), arg.get_long()) else { continue };
        // A store's place is what `-o` stands for, too.
        let long = if long == "store" { "out" } else { long };
        let (first, told) = letters.entry(short).or_insert((long.to_owned(), words.clone()));
        assert_eq!(first, long, "-{short} in {told} and in {words}");
    }
    assert!(letters.len() >= 3, "{letters:?}");
}
