//! A page of the report's looks for other contents: paragraphs, tables, figures.

use super::page::{Page, prose, text};
use crate::eval::plot::{self, Figure};

/// A part of a page. All texts are text, not markup.
#[derive(Clone, Debug)]
pub(crate) enum Block {
    /// A heading of the second level.
    Heading(String),
    /// A paragraph.
    Paragraph(String),
    /// A table: its columns' names and its rows, the first column naming them.
    Table(Vec<String>, Vec<Vec<String>>),
    /// A picture.
    Figure(Figure),
}

/// A page called `title`: no network, no script, light and dark.
#[must_use]
pub(crate) fn document(title: &str, blocks: &[Block]) -> String {
    let mut page = Page::titled(title, &(super::STYLE.to_owned() + &plot::page_style()));
    page.heading(1, &text(title));
    for block in blocks {
        match block {
            Block::Heading(line) => page.heading(2, &prose(line)),
            Block::Paragraph(line) => page.paragraph(&prose(line)),
            Block::Figure(figure) => page.figure(&figure.inline(), &prose(&figure.caption)),
            Block::Table(columns, rows) => {
                let columns: Vec<String> = columns.iter().map(|name| text(name)).collect();
                let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
                page.table(&columns, rows.iter().map(|row| row.iter().map(|cell| text(cell)).collect()));
            }
        }
    }
    page.finish()
}
