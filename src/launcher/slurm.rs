//! Slurm: a submission as job arrays.
//!
//! Everything that Slurm is asked for stands in a script beside the units, but for the array's
//! extent and the user's own options, which are `sbatch`'s arguments and noted in the script. An
//! array holds indices below the cluster's `MaxArraySize` only; more tasks than that are several
//! arrays, each told the number of its first task.

mod fate;
mod queue;
mod script;

use std::num::NonZeroUsize;
use std::process::Command;

pub(crate) use fate::{Fate, fates};
pub(crate) use queue::{Queue, State};

use super::error::LauncherError;
use super::{Part, Submission, Submissions, Submitted};
use crate::atomic;

/// The script's name in the submission's directory.
pub(crate) const SCRIPT: &str = "array.sbatch";

/// What is asked of Slurm for each task.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    /// How many tasks run at a time at most.
    pub concurrent: Option<NonZeroUsize>,
    /// Processors of a task.
    pub cpus: NonZeroUsize,
    /// Memory of a task, as `--mem` takes it: `500M`, `2G`.
    pub memory: Option<String>,
    /// How long a task may take, as `--time` takes it: minutes, `1:30:00`, `2-0`.
    pub time: Option<String>,
    /// The partition.
    pub partition: Option<String>,
    /// More options of `sbatch`, each a word.
    pub options: Vec<String>,
}

/// Options of `sbatch` that a submission sets itself or does not work with.
const OWN_OPTIONS: [&str; 9] =
    ["--array", "-a", "--chdir", "-D", "--output", "-o", "--parsable", "--wrap", "--test-only"];

/// Variables that outdo the script's lines; what a submission asks for must not depend on them.
const OVERRIDING: [&str; 11] = [
    "SBATCH_ARRAY_INX",
    "SBATCH_CPUS_PER_TASK",
    "SBATCH_JOB_NAME",
    "SBATCH_MEM_PER_NODE",
    "SBATCH_NO_REQUEUE",
    "SBATCH_OPEN_MODE",
    "SBATCH_OUTPUT",
    "SBATCH_PARTITION",
    "SBATCH_REQUEUE",
    "SBATCH_TIMELIMIT",
    "SBATCH_WAIT",
];

/// Writes `submission` below `home` and hands it to Slurm. What Slurm said beside is the second
/// of what is returned.
///
/// # Errors
/// When Slurm cannot be asked, or refuses. If it took some of several arrays before, these stay
/// submitted, and are noted.
pub(crate) fn submit(
    home: &Submissions,
    submission: &Submission,
    request: &Request,
) -> Result<(Submitted, Vec<String>), LauncherError> {
    for option in &request.options {
        check(option)?;
    }
    let header = script::header(submission, request)?;
    let most = max_array_size()?;
    let mut submitted = home.write(submission)?;
    let handed = hand_over(&mut submitted, submission, request, &header, most);
    if handed.is_err() && submitted.parts.is_empty() {
        // Nothing came of it.
        let _ = std::fs::remove_dir_all(&submitted.path);
    }
    handed.map(|said| (submitted, said))
}

fn hand_over(
    submitted: &mut Submitted,
    submission: &Submission,
    request: &Request,
    header: &[u8],
    most: usize,
) -> Result<Vec<String>, LauncherError> {
    let place = submitted.path.canonicalize().map_err(LauncherError::io(&submitted.path))?;
    if place.as_os_str().as_encoded_bytes().iter().any(|byte| b"%\\".contains(byte)) {
        return Err(LauncherError::Place { path: place.display().to_string() });
    }
    let arrays = arrays(submitted.tasks(), most);
    let script = script::script(submission, request, header, &arrays);
    atomic::write_file(&place.join(SCRIPT), &script)?;
    let mut said = Vec::new();
    for array in arrays {
        let mut command = Command::new("sbatch");
        command.current_dir(&place).arg("--parsable").args(array.arguments(request, submitted.parts.last()));
        for variable in OVERRIDING {
            command.env_remove(variable);
        }
        let (out, err) = asked(&mut command)?;
        // `JOB`, or `JOB;CLUSTER`; what a site's plugin says may stand before it.
        let job = out.lines().last().unwrap_or_default().split(';').next().unwrap_or_default().trim();
        if job.is_empty() || !job.bytes().all(|byte| byte.is_ascii_digit()) {
            let message = format!("it ended well, but named no job: {out:?}");
            return Err(LauncherError::Refused { program: "sbatch".to_owned(), message });
        }
        submitted.parts.push(Part { job: job.to_owned(), first: array.first, tasks: array.tasks });
        submitted.save()?;
        said.extend(err.lines().map(str::to_owned));
    }
    Ok(said)
}

/// Some of the tasks, as one job array.
struct Array {
    first: usize,
    tasks: usize,
}

impl Array {
    /// The arguments of `sbatch`; `before` is the array before it.
    fn arguments(&self, request: &Request, before: Option<&Part>) -> Vec<String> {
        let most = request.concurrent.map(|most| format!("%{most}")).unwrap_or_default();
        let mut arguments = vec![format!("--array=0-{}{most}", self.tasks - 1)];
        arguments.extend(request.options.iter().cloned());
        if let (Some(before), Some(_)) = (before, request.concurrent) {
            // Each array has a limit of its own; one after the other keeps it for all of them.
            arguments.push(format!("--dependency=afterany:{}", before.job));
        }
        arguments.extend([SCRIPT.to_owned(), self.first.to_string()]);
        arguments
    }
}

fn arrays(tasks: usize, most: usize) -> Vec<Array> {
    let most = most.max(1);
    (0..tasks).step_by(most).map(|first| Array { first, tasks: most.min(tasks - first) }).collect()
}

/// Whether a word can be an option of `sbatch`.
fn check(option: &str) -> Result<(), LauncherError> {
    let name = option.split('=').next().unwrap_or_default();
    let short = |own: &&&str| !own.starts_with("--") && option.starts_with(**own) && !option.starts_with("--");
    let own = OWN_OPTIONS.iter().find(|own| **own == name).or(OWN_OPTIONS.iter().find(short));
    let problem = match own {
        Some(own) => format!("{own} is the submission's own"),
        None if !option.starts_with('-') => "an option begins with `-`; its value follows `=`".to_owned(),
        None if option.contains(char::is_control) => "a line break or another control character".to_owned(),
        None => return Ok(()),
    };
    Err(LauncherError::Option { option: "option of sbatch".to_owned(), value: option.to_owned(), problem })
}

/// How many tasks an array can have on this cluster.
fn max_array_size() -> Result<usize, LauncherError> {
    let (out, _) = asked(Command::new("scontrol").args(["show", "config"]))?;
    let line = out.lines().find_map(|line| line.trim().strip_prefix("MaxArraySize"));
    line.and_then(|line| line.trim_start_matches([' ', '=']).trim().parse().ok()).ok_or_else(|| {
        let message = "its `show config` names no MaxArraySize".to_owned();
        LauncherError::Refused { program: "scontrol".to_owned(), message }
    })
}

/// What a program of Slurm's said, on standard output and standard error, if it ended well.
fn asked(command: &mut Command) -> Result<(String, String), LauncherError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(std::process::Stdio::null()).output();
    let output = output.map_err(|source| LauncherError::Absent { program: program.clone(), source })?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    if output.status.success() {
        return Ok((out, err));
    }
    let message = if err.is_empty() { format!("it ended with {}", output.status) } else { err.replace('\n', "; ") };
    Err(LauncherError::Refused { program, message })
}
