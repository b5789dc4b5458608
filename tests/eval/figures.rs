//! Figures: what is drawn, what their captions say, and that nothing stands on anything else.

use skyfall::eval::plot::{self, Figure, Theme};
use skyfall::eval::{Material, Paths, Report, Settings, evaluate};
use skyfall::trace::columns::{RunColumns, TraceColumns};
use skyfall::value::Value;

use super::outputs::{assert_well_formed, hostile_report_with};
use super::table::{judged, run};
use super::{data, report_of};
use crate::command::Scratch;

/// Asked for with figures.
pub(super) fn drawn() -> Settings {
    Settings { plots: true, ..Settings::default() }
}

fn figures(report: &Report) -> Vec<(String, Figure)> {
    plot::all(report)
}

fn figure(report: &Report, stem: &str) -> Figure {
    let all = figures(report);
    let names: Vec<String> = all.iter().map(|(stem, _)| stem.clone()).collect();
    let found = all.into_iter().find(|(name, _)| name == stem);
    found.unwrap_or_else(|| panic!("no {stem} among {names:?}")).1
}

/// A run of `n` rows in `visits` encounters with `regimes` regimes, everything measured.
pub(super) fn measured(seed: usize, n: usize, visits: usize, regimes: usize) -> RunColumns {
    let noise = |row: usize| ((row * 7919 + seed * 104_729) % 1000) as f64 / 1000.0;
    let rewards: Vec<f64> = (0..n).map(|row| noise(row) + (row % (n / visits).max(1)) as f64 / n as f64).collect();
    let names: Vec<String> = (0..visits).map(|visit| format!("regime {}", visit % regimes)).collect();
    let chunks: Vec<&[f64]> = rewards.chunks((n / visits).max(1)).take(visits).collect();
    let parts: Vec<(&str, Option<&str>, &[f64])> =
        names.iter().zip(chunks).map(|(name, rewards)| (name.as_str(), None, rewards)).collect();
    let mut own = run(&parts);
    let rows = own.step.len();
    own.identity.fields.insert("seed", i64::try_from(seed).unwrap().into());
    own.identity.fields.insert("policy_id", if seed.is_multiple_of(2) { "linear" } else { "knn" }.into());
    own.components.insert("gain".to_owned(), own.reward.iter().map(|reward| reward + 0.5).collect());
    own.components.insert("cost".to_owned(), vec![-0.5; rows]);
    own.invalid_action = (0..rows).map(|row| noise(row) < 0.1).collect();
    let rank = |row: usize| if (row / (rows / 5).max(1)).is_multiple_of(2) { 9.0 + noise(row) } else { f64::NAN };
    own.effective_rank = (0..rows).map(rank).collect();
    own
}

/// Reports of short, long, ragged, many-regime, NaN-ridden, single-row and hostile traces.
fn gallery() -> Vec<(&'static str, Report)> {
    let mut ridden = measured(3, 3000, 6, 3);
    ridden.reward.iter_mut().step_by(2).for_each(|reward| *reward = f64::NAN);
    let huge = |scale: f64| {
        let mut own = measured(5, 300, 4, 2);
        own.reward.iter_mut().for_each(|reward| *reward *= scale);
        judged(vec![own], &drawn())
    };
    let seeds = (0..20).map(|seed| measured(seed, 900 + 40 * (seed % 3), 6, 3)).collect();
    let mut back = measured(1, 500, 4, 2);
    back.step[250..].iter_mut().for_each(|step| *step -= 200);
    vec![
        ("short", judged(vec![measured(1, 12, 3, 2)], &drawn())),
        ("long", judged(vec![measured(1, 40_000, 7, 3)], &drawn())),
        ("regimes", judged(vec![measured(1, 9000, 45, 30)], &drawn())),
        ("encounters", judged(vec![measured(1, 9000, 900, 4)], &drawn())),
        ("many of both", judged(vec![measured(1, 3400, 170, 70)], &drawn())),
        ("seeds", judged(seeds, &drawn())),
        ("ridden", judged(vec![ridden], &drawn())),
        ("single", judged(vec![run(&[("a", None, &[1.0])])], &drawn())),
        ("unlabelled", judged(vec![run(&[("", None, &[1.0, 2.0, 1.5])])], &drawn())),
        (
            "half labelled",
            judged(vec![run(&[("", None, &[1.0; 9]), ("a", None, &[2.0; 9]), ("b", None, &[0.0; 9])])], &drawn()),
        ),
        ("constant", judged(vec![run(&[("a", None, &[0.0; 40]), ("b", None, &[0.0; 40])])], &drawn())),
        ("not finite", judged(vec![run(&[("a", None, &[f64::NAN; 5])])], &drawn())),
        ("large", huge(1e300)),
        ("small", huge(1e-9)),
        ("offset", {
            let mut own = measured(5, 300, 4, 2);
            own.reward.iter_mut().for_each(|reward| *reward = 1_234_567.0 + *reward / 100.0);
            judged(vec![own], &drawn())
        }),
        ("back", judged(vec![back], &drawn())),
        ("hostile", hostile_report_with(&drawn())),
    ]
}

/// A text of an SVG file with about the box it takes: left, top, right, bottom.
struct Placed {
    text: String,
    bounds: [f64; 4],
}

fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    tag.split(&format!(" {name}=\"")).nth(1)?.split('"').next()
}

/// The texts of an SVG file. Letters are taken to be 0.55 em wide on average, which is narrow for
/// the font: what overlaps by this measure does overlap.
fn texts(svg: &str) -> Vec<Placed> {
    const EM: f64 = 11.0;
    let mut placed = Vec::new();
    for element in svg.split("<text").skip(1) {
        let (tag, rest) = element.split_once('>').unwrap();
        let inside = rest.split("</text>").next().unwrap();
        let text = inside.rsplit("</title>").next().unwrap();
        let plain = ["&lt;", "&gt;", "&amp;", "&quot;", "&#39;"].iter().fold(text.to_owned(), |t, e| t.replace(e, "x"));
        let number = |name: &str| attribute(tag, name).unwrap().parse::<f64>().unwrap();
        let (x, y, width) = (number("x"), number("y"), plain.chars().count() as f64 * 0.55 * EM);
        let left = match attribute(tag, "text-anchor") {
            Some("middle") => x - width / 2.0,
            Some("end") => x - width,
            _ => x,
        };
        let bounds = if tag.contains("rotate(") {
            [x - 8.0, y - width / 2.0, x, y + width / 2.0]
        } else {
            [left, y - 7.0, left + width, y]
        };
        placed.push(Placed { text: plain, bounds });
    }
    placed
}

#[test]
fn no_label_stands_on_another_or_outside() {
    for (name, report) in gallery() {
        for (stem, figure) in figures(&report) {
            let svg = figure.svg();
            let size: Vec<f64> =
                attribute(&svg, "viewBox").unwrap().split(' ').skip(2).map(|n| n.parse().unwrap()).collect();
            let placed = texts(&svg);
            for (index, one) in placed.iter().enumerate() {
                let [left, top, right, bottom] = one.bounds;
                assert!(
                    left > -1.0 && top > -1.0 && right < size[0] + 1.0 && bottom < size[1] + 1.0,
                    "{name} {stem}: `{}` leaves the picture: {:?} of {size:?}",
                    one.text,
                    one.bounds
                );
                for other in &placed[index + 1..] {
                    let [l, t, r, b] = other.bounds;
                    let over = left.max(l) < right.min(r) && top.max(t) < bottom.min(b);
                    assert!(!over, "{name} {stem}: `{}` on `{}`", one.text, other.text);
                }
            }
        }
    }
}

#[test]
fn figures_are_well_formed_finite_and_small() {
    for (name, report) in gallery() {
        for (stem, figure) in figures(&report) {
            let svg = figure.svg();
            assert_well_formed(&svg);
            let marks = svg.split("</style>").nth(1).unwrap();
            assert!(!marks.contains("NaN") && !marks.contains("inf"), "{name} {stem}");
            assert!(svg.len() < 150_000, "{name} {stem}: {}", svg.len());
            assert!(!figure.caption.is_empty() && !figure.title.is_empty());
        }
    }
}

#[test]
fn the_same_runs_give_the_same_bytes_in_any_order() {
    let runs = || (0..6).map(|seed| measured(seed, 400, 4, 2)).collect::<Vec<_>>();
    let mut turned = runs();
    turned.reverse();
    let (one, other) = (judged(runs(), &drawn()), judged(turned, &drawn()));
    let files = |report: &Report| figures(report).into_iter().map(|(stem, f)| (stem, f.svg())).collect::<Vec<_>>();
    assert_eq!(files(&one), files(&other));
    assert_eq!(figure(&one, "run-01-reward").png(Theme::Light), figure(&other, "run-01-reward").png(Theme::Light));
}

/// Every figure of the specification, each from the traces it is about.
#[test]
fn every_figure_has_its_traces() {
    let stems = |report: &Report| figures(report).into_iter().map(|(stem, _)| stem).collect::<Vec<_>>();
    let own = ["reward", "matrix", "components", "component-bars", "rank", "visits", "regret"];
    let one = judged(vec![measured(0, 400, 4, 2)], &drawn());
    assert_eq!(stems(&one), own.map(|name| format!("run-01-{name}")));
    let two = judged(vec![measured(0, 400, 4, 2), measured(2, 400, 4, 2)], &drawn());
    for name in ["reward-groups", "regret-groups", "intervals", "profile"] {
        assert!(stems(&two).contains(&name.to_owned()), "{name}");
    }
    assert_eq!(stems(&judged(vec![run(&[("a", None, &[1.0])])], &drawn())), ["run-01-reward"]);
    let served = super::beside::served_report_with(&drawn());
    assert!(stems(&served).contains(&"run-01-frozen".to_owned()), "{:?}", stems(&served));
    assert_eq!(stems(&judged(vec![measured(0, 400, 4, 2)], &Settings::default())), Vec::<String>::new());
    let beside = TraceColumns { runs: vec![measured(0, 100, 1, 1)], ..TraceColumns::default() };
    let traces = TraceColumns { runs: vec![measured(1, 400, 4, 2)], ..TraceColumns::default() };
    let report = evaluate(Material { traces, frozen: None, baseline: Some(beside) }, &drawn()).unwrap();
    assert!(stems(&report).contains(&"baseline-01".to_owned()), "{:?}", stems(&report));
}

/// One row among many that no sample would have hit is seen, and the caption says what was done.
#[test]
fn reduction_keeps_spikes_and_is_told() {
    let with = |spike: Option<usize>| {
        let mut own = measured(1, 50_000, 1, 1);
        if let Some(row) = spike {
            own.reward[row] = 40.0;
        }
        figure(&judged(vec![own], &drawn()), "run-01-reward")
    };
    let (spiked, plain) = (with(Some(31_337)), with(None));
    assert!(spiked.svg().contains(">40</text>") && !plain.svg().contains(">40</text>"));
    assert!(spiked.caption.contains("Reduced for drawing: 50k rows share 600 columns"), "{}", spiked.caption);
    let small = figure(&judged(vec![measured(1, 300, 3, 2)], &drawn()), "run-01-reward");
    assert!(!small.caption.contains("Reduced"), "{}", small.caption);
}

/// Whether a caption ends with these sentences of what is left out, and with no other of them.
fn assert_left_out(report: &Report, stem: &str, expected: &str) {
    let caption = figure(report, stem).caption;
    let more = |text: &str| text.matches(" more ").count();
    assert!(caption.ends_with(expected) && more(&caption) == more(expected), "{stem}: {caption}");
}

/// Encounters and regimes beyond what a picture has room for.
#[test]
fn many_encounters_have_bars_and_captions_say_what_is_left_out() {
    let report = judged(vec![measured(1, 3400, 170, 70)], &drawn());
    let bars = "run-01-component-bars";
    assert_left_out(&report, bars, " 10 more regimes are not drawn. 109 more shifts are not drawn.");
    let legend: Vec<String> = texts(&figure(&report, bars).svg()).into_iter().map(|placed| placed.text).collect();
    let listed = |name: &str| legend.contains(&name.to_owned());
    assert!(listed("A regime 0") && listed("BH regime 59") && !listed("BI regime 60"), "{legend:?}");
    assert_left_out(&report, "run-01-matrix", " 110 more encounters are not drawn. 10 more regimes are not drawn.");
    for stem in [bars, "run-01-matrix"] {
        assert_left_out(&judged(vec![measured(1, 400, 4, 2)], &drawn()), stem, "");
    }
    let one_more = judged(vec![measured(1, 1220, 61, 2)], &drawn());
    assert_left_out(&one_more, "run-01-matrix", " 1 more encounter is not drawn.");
}

/// Groups, runs, metrics and checkpoints beyond what a picture has room for.
#[test]
fn captions_of_groups_say_what_is_left_out() {
    let policies = |n: usize| {
        (0..n).map(|place| {
            let mut own = measured(0, 60, 2, 2);
            own.identity.fields.insert("policy_id", format!("p{place}").as_str().into());
            own
        })
    };
    let beside = TraceColumns { runs: vec![measured(0, 60, 1, 1)], ..TraceColumns::default() };
    let traces = TraceColumns { runs: policies(22).collect(), ..TraceColumns::default() };
    let groups = evaluate(Material { traces, frozen: None, baseline: Some(beside) }, &drawn()).unwrap();
    for stem in ["reward-groups", "regret-groups", "profile", "baseline-08"] {
        assert_left_out(&groups, stem, " 14 more groups are not drawn.");
    }
    assert_left_out(&groups, "intervals", " 2 more groups are not drawn.");
    assert_left_out(&groups, "baseline-07", "");

    let seeds = judged((0..101).map(|seed| measured(2 * seed, 60, 2, 2)).collect(), &drawn());
    assert_left_out(&seeds, "reward-groups", " 51 more single runs are not drawn.");
    assert_left_out(&seeds, "intervals", " 1 more single run is not drawn.");
    assert_left_out(&seeds, "profile", "");

    let two = || vec![measured(0, 400, 4, 2), measured(2, 400, 4, 2)];
    let run = &judged(two(), &drawn()).runs[0];
    let metrics: Vec<String> = run.metrics.keys().filter(|metric| run.value(metric).is_some()).cloned().collect();
    let more = metrics.len() - 12;
    let asked = judged(two(), &Settings { metrics, ..drawn() });
    assert_left_out(&asked, "intervals", &format!(" {more} more metrics are not drawn."));

    let served = |checkpoint: i64| {
        let mut served = measured(0, 20, 2, 2);
        served.meta.insert("checkpoint_step".to_owned(), Value::Int(checkpoint));
        served
    };
    let frozen = TraceColumns { runs: (0..63).map(served).collect(), ..TraceColumns::default() };
    let traces = TraceColumns { runs: vec![measured(0, 400, 4, 2)], ..TraceColumns::default() };
    let frozen = evaluate(Material { traces, frozen: Some(frozen), baseline: None }, &drawn()).unwrap();
    assert_left_out(&frozen, "run-01-frozen", " 3 more checkpoints are not drawn.");
}

/// 9000 and 10000 on one axis are both thousands.
#[test]
fn an_axis_has_one_unit() {
    let svg = figure(&judged(vec![run(&[("a", None, &[8900.0, 10_600.0, 9000.0])])], &drawn()), "run-01-reward").svg();
    let ticks: Vec<String> = texts(&svg).into_iter().map(|placed| placed.text).collect();
    let vertical: Vec<&String> = ticks.iter().filter(|tick| tick.ends_with('k') || tick.len() > 3).collect();
    assert!(vertical.iter().map(|tick| tick.as_str()).take(4).eq(["9.0k", "9.5k", "10.0k", "10.5k"]), "{ticks:?}");
}

/// The share of pixels that are not the ground, and how wide the picture is.
fn inked(png: &[u8]) -> (f64, u32) {
    let picture = tiny_skia::Pixmap::decode_png(png).unwrap();
    let ground = picture.pixel(0, 0).unwrap();
    let inked = picture.pixels().iter().filter(|pixel| **pixel != ground).count();
    (inked as f64 / picture.pixels().len() as f64, picture.width())
}

#[test]
fn png_files_show_what_svg_files_show() {
    let report = judged(vec![measured(0, 400, 4, 2), measured(2, 400, 4, 2)], &drawn());
    for (stem, figure) in figures(&report) {
        for theme in [Theme::Light, Theme::Dark] {
            let (share, width) = inked(&figure.png(theme).unwrap());
            assert!(width == 1440 && share > 0.01 && share < 0.99, "{stem}: {share} of {width}");
        }
    }
}

/// Each colour tells its series in light and in dark: far enough from the ground.
#[test]
fn colours_stand_out_from_the_ground() {
    let svg = figure(&judged(vec![measured(0, 400, 4, 2)], &drawn()), "run-01-reward").svg();
    let style = svg.split("<style>").nth(1).unwrap().split("</style>").next().unwrap();
    let (light, dark) = style.split_once("@media").unwrap();
    for rules in [light, dark] {
        let colour = |name: &str| {
            let digits = rules.split(&format!(".f-{name}{{fill:#")).nth(1).unwrap();
            let channel = |at: usize| f64::from(u8::from_str_radix(&digits[at..at + 2], 16).unwrap()) / 255.0;
            let linear = |c: f64| if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) };
            0.2126 * linear(channel(0)) + 0.7152 * linear(channel(2)) + 0.0722 * linear(channel(4))
        };
        let ratio = |name: &str| {
            let (a, b) = (colour(name), colour("paper"));
            (a.max(b) + 0.05) / (a.min(b) + 0.05)
        };
        assert!(ratio("text") > 7.0 && ratio("soft") > 4.5);
        for series in 0..8 {
            assert!(ratio(&format!("s{series}")) > 2.0, "s{series}: {}", ratio(&format!("s{series}")));
        }
    }
}

#[test]
fn the_command_writes_pictures_and_draws_them_in_the_page() {
    let scratch = Scratch::new();
    std::fs::copy(data("gold1.jsonl"), scratch.file("gold.jsonl")).unwrap();
    scratch.skyfall(&["eval", "--traces", "gold.jsonl", "--plots", "pictures"]).ok();
    let own = ["component-bars", "components", "matrix", "rank", "regret", "reward", "visits"];
    let files = own.iter().flat_map(|name| ["png", "svg"].map(|ending| format!("pictures/run-01-{name}.{ending}")));
    let mut expected: Vec<String> = files.collect();
    expected.insert(0, "gold.jsonl".to_owned());
    assert_eq!(scratch.tree(), expected);
    let page = scratch.skyfall(&["eval", "--traces", "gold.jsonl", "--format", "html"]).ok().stdout;
    assert_well_formed(&page);
    assert_eq!(page.matches("<svg").count(), own.len());
    assert_eq!(page.matches("<figcaption>").count(), own.len());
    let bare = scratch.skyfall(&["eval", "--traces", "gold.jsonl", "--format", "html", "--no-plots"]).ok().stdout;
    assert!(!bare.contains("<svg"));
    scratch.write("taken", "");
    scratch.skyfall(&["eval", "--traces", "gold.jsonl", "--plots", "taken"]).failed(1, &["taken"]);
}

#[test]
fn lua_draws_the_same() {
    let scratch = Scratch::new();
    std::fs::copy(data("gold1.jsonl"), scratch.file("gold.jsonl")).unwrap();
    let ran = scratch.script(
        r#"
        local eval = require "skyfall.eval"
        eval.report("gold.jsonl", "page.html", { plots = "pictures" })
        eval.report("gold.jsonl", "bare.html", { no_plots = true })
        "#,
    );
    ran.ok();
    let paths = Paths { traces: vec![data("gold1.jsonl")], ..Paths::default() };
    let report = evaluate(Material::read(&paths, &drawn()).unwrap(), &drawn()).unwrap();
    for (stem, figure) in figures(&report) {
        assert_eq!(scratch.read(&format!("pictures/{stem}.svg")), figure.svg(), "{stem}");
    }
    assert!(scratch.read("page.html").contains("<svg") && !scratch.read("bare.html").contains("<svg"));
    assert_eq!(figures(&report_of(&[data("gold1.jsonl")], &drawn())).len(), figures(&report).len());
}
