//! A served policy over real sockets: answers, refusals, load, and a graceful end.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::command::Scratch;

const CONFIG: &str = "env: {id: CartPole-v1}\nalgorithm: {name: discrete_hill_climbing, policy: {id: linear_menu}}\n\
    rollout: {total_steps: 300}\nrun: {name: served, seed: 4}\n";
const OBSERVATION: &str = "[0.1, -0.2, 0.05, 3]";

struct Served {
    child: Child,
    address: String,
    _scratch: Scratch,
}

fn served() -> Served {
    let scratch = Scratch::new();
    scratch.write("config.yaml", CONFIG);
    scratch.skyfall(&["run", "config.yaml", "--export", "bundle"]).ok();
    serve(scratch, "bundle")
}

fn serve(scratch: Scratch, bundle: &str) -> Served {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skyfall"));
    command.args(["serve", bundle, "--listen", "0"]).current_dir(scratch.path()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("listening on http://").unwrap().to_owned();
    assert!(address.starts_with("127.0.0.1:"), "loopback unless asked otherwise: {address}");
    Served { child, address, _scratch: scratch }
}

impl Served {
    /// Sends `bytes` on a connection of its own and returns the answer's status and body.
    fn raw(&self, bytes: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        // A server that refuses early may close before everything is sent.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8(answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    fn request(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        self.raw(format!("{head}{body}").as_bytes())
    }

    fn act(&self, body: &str) -> (u16, String) {
        self.request("POST", "/act", body)
    }

    /// Ends the server by Ctrl-C, which it must survive well.
    fn end(mut self) {
        kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // A failed test leaves no server behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn what_is_served_is_told() {
    let served = served();
    let (status, body) = served.request("GET", "/", "");
    assert_eq!(status, 200);
    let about: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(about["policy"], "linear_menu");
    assert_eq!(about["env"], "CartPole-v1");
    assert_eq!(about["run"]["run_id"], "served");
    assert_eq!(about["observation_space"]["shape"], serde_json::json!([4]));
    assert_eq!(about["action_space"]["n"], 2);
    served.end();
}

#[test]
fn one_observation_and_a_batch_are_answered_alike() {
    let served = served();
    let (status, body) = served.act(&format!("{{\"observation\": {OBSERVATION}}}"));
    assert_eq!(status, 200, "{body}");
    let one: serde_json::Value = serde_json::from_str(&body).unwrap();
    let action = one["action"].as_i64().unwrap();
    assert!((0..2).contains(&action));
    let (status, body) = served.act(&format!("{{\"observations\": [{OBSERVATION}, {OBSERVATION}, [0, 0, 0, 0]]}}"));
    assert_eq!(status, 200, "{body}");
    let batch: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(batch["actions"].as_array().unwrap().len(), 3);
    assert_eq!((&batch["actions"][0], &batch["actions"][1]), (&one["action"], &one["action"]));
    assert_eq!(served.act("{\"observations\": []}"), (200, "{\"actions\": []}\n".to_owned()));
    served.end();
}

#[test]
fn what_cannot_be_answered_is_refused_clearly() {
    let served = served();
    let bomb = "[".repeat(100_000);
    for (body, says) in [
        ("", "not JSON"),
        ("{", "not JSON"),
        (&*bomb, "not JSON"),
        ("[1]", "expected {"),
        ("{}", "expected {"),
        ("{\"observation\": [0, 0, 0, 0], \"seed\": 1}", "expected {"),
        ("{\"observation\": [0, 0, 0]}", "`observation`"),
        ("{\"observation\": [0, 0, 9, 0]}", "lies outside Box"),
        ("{\"observation\": [0, NaN, 0, 0]}", "lies outside Box"),
        ("{\"observation\": \"left\"}", "`observation`"),
        ("{\"observations\": {\"a\": 1}}", "must be a list"),
        ("{\"observations\": [[0, 0, 0, 0], [0]]}", "`observations[1]`"),
    ] {
        let (status, answer) = served.act(body);
        let error: serde_json::Value = serde_json::from_str(&answer).unwrap();
        assert!(status == 400 && error["error"].as_str().unwrap().contains(says), "{status} {answer}");
    }
    assert_eq!(served.request("GET", "/act", "").0, 405);
    assert_eq!(served.request("POST", "/", "{}").0, 405);
    assert_eq!(served.request("GET", "/weights", "").0, 404);
    assert_eq!(served.request("POST", "/../act", "{}").0, 404);
    let (status, _) =
        served.raw(b"POST /act HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n\xff\xfe");
    assert_eq!(status, 400);
    let (status, answer) =
        served.raw(b"POST /act HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 99999999999\r\n\r\n{");
    assert_eq!(status, 413, "{answer}");
    assert_eq!(served.raw(b"what is this\r\n\r\n").0, 400);
    // It still answers.
    assert_eq!(served.act(&format!("{{\"observation\": {OBSERVATION}}}")).0, 200);
    served.end();
}

#[test]
fn a_body_of_unknown_length_is_bounded_as_well() {
    let served = served();
    let mut request =
        b"POST /act HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for _ in 0..17 {
        request.extend_from_slice(b"100000\r\n");
        request.resize(request.len() + (1 << 20), b' ');
        request.extend_from_slice(b"\r\n");
    }
    // It is refused before its end, which never comes.
    let (status, answer) = served.raw(&request);
    assert!(status == 413 && answer.contains("larger than 16777216 bytes"), "{status} {answer}");
    let small = format!("{{\"observation\": {OBSERVATION}}}");
    let chunk = format!("{:x}\r\n{small}\r\n0\r\n\r\n", small.len());
    let head = "POST /act HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(served.raw(format!("{head}{chunk}").as_bytes()), served.act(&small));
    served.end();
}

#[test]
fn a_client_that_does_not_send_what_it_announced_is_told_so_in_the_end() {
    let served = served();
    let (status, answer) =
        served.raw(b"POST /act HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 9\r\n\r\n{");
    assert!(status == 408 && answer.contains("did not arrive in time"), "{status} {answer}");
    served.end();
}

#[test]
fn more_connections_than_are_held_wait_for_their_turn() {
    let served = served();
    let idle: Vec<TcpStream> = (0..256).map(|_| TcpStream::connect(&served.address).unwrap()).collect();
    let mut late = TcpStream::connect(&served.address).unwrap();
    late.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    late.set_read_timeout(Some(std::time::Duration::from_millis(500))).unwrap();
    assert!(late.read(&mut [0; 12]).is_err(), "it was answered before its turn");
    drop(idle);
    late.set_read_timeout(None).unwrap();
    let mut first = [0; 12];
    late.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    served.end();
}

#[test]
fn concurrent_clients_are_all_answered() {
    let served = served();
    let expected = served.act(&format!("{{\"observation\": {OBSERVATION}}}"));
    std::thread::scope(|scope| {
        for client in 0..16 {
            let (served, expected) = (&served, &expected);
            scope.spawn(move || {
                for _ in 0..25 {
                    match client % 4 {
                        0 => assert_eq!(served.act("{\"observation\": [1]}").0, 400),
                        1 => drop(TcpStream::connect(&served.address).unwrap().write_all(b"POST /act HT")),
                        _ => assert_eq!(served.act(&format!("{{\"observation\": {OBSERVATION}}}")), *expected),
                    }
                }
            });
        }
    });
    served.end();
}

#[test]
fn an_idle_connection_does_not_keep_the_server_from_ending() {
    let served = served();
    let mut idle = TcpStream::connect(&served.address).unwrap();
    idle.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut first = [0; 12];
    idle.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    served.end();
    let _ = idle.shutdown(Shutdown::Both);
}

#[test]
fn what_cannot_be_listened_on_or_served_is_said() {
    let scratch = Scratch::new();
    scratch.write("config.yaml", CONFIG);
    scratch.skyfall(&["run", "config.yaml", "--export", "bundle"]).ok();
    scratch.skyfall(&["serve", "bundle", "--listen", "nowhere"]).failed(2, &["`nowhere` is no address"]);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    scratch.skyfall(&["serve", "bundle", "--listen", &address]).failed(1, &["cannot listen on", &address]);
    scratch.skyfall(&["serve", "bundle", "--listen", "0", "--steps", "3"]).failed(2, &["--steps"]);
    scratch.skyfall(&["serve", "nothing", "--listen", "0"]).failed(3, &["nothing is not a bundle"]);
    let manifest = scratch.read("bundle/manifest.yaml");
    scratch.write("bundle/manifest.yaml", &manifest.replace("  id: linear_menu\n", "  id: null\n"));
    scratch.skyfall(&["serve", "bundle", "--listen", "0"]).failed(1, &["`policy.id` is null"]);
}

/// What `docs/serving.md` shows is what its bundle answers.
#[test]
fn the_page_s_questions_have_the_page_s_answers() {
    let page = include_str!("../docs/serving.md");
    let scratch = Scratch::new();
    scratch.write("windy.lua", include_str!("../scripts/windy.lua"));
    scratch.skyfall(&["script", "windy.lua"]).ok();
    let served = serve(scratch, "calm-windy-calm/bundle");
    let mut asked = 0;
    for (question, answer) in page.lines().zip(page.lines().skip(1)) {
        if let Some((_, body)) = question.split_once("curl -d '") {
            let (body, path) = body.split_once("' http://127.0.0.1:8700/").unwrap();
            assert_eq!(served.request("POST", &format!("/{path}"), body).1.trim_end(), answer, "{body}");
            asked += 1;
        }
    }
    assert_eq!(asked, 3);
    served.end();
}
