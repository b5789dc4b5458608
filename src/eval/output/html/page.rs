//! A page under construction: the few elements the report is made of.
//!
//! What goes into a page is markup already; user text becomes markup by [`text`], here alone.

use crate::eval::output::cell::{self, escaped};

/// Labels longer than this are cut; the whole label is their title.
const LONGEST_NAME: usize = 80;

/// A page under construction.
pub(super) struct Page {
    markup: String,
}

impl Page {
    pub(super) fn titled(title: &str, style: &str) -> Self {
        let head = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
                    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
                    <meta name=\"color-scheme\" content=\"light dark\">\n";
        let title = text(title);
        Self { markup: format!("{head}<title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n") }
    }

    pub(super) fn heading(&mut self, level: u8, markup: &str) {
        self.markup.push_str(&format!("<h{level}>{markup}</h{level}>\n"));
    }

    pub(super) fn paragraph(&mut self, markup: &str) {
        self.markup.push_str(&format!("<p>{markup}</p>\n"));
    }

    /// A table; its first column names the rows.
    pub(super) fn table(&mut self, headings: &[&str], rows: impl Iterator<Item = Vec<String>>) {
        self.markup.push_str("<div class=\"wide\"><table>\n<thead><tr>");
        for heading in headings {
            self.markup.push_str(&format!("<th scope=\"col\">{heading}</th>"));
        }
        self.markup.push_str("</tr></thead>\n<tbody>\n");
        for row in rows {
            self.markup.push_str("<tr>");
            for (index, cell) in row.iter().enumerate() {
                let (open, close) = if index == 0 { ("<th scope=\"row\">", "</th>") } else { ("<td>", "</td>") };
                self.markup.push_str(&format!("{open}{cell}{close}"));
            }
            self.markup.push_str("</tr>\n");
        }
        self.markup.push_str("</tbody>\n</table></div>\n");
    }

    pub(super) fn open_details(&mut self, summary: &str) {
        self.open_details_if(false, summary);
    }

    /// Details that the reader sees at once if `open`.
    pub(super) fn open_details_if(&mut self, open: bool, summary: &str) {
        let open = if open { " open" } else { "" };
        self.markup.push_str(&format!("<details{open}>\n<summary>{summary}</summary>\n"));
    }

    pub(super) fn close_details(&mut self) {
        self.markup.push_str("</details>\n");
    }

    /// A picture with its caption.
    pub(super) fn figure(&mut self, svg: &str, caption: &str) {
        self.markup.push_str(&format!("<figure>\n{svg}\n<figcaption>{caption}</figcaption>\n</figure>\n"));
    }

    /// JSON as a data block that nothing in it can end.
    pub(super) fn data(&mut self, json: &str) {
        let json = json.replace('<', "\\u003c");
        self.markup.push_str(&format!("<script type=\"application/json\" id=\"report\">{json}</script>\n"));
    }

    pub(super) fn finish(mut self) -> String {
        self.markup.push_str("</main>\n</body>\n</html>\n");
        self.markup
    }
}

/// User text as markup: no markup in it, on one line, with a direction of its own.
pub(super) fn text(label: &str) -> String {
    let shown = escaped(&cell::name(label, LONGEST_NAME));
    if label.is_ascii() && label.len() <= LONGEST_NAME {
        return shown;
    }
    let title: String = label.chars().map(|c| if cell::unprintable(c) { '\u{fffd}' } else { c }).collect();
    format!("<bdi title=\"{}\">{shown}</bdi>", escaped(&title))
}

/// Sentences of ours, which may quote user text, as markup.
pub(super) fn prose(sentence: &str) -> String {
    escaped(&cell::name(sentence, usize::MAX))
}
