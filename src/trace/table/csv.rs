//! Cells as a line of CSV.

use crate::value::Value;

/// Makes `line` the line of these cells.
pub(super) fn write_line(line: &mut Vec<u8>, cells: &[Value]) {
    line.clear();
    for (place, cell) in cells.iter().enumerate() {
        write_cell(line, place, cell);
    }
    line.push(b'\n');
}

/// Appends the cell at `place`, in quotes where it must be.
fn write_cell(out: &mut Vec<u8>, place: usize, value: &Value) {
    if place > 0 {
        out.push(b',');
    }
    match value {
        Value::Null => {}
        Value::Text(text) if text.is_empty() || text.contains([',', '"', '\n', '\r']) => {
            out.push(b'"');
            out.extend_from_slice(text.replace('"', "\"\"").as_bytes());
            out.push(b'"');
        }
        Value::Text(text) => out.extend_from_slice(text.as_bytes()),
        other => crate::text::json::write(out, other),
    }
}
