//! Runs with a store and a judge: which calls a start makes, and which messages it reports.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::judge_command_line::{MODEL, verdict};
use crate::server::Server;

/// The exit code, standard output and standard error of a run in this folder.
type Ran = (Option<i32>, String, String);

/// Runs `judge_scorer score rows.jsonl -m polite ARGS` against this address, with this key.
async fn score(dir: &Path, (url, key): (&str, &str), args: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_judge_scorer"));
    for name in [
        "DSRS_LM",
        "DSRS_PRICES",
        "HTTP_PROXY",
        "http_proxy",
        "ALL_PROXY",
        "all_proxy",
    ] {
        command.env_remove(name);
    }
    command
        .env("NO_PROXY", "127.0.0.1")
        .env("OPENAI_BASE_URL", url)
        .env("OPENAI_API_KEY", key);
    command
        .args(["score", "rows.jsonl", "-m", "polite"])
        .args(args);
    command.current_dir(dir);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap())
        .await
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let (out, err) = (text(output.stdout), text(output.stderr));
    dsrs_metrics_tests::schema::validate_output(&out);
    (output.status.code(), out, err)
}

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let row = |id: usize| {
        json!({ "id": id, "gold": {}, "pred": { "response": format!("answer {id}") } }).to_string()
    };
    let rows: Vec<String> = (0..20).map(row).collect();
    std::fs::write(dir.path().join("rows.jsonl"), rows.join("\n")).unwrap();
    dir
}

const STORE: [&str; 4] = ["--lm", MODEL, "--store", "s"];

/// The number of received calls, and how many of them were probes.
fn calls(server: &Server) -> (usize, usize) {
    let all = server.received();
    let is_probe = |name: &serde_json::Value| name == "probe";
    let name = "/response_format/json_schema/name";
    let probes = all
        .iter()
        .filter(|call| call.body.pointer(name).is_some_and(is_probe))
        .count();
    (all.len(), probes)
}

#[tokio::test]
async fn the_same_command_pays_for_what_changed_and_says_so() {
    let (dir, server) = (folder(), Server::start(verdict).await);
    let url = server.url("/v1");
    let first = score(dir.path(), (&url, "k"), &STORE).await;
    assert_eq!((first.0, calls(&server)), (Some(0), (21, 1)), "{}", first.2);
    let line = "20 rows: 0 unchanged, 20 evaluated; 20 billable results: 0 from the store, 20 newly paid for\n";
    assert!(first.2.contains(line), "{}", first.2);
    let again = score(dir.path(), (&url, "k"), &STORE).await;
    assert_eq!(
        (again.0, &again.1, calls(&server)),
        (Some(0), &first.1, (22, 2)),
        "{}",
        again.2
    );
    let line = "20 rows: 20 unchanged, 0 evaluated; 20 billable results: 20 from the store, 0 newly paid for\n";
    assert!(again.2.contains(line), "{}", again.2);
    // One more row.
    let more = json!({ "id": 20, "gold": {}, "pred": { "response": "answer 20" } });
    let rows = std::fs::read_to_string(dir.path().join("rows.jsonl")).unwrap();
    std::fs::write(dir.path().join("rows.jsonl"), format!("{rows}\n{more}")).unwrap();
    let changed = score(dir.path(), (&url, "k"), &STORE).await;
    let line = "21 rows: 20 unchanged, 1 evaluated; 21 billable results: 20 from the store, 1 newly paid for\n";
    assert!(changed.2.contains(line), "{}", changed.2);
    assert_eq!(calls(&server), (24, 3));
    // A setting of the summary changes no reply.
    let other = [&STORE[..], &["--failure-score", "0.5"]].concat();
    let other = score(dir.path(), (&url, "k"), &other).await;
    assert!(
        other.2.contains("21 from the store, 0 newly paid for"),
        "{}",
        other.2
    );
    let refreshed = score(
        dir.path(),
        (&url, "k"),
        &[&STORE[..], &["--refresh"]].concat(),
    )
    .await;
    assert!(
        refreshed.2.contains("0 from the store, 21 newly paid for"),
        "{}",
        refreshed.2
    );
    let without = score(dir.path(), (&url, "k"), &["--lm", MODEL, "--no-store"]).await;
    assert!(!without.2.contains("from the store"), "{}", without.2);
}

/// A limit of 0 on the size of files acts like a full disk.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_costs_no_call() {
    let (dir, server) = (folder(), Server::start(verdict).await);
    let url = server.url("/v1");
    let program = env!("CARGO_BIN_EXE_judge_scorer");
    let script = format!(
        "trap '' XFSZ; ulimit -f 0; exec {program} score rows.jsonl -m polite --lm {MODEL} --store s"
    );
    for _ in 0..3 {
        let mut command = Command::new("sh");
        command
            .args(["-c", &script])
            .env("NO_PROXY", "127.0.0.1")
            .env("OPENAI_API_KEY", "k");
        command.env("OPENAI_BASE_URL", &url).current_dir(dir.path());
        let output = tokio::task::spawn_blocking(move || command.output().unwrap())
            .await
            .unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(
            error.contains("store ") && error.contains("disk I/O error"),
            "{error}"
        );
        assert_eq!((output.status.code(), calls(&server)), (Some(2), (0, 0)));
    }
    let ran = score(dir.path(), (&url, "k"), &STORE).await;
    assert_eq!((ran.0, calls(&server)), (Some(0), (21, 1)), "{}", ran.2);
}
