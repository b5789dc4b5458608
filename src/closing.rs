//! What must be whole when the process is ended from outside its work: by a limit, or by a person
//! who does not wait.
//!
//! A file that gathers what it writes is kept behind [`Kept`]. [`close_all`] takes each of them
//! between two writes, closes it, and never gives it back: whoever goes on working waits there
//! for the end of the process. Without such an end nothing here costs more than a free lock.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::time::{Duration, Instant};

/// What can be closed where it stands.
pub(crate) trait Close: Send {
    /// Writes what is held back and ends the file; there is no one to tell of a failure.
    fn close_now(&mut self);
}

/// Everything that is open.
static OPEN: Mutex<Vec<Weak<Mutex<dyn Close>>>> = Mutex::new(Vec::new());

/// Something open that is closed however the process ends, short of a kill.
#[derive(Debug)]
pub(crate) struct Kept<T>(Arc<Mutex<T>>);

impl<T: Close + 'static> Kept<T> {
    /// Keeps `thing`.
    #[must_use]
    pub(crate) fn new(thing: T) -> Self {
        let thing = Arc::new(Mutex::new(thing));
        let weak: Weak<Mutex<dyn Close>> = Arc::downgrade(&thing) as _;
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|other| other.strong_count() > 0);
        open.push(weak);
        Self(thing)
    }

    /// The thing, to be worked with; whole whenever this is given back.
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Closes everything that is open, each as soon as no one works with it, but waits for none longer
/// than `patience`. Only for the end of the process: what was closed stays taken.
pub(crate) fn close_all(patience: Duration) {
    let open: Vec<Arc<Mutex<dyn Close>>> = {
        let open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.iter().filter_map(Weak::upgrade).collect()
    };
    let until = Instant::now() + patience;
    for thing in &open {
        loop {
            match thing.try_lock() {
                Ok(mut guard) => {
                    guard.close_now();
                    std::mem::forget(guard);
                }
                Err(TryLockError::Poisoned(poisoned)) => {
                    let mut guard = poisoned.into_inner();
                    guard.close_now();
                    std::mem::forget(guard);
                }
                Err(TryLockError::WouldBlock) if Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(1));
                    continue;
                }
                Err(TryLockError::WouldBlock) => {}
            }
            break;
        }
    }
    // The last owner must not drop what is taken.
    std::mem::forget(open);
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Closed(Arc<Mutex<u32>>);

    impl Close for Closed {
        fn close_now(&mut self) {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        }
    }

    #[test]
    fn what_is_open_is_closed_once_and_what_is_gone_is_not() {
        let (count, other) = (Arc::new(Mutex::new(0)), Arc::new(Mutex::new(0)));
        let kept = Kept::new(Closed(Arc::clone(&count)));
        drop(Kept::new(Closed(Arc::clone(&other))));
        close_all(Duration::from_millis(1));
        close_all(Duration::from_millis(1));
        assert_eq!(*count.lock().unwrap_or_else(PoisonError::into_inner), 1);
        assert_eq!(*other.lock().unwrap_or_else(PoisonError::into_inner), 0);
        assert!(kept.0.try_lock().is_err());
    }
}
