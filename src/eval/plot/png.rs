//! Scenes as PNG: filled and stroked paths, text by the outlines of an embedded font.
//!
//! No system font, no clock: the same scene gives the same bytes everywhere. A character that the
//! font lacks is drawn as its sign for such; SVG has no such bounds.

use tiny_skia::{
    Color, FillRule, LineJoin, Paint, Path, PathBuilder, Pixmap, Rect, Shader, Stroke, StrokeDash, Transform,
};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

use super::TEXT;
use super::ink::{Ink, Theme};
use super::scene::{Anchor, Label, Mark, Point, Scene, Shape, hatching};

/// `DejaVu` Sans, the Latin, Greek and Cyrillic of it; its licence is beside it.
const REGULAR: &[u8] = include_bytes!("font/DejaVuSans-subset.ttf");
const BOLD: &[u8] = include_bytes!("font/DejaVuSans-Bold-subset.ttf");

/// `scene` as a PNG file with `scale` pixels to each of its own; `None` where it is too large to
/// be held in memory.
pub(super) fn document(scene: &Scene, scale: f64, theme: Theme) -> Option<Vec<u8>> {
    let pixels = |length: f64| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a picture's size")]
        let pixels = (length * scale).ceil() as u32;
        pixels
    };
    let mut canvas = Canvas {
        pixmap: Pixmap::new(pixels(scene.width), pixels(scene.height))?,
        transform: Transform::from_scale(single(scale), single(scale)),
        theme,
        regular: Face::parse(REGULAR, 0).ok()?,
        bold: Face::parse(BOLD, 0).ok()?,
    };
    let ground = canvas.colour(Ink::Paper, 1.0);
    canvas.pixmap.fill(ground);
    for mark in &scene.marks {
        // What has no extent, or none that is finite, is not drawn.
        let _ = canvas.put(mark);
    }
    canvas.pixmap.encode_png().ok()
}

/// A coordinate in the rasteriser's precision.
fn single(value: f64) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "pixels")]
    let single = value as f32;
    single
}

struct Canvas<'a> {
    pixmap: Pixmap,
    transform: Transform,
    theme: Theme,
    regular: Face<'a>,
    bold: Face<'a>,
}

impl Canvas<'_> {
    fn put(&mut self, mark: &Mark) -> Option<()> {
        match mark {
            Mark::Area { points, ink, opacity } => self.fill(&polygon(points, true)?, *ink, *opacity),
            Mark::Line { points, ink, width, dash } => {
                let dash = dash.lengths().and_then(|(on, off)| StrokeDash::new(vec![single(on), single(off)], 0.0));
                self.stroke(&polygon(points, false)?, *ink, 1.0, (*width, dash));
            }
            Mark::Rect { at, size, ink, opacity, .. } => {
                let rect = Rect::from_xywh(single(at.0), single(at.1), single(size.0), single(size.1))?;
                self.fill(&PathBuilder::from_rect(rect), *ink, *opacity);
            }
            Mark::Hatch { at, size } => {
                let mut path = PathBuilder::new();
                for (from, to) in hatching(*at, *size) {
                    path.move_to(single(from.0), single(from.1));
                    path.line_to(single(to.0), single(to.1));
                }
                self.stroke(&path.finish()?, Ink::Soft, 0.5, (0.6, None));
            }
            Mark::Dot { at, radius, ink, shape } => self.dot(*at, *radius, *ink, *shape)?,
            Mark::Text(label) => self.text(label)?,
        }
        Some(())
    }

    fn dot(&mut self, at: Point, radius: f64, ink: Ink, shape: Shape) -> Option<()> {
        let (x, y, r) = (single(at.0), single(at.1), single(radius));
        match shape {
            Shape::Disc => self.fill(&PathBuilder::from_circle(x, y, r)?, ink, 1.0),
            Shape::Ring => self.stroke(&PathBuilder::from_circle(x, y, r)?, ink, 1.0, (1.5, None)),
            Shape::Square => {
                self.fill(&PathBuilder::from_rect(Rect::from_xywh(x - r, y - r, 2.0 * r, 2.0 * r)?), ink, 1.0);
            }
        }
        Some(())
    }

    fn text(&mut self, label: &Label) -> Option<()> {
        let face = if label.bold { &self.bold } else { &self.regular };
        let scale = TEXT / f64::from(face.units_per_em());
        let unknown = face.glyph_index('\u{fffd}').unwrap_or_default();
        let glyphs: Vec<GlyphId> = label.text.chars().map(|c| face.glyph_index(c).unwrap_or(unknown)).collect();
        let advance = |glyph: &GlyphId| f64::from(face.glyph_hor_advance(*glyph).unwrap_or_default()) * scale;
        let width: f64 = glyphs.iter().map(advance).sum();
        let mut pen = match label.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -width / 2.0,
            Anchor::End => -width,
        };
        let mut outline = Outline { path: PathBuilder::new(), pen: 0.0, scale: single(scale) };
        for glyph in &glyphs {
            outline.pen = single(pen);
            let _ = face.outline_glyph(*glyph, &mut outline);
            pen += advance(glyph);
        }
        let (x, y) = (single(label.at.0), single(label.at.1));
        let place = if label.upwards { Transform::from_rotate(-90.0) } else { Transform::identity() };
        let path = outline.path.finish()?.transform(place.post_translate(x, y))?;
        self.fill(&path, label.ink, 1.0);
        Some(())
    }

    fn fill(&mut self, path: &Path, ink: Ink, opacity: f64) {
        let paint = self.paint(ink, opacity);
        self.pixmap.fill_path(path, &paint, FillRule::Winding, self.transform, None);
    }

    fn stroke(&mut self, path: &Path, ink: Ink, opacity: f64, (width, dash): (f64, Option<StrokeDash>)) {
        let paint = self.paint(ink, opacity);
        let stroke = Stroke { width: single(width), line_join: LineJoin::Round, dash, ..Stroke::default() };
        self.pixmap.stroke_path(path, &paint, &stroke, self.transform, None);
    }

    fn paint(&self, ink: Ink, opacity: f64) -> Paint<'static> {
        Paint { shader: Shader::SolidColor(self.colour(ink, opacity)), anti_alias: true, ..Paint::default() }
    }

    fn colour(&self, ink: Ink, opacity: f64) -> Color {
        let digits = ink.colour(self.theme).trim_start_matches('#');
        let rgb = u32::from_str_radix(digits, 16).unwrap_or_default();
        let [_, red, green, blue] = rgb.to_be_bytes();
        let mut colour = Color::from_rgba8(red, green, blue, 255);
        colour.set_alpha(single(opacity.clamp(0.0, 1.0)));
        colour
    }
}

fn polygon(points: &[Point], closed: bool) -> Option<Path> {
    let mut path = PathBuilder::new();
    for (index, (x, y)) in points.iter().enumerate() {
        if index == 0 { path.move_to(single(*x), single(*y)) } else { path.line_to(single(*x), single(*y)) }
    }
    if closed {
        path.close();
    }
    path.finish()
}

/// Glyphs set one after the other; a font's ordinates go upwards.
struct Outline {
    path: PathBuilder,
    pen: f32,
    scale: f32,
}

impl Outline {
    fn at(&self, x: f32, y: f32) -> (f32, f32) {
        (self.pen + x * self.scale, -y * self.scale)
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.at(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.at(x1, y1), self.at(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.at(x1, y1), self.at(x2, y2), self.at(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}
