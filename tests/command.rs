//! Running the `skyfall` binary in a directory of its own.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use tempfile::TempDir;

/// A scratch directory with the command at hand.
pub struct Scratch {
    directory: TempDir,
}

/// What a run of the command left.
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Scratch {
    pub fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    /// A scratch directory in memory where the system has one: nothing waits for a disk.
    pub fn in_memory() -> Self {
        let memory = Path::new("/dev/shm");
        let directory = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        Self { directory: directory.unwrap() }
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.file(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap()
    }

    /// Runs `skyfall ARGUMENTS` here.
    pub fn skyfall(&self, arguments: &[&str]) -> Ran {
        self.skyfall_with_input(arguments, "")
    }

    /// Runs `skyfall ARGUMENTS` here with something on standard input.
    pub fn skyfall_with_input(&self, arguments: &[&str], input: &str) -> Ran {
        use std::io::Write;
        use std::process::Stdio;
        let mut child = Command::new(env!("CARGO_BIN_EXE_skyfall"))
            .args(arguments)
            .current_dir(self.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        if let Err(error) = child.stdin.take().unwrap().write_all(input.as_bytes()) {
            // It may end without having read everything.
            assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe, "{error}");
        }
        Ran::from(child.wait_with_output().unwrap())
    }

    /// Runs a script given as text, as `script.lua`.
    pub fn script(&self, code: &str) -> Ran {
        self.write("script.lua", code);
        self.skyfall(&["script", "script.lua"])
    }

    /// The names below the directory, sorted, `/` between levels. Others may be at work there: a
    /// directory that goes meanwhile is none.
    pub fn tree(&self) -> Vec<String> {
        fn walk(root: &Path, at: &Path, found: &mut Vec<String>) {
            let entries = match std::fs::read_dir(at) {
                Err(cause) if cause.kind() == std::io::ErrorKind::NotFound && at != root => return,
                entries => entries.unwrap(),
            };
            for entry in entries {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(root, &path, found);
                } else {
                    found.push(path.strip_prefix(root).unwrap().display().to_string());
                }
            }
        }
        let mut found = Vec::new();
        walk(self.path(), self.path(), &mut found);
        found.sort();
        found
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Ran {
    /// The run, which must have ended well.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.code, 0, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// The run, which must have ended with `code` and said each of `words` on stderr.
    #[track_caller]
    pub fn failed(self, code: i32, words: &[&str]) -> Self {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        for word in words {
            assert!(self.stderr.contains(word), "no `{word}` in:\n{}", self.stderr);
        }
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }
}
