//! The commands of the guide page `formats`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;

use serde_json::Value;

use super::{ROWS, export};
use crate::Folder;

const PAGE: &str = include_str!("../../../dsrs-metrics/docs/guide/formats.md");

#[test]
fn the_first_commands_of_the_guide_write_a_log_and_a_folder() {
    let (folder, data) = (
        Folder::new(),
        concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/"),
    );
    let (_, block) = PAGE
        .split_once("## Export\n")
        .and_then(|(_, it)| it.split_once("```sh\n"))
        .unwrap();
    for line in block.split_once("```").unwrap().0.lines() {
        let line = line.replace("examples/", data);
        let args: Vec<&str> = line.split(' ').skip(1).collect();
        let ran = folder.run(&args);
        assert_eq!(ran.code, Some(0), "{line}: {}", ran.err);
    }
    assert_eq!(
        folder.files(),
        ["data", "run.eval", "run.jsonl", "run.jsonl.manifest.json"]
    );
}

/// The commands of the guide with curl, each sent to a server that keeps what it received.
#[test]
fn the_commands_of_the_guide_send_each_line() {
    let folder = Folder::with("run.jsonl", ROWS);
    let mut sent = 0;
    let loops = PAGE
        .split("```sh\n")
        .filter_map(|it| it.split_once("\n```"));
    for (command, _) in loops.filter(|(command, _)| command.starts_with("while ")) {
        let (file, to, path) = match command {
            it if it.contains("< scores.jsonl") => {
                ("scores.jsonl", "langfuse", "/api/public/scores")
            }
            _ => ("assessments.jsonl", "mlflow", "/api/3.0/mlflow/traces/"),
        };
        export(&folder, to, file, "");
        let expected = folder.read(file);
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", server.local_addr().unwrap());
        let count = expected.lines().count();
        let received = std::thread::spawn(move || {
            server
                .incoming()
                .take(count)
                .map(|stream| request(stream.unwrap()))
                .collect::<Vec<_>>()
        });
        let mut shell = Command::new("sh");
        shell
            .args(["-c", command])
            .current_dir(folder.path(""))
            .env("no_proxy", "*");
        for name in ["LANGFUSE_BASE_URL", "MLFLOW_TRACKING_URI"] {
            shell.env(name, &url);
        }
        let ran = shell
            .env("LANGFUSE_PUBLIC_KEY", "pk")
            .env("LANGFUSE_SECRET_KEY", "sk")
            .output();
        let ran = ran.unwrap();
        assert!(
            ran.status.success(),
            "{}",
            String::from_utf8_lossy(&ran.stderr)
        );
        for ((target, body), line) in received.join().unwrap().iter().zip(expected.lines()) {
            let [target, body]: [&str; 2] = [target, body];
            assert_eq!(body, line, "{to}");
            let trace: Value = serde_json::from_str(line).unwrap();
            let expected = match trace["assessment"]["trace_id"].as_str() {
                Some(trace) => format!("{path}{trace}/assessments"),
                None => path.to_owned(),
            };
            assert_eq!(target, expected);
            sent += 1;
        }
    }
    // Three scores and six assessments.
    assert_eq!(sent, 9);
}

/// Reads a request, and answers it. Returns its path and its body.
fn request(stream: TcpStream) -> (String, String) {
    let mut reader = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let mut stream = reader.into_inner();
    stream
        .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
        .unwrap();
    (
        first.split(' ').nth(1).unwrap().to_owned(),
        String::from_utf8(body).unwrap(),
    )
}
