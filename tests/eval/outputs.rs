//! The report in every format, of ordinary and of hostile traces.

use skyfall::eval::output::{self, Format};
use skyfall::eval::{Report, Settings};
use skyfall::text::json;
use skyfall::trace::columns::{Identity, RunColumns};
use skyfall::value::Value;

use super::asked::asked;
use super::table::{judged, run};
use super::{at, data, report_of, window};
use crate::command::Scratch;

/// Labels that would do harm in one format or another.
pub(super) fn hostile() -> Vec<String> {
    let long = "long ".repeat(1000);
    [
        "<img src=x onerror=alert(1)>",
        "=1+1",
        "a|b",
        "\"'`",
        "two\nlines\r\n",
        "",
        "\u{202e}evil",
        "\u{645}\u{631}\u{62d}\u{628}\u{627}",
        "</script><b>",
        "@x",
        "\u{1b}[2J",
    ]
    .into_iter()
    .map(str::to_owned)
    .chain([long])
    .collect()
}

/// A run with `label` wherever the user's text goes.
fn labelled(label: &str) -> RunColumns {
    let other = format!("{label}!");
    let mut own = run(&[(&other, None, &[1.0, 2.0]), ("b", None, &[0.0]), ("again", Some(&other), &[2.0, 1.0])]);
    let place = own.labels.iter().position(|known| *known == other).unwrap();
    own.labels[place] = label.to_owned();
    own.origins = own.origins.iter().map(|origin| origin.as_ref().map(|_| label.to_owned())).collect();
    own.components.insert(label.to_owned(), vec![1.0; 5]);
    own.meta.insert(label.to_owned(), label.into());
    own.files = vec![label.to_owned()];
    let fields = [("run_id", label.into()), ("policy_id", label.into()), ("task", label.into())];
    own.identity =
        Identity { fields: fields.into_iter().collect(), file: Some(label.to_owned()), ..Identity::default() };
    own
}

pub(super) fn hostile_report() -> Report {
    hostile_report_with(&asked(&[("fail_if", "\"rem>0\"")]))
}

pub(super) fn hostile_report_with(settings: &Settings) -> Report {
    judged(hostile().iter().map(|label| labelled(label)).collect(), settings)
}

/// The cells of a CSV text (RFC 4180).
fn cells(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => cell.push(chars.next().unwrap()),
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            c => cell.push(c),
        }
    }
    assert!(row.is_empty() && cell.is_empty(), "the last line is ended");
    rows
}

#[test]
fn csv_has_every_label_and_no_formula() {
    let rows = cells(&output::render(&hostile_report(), Format::Csv, 80));
    assert!(rows.iter().all(|row| row.len() == rows[0].len()));
    for label in hostile() {
        let guarded = if label.starts_with(['=', '@']) { format!("'{label}") } else { label };
        assert!(rows.iter().any(|row| row[0] == guarded), "{guarded:?}");
    }
    assert!(rows.iter().flatten().all(|cell| !cell.starts_with(['=', '@'])));
    let column = rows[0].iter().position(|heading| heading == "value").unwrap();
    assert!(rows.iter().any(|row| row[column].starts_with('-')), "numbers stay numbers");
}

#[test]
fn csv_files_have_headers_even_without_rows() {
    let scratch = Scratch::new();
    let gold = data("gold1.jsonl");
    let gold = gold.to_str().unwrap();
    scratch.skyfall(&["eval", "--traces", gold, "--window", "2", "--format", "csv", "-o", "out"]).ok();
    let names = ["comparisons", "components", "encounters", "frozen", "groups", "pairs", "runs", "shifts"];
    assert_eq!(scratch.tree(), names.map(|name| format!("out/{name}.csv")));
    let pairs = cells(&scratch.read("out/pairs.csv"));
    assert_eq!(pairs.len(), 2);
    let column = pairs[0].iter().position(|heading| heading == "recovery_rows").unwrap();
    assert_eq!(pairs[1][column], "5");
    assert_eq!(cells(&scratch.read("out/frozen.csv")).len(), 1);
    let groups = cells(&scratch.read("out/groups.csv"));
    let forgetting = groups.iter().find(|row| row[4] == "forgetting").unwrap();
    assert_eq!(forgetting[2], "steady");
    assert!(forgetting[5].starts_with("0.3"), "{forgetting:?}");
}

#[test]
fn markdown_rows_have_one_number_of_cells() {
    let text = output::render(&hostile_report(), Format::Markdown, 80);
    let table: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
    assert_eq!(table.len(), hostile().len() + 2);
    let bars = |line: &str| line.matches('|').count() - line.matches("\\|").count();
    assert!(table.iter().all(|line| bars(line) == bars(table[0])), "{text}");
    assert!(!text.contains("<img") && !text.contains("</script"), "{text}");
}

#[test]
fn markdown_shows_the_best_in_bold() {
    let of = |policy: &str, rewards: &[f64]| {
        let mut own = run(&[("a", None, rewards)]);
        own.identity.fields.insert("policy_id", policy.into());
        own
    };
    let runs = vec![of("good", &[3.0, 3.0]), of("bad_one", &[1.0, 1.0])];
    let text = output::render(&judged(runs, &window(1)), Format::Markdown, 80);
    assert!(text.starts_with("| group | n | reward/step \u{2191} | forgetting \u{2193} |"), "{text}");
    assert!(text.contains("| bad\\_one | 1 | 1 | \u{2014} |"), "{text}");
    assert!(text.contains("| good | 1 | **3** | \u{2014} |"), "{text}");
    assert!(text.contains("forgetting: not defined on any run (no\\_revisit)"), "{text}");
}

#[test]
fn text_is_plain_and_fits() {
    let report = hostile_report();
    for width in [40, 80, 120] {
        let text = output::render(&report, Format::Text, width);
        let harm = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.contains(harm), "{text:?}");
        for line in text.lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

/// Tags that close and open in order, and attributes that no label got into.
pub(super) fn assert_well_formed(page: &str) {
    const VOID: [&str; 3] = ["meta", "!DOCTYPE", "?xml"];
    let mut open: Vec<&str> = Vec::new();
    for part in page.split('<').skip(1) {
        let (tag, _) = part.split_once('>').unwrap_or_else(|| panic!("an open tag: {part}"));
        let name = tag.split_whitespace().next().unwrap();
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None if VOID.contains(&name) || tag.ends_with('/') => {}
            None => open.push(name),
        }
        let known = "!DOCTYPE ?xml html head meta title style body main h1 h2 h3 p div table thead tbody tr th td details \
                     summary bdi script figure figcaption svg path rect circle text";
        assert!(known.split(' ').any(|known| known == name.trim_start_matches('/')), "<{tag}>");
    }
    assert_eq!(open, Vec::<&str>::new());
}

#[test]
fn html_shows_labels_as_text() {
    let report = hostile_report();
    let page = output::render(&report, Format::Html, 80);
    assert_well_formed(&page);
    assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;"));
    assert!(!page.contains("://"), "nothing is fetched");
    assert_eq!(page.matches("<script").count(), 1, "the data block only");
    let block = page.split("<script type=\"application/json\" id=\"report\">").nth(1).unwrap();
    let block = block.split("</script>").next().unwrap();
    assert_eq!(json::parse(block).unwrap(), report.to_value());
    assert_eq!(page, output::render(&hostile_report(), Format::Html, 80), "same runs, same bytes");
}

#[test]
fn html_of_an_ordinary_run() {
    let report = report_of(&[data("gold1.jsonl")], &window(2));
    let page = output::render(&report, Format::Html, 80);
    assert_well_formed(&page);
    for words in ["1 run in 1 group, 18 rows from 1 file. Window 2 rows", "calm", "upright", "recovery_rows"] {
        assert!(page.contains(words), "{words}");
    }
}

/// The page of a very long run opens at once: lists are cut, and say so.
#[test]
fn html_of_many_encounters_stays_small() {
    let rewards = [[0.25, 0.5], [0.75, 1.0]];
    let names = ["a", "b"];
    let stretches: Vec<(&str, Option<&str>, &[f64])> =
        (0..20_000).map(|place| (names[place % 2], None, &rewards[place % 2][..])).collect();
    let report = judged(vec![run(&stretches)], &Settings::default());
    let page = output::render(&report, Format::Html, 80);
    assert!(page.len() < 1_000_000, "{}", page.len());
    assert!(page.contains("19900 more; encounters.csv has them."));
    assert!(page.contains("left out for its size"));
}

#[test]
fn the_schema_describes_every_report() {
    let ran = Scratch::new().skyfall(&["eval", "--schema"]).ok();
    let schema = json::parse(&ran.stdout).unwrap();
    let reports = [
        report_of(
            &[data("gold1.jsonl"), data("gold2.jsonl")],
            &asked(&[("threshold", "0.5"), ("compare", r#"["steady", "(all runs)"]"#)]),
        ),
        hostile_report(),
        judged(
            vec![run(&[("a", None, &[f64::NAN])])],
            &asked(&[("bounds", r#"{"a": {"max": 1}}"#), ("regret_ref", r#"{"a": 1}"#)]),
        ),
        super::beside::served_report(),
    ];
    for report in &reports {
        // What is printed, not what is in memory.
        let tree = json::parse(&output::render(report, Format::Json, 80)).unwrap();
        super::schema::assert_valid(&schema, &tree);
    }
    let mut wrong = reports[0].to_value();
    let Value::Map(map) = &mut wrong else { panic!() };
    map.insert("extra".to_owned(), Value::Null);
    assert!(std::panic::catch_unwind(|| super::schema::assert_valid(&schema, &wrong)).is_err());
    assert_eq!(at(&schema, "title").as_text(), Some(skyfall::eval::SCHEMA));
}

#[test]
fn the_ending_of_the_file_says_how_to_print() {
    let scratch = Scratch::new();
    scratch.write("t.jsonl", "{\"step\": 0, \"reward\": 1.5}\n");
    for (file, begins) in
        [("a.html", "<!"), ("a.json", "{"), ("a.md", "|"), ("a.csv", ""), ("a.txt", "group"), ("a", "group")]
    {
        scratch.skyfall(&["eval", "--traces", "t.jsonl", "-o", file]).ok();
        let text = scratch.read(file).to_lowercase();
        assert!(text.starts_with(begins), "{file}: {}", &text[..40.min(text.len())]);
    }
    scratch.skyfall(&["eval", "--traces", "t.jsonl", "--format", "json", "-o", "b.html"]).ok();
    assert!(scratch.read("b.html").starts_with('{'));
    scratch.skyfall(&["trace", "cat", "t.jsonl", "-o", "rows.csv"]).ok();
    assert_eq!(scratch.read("rows.csv"), "step,reward,invalid_action\n0,1.5,false\n");
}

#[test]
fn what_is_no_file_is_written_to_and_stays() {
    let scratch = Scratch::new();
    scratch.write("t.jsonl", "{\"step\": 0, \"reward\": 1.5}\n");
    let pipe = scratch.file("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read_to_string(pipe).unwrap()
    });
    scratch.skyfall(&["eval", "--traces", "t.jsonl", "--format", "json", "-o", "pipe"]).ok();
    assert!(reader.join().unwrap().starts_with('{'));
    assert!(!std::fs::metadata(&pipe).unwrap().is_file());
}
