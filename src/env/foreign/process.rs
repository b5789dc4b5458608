//! A program at the other end of three pipes: started, asked, listened to, and ended.
//!
//! Everything happens on the caller's thread: while an answer is awaited, what the program says
//! on standard error is read too, so that neither side ever waits for the other's full pipe.
//! Invariant: the program does not outlive its [`Process`]; it is always reaped.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};

use super::Watch;
use super::frame::{self, Frame};

/// How long the program may take to end once its input is closed, or to finish a step once the
/// user asked to stop.
const GRACE: Duration = Duration::from_secs(2);
/// How often the user's wish to stop is looked for while an answer is awaited.
const GLANCE: Duration = Duration::from_millis(100);
/// How many of the program's last lines are kept for error messages, and how much of each.
const LINES: usize = 5;
const LINE: usize = 300;

/// Why no answer came.
#[derive(Debug)]
pub(super) enum Broken {
    /// The program ended.
    Ended(Option<ExitStatus>),
    /// It took too long.
    Late(Duration),
    /// The user asked to stop.
    Interrupted,
    /// What came is not a frame.
    Garbage(String),
    /// A frame is too long.
    TooLong { bytes: usize, limit: usize },
    /// The pipe failed.
    Pipe(io::Error),
}

/// A running program.
pub(super) struct Process {
    child: Child,
    /// `None` once the program was told to end.
    input: Option<ChildStdin>,
    output: ChildStdout,
    /// `None` once the program closed it.
    errors: Option<ChildStderr>,
    inbox: Vec<u8>,
    /// An unfinished line of standard error.
    line: Vec<u8>,
    last: VecDeque<String>,
    status: Option<ExitStatus>,
    watch: Rc<dyn Watch>,
}

impl Process {
    /// Starts `command` in a process group of its own, so that Ctrl-C reaches it only through us.
    ///
    /// # Errors
    /// When it cannot be started.
    pub(super) fn start(mut command: Command, watch: Rc<dyn Watch>) -> io::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take()).zip(child.stderr.take());
        let ((input, output), errors) = pipes.ok_or(io::ErrorKind::BrokenPipe)?;
        let mut unblocked = Ok(());
        for pipe in [input.as_fd(), output.as_fd(), errors.as_fd()] {
            unblocked = unblocked.and(rustix::io::ioctl_fionbio(pipe, true));
        }
        let (inbox, line, last) = (Vec::new(), Vec::new(), VecDeque::new());
        // From here on it is reaped, whatever comes.
        let (input, errors) = (Some(input), Some(errors));
        let process = Self { child, input, output, errors, inbox, line, last, status: None, watch };
        Ok(unblocked.map(|()| process)?)
    }

    /// Sends a frame and waits for the answer, at most `limit` if there is one.
    ///
    /// # Errors
    /// Why there is none; the program has then ended.
    pub(super) fn ask(&mut self, frame: &[u8], limit: Option<Duration>) -> Result<Frame, Broken> {
        let answer = self.exchange(frame, limit);
        answer.map_err(|broken| {
            // Whatever went wrong, both sides no longer agree on what comes next.
            self.end(if matches!(broken, Broken::Ended(_)) { GRACE } else { Duration::ZERO });
            if let Broken::Ended(_) = broken { Broken::Ended(self.status) } else { broken }
        })
    }

    /// The program's last lines on standard error, oldest first.
    pub(super) fn last_lines(&self) -> impl Iterator<Item = &str> {
        self.last.iter().map(String::as_str)
    }

    fn exchange(&mut self, frame: &[u8], limit: Option<Duration>) -> Result<Frame, Broken> {
        let begun = Instant::now();
        let mut deadline = limit.map(|limit| (begun + limit, Broken::Late(limit)));
        let mut stopping = false;
        let mut unsent = frame;
        if !self.inbox.is_empty() {
            return Err(Broken::Garbage("it came before the question".to_owned()));
        }
        loop {
            unsent = self.send(unsent)?;
            if unsent.is_empty()
                && let Some(frame) = frame::take(&mut self.inbox)?
            {
                return Ok(frame);
            }
            if !self.wait(GLANCE, !unsent.is_empty())? && self.is_gone() {
                return Err(Broken::Ended(None));
            }
            if !stopping && self.watch.interrupted() {
                stopping = true;
                deadline = Some((Instant::now() + GRACE, Broken::Interrupted));
            }
            if let Some((_, broken)) = deadline.take_if(|(deadline, _)| Instant::now() >= *deadline) {
                return Err(broken);
            }
        }
    }

    /// Writes as much of `bytes` as the pipe takes; what is left.
    fn send<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], Broken> {
        let Some(input) = &mut self.input else { return Err(Broken::Ended(None)) };
        if bytes.is_empty() {
            return Ok(bytes);
        }
        match input.write(bytes) {
            Ok(sent) => Ok(bytes.get(sent..).unwrap_or_default()),
            Err(error) if passing(&error) => Ok(bytes),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Broken::Ended(None)),
            Err(error) => Err(Broken::Pipe(error)),
        }
    }

    /// Whether the program ended; what it started may still hold its pipes.
    fn is_gone(&mut self) -> bool {
        self.status = self.status.or_else(|| self.child.try_wait().unwrap_or_default());
        self.status.is_some()
    }

    /// Waits until something can be read (or written, if `writing`), at most `longest`, and reads;
    /// whether there was something.
    fn wait(&mut self, longest: Duration, writing: bool) -> Result<bool, Broken> {
        let (output, errors, any);
        {
            let mut pipes = vec![PollFd::new(&self.output, PollFlags::IN)];
            pipes.extend(self.errors.as_ref().map(|errors| PollFd::new(errors, PollFlags::IN)));
            let listening = pipes.len();
            pipes.extend(self.input.as_ref().filter(|_| writing).map(|input| PollFd::new(input, PollFlags::OUT)));
            let longest = Timespec::try_from(longest).ok();
            match poll(&mut pipes, longest.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(Broken::Pipe(error.into())),
            }
            let mut ready = pipes.iter().take(listening).map(|pipe| !pipe.revents().is_empty());
            output = ready.next().unwrap_or_default();
            errors = ready.next().unwrap_or_default();
            any = pipes.iter().any(|pipe| !pipe.revents().is_empty());
        }
        if errors {
            self.listen();
        }
        if output && !self.receive()? {
            return Err(Broken::Ended(None));
        }
        Ok(any)
    }

    /// Reads what the program answered; `false` at the end of its output.
    fn receive(&mut self) -> Result<bool, Broken> {
        let (had, room) = (self.inbox.len(), frame::missing(&self.inbox).clamp(4096, 1 << 20));
        self.inbox.resize(had + room, 0);
        let read = self.output.read(self.inbox.get_mut(had..).unwrap_or_default());
        self.inbox.truncate(had + read.as_ref().map_or(0, |count| *count));
        match read {
            Ok(count) => Ok(count > 0),
            Err(error) if passing(&error) => Ok(true),
            Err(error) => Err(Broken::Pipe(error)),
        }
    }

    /// Reads what the program said on standard error and passes whole lines on.
    fn listen(&mut self) {
        let Some(errors) = &mut self.errors else { return };
        let mut chunk = [0; 4096];
        match errors.read(&mut chunk) {
            Ok(0) => self.errors = None,
            Ok(count) => self.line.extend_from_slice(chunk.get(..count).unwrap_or_default()),
            Err(error) if passing(&error) => {}
            Err(_) => self.errors = None,
        }
        // A line that never ends is passed on in parts.
        while let Some(end) = memchr::memchr(b'\n', &self.line).or((self.line.len() > 1 << 16).then_some(1 << 16)) {
            let rest = self.line.split_off(end + 1);
            let line = std::mem::replace(&mut self.line, rest);
            self.said(&line);
        }
        if self.errors.is_none() && !self.line.is_empty() {
            let line = std::mem::take(&mut self.line);
            self.said(&line);
        }
    }

    fn said(&mut self, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end();
        self.watch.said(line);
        let kept: String = line.chars().filter(|letter| !letter.is_control()).take(LINE).collect();
        if !kept.trim().is_empty() {
            self.last.push_back(kept.trim().to_owned());
        }
        if self.last.len() > LINES {
            self.last.pop_front();
        }
    }

    /// Ends the program: its input is closed, and if it is not gone after `grace`, it and what it
    /// started are killed.
    fn end(&mut self, grace: Duration) {
        self.input = None;
        let deadline = Instant::now() + grace;
        let mut pause = Duration::from_millis(1);
        while !self.is_gone() {
            if Instant::now() >= deadline {
                self.kill();
                break;
            }
            if self.wait(pause, false).is_err() {
                std::thread::sleep(pause);
            }
            self.inbox.clear();
            pause = (pause * 2).min(Duration::from_millis(50));
        }
        // Its last words; a process it left behind may hold the pipe open, which is not waited for.
        for _ in 0..64 {
            if self.errors.is_none() || self.unheard() == 0 {
                break;
            }
            self.listen();
        }
        if !self.line.is_empty() {
            let line = std::mem::take(&mut self.line);
            self.said(&line);
        }
    }

    /// How many bytes wait on standard error.
    fn unheard(&self) -> u64 {
        self.errors.as_ref().and_then(|errors| rustix::io::ioctl_fionread(errors).ok()).unwrap_or(0)
    }

    fn kill(&mut self) {
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        // Also when the program left its group.
        let _ = self.child.kill();
        self.status = self.child.wait().ok();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end(GRACE);
    }
}

/// Whether the call is to be made again later.
fn passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
