//! Compares with dspy itself on fresh random strings, and on every code point.
//!
//! `DSRS_METRICS_PYTHON` names a Python with dspy 3.4.1 (default `python3`). Without it the tests print a notice and pass,
//! unless `DSRS_METRICS_REQUIRE` is 1. `DSRS_METRICS_REQUESTS=222000` compares that many random strings. The reference is CPython 3.11. The code points
//! that it does not know, and with another version those that its Unicode version treats differently, are left out (they are
//! listed in `unicode_versions.txt`).

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use dsrs_metrics_tests::Peer;

use super::draw::Draw;
use super::replay::{Differences, Reply, Request};
use super::versions;

const REFERENCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/parity/reference.py");
const VERSION: &str = "import sys; print('%d.%d' % sys.version_info[:2])";

/// How many random strings or pairs are drawn, unless `DSRS_METRICS_REQUESTS` is set, as before a release.
const RANDOM_REQUESTS: usize = 6_000;

/// A Python with dspy, and the characters on which it may differ from CPython 3.11.
struct Python {
    peer: Peer,
    other_version: HashSet<char>,
}

impl Python {
    /// `None`, after printing the reason, without dspy 3.4.1.
    fn find() -> Option<Self> {
        let peer = Peer::with(&["dspy"])?;
        let version = peer
            .output(&["-c", VERSION])
            .expect("the version of Python");
        let section = if version == "3.11" { "Later" } else { "" };
        let other_version = versions::section(section).collect();
        Some(Self {
            peer,
            other_version,
        })
    }

    /// Sends all requests to one child process: a thread writes, this one reads.
    fn compare(&self, requests: &[Request]) -> Differences {
        let mut child = Command::new(self.peer.program())
            .arg(REFERENCE)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the Python that was probed starts again");
        let mut input = child.stdin.take().expect("piped");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let mut differences = Differences::default();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for request in requests {
                    let line = serde_json::to_string(request).expect("a request is plain JSON");
                    writeln!(input, "{line}").expect("the child reads until the end");
                }
            });
            for (request, line) in requests.iter().zip(output.lines()) {
                let line = line.expect("UTF-8 from the child");
                let reply: Reply = serde_json::from_str(&line).expect("a reply a line");
                differences.compare(request, &reply);
            }
        });
        assert!(child.wait().expect("the child ends").success());
        assert_eq!(
            differences.compared,
            requests.len(),
            "a reply to each request"
        );
        differences
    }

    fn agrees_about(&self, text: &str) -> bool {
        self.other_version.is_empty() || !text.chars().any(|c| self.other_version.contains(&c))
    }
}

#[test]
fn dspy_agrees_on_fresh_random_strings() {
    let Some(python) = Python::find() else {
        return;
    };
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("after 1970");
    let seed = std::env::var("DSRS_METRICS_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(now.as_nanos() as u64);
    println!("DSRS_METRICS_SEED={seed} draws the same strings again");
    let mut draw = Draw::new(seed, |text| python.agrees_about(text));
    let count = std::env::var("DSRS_METRICS_REQUESTS")
        .ok()
        .and_then(|count| count.parse().ok());
    let count = count.unwrap_or(RANDOM_REQUESTS);
    let requests: Vec<_> = (0..count).map(|_| draw.request()).collect();
    let differences = python.compare(&requests);
    differences.assert_none();
    println!("{} random requests, no difference", differences.compared);
}

#[test]
fn dspy_agrees_on_every_code_point() {
    let Some(python) = Python::find() else {
        return;
    };
    let all: Vec<char> = ('\0'..=char::MAX)
        .filter(|c| !python.other_version.contains(c))
        .collect();
    let requests: Vec<_> = all
        .chunks(64)
        .map(|chunk| Request::Text {
            text: chunk
                .iter()
                .map(|c| format!("{c} A{c}\u{323}Σ {c}Σ the{c} "))
                .collect(),
        })
        .collect();
    let differences = python.compare(&requests);
    differences.assert_none();
    println!("{} code points, no difference", all.len());
}
