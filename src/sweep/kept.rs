//! What a process said, kept within bounds: the first part of it as it comes, the last part, and how
//! much was between them.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How much is kept of the first part, in bytes.
pub(crate) const FIRST: usize = 1 << 16;

/// And of the last.
pub(crate) const LAST: usize = 1 << 16;

/// How long a process that ended may still be heard, in nanoseconds: what it started may hold its
/// streams open without end.
const PATIENCE: i64 = 100_000_000;

/// What is kept of a stream: written to `sink`, from where the first part was full at its end.
#[derive(Debug)]
pub(crate) struct Kept<W> {
    sink: W,
    /// How much of the first part is written.
    first: usize,
    last: VecDeque<u8>,
    left_out: u64,
    fault: Option<io::Error>,
}

impl<W: Write> Kept<W> {
    /// Nothing yet.
    pub(crate) fn new(sink: W) -> Self {
        Self { sink, first: 0, last: VecDeque::new(), left_out: 0, fault: None }
    }

    /// Takes what came next.
    fn take(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(FIRST - self.first));
        self.first += first.len();
        self.write(first);
        self.last.extend(rest);
        let over = self.last.len().saturating_sub(LAST);
        self.last.drain(..over);
        self.left_out += over as u64;
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.fault.is_none() {
            self.fault = self.sink.write_all(bytes).err();
        }
    }

    /// Takes all that `source` gives, to its end; once the process has `ended`, to the first silence.
    ///
    /// # Errors
    /// When `source` cannot be read.
    pub(super) fn drain(&mut self, mut source: impl Read + AsFd, ended: &AtomicBool) -> io::Result<()> {
        let mut bytes = vec![0; 1 << 14];
        loop {
            // What was written before the end is there to be read by then.
            let was_ended = ended.load(Ordering::Acquire);
            let pause = Timespec { tv_sec: 0, tv_nsec: PATIENCE };
            match poll(&mut [PollFd::new(&source, PollFlags::IN)], Some(&pause)) {
                Ok(0) if was_ended => return Ok(()),
                Ok(0) | Err(rustix::io::Errno::INTR) => continue,
                Ok(_) => {}
                Err(cause) => return Err(cause.into()),
            }
            match source.read(&mut bytes) {
                Ok(0) => return Ok(()),
                Ok(count) => self.take(bytes.get(..count).unwrap_or_default()),
                Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
                Err(cause) => return Err(cause),
            }
        }
    }

    /// Writes the last part, and how much is missing before it; gives back the sink.
    ///
    /// # Errors
    /// When something could not be written.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        let last: Vec<u8> = std::mem::take(&mut self.last).into();
        if self.left_out > 0 {
            self.write(format!("\n[{} bytes are left out here]\n", self.left_out).as_bytes());
        }
        self.write(&last);
        self.fault.map_or(Ok(()), Err)?;
        Ok(self.sink)
    }
}

#[cfg(test)]
mod tests {
    use super::{FIRST, Kept, LAST};

    fn kept(parts: &[&[u8]]) -> Vec<u8> {
        let mut kept = Kept::new(Vec::new());
        parts.iter().for_each(|part| kept.take(part));
        assert!(kept.last.len() <= LAST && kept.last.capacity() <= 4 * LAST);
        kept.finish().unwrap_or_default()
    }

    #[test]
    fn what_fits_is_whole_and_of_the_rest_both_ends() {
        let all: Vec<u8> = (0..FIRST + LAST + 7).map(|byte| b'a' + u8::try_from(byte % 26).unwrap_or(0)).collect();
        let (fits, _) = all.split_at(FIRST + LAST);
        for size in [1, 1000, FIRST, all.len()] {
            let parts: Vec<&[u8]> = fits.chunks(size).collect();
            assert_eq!(kept(&parts), fits);
            let parts: Vec<&[u8]> = all.chunks(size).collect();
            let expected =
                [all.split_at(FIRST).0, b"\n[7 bytes are left out here]\n", all.split_at(FIRST + 7).1].concat();
            assert!(kept(&parts) == expected, "in pieces of {size}");
        }
        assert_eq!(kept(&[]), b"");
    }
}
