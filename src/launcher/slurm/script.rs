//! The script that Slurm runs for each task.

use std::ffi::OsStr;

use super::{Array, LauncherError, Request, SCRIPT, Submission};
use crate::launcher::quote::quoted;
use crate::launcher::submitted::{ENDED, LOGS};

/// The lines that tell Slurm what a task needs. Slurm splits them by rules of its own, so only
/// plain words stand in them.
///
/// # Errors
/// When something asked for is no plain word.
pub(super) fn header(submission: &Submission, request: &Request) -> Result<Vec<u8>, LauncherError> {
    let mut lines = vec![
        format!("--job-name={}", plain_name(&submission.name)),
        format!("--output={LOGS}/%A_%a.log"),
        "--open-mode=append".to_owned(),
        "--requeue".to_owned(),
        "--ntasks=1".to_owned(),
        format!("--cpus-per-task={}", request.cpus),
    ];
    let asked = [("--mem", &request.memory), ("--time", &request.time), ("--partition", &request.partition)];
    for (option, value) in asked {
        let Some(value) = value else { continue };
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:,+@".contains(c);
        if value.is_empty() || !value.chars().all(plain) {
            let problem = "it must be one plain word".to_owned();
            return Err(LauncherError::Option { option: option.to_owned(), value: value.clone(), problem });
        }
        lines.push(format!("{option}={value}"));
    }
    Ok(lines.into_iter().map(|line| format!("#SBATCH {line}\n")).collect::<String>().into_bytes())
}

/// The whole script.
pub(super) fn script(submission: &Submission, request: &Request, header: &[u8], arrays: &[Array]) -> Vec<u8> {
    let mut script = b"#!/bin/bash\n".to_vec();
    script.extend_from_slice(header);
    let (tasks, units, batch) = (submission.tasks(), submission.units.len(), submission.batch);
    script.extend(format!("#\n# {units} units, the lines of `units`, as {tasks} tasks of up to {batch}.\n").bytes());
    script.extend(b"# The first argument is the number of the array's first task:\n");
    for array in arrays {
        script.extend(b"#     sbatch");
        for argument in array.arguments(request, None) {
            script.push(b' ');
            script.extend(quoted(OsStr::new(&argument)));
        }
        script.push(b'\n');
    }
    let mut command = quoted(submission.program.as_os_str());
    for word in &submission.verb {
        command.push(b' ');
        command.extend(quoted(OsStr::new(word)));
    }
    script.extend(
        format!(
            r#"
task=$(($1 + SLURM_ARRAY_TASK_ID))
ended=$SLURM_SUBMIT_DIR/{ENDED}/$task
rm -f -- "$ended"
echo "task $task: job ${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID, restart ${{SLURM_RESTART_COUNT:-0}}, on $HOSTNAME at $(date +%FT%T%z)" >&2

# What Slurm asks of the task's processes on SIGTERM is the command's; this waits for it to end.
trap : TERM
"#
        )
        .bytes(),
    );
    script.extend(command);
    script.extend(b" \"$SLURM_SUBMIT_DIR\" \"$task\"\ncode=$?\necho \"$code\" >\"$ended\"\nexit \"$code\"\n");
    script
}

/// A name that Slurm shows as it stands.
fn plain_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = name.chars().map(plain).take(64).collect();
    if name.is_empty() { SCRIPT.to_owned() } else { name }
}
