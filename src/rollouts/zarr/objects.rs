//! A store's objects: listed once, when it is opened, and fetched as they are needed.
//!
//! At the address stands a store as a directory would hold it, or a unit's place, whose marker
//! names the attempt that is the store ([`Remote`]). Small objects are fetched whole and kept for a
//! while; of large ones, the parts that are needed. Once the storage has failed for good, nothing
//! more is asked of it.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use super::StoreError;
use super::source::{Held, Opened};
use crate::object::{Address, Bucket, ObjectError, for_each};
use crate::unit::{ATTEMPTS_REMOTE, MARKER, Remote};

/// Objects up to this many bytes are fetched whole.
const WHOLE: u64 = 8 << 20;
/// So many bytes of whole objects are kept.
const KEPT: usize = 64 << 20;

/// By the name within the store: the object's key and its length.
type Listed = BTreeMap<String, (String, u64)>;

/// The objects below an address.
#[derive(Debug)]
pub(super) struct Objects {
    root: PathBuf,
    remote: Remote,
    objects: Listed,
    kept: Mutex<Kept>,
    fault: OnceLock<ObjectError>,
}

/// Whole objects, the oldest first.
#[derive(Debug, Default)]
struct Kept {
    order: VecDeque<String>,
    objects: BTreeMap<String, Arc<[u8]>>,
    bytes: usize,
}

impl Objects {
    /// The store at `address`, which is called `root`.
    pub(super) fn at(root: &Path, address: &Address) -> Result<Self, StoreError> {
        let (remote, objects) = Self::find(address).map_err(|error| StoreError::objects(root, error))?;
        if objects.is_empty() {
            return Err(StoreError::Missing { path: root.to_owned() });
        }
        if objects.keys().all(|name| name.starts_with(ATTEMPTS_REMOTE)) {
            let what = format!("no attempt at it was finished: there is no {MARKER}");
            return Err(StoreError::NotAStore { path: root.to_owned(), what });
        }
        Ok(Self { root: root.to_owned(), remote, objects, kept: Mutex::default(), fault: OnceLock::new() })
    }

    fn find(address: &Address) -> Result<(Remote, Listed), ObjectError> {
        let remote = Remote::at(address)?;
        let marker = remote.marker()?;
        let attempt = marker.as_ref().and_then(|(marker, _)| Remote::attempt(marker));
        let prefix = match attempt {
            Some(attempt) => format!("{}/", address.below(attempt)),
            None => address.below(""),
        };
        let listed = remote.bucket().list(&prefix)?.into_iter();
        let named = listed.filter_map(|object| {
            let name = object.key.strip_prefix(&prefix)?.to_owned();
            Some((name, (object.key, object.size)))
        });
        let mut objects: Listed = named.collect();
        if let (Some((_, size)), Some(_)) = (&marker, attempt) {
            objects.insert(MARKER.to_owned(), (address.below(MARKER), *size));
        }
        Ok((remote, objects))
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn fault(&self) -> Option<ObjectError> {
        self.fault.get().cloned()
    }

    /// An object's length, if there is one.
    pub(super) fn size(&self, name: &str) -> Option<u64> {
        self.objects.get(name).map(|(_, size)| *size)
    }

    /// A whole object.
    pub(super) fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let Some((key, size)) = self.objects.get(name) else { return Ok(None) };
        Ok(Some(self.whole(key, *size)?.to_vec()))
    }

    /// An object to be read from.
    pub(super) fn open<'a>(&'a self, name: &'a str) -> io::Result<Option<Opened<'a>>> {
        let Some((key, size)) = self.objects.get(name) else { return Ok(None) };
        if *size <= WHOLE {
            return Ok(Some(Opened::Bytes(self.whole(key, *size)?)));
        }
        Ok(Some(Opened::Object { objects: self, key, size: *size }))
    }

    /// Part of an object.
    pub(super) fn range(&self, key: &str, range: Range<u64>) -> io::Result<Vec<u8>> {
        self.asked(|bucket| bucket.get_range(key, range))
    }

    /// The names directly below `name`, sorted.
    pub(super) fn names(&self, name: &str) -> Vec<String> {
        let prefix = if name.is_empty() { String::new() } else { format!("{name}/") };
        let mut names: Vec<String> = Vec::new();
        for (name, _) in self.below(&prefix) {
            let rest = name.strip_prefix(&prefix).unwrap_or_default();
            let first = rest.split('/').next().unwrap_or_default();
            if names.last().is_none_or(|last| last != first) {
                names.push(first.to_owned());
            }
        }
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The names of all objects.
    pub(super) fn keys(&self) -> impl Iterator<Item = &String> {
        self.objects.keys()
    }

    /// What everything below `name` takes.
    pub(super) fn held(&self, name: &str) -> Held {
        let prefix = if name.is_empty() { String::new() } else { format!("{name}/") };
        self.below(&prefix).fold(Held::default(), |sum, (_, (_, size))| Held {
            files: sum.files + 1,
            bytes: sum.bytes.saturating_add(*size),
        })
    }

    fn below<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a String, &'a (String, u64))> {
        self.objects.range(prefix.to_owned()..).take_while(move |(name, _)| name.starts_with(prefix))
    }

    /// Fetches as many of the small objects as are kept, many at once: whoever needs nearly all of
    /// them does not wait for each.
    pub(super) fn prefetch(&self) {
        let mut bytes = 0;
        let small = self.objects.values().filter(|(_, size)| *size <= WHOLE).take_while(|(_, size)| {
            bytes += *size;
            bytes <= KEPT as u64
        });
        let small: Vec<_> = small.collect();
        // What fails is told when it is needed.
        let _ = for_each(&small, |(key, size)| self.whole(key, *size).map(drop));
    }

    /// An object's bytes, from memory if they are kept there.
    fn whole(&self, key: &str, size: u64) -> io::Result<Arc<[u8]>> {
        if let Ok(kept) = self.kept.lock()
            && let Some(bytes) = kept.objects.get(key)
        {
            return Ok(Arc::clone(bytes));
        }
        let bytes = self.asked(|bucket| match bucket.get(key, size)? {
            Some(bytes) if bytes.len() as u64 == size => Ok(bytes),
            other => {
                let address = format!("{}: {key}", self.root.display());
                let what = if other.is_none() { "it is gone" } else { "it is shorter than it was listed" };
                Err(ObjectError::Changed { address, what: what.to_owned() })
            }
        })?;
        let bytes: Arc<[u8]> = bytes.into();
        if let Ok(mut kept) = self.kept.lock() {
            kept.keep(key, &bytes);
        }
        Ok(bytes)
    }

    /// What the storage answers, unless it has failed already.
    fn asked<T>(&self, ask: impl FnOnce(&Bucket) -> Result<T, ObjectError>) -> io::Result<T> {
        if let Some(fault) = self.fault.get() {
            return Err(io::Error::other(fault.clone()));
        }
        ask(self.remote.bucket()).map_err(|error| {
            let _ = self.fault.set(error.clone());
            io::Error::other(error)
        })
    }
}

impl Kept {
    fn keep(&mut self, key: &str, bytes: &Arc<[u8]>) {
        if bytes.len() > KEPT || self.objects.contains_key(key) {
            return;
        }
        self.bytes += bytes.len();
        self.order.push_back(key.to_owned());
        self.objects.insert(key.to_owned(), Arc::clone(bytes));
        while self.bytes > KEPT {
            let Some(oldest) = self.order.pop_front() else { break };
            self.bytes -= self.objects.remove(&oldest).map_or(0, |bytes| bytes.len());
        }
    }
}
