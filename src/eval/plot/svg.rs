//! Scenes as SVG: inside a page, whose style sheet has the colours, or as files of their own.
//!
//! User text reaches the file through [`escaped`] alone. Coordinates have one decimal; the same
//! scene gives the same bytes.

use std::fmt::Write as _;

use super::TEXT;
use super::ink::{COLOURS, Ink};
use super::scene::{Anchor, Label, Mark, Point, Scene, Shape, hatching};
use crate::eval::output::cell::escaped;

/// The font of all text in pictures, as a style rule.
fn font() -> String {
    format!("font:{TEXT}px 'DejaVu Sans',Verdana,system-ui,sans-serif")
}

/// The style rules for pictures inside a page: colours are variables, which follow the reader's
/// preference for light or dark.
pub(in crate::eval) fn page_style() -> String {
    let variables = |dark: bool| {
        COLOURS.iter().map(|(name, light, night)| format!("--{name}:{};", if dark { night } else { light })).collect()
    };
    let (light, dark): (String, String) = (variables(false), variables(true));
    let rules = rules(|name, _| format!("var(--{name})"), false);
    format!(
        ".figure{{{light}{};max-width:100%;height:auto}}\n\
         @media (prefers-color-scheme:dark){{.figure{{{dark}}}}}\n{rules}",
        font()
    )
}

/// A class for filling and one for stroking with each ink.
fn rules(colour: impl Fn(&str, bool) -> String, dark: bool) -> String {
    let rule = |(name, ..): &(&str, &str, &str)| {
        let colour = colour(name, dark);
        format!(".f-{name}{{fill:{colour}}}.k-{name}{{stroke:{colour};fill:none}}")
    };
    COLOURS.iter().map(rule).collect()
}

/// `scene` for a page with [`page_style`].
pub(super) fn inline(scene: &Scene, title: &str) -> String {
    element(scene, title, "class=\"figure\"", "")
}

/// `scene` as a file: it brings its style along, light, and dark where the reader prefers that.
pub(super) fn document(scene: &Scene, title: &str) -> String {
    let colour = |name: &str, dark: bool| {
        let found = COLOURS.iter().find(|(known, ..)| *known == name);
        found.map_or_else(String::new, |(_, light, night)| (if dark { *night } else { *light }).to_owned())
    };
    let style = format!(
        "<style>svg{{{}}}{}\n@media (prefers-color-scheme:dark){{{}}}</style>\n<rect class=\"f-paper\" width=\"{}\" height=\"{}\"/>\n",
        font(),
        rules(colour, false),
        rules(colour, true),
        scene.width,
        scene.height
    );
    let namespace = "xmlns=\"http://www.w3.org/2000/svg\"";
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", element(scene, title, namespace, &style))
}

fn element(scene: &Scene, title: &str, attributes: &str, head: &str) -> String {
    let (width, height) = (scene.width, scene.height);
    let mut svg = format!(
        "<svg {attributes} role=\"img\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n\
         <title>{}</title>\n{head}",
        escaped(title)
    );
    for mark in &scene.marks {
        put(&mut svg, mark);
    }
    svg.push_str("</svg>");
    svg
}

fn put(svg: &mut String, mark: &Mark) {
    // Writing to a String does not fail.
    let _ = match mark {
        Mark::Area { points, ink, opacity } => {
            writeln!(svg, "<path class=\"f-{}\" opacity=\"{opacity}\" d=\"{}Z\"/>", ink.name(), path(points))
        }
        Mark::Line { points, ink, width, dash } => {
            let dash = dash.lengths().map_or_else(String::new, |(on, off)| format!(" stroke-dasharray=\"{on} {off}\""));
            writeln!(
                svg,
                "<path class=\"k-{}\" stroke-width=\"{width}\" stroke-linejoin=\"round\"{dash} d=\"{}\"/>",
                ink.name(),
                path(points)
            )
        }
        Mark::Rect { at, size, ink, opacity, title } => {
            let class = ink.name();
            let (x, y, width, height) = (short(at.0), short(at.1), short(size.0), short(size.1));
            let rect = format!(
                "<rect class=\"f-{class}\" opacity=\"{opacity}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\""
            );
            match title {
                None => writeln!(svg, "{rect}/>"),
                Some(title) => writeln!(svg, "{rect}><title>{}</title></rect>", escaped(title)),
            }
        }
        Mark::Hatch { at, size } => {
            let lines: String = hatching(*at, *size).iter().map(|(from, to)| path(&[*from, *to])).collect();
            writeln!(svg, "<path class=\"k-soft\" stroke-width=\"0.6\" opacity=\"0.5\" d=\"{lines}\"/>")
        }
        Mark::Dot { at, radius, ink, shape } => dot(svg, *at, *radius, *ink, *shape),
        Mark::Text(label) => text(svg, label),
    };
}

fn dot(svg: &mut String, at: Point, radius: f64, ink: Ink, shape: Shape) -> std::fmt::Result {
    let (x, y, ink) = (short(at.0), short(at.1), ink.name());
    match shape {
        Shape::Disc => writeln!(svg, "<circle class=\"f-{ink}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>"),
        Shape::Ring => {
            writeln!(svg, "<circle class=\"k-{ink}\" stroke-width=\"1.5\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\"/>")
        }
        Shape::Square => {
            let (x, y, side) = (short(at.0 - radius), short(at.1 - radius), 2.0 * radius);
            writeln!(svg, "<rect class=\"f-{ink}\" x=\"{x}\" y=\"{y}\" width=\"{side}\" height=\"{side}\"/>")
        }
    }
}

fn text(svg: &mut String, label: &Label) -> std::fmt::Result {
    let (x, y) = (short(label.at.0), short(label.at.1));
    let anchor = match label.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let bold = if label.bold { " font-weight=\"bold\"" } else { "" };
    let turn = if label.upwards { format!(" transform=\"rotate(-90 {x} {y})\"") } else { String::new() };
    let title = label.title.as_ref().map(|title| format!("<title>{}</title>", escaped(title))).unwrap_or_default();
    let text = escaped(&label.text);
    writeln!(svg, "<text class=\"f-{}\" x=\"{x}\" y=\"{y}\"{anchor}{bold}{turn}>{title}{text}</text>", label.ink.name())
}

/// Points as the commands of a path.
fn path(points: &[Point]) -> String {
    let mut path = String::with_capacity(points.len() * 10);
    for (index, (x, y)) in points.iter().enumerate() {
        let command = match index {
            0 => "M",
            1 => "L",
            _ => " ",
        };
        let _ = write!(path, "{command}{} {}", short(*x), short(*y));
    }
    path
}

/// A coordinate with at most one decimal.
fn short(value: f64) -> f64 {
    let value = (value * 10.0).round() / 10.0;
    if value == 0.0 { 0.0 } else { value }
}
