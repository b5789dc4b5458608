//! One bucket's objects, by requests that wait.

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use rusty_s3::S3Action;
use rusty_s3::actions::{DeleteObject, GetObject, ListObjectsV2, PutObject};
use ureq::http::Response;
use ureq::{Agent, Body};

use super::settings::Settings;
use super::{Address, Object, ObjectError, is_sound};

/// How often a request is tried.
const TRIES: u32 = 4;
/// How long is waited after the first try; after each further one three times as long.
const WAIT: Duration = Duration::from_millis(200);
/// How long a signature holds.
const VALID: Duration = Duration::from_secs(600);
/// How long a connection may take, and how long nothing may come or go.
const TIMEOUTS: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(30));
/// A listing's page, or an error's text, is at most this long.
const LONGEST_PAGE: u64 = 16 << 20;

/// A bucket of the storage that the environment names.
pub(crate) struct Bucket {
    name: String,
    agent: Agent,
    settings: Settings,
}

impl std::fmt::Debug for Bucket {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Bucket").field("name", &self.name).field("endpoint", &self.endpoint()).finish_non_exhaustive()
    }
}

/// What the storage answered.
struct Answer {
    status: u16,
    region: Option<String>,
    body: Vec<u8>,
}

/// What came of one try.
enum Tried {
    Answered(Answer),
    /// There is more than was asked for.
    TooLong,
    /// It may go better next time.
    Failed(String),
}

impl Bucket {
    /// The bucket of `address`; no request is made yet.
    ///
    /// # Errors
    /// When a setting of the environment is missing or wrong.
    pub(crate) fn open(address: &Address) -> Result<Self, ObjectError> {
        let (connect, idle) = TIMEOUTS;
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_connections_per_host(super::AT_ONCE)
            .timeout_resolve(Some(connect))
            .timeout_connect(Some(connect))
            .timeout_recv_response(Some(idle))
            .timeout_per_read(Some(idle))
            .timeout_per_write(Some(idle))
            .user_agent(concat!("skyfall/", env!("CARGO_PKG_VERSION")))
            .build();
        let settings = Settings::of(&address.bucket)?;
        Ok(Self { name: address.bucket.clone(), agent: config.into(), settings })
    }

    /// What the storage is called in messages.
    #[must_use]
    pub(crate) fn endpoint(&self) -> &str {
        &self.settings.endpoint
    }

    /// An object's bytes, which may be `most` at most; `None` where there is no object.
    ///
    /// # Errors
    /// When it is longer, or the storage does not give it.
    pub(crate) fn get(&self, key: &str, most: u64) -> Result<Option<Vec<u8>>, ObjectError> {
        let address = self.address(key)?;
        let action = GetObject::new(&self.settings.bucket, self.settings.credentials.as_ref(), key);
        let answer = self.answer(&address, || self.read(self.agent.get(action.sign(VALID).as_str()).call(), most))?;
        match answer.status {
            200 => Ok(Some(answer.body)),
            404 if code(&answer.body) != "NoSuchBucket" => Ok(None),
            _ => Err(self.refusal(address, &answer)),
        }
    }

    /// The bytes `range`, which is not empty, of an object that has them.
    ///
    /// # Errors
    /// When it has not, or the storage does not give them.
    pub(crate) fn get_range(&self, key: &str, range: Range<u64>) -> Result<Vec<u8>, ObjectError> {
        let address = self.address(key)?;
        let action = GetObject::new(&self.settings.bucket, self.settings.credentials.as_ref(), key);
        let length = range.end.saturating_sub(range.start);
        let header = format!("bytes={}-{}", range.start, range.end.saturating_sub(1));
        let answer = self.answer(&address, || {
            self.read(self.agent.get(action.sign(VALID).as_str()).header("range", &header).call(), length)
        })?;
        match answer.status {
            206 if answer.body.len() as u64 == length => Ok(answer.body),
            206 => Err(ObjectError::Changed { address, what: "it is shorter than it was listed".to_owned() }),
            _ => Err(self.refusal(address, &answer)),
        }
    }

    /// The objects whose keys begin with `prefix`, by key; those that cannot be asked for are left
    /// out.
    ///
    /// # Errors
    /// When there is no such bucket, or the storage does not list it.
    pub(crate) fn list(&self, prefix: &str) -> Result<Vec<Object>, ObjectError> {
        let address = format!("s3://{}/{prefix}", self.name);
        let mut objects = Vec::new();
        let mut token: Option<String> = None;
        loop {
            let mut action = ListObjectsV2::new(&self.settings.bucket, self.settings.credentials.as_ref());
            action.with_prefix(prefix);
            if let Some(token) = &token {
                action.with_continuation_token(token.as_str());
            }
            let answer =
                self.answer(&address, || self.read(self.agent.get(action.sign(VALID).as_str()).call(), LONGEST_PAGE))?;
            if answer.status != 200 {
                return Err(self.refusal(address, &answer));
            }
            let page = std::str::from_utf8(&answer.body).ok().and_then(|text| ListObjectsV2::parse_response(text).ok());
            let refused = |what: &str| {
                let (address, endpoint) = (address.clone(), self.endpoint().to_owned());
                Err(ObjectError::Refused { address, endpoint, what: what.to_owned() })
            };
            let Some(page) = page else { return refused("a listing that cannot be understood") };
            let page_objects = page.contents.into_iter().map(|content| Object {
                size: content.size.unwrap_or_default(),
                written: content.last_modified.as_deref().and_then(crate::text::time::seconds).unwrap_or_default(),
                key: content.key,
            });
            objects.extend(page_objects.filter(|object| object.key.starts_with(prefix) && is_sound(&object.key)));
            match page.next_continuation_token {
                // It would never end; and what is on the pages after it would pass for missing.
                Some(next) if token.as_ref() == Some(&next) => return refused("the same page of a listing again"),
                Some(next) => token = Some(next),
                None => break,
            }
        }
        objects.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(objects)
    }

    /// Writes an object, in place of one that is there.
    ///
    /// # Errors
    /// When the storage does not take it.
    pub(crate) fn put(&self, key: &str, bytes: &[u8]) -> Result<(), ObjectError> {
        let address = self.address(key)?;
        let answer =
            self.answer(&address, || self.read(self.agent.put(self.put_url(key)).send(bytes), LONGEST_PAGE))?;
        self.taken(address, &answer)
    }

    /// Writes an object of a file's bytes, in place of one that is there.
    ///
    /// # Errors
    /// When the file cannot be read, or the storage does not take it.
    pub(crate) fn put_file(&self, key: &str, path: &Path) -> Result<(), ObjectError> {
        let address = self.address(key)?;
        let unread = |error: std::io::Error| ObjectError::File { path: path.to_owned(), what: error.to_string() };
        drop(File::open(path).map_err(unread)?);
        let answer = self.answer(&address, || match File::open(path) {
            Ok(file) => self.read(self.agent.put(self.put_url(key)).send(file), LONGEST_PAGE),
            Err(error) => Tried::Failed(error.to_string()),
        })?;
        self.taken(address, &answer)
    }

    /// Writes an object where there is none; whether it did. After a try whose answer was lost it
    /// may not know its own object again: whoever is told `false` looks what is there.
    ///
    /// # Errors
    /// When the storage does not take it.
    pub(crate) fn put_if_absent(&self, key: &str, bytes: &[u8]) -> Result<bool, ObjectError> {
        let address = self.address(key)?;
        let answer = self.answer(&address, || {
            self.read(self.agent.put(self.put_url(key)).header("if-none-match", "*").send(bytes), LONGEST_PAGE)
        })?;
        if answer.status == 412 {
            return Ok(false);
        }
        self.taken(address, &answer).map(|()| true)
    }

    /// Removes an object; one that is not there is gone already.
    ///
    /// # Errors
    /// When the storage does not remove it.
    pub(crate) fn delete(&self, key: &str) -> Result<(), ObjectError> {
        let address = self.address(key)?;
        let action = DeleteObject::new(&self.settings.bucket, self.settings.credentials.as_ref(), key);
        let answer =
            self.answer(&address, || self.read(self.agent.delete(action.sign(VALID).as_str()).call(), LONGEST_PAGE))?;
        if answer.status == 404 && code(&answer.body) != "NoSuchBucket" {
            return Ok(());
        }
        self.taken(address, &answer)
    }

    fn put_url(&self, key: &str) -> String {
        let action = PutObject::new(&self.settings.bucket, self.settings.credentials.as_ref(), key);
        action.sign(VALID).to_string()
    }

    fn address(&self, key: &str) -> Result<String, ObjectError> {
        let address = format!("s3://{}/{key}", self.name);
        if is_sound(key) {
            return Ok(address);
        }
        Err(ObjectError::Address { address, what: "its key has an empty part, `.` or `..`" })
    }

    /// One try's answer, whose body may have `most` bytes if it is what was asked for.
    fn read(&self, response: Result<Response<Body>, ureq::Error>, most: u64) -> Tried {
        let mut response = match response {
            Ok(response) => response,
            Err(error) => return Tried::Failed(told(&error)),
        };
        let status = response.status().as_u16();
        let region = response.headers().get("x-amz-bucket-region").and_then(|value| value.to_str().ok());
        let region = region.map(str::to_owned);
        let limit = if response.status().is_success() { most } else { LONGEST_PAGE };
        // A body that is just as long as the limit would count as longer.
        let body = response.body_mut().with_config().limit(limit.saturating_add(1)).read_to_vec();
        match body {
            Ok(body) if body.len() as u64 > limit => Tried::TooLong,
            Ok(body) if is_passing(status, &body) => Tried::Failed(answered(status, &body)),
            Ok(body) => Tried::Answered(Answer { status, region, body }),
            Err(ureq::Error::BodyExceedsLimit(_)) => Tried::TooLong,
            Err(error) => Tried::Failed(told(&error)),
        }
    }

    /// The answer to a request that is tried a few times.
    fn answer(&self, address: &str, mut request: impl FnMut() -> Tried) -> Result<Answer, ObjectError> {
        let (mut tries, mut wait) = (1, WAIT);
        loop {
            match request() {
                Tried::Answered(answer) => return Ok(answer),
                Tried::TooLong => {
                    let what = "it is longer than it may be".to_owned();
                    return Err(ObjectError::Changed { address: address.to_owned(), what });
                }
                Tried::Failed(what) if tries == TRIES => {
                    return Err(ObjectError::Unreachable { endpoint: self.endpoint().to_owned(), tries, what });
                }
                Tried::Failed(_) => std::thread::sleep(wait),
            }
            (tries, wait) = (tries + 1, wait * 3);
        }
    }

    fn taken(&self, address: String, answer: &Answer) -> Result<(), ObjectError> {
        if (200..300).contains(&answer.status) { Ok(()) } else { Err(self.refusal(address, answer)) }
    }

    /// Why a request was answered otherwise than it should be.
    fn refusal(&self, address: String, answer: &Answer) -> ObjectError {
        let endpoint = self.endpoint().to_owned();
        let code = code(&answer.body);
        match (answer.status, code.as_str()) {
            (404, "NoSuchBucket") => ObjectError::NoBucket { bucket: self.name.clone(), endpoint },
            (401 | 403, _) => ObjectError::Denied { address, endpoint, what: answered(answer.status, &answer.body) },
            (status @ (301 | 307 | 400), _) if answer.region.is_some() => {
                let region = answer.region.as_deref().unwrap_or_default();
                let what = format!("{status}: the bucket is in {region}; set AWS_REGION={region}");
                ObjectError::Refused { address, endpoint, what }
            }
            _ => ObjectError::Refused { address, endpoint, what: answered(answer.status, &answer.body) },
        }
    }
}

/// Whether the same request may be answered otherwise another time.
fn is_passing(status: u16, body: &[u8]) -> bool {
    matches!(status, 408 | 429 | 500 | 502 | 503 | 504) || status == 409 && code(body) == "ConditionalRequestConflict"
}

/// A status with the words that came with it.
fn answered(status: u16, body: &[u8]) -> String {
    let (code, message) = (code(body), between(body, "Message"));
    match (code.is_empty(), message.is_empty()) {
        (true, _) => status.to_string(),
        (false, true) => format!("{status} {code}"),
        (false, false) => format!("{status} {code}: {message}"),
    }
}

/// The kind of error that an answer names.
fn code(body: &[u8]) -> String {
    between(body, "Code")
}

/// The text of an XML element without elements in it, on one line; empty where there is none.
fn between(body: &[u8], element: &str) -> String {
    let text = String::from_utf8_lossy(body);
    let inner =
        text.split_once(&format!("<{element}>")).and_then(|(_, rest)| rest.split_once(&format!("</{element}>")));
    inner.map_or(String::new(), |(inner, _)| inner.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// What went wrong on the way.
fn told(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Io(cause) => cause.to_string(),
        other => other.to_string(),
    }
}
