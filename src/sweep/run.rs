//! Running a sweep: what is not finished goes to a pool of workers, each with one trial's process
//! at a time; results come back to the thread that plans.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use super::best::{Best, Ranking};
use super::directory::Directory;
use super::error::SweepError;
use super::outcome::Outcome;
use super::plan::{Rows, Trial};
use super::pool::{self, Ending, Failure, Launcher, Running};
use super::{Goal, describe};

/// How often the sweep looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(100);

/// How a sweep is run.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// How many trials at a time.
    pub jobs: NonZeroUsize,
    /// How often a trial that failed is tried again.
    pub retries: u64,
    /// Whether the first failure ends the sweep.
    pub fail_fast: bool,
}

/// Where the trials come from.
pub(crate) trait Source {
    /// The next trial.
    ///
    /// # Errors
    /// When it cannot be read or made.
    fn next(&mut self) -> Result<Next, SweepError>;

    /// Is told how a trial came out; trials end in any order.
    ///
    /// # Errors
    /// When nothing can be made of it.
    fn tell(&mut self, _trial: &Trial, _outcome: Option<&Outcome>) -> Result<(), SweepError> {
        Ok(())
    }
}

/// What a source has to offer.
#[derive(Debug)]
pub(crate) enum Next {
    /// A trial.
    Trial(Trial),
    /// Nothing before it is told of another trial.
    Wait,
    /// Nothing any more.
    End,
}

impl Source for Rows {
    fn next(&mut self) -> Result<Next, SweepError> {
        Iterator::next(self).transpose().map(|trial| trial.map_or(Next::End, Next::Trial))
    }
}

/// How far a sweep is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Progress {
    /// Trials finished, those of earlier runs among them.
    pub finished: u64,
    /// Of these, the ones that were finished before.
    pub before: u64,
    /// Trials failed.
    pub failed: u64,
    /// The best point so far, of equals the first by number.
    pub best: Option<Best>,
    /// Whether every trial has ended, well or not.
    pub complete: bool,
    /// Whether it was interrupted.
    pub interrupted: bool,
}

/// A trial under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnderWay {
    /// Its id.
    pub trial: String,
    /// Its point in words.
    pub point: String,
    /// The steps it has done, as far as it said.
    pub done: u64,
    /// The steps it takes at most.
    pub steps: u64,
}

impl UnderWay {
    fn new(trial: &Trial) -> Self {
        Self { trial: trial.id.clone(), point: describe(&trial.point), done: 0, steps: trial.steps() }
    }
}

/// Is told how the sweep goes.
pub(crate) trait Watcher {
    /// After each trial.
    fn ended(&self, trial: &Trial, failure: Option<&Failure>);

    /// A finished trial's files are damaged; they are at `place` now, and it is tried again.
    fn damaged(&self, trial: &Trial, problem: &SweepError, place: &Path);

    /// Whether someone is watching between trials, too.
    fn is_watching(&self) -> bool;

    /// Now and then, if someone is watching.
    fn goes(&self, progress: &Progress, under_way: &[UnderWay]);

    /// Whether the sweep is to stop.
    fn interrupted(&self) -> bool;
}

/// By what trials are compared meanwhile.
#[derive(Clone, Debug)]
pub(crate) struct Measure<'a> {
    /// The metric's name.
    pub metric: &'a str,
    /// Which end of it is the good one.
    pub goal: Goal,
}

/// Runs every trial of `source` that is not finished yet.
///
/// # Errors
/// When the sweep's own files cannot be read or written; trials that fail are no error.
pub(crate) fn run(
    directory: &Directory,
    source: &mut dyn Source,
    launcher: &Launcher,
    options: &Options,
    measure: &Measure<'_>,
    watcher: &dyn Watcher,
) -> Result<Progress, SweepError> {
    directory.units().clear_abandoned()?;
    let finished = directory.units().finished()?;
    let running = Running::default();
    let (jobs, queue) = mpsc::channel::<Trial>();
    let queue = Mutex::new(queue);
    let (report, reports) = mpsc::channel();
    std::thread::scope(|scope| {
        let mut hire = || {
            let (queue, report, running) = (&queue, report.clone(), &running);
            let work = move || {
                while let Some(trial) = take(queue) {
                    let ending = pool::run(directory, &trial, launcher, options.retries, running);
                    if report.send((trial, ending)).is_err() {
                        break;
                    }
                }
            };
            std::thread::Builder::new().spawn_scoped(scope, work).map(drop)
        };
        let mut desk = Desk {
            hire: &mut hire,
            workers: 0,
            directory,
            measure,
            watcher,
            progress: Progress::default(),
            under_way: Vec::new(),
            ranking: Ranking::new(measure.goal),
        };
        let gone = desk.work(source, &finished, &jobs, &reports, options, &running);
        if gone.is_err() {
            running.interrupt();
        }
        drop(jobs);
        gone.map(|()| desk.progress)
    })
}

/// The next trial to run, unless there will be none.
fn take(queue: &Mutex<Receiver<Trial>>) -> Option<Trial> {
    queue.lock().ok()?.recv().ok()
}

type Report = (Trial, Result<Ending, SweepError>);

/// Where trials are handed out and results come in.
struct Desk<'a> {
    /// Starts one more worker.
    hire: &'a mut dyn FnMut() -> std::io::Result<()>,
    workers: usize,
    directory: &'a Directory,
    measure: &'a Measure<'a>,
    watcher: &'a dyn Watcher,
    progress: Progress,
    under_way: Vec<UnderWay>,
    ranking: Ranking,
}

impl Desk<'_> {
    fn work(
        &mut self,
        source: &mut dyn Source,
        finished: &BTreeMap<String, String>,
        jobs: &mpsc::Sender<Trial>,
        reports: &Receiver<Report>,
        options: &Options,
        running: &Running,
    ) -> Result<(), SweepError> {
        let mut ended = false;
        loop {
            while !ended && self.under_way.len() < options.jobs.get() {
                match source.next()? {
                    Next::Trial(trial) => match self.outcome_of(&trial, finished)? {
                        Some(outcome) => {
                            self.progress.before += 1;
                            self.finished(source, &trial, &outcome)?;
                        }
                        None => {
                            self.under_way.push(UnderWay::new(&trial));
                            // There are no more workers than ever had a trial at once.
                            if self.workers < self.under_way.len() {
                                (self.hire)().map_err(|source| SweepError::Worker { workers: self.workers, source })?;
                                self.workers += 1;
                            }
                            // The workers wait for this as long as it is there.
                            let _ = jobs.send(trial);
                        }
                    },
                    Next::Wait => break,
                    Next::End => {
                        ended = true;
                        self.progress.complete = true;
                    }
                }
            }
            if self.under_way.is_empty() {
                return Ok(());
            }
            self.show(running);
            match reports.recv_timeout(LOOK) {
                Ok((trial, ending)) => {
                    self.under_way.retain(|other| other.trial != trial.id);
                    let failed = self.ended(source, &trial, ending?)?;
                    if failed && options.fail_fast {
                        ended = true;
                        running.interrupt();
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            if !self.progress.interrupted && self.watcher.interrupted() {
                self.progress.interrupted = true;
                ended = true;
                running.interrupt();
            }
        }
    }

    fn show(&mut self, running: &Running) {
        if self.watcher.is_watching() {
            for row in &mut self.under_way {
                row.done = running.steps(&row.trial).max(row.done);
            }
            self.watcher.goes(&self.progress, &self.under_way);
        }
    }

    /// How `trial` came out, if it is finished, be it for an earlier plan. One whose files are damaged
    /// is set aside and tried again.
    fn outcome_of(&self, trial: &Trial, finished: &BTreeMap<String, String>) -> Result<Option<Outcome>, SweepError> {
        let name = match finished.get(trial.unit().short()) {
            Some(name) => Some(name.clone()),
            None => self.directory.take_back(trial)?,
        };
        let read = match &name {
            Some(name) => self
                .directory
                .check_files(name)
                .and_then(|()| self.directory.outcome(name, self.measure.metric))
                .map(Some),
            None => self.directory.check_place(trial).map(|()| None),
        };
        match read {
            Err(problem) if problem.is_damage() => {
                let place = self.directory.put_by(&name.unwrap_or_else(|| trial.unit().name()))?;
                self.watcher.damaged(trial, &problem, &place);
                Ok(None)
            }
            read => read,
        }
    }

    fn finished(&mut self, source: &mut dyn Source, trial: &Trial, outcome: &Outcome) -> Result<(), SweepError> {
        self.progress.finished += 1;
        if let Some(value) = outcome.metric(self.measure.metric) {
            self.ranking.add(trial, value);
            self.progress.best = self.ranking.best();
        }
        source.tell(trial, Some(outcome))
    }

    /// Takes in how a trial ended; whether it failed.
    fn ended(&mut self, source: &mut dyn Source, trial: &Trial, ending: Ending) -> Result<bool, SweepError> {
        match ending {
            Ending::Finished(outcome) => {
                self.finished(source, trial, &outcome)?;
                self.watcher.ended(trial, None);
                Ok(false)
            }
            Ending::Failed(failure) => {
                self.progress.failed += 1;
                source.tell(trial, None)?;
                self.watcher.ended(trial, Some(&failure));
                Ok(true)
            }
            Ending::Interrupted => {
                self.progress.interrupted = true;
                self.progress.complete = false;
                Ok(false)
            }
        }
    }
}
