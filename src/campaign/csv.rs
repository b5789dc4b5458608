//! Comma-separated values as RFC 4180 has them: fields in quotes may hold commas, line ends, and
//! quotes written twice.

/// A record and the line it begins at, from 1.
pub(super) type Record = (usize, Vec<String>);

/// The records of `text`; blank lines are none.
///
/// # Errors
/// The line and what is wrong there.
pub(super) fn records(text: &str) -> Result<Vec<Record>, (usize, String)> {
    let mut records = Vec::new();
    let mut chars = text.trim_start_matches('\u{feff}').chars().peekable();
    let (mut line, mut start) = (1, 1);
    let (mut fields, mut field) = (Vec::new(), String::new());
    let mut quoted = false;
    while let Some(next) = chars.next() {
        match next {
            '"' if field.is_empty() && !quoted => {
                quoted = true;
                loop {
                    match chars.next() {
                        Some('"') if chars.next_if_eq(&'"').is_some() => field.push('"'),
                        Some('"') => break,
                        Some(inner) => {
                            line += usize::from(inner == '\n');
                            field.push(inner);
                        }
                        None => return Err((start, "a quote is not closed".to_owned())),
                    }
                }
            }
            ',' => {
                fields.push(std::mem::take(&mut field));
                quoted = false;
            }
            '\r' if chars.peek() == Some(&'\n') => {}
            '\n' => {
                if !fields.is_empty() || !field.is_empty() || quoted {
                    fields.push(std::mem::take(&mut field));
                    records.push((start, std::mem::take(&mut fields)));
                }
                quoted = false;
                line += 1;
                start = line;
            }
            _ if quoted => return Err((line, "text follows a closing quote".to_owned())),
            other => field.push(other),
        }
    }
    if !fields.is_empty() || !field.is_empty() || quoted {
        fields.push(field);
        records.push((start, fields));
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::records;

    #[test]
    fn quotes_commas_and_line_ends() {
        let read = records("a,b\r\n\"x, \"\"y\"\"\",\"1\n2\"\n\n,\n\"\"").unwrap();
        let expected = [
            (1, vec!["a".to_owned(), "b".to_owned()]),
            (2, vec!["x, \"y\"".to_owned(), "1\n2".to_owned()]),
            (5, vec![String::new(), String::new()]),
            (6, vec![String::new()]),
        ];
        assert_eq!(read, expected);
        assert_eq!(records("a\n\"b").unwrap_err().0, 2);
        assert_eq!(records("\"a\"b").unwrap_err(), (1, "text follows a closing quote".to_owned()));
    }
}
