//! Answering observations over HTTP: `POST /act` and `GET /`, JSON in and out.
//!
//! One thread serves every connection, so the policy sees one observation after the other. What
//! comes in is bounded: the size of a body, the time to send it, the number of connections.

use std::cell::RefCell;
use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::sync::watch;
use tokio::task::{JoinSet, LocalSet};
use tokio::time::timeout;

use super::act::{ActError, Actor};
use crate::diagnostic::{Exit, Problem};
use crate::snapshot::state;
use crate::text::json;
use crate::value::Value;

/// The largest body that is read, in bytes.
const LARGEST_BODY: usize = 16 << 20;
/// The most connections at a time; others wait to be accepted.
const MOST_CONNECTIONS: usize = 256;
/// How long a client may take to send a request, or keep an idle connection.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long requests that are being answered may take when the server is stopped.
const FAREWELL: Duration = Duration::from_secs(5);
/// How often the server looks whether it is to stop.
const GLANCE: Duration = Duration::from_millis(50);

/// Why nothing can be served at an address.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// The address is not one.
    #[error("`{0}` is no address to listen on")]
    Address(String),
    /// The system refused.
    #[error("cannot listen on {address}: {source}")]
    System {
        /// The address.
        address: String,
        /// What the system said.
        source: io::Error,
    },
}

impl Problem for ListenError {
    fn code(&self) -> &'static str {
        "serve/listen"
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Address(_) => Exit::Usage,
            Self::System { .. } => Exit::Failure,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Address(_) => Some("write HOST:PORT with an IP address, or PORT for this machine alone".to_owned()),
            Self::System { .. } => None,
        }
    }
}

/// A server that is bound to its address.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

impl Server {
    /// Binds `address`, `HOST:PORT`; a port alone is that of the loopback interface, port 0 is
    /// any free one.
    ///
    /// # Errors
    /// When it is no address, or the system refuses.
    pub fn bind(address: &str) -> Result<Self, ListenError> {
        let parsed = match address.strip_prefix(':').unwrap_or(address).parse::<u16>() {
            Ok(port) => SocketAddr::from(([127, 0, 0, 1], port)),
            Err(_) => match address.strip_prefix("localhost:").and_then(|port| port.parse().ok()) {
                Some(port) => SocketAddr::from(([127, 0, 0, 1], port)),
                None => address.parse().map_err(|_| ListenError::Address(address.to_owned()))?,
            },
        };
        let bind = || {
            let listener = TcpListener::bind(parsed)?;
            listener.set_nonblocking(true)?;
            let address = listener.local_addr()?;
            Ok(Self { listener, address })
        };
        bind().map_err(|source| ListenError::System { address: parsed.to_string(), source })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until `stop` says so; requests that are being answered are finished.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn run(self, actor: Actor, stop: &dyn Fn() -> bool) -> Result<(), ListenError> {
        let address = self.address.to_string();
        let failed = |source| ListenError::System { address: address.clone(), source };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let actor = Rc::new(RefCell::new(actor));
        LocalSet::new().block_on(&runtime, accept(self.listener, actor, stop)).map_err(failed)
    }
}

async fn accept(listener: TcpListener, actor: Rc<RefCell<Actor>>, stop: &dyn Fn() -> bool) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let (stopping, _) = watch::channel(false);
    let mut connections = JoinSet::new();
    while !stop() {
        while connections.try_join_next().is_some() {}
        if connections.len() >= MOST_CONNECTIONS {
            let _ = timeout(GLANCE, connections.join_next()).await;
            continue;
        }
        match timeout(GLANCE, listener.accept()).await {
            Ok(Ok((stream, _))) => {
                connections.spawn_local(serve(TokioIo::new(stream), Rc::clone(&actor), stopping.subscribe()));
            }
            // A client that is gone already, or no descriptors left: neither is the end.
            Ok(Err(_)) => tokio::time::sleep(GLANCE).await,
            Err(_) => {}
        }
    }
    drop(listener);
    let _ = stopping.send(true);
    let all = async { while connections.join_next().await.is_some() {} };
    let _ = timeout(FAREWELL, all).await;
    Ok(())
}

/// Serves one connection to its end.
async fn serve(io: TokioIo<tokio::net::TcpStream>, actor: Rc<RefCell<Actor>>, mut stopping: watch::Receiver<bool>) {
    let service = service_fn(move |request| {
        let actor = Rc::clone(&actor);
        async move { Ok::<_, Infallible>(respond(request, &actor).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(PATIENCE).max_buf_size(64 << 10);
    let mut connection = pin!(http.serve_connection(io, service));
    // What goes wrong on a connection is its client's to notice.
    tokio::select! {
        _ = connection.as_mut() => {}
        _ = stopping.changed() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

async fn respond(request: Request<Incoming>, actor: &RefCell<Actor>) -> Response<Full<Bytes>> {
    match (request.uri().path(), request.method()) {
        ("/", &Method::GET) => reply(StatusCode::OK, actor.borrow().about()),
        ("/act", &Method::POST) => match read(request.into_body()).await {
            Ok(request) => match actor.borrow_mut().answer(&request) {
                Ok(answer) => reply(StatusCode::OK, &answer),
                Err(ActError::Request(message)) => refusal(StatusCode::BAD_REQUEST, message),
                Err(ActError::Policy(message)) => refusal(StatusCode::INTERNAL_SERVER_ERROR, message),
            },
            Err((status, message)) => refusal(status, message),
        },
        ("/", method) => not_allowed("/", method, "GET"),
        ("/act", method) => not_allowed("/act", method, "POST"),
        (path, _) => refusal(StatusCode::NOT_FOUND, format!("there is no `{path}`; there are GET / and POST /act")),
    }
}

/// The JSON of a body, or the status and the line that refuse it.
async fn read(body: Incoming) -> Result<Value, (StatusCode, String)> {
    let too_large = || (StatusCode::PAYLOAD_TOO_LARGE, format!("the body is larger than {LARGEST_BODY} bytes"));
    // A length that is announced need not be waited for.
    if usize::try_from(body.size_hint().lower()).map_or(true, |length| length > LARGEST_BODY) {
        return Err(too_large());
    }
    let body = timeout(PATIENCE, Limited::new(body, LARGEST_BODY).collect()).await;
    let body = body.map_err(|_| (StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time".to_owned()))?;
    let bytes = body.map_err(|error| match error.downcast_ref::<LengthLimitError>() {
        Some(_) => too_large(),
        None => (StatusCode::BAD_REQUEST, "the body did not arrive whole".to_owned()),
    })?;
    let bytes = bytes.to_bytes();
    let text =
        std::str::from_utf8(&bytes).map_err(|_| (StatusCode::BAD_REQUEST, "the body is not UTF-8".to_owned()))?;
    json::parse(text).map_err(|error| (StatusCode::BAD_REQUEST, format!("the body is not JSON: {error}")))
}

fn not_allowed(path: &str, method: &Method, allowed: &'static str) -> Response<Full<Bytes>> {
    let mut response = refusal(StatusCode::METHOD_NOT_ALLOWED, format!("`{path}` takes {allowed}, not {method}"));
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(allowed));
    response
}

fn refusal(status: StatusCode, message: String) -> Response<Full<Bytes>> {
    reply(status, &state([("error", message.into())]))
}

fn reply(status: StatusCode, body: &Value) -> Response<Full<Bytes>> {
    let mut text = json::to_string(body);
    text.push('\n');
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
