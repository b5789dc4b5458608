//! `skyfall trace cat`.

use std::io::{self, BufWriter, Write};

use crate::atomic::StagedFile;
use crate::cli::Ending;
use crate::cli::args::{RowFormat, TraceCatArguments};
use crate::cli::console::Terminal;
use crate::diagnostic::{Diagnostic, Exit};
use crate::script::Console;
use crate::trace::columns::Warning;
use crate::trace::{self, Filter, TraceError};

/// Prints rows.
pub(super) fn cat(arguments: &TraceCatArguments, terminal: &Terminal) -> Ending {
    let filter = filter(arguments)?;
    crate::cli::check_output(arguments.output.as_deref(), &arguments.paths)?;
    let working = arguments.output.is_some().then(|| terminal.working("writing rows"));
    let warnings = match &arguments.output {
        None => {
            let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
            let (warnings, printed) = print(arguments, &filter, &mut out).map_err(Diagnostic::from)?;
            // A closed pipe ends the printing, and is no error.
            if let Err(error) = printed.and_then(|()| out.flush())
                && error.kind() != io::ErrorKind::BrokenPipe
            {
                let line = format!("cannot write to standard output: {error}");
                return Err(Box::new(Diagnostic::new("trace/write", line, Exit::Failure)));
            }
            warnings
        }
        Some(path) => {
            let refused = |error: &dyn std::fmt::Display| {
                Diagnostic::new("trace/write", format!("cannot write {}: {error}", path.display()), Exit::Failure)
            };
            let staged = StagedFile::new(path).map_err(|error| refused(&error.source))?;
            let mut out = Checked { out: BufWriter::with_capacity(1 << 16, staged.file()), failed: None };
            let (warnings, written) = print(arguments, &filter, &mut out).map_err(Diagnostic::from)?;
            if let Err(error) = out.end().and(written) {
                return Err(Box::new(refused(&error)));
            }
            staged.commit().map_err(|error| refused(&error.source))?;
            warnings
        }
    };
    drop(working);
    for warning in &warnings {
        terminal.warn(&crate::cli::eval::warning_line(warning));
    }
    Ok(Exit::Success)
}

/// What was odd about the rows, and whether `out` took what only the format itself may refuse.
fn print(
    arguments: &TraceCatArguments,
    filter: &Filter,
    out: &mut dyn Write,
) -> Result<(Vec<Warning>, io::Result<()>), TraceError> {
    let paths = &arguments.paths;
    let warnings = match arguments.row_format() {
        RowFormat::Jsonl => {
            trace::select(paths, filter, |row| out.write_all(row).and_then(|()| out.write_all(b"\n")).is_ok())?
        }
        RowFormat::Csv => trace::csv(paths, filter, |line| out.write_all(line).is_ok())?,
        RowFormat::Parquet => return trace::parquet(paths, filter, out),
    };
    Ok((warnings, Ok(())))
}

/// A file's writer that remembers why it failed.
struct Checked<W: Write> {
    out: W,
    failed: Option<io::Error>,
}

impl<W: Write> Write for Checked<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes).map_err(|error| {
            let kind = error.kind();
            self.failed.get_or_insert(error);
            kind.into()
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> Checked<W> {
    fn end(mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.failed.map_or(flushed, Err)
    }
}

fn filter(arguments: &TraceCatArguments) -> Result<Filter, Box<Diagnostic>> {
    let pair = |text: &String| {
        text.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned())).ok_or_else(|| {
            Diagnostic::new("usage", format!("--run {text}: expected KEY=VALUE, such as seed=3"), Exit::Usage)
        })
    };
    Ok(Filter {
        run: arguments.run.iter().map(pair).collect::<Result<_, _>>()?,
        regimes: arguments.regime.clone(),
        from_step: arguments.from_step,
        until_step: arguments.until_step,
    })
}
