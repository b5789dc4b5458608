//! What went wrong, for people: one clear line that says what, where and how to mend it.
//!
//! Inside, every operation has its own error enum. At the edge each becomes a [`Diagnostic`]
//! through [`Problem`], which adds what a message alone does not say: a stable code, the exit
//! status and hints.

use std::fmt;

/// How a command ends (`docs`: exit codes of every `skyfall` command).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All went well: 0.
    Success,
    /// The script, run or check failed: 1.
    Failure,
    /// The command line was wrong: 2.
    Usage,
    /// Input could not be read, or a limit stopped the work: 3.
    Input,
    /// A trial's or shard's configuration is at fault; trying again is no use: 65.
    BadConfig,
    /// A bug in skyfall: 70.
    Bug,
    /// The system was at fault (a full disk, say); a trial or shard may be tried again: 75.
    TryAgain,
    /// Interrupted: 130.
    Interrupted,
}

impl Exit {
    /// The process's exit code.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failure => 1,
            Self::Usage => 2,
            Self::Input => 3,
            Self::BadConfig => 65,
            Self::Bug => 70,
            Self::TryAgain => 75,
            Self::Interrupted => 130,
        }
    }
}

/// An error that knows how to present itself at the edge.
pub trait Problem: std::error::Error {
    /// A stable code, `room/what`, such as `config/unknown-key`.
    fn code(&self) -> &'static str;

    /// The exit status of a command that ends with this error.
    fn exit(&self) -> Exit {
        Exit::Failure
    }

    /// What to try.
    fn hint(&self) -> Option<String> {
        None
    }
}

/// One finding, ready to print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// A stable code, `room/what`.
    pub code: String,
    /// What is wrong, in one line, without a final full stop.
    pub message: String,
    /// The script or file line at fault, if one is known.
    pub location: Option<Location>,
    /// Call frames of a script, innermost first, each `file:line: in what`.
    pub trace: Vec<String>,
    /// What to try, one line each.
    pub hints: Vec<String>,
    /// The exit status that goes with it.
    pub exit: Exit,
}

/// A line of a text file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file, as the user named it.
    pub file: String,
    /// Its line, from 1.
    pub line: usize,
    /// The line's text, if it could be read.
    pub source: Option<String>,
    /// What in the line is at fault, if that is known.
    pub mark: Option<Mark>,
}

/// A part of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Where it begins, in characters from 1.
    pub column: usize,
    /// How many characters it has.
    pub width: usize,
}

impl Diagnostic {
    /// A finding with a code and a message, ending a command with `exit`.
    #[must_use]
    pub fn new(code: impl Into<String>, message: impl Into<String>, exit: Exit) -> Self {
        Self { code: code.into(), message: message.into(), location: None, trace: Vec::new(), hints: Vec::new(), exit }
    }

    /// The same finding with one more hint.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl<P: Problem> From<P> for Diagnostic {
    fn from(problem: P) -> Self {
        let mut diagnostic = Self::new(problem.code(), problem.to_string(), problem.exit());
        diagnostic.hints.extend(problem.hint());
        diagnostic
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "error[{}]: {}", self.code, self.message)?;
        if let Some(location) = &self.location {
            location.fmt(out)?;
        }
        for hint in &self.hints {
            write!(out, "\n  = hint: {hint}")?;
        }
        if !self.trace.is_empty() {
            write!(out, "\ntrace:")?;
            for frame in &self.trace {
                write!(out, "\n  {frame}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Location {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "\n  --> {}:{}", self.file, self.line)?;
        if let Some(mark) = &self.mark {
            write!(out, ":{}", mark.column)?;
        }
        let Some(source) = &self.source else { return Ok(()) };
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        write!(out, "\n{margin} |\n{number} | {}", source.replace('\t', " "))?;
        if let Some(mark) = &self.mark {
            write!(out, "\n{margin} | {}{}", " ".repeat(mark.column.saturating_sub(1)), "^".repeat(mark.width.max(1)))?;
        }
        Ok(())
    }
}
