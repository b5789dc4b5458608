//! Servers: one that keeps objects, and some that do not do what they should.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The server that all tests share; it ends when its standard input does, and so with the tests.
static SERVER: OnceLock<(Child, u16)> = OnceLock::new();
static BUCKETS: AtomicUsize = AtomicUsize::new(0);

fn port() -> u16 {
    let start = || {
        let interpreter = std::env::var("SKYFALL_PYTHON").expect("SKYFALL_PYTHON names no interpreter: run tests/run");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/serve_objects.py");
        let mut command = Command::new(interpreter);
        let mut child = command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        (child, line.trim().parse().expect("the server names its port"))
    };
    SERVER.get_or_init(start).1
}

/// A bucket, and where its server is.
pub(super) struct Storage {
    pub(super) bucket: String,
    pub(super) port: u16,
}

impl Storage {
    /// A new bucket.
    pub(super) fn new() -> Self {
        let bucket = format!("bucket-{}", BUCKETS.fetch_add(1, Ordering::Relaxed));
        let storage = Self { bucket, port: port() };
        assert_eq!(storage.request("PUT", "", b"").0, 200);
        storage
    }

    /// What says where the storage is, and who asks.
    pub(super) fn settings(&self, command: &mut Command) {
        settings(command, self.port);
    }

    /// Sends a request for a key, or for the bucket; the answer's status and body.
    fn request(&self, method: &str, key: &str, body: &[u8]) -> (u16, Vec<u8>) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let (bucket, length) = (&self.bucket, body.len());
        let head = format!(
            "{method} /{bucket}/{key} HTTP/1.0\r\nHost: 127.0.0.1\r\nAuthorization: AWS somebody:unchecked\r\n\
             Content-Length: {length}\r\n\r\n"
        );
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
        let status = String::from_utf8_lossy(&answer[9..12]).parse().unwrap();
        (status, answer[end + 4..].to_vec())
    }

    pub(super) fn get(&self, key: &str) -> Option<Vec<u8>> {
        let (status, body) = self.request("GET", key, b"");
        (status == 200).then_some(body)
    }

    pub(super) fn put(&self, key: &str, body: &[u8]) {
        assert_eq!(self.request("PUT", key, body).0, 200);
    }

    pub(super) fn delete(&self, key: &str) {
        assert_eq!(self.request("DELETE", key, b"").0, 204);
    }

    /// The keys that begin with `prefix`.
    pub(super) fn keys(&self, prefix: &str) -> Vec<String> {
        let (status, body) = self.request("GET", &format!("?list-type=2&prefix={prefix}"), b"");
        assert_eq!(status, 200);
        let text = String::from_utf8(body).unwrap();
        assert!(text.contains("<IsTruncated>false<"), "more than one page: {text}");
        text.split("<Key>").skip(1).map(|rest| rest.split_once("</Key>").unwrap().0.to_owned()).collect()
    }
}

/// What says that the storage is at a port of this machine.
pub(super) fn settings(command: &mut Command, port: u16) {
    let variables = std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("AWS_"));
    for (name, _) in variables {
        command.env_remove(name);
    }
    command.env("AWS_ACCESS_KEY_ID", "somebody").env("AWS_SECRET_ACCESS_KEY", "secret").env("AWS_ALLOW_HTTP", "true");
    command.env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}"));
}

/// A port whose server hands each of so many connections to `server`, and drops those that follow.
pub(super) fn for_a_while(connections: usize, server: u16) -> u16 {
    serve(move |number, mut stream| {
        if number >= connections {
            return;
        }
        let mut there = TcpStream::connect(("127.0.0.1", server)).unwrap();
        let (mut back, mut forth) = (there.try_clone().unwrap(), stream.try_clone().unwrap());
        std::thread::spawn(move || std::io::copy(&mut forth, &mut there));
        let _ = std::io::copy(&mut back, &mut stream);
        let _ = stream.shutdown(std::net::Shutdown::Both);
    })
}

/// A port whose server has no object and takes every one, whatever it was told.
pub(super) fn careless() -> u16 {
    empty("")
}

/// A port whose server has no object, and a listing that never ends.
pub(super) fn endless() -> u16 {
    empty("<NextContinuationToken>again</NextContinuationToken>")
}

/// A port whose server has no object, takes every one, and lists `listing`.
fn empty(listing: &'static str) -> u16 {
    serve(move |_, stream| {
        let mut reader = BufReader::new(stream);
        let (mut head, mut length) = (String::new(), 0);
        while reader.read_line(&mut head).unwrap_or(0) > 2 {
            let line = head.lines().last().unwrap_or_default().to_lowercase();
            length = line.strip_prefix("content-length: ").map_or(length, |value| value.trim().parse().unwrap());
        }
        let _ = reader.read_exact(&mut vec![0; length]);
        let list = format!(
            "HTTP/1.0 200 OK\r\n\r\n<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">{listing}</ListBucketResult>"
        );
        let answer: &[u8] = match head.split(' ').next() {
            Some("GET") if head.contains("list-type") => list.as_bytes(),
            Some("GET") => b"HTTP/1.0 404 Not Found\r\n\r\n<Error><Code>NoSuchKey</Code></Error>",
            Some("DELETE") => b"HTTP/1.0 204 No Content\r\n\r\n",
            _ => b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        };
        let _ = reader.get_mut().write_all(answer);
    })
}

/// A port on which `answer` is given every connection, with its number.
fn serve(answer: impl Fn(usize, TcpStream) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for (number, stream) in listener.incoming().flatten().enumerate() {
            answer(number, stream);
        }
    });
    port
}
