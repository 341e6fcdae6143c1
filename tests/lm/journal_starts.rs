//! Runs with a journal and a judge: which calls a start makes, and which messages it reports.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::judge_command_line::{MODEL, verdict};
use crate::server::Server;

/// The exit code, standard output and standard error of a run in this folder.
type Ran = (Option<i32>, String, String);

/// Runs `judge_scorer score rows.jsonl -m polite --no-store ARGS` against this address, with this key.
async fn score(dir: &Path, (url, key): (&str, &str), args: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_judge_scorer"));
    for name in ["DSRS_LM", "DSRS_PRICES", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
        command.env_remove(name);
    }
    command.env("NO_PROXY", "127.0.0.1").env("OPENAI_BASE_URL", url).env("OPENAI_API_KEY", key);
    command.args(["score", "rows.jsonl", "-m", "polite", "--no-store"]).args(args);
    command.current_dir(dir);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
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

const JOURNAL: [&str; 4] = ["--lm", MODEL, "--journal", "j"];

/// The number of received calls, and how many of them were probes.
fn calls(server: &Server) -> (usize, usize) {
    let all = server.received();
    let is_probe = |name: &serde_json::Value| name == "probe";
    let name = "/response_format/json_schema/name";
    let probes = all.iter().filter(|call| call.body.pointer(name).is_some_and(is_probe)).count();
    (all.len(), probes)
}

#[tokio::test]
async fn a_finished_journal_needs_no_provider_and_no_probe() {
    let (dir, server) = (folder(), Server::start(verdict).await);
    let url = server.url("/v1");
    let first = score(dir.path(), (&url, "k"), &JOURNAL).await;
    assert_eq!((first.0, calls(&server)), (Some(0), (21, 1)), "{}", first.2);
    let again = score(dir.path(), (&url, "k"), &JOURNAL).await;
    assert_eq!((again.0, &again.1, calls(&server)), (Some(0), &first.1, (21, 1)), "{}", again.2);
    assert_eq!(again.2, "journal j: 20 rows were restored\n");
    drop(server);
    let down = score(dir.path(), (&url, "k"), &JOURNAL).await;
    assert_eq!((down.0, &down.1, &down.2), (again.0, &again.1, &again.2));
    // One more row needs the provider.
    let more = json!({ "id": 20, "gold": {}, "pred": { "response": "answer 20" } });
    let rows = std::fs::read_to_string(dir.path().join("rows.jsonl")).unwrap();
    std::fs::write(dir.path().join("rows.jsonl"), format!("{rows}\n{more}")).unwrap();
    let changed = score(dir.path(), (&url, "k"), &JOURNAL).await;
    assert!(changed.2.contains("different run: `content of rows.jsonl` was "), "{}", changed.2);
}

#[tokio::test]
async fn a_finished_journal_needs_no_key() {
    let (dir, server) = (folder(), Server::start(verdict).await);
    // Without an address a key is required. The recorded header belongs to a run with the default address.
    let url = server.url("/v1");
    assert_eq!(score(dir.path(), (&url, "k"), &JOURNAL).await.0, Some(0));
    let log = dir.path().join("j/journal.log");
    let content = std::fs::read_to_string(&log).unwrap();
    let (first, rest) = content.split_once('\n').unwrap();
    let header = first[9..].replace(&format!(" at {url}/"), "");
    assert_ne!(header, first[9..]);
    let header = format!("{:08x} {header}", crc32(header.as_bytes()));
    std::fs::write(&log, format!("{header}\n{rest}")).unwrap();
    let restored = score(dir.path(), ("", ""), &JOURNAL).await;
    assert_eq!((restored.0, &*restored.2), (Some(0), "journal j: 20 rows were restored\n"));
    let new = score(dir.path(), ("", ""), &["--lm", MODEL, "--journal", "k"]).await;
    let expected =
        "error: metric `polite`: openai:gpt-6-luna: missing API key; set OPENAI_API_KEY\n";
    assert_eq!((new.0, &*new.2), (Some(2), expected));
}

/// CRC-32 as in zip and PNG, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| (sum >> 1) ^ (0xedb8_8320 * (sum & 1)))
    })
}

#[tokio::test]
async fn a_refused_start_makes_no_call() {
    let (dir, server) = (folder(), Server::start(verdict).await);
    let url = server.url("/v1");
    assert_eq!(score(dir.path(), (&url, "k"), &JOURNAL).await.0, Some(0));
    let before = calls(&server);
    let changes: [(&[&str], &str); 4] = [
        (&["--failure-score", "0.5"], "`failure_score` was 0.0, now 0.5"),
        (&["--repeats", "2"], "`repeats` was not set, now 2"),
        (&["-m", "em", "--max-errors", "99"], "the metrics were `polite`, now `polite`, `em`"),
        (&["--param", "polite.cost=7 msat"], "`cost_msats` of `polite` was "),
    ];
    for (change, expected) in changes {
        let ran = score(dir.path(), (&url, "k"), &[&JOURNAL[..], change].concat()).await;
        assert_eq!((ran.0, ran.2.contains(expected)), (Some(2), true), "{}", ran.2);
    }
    let other =
        score(dir.path(), (&url, "k"), &["--lm", "openai:gpt-6-sol", "--journal", "j"]).await;
    let expected = format!(
        "`models` of `polite` was [\"{MODEL} at {url}/\"], now [\"openai:gpt-6-sol at {url}/\"]"
    );
    assert!(other.2.contains(&expected), "{}", other.2);
    assert_eq!(calls(&server), before);
}

/// A limit of 0 on the size of files acts like a full disk.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn trap_41_a_full_disk_costs_no_call() {
    let (dir, server) = (folder(), Server::start(verdict).await);
    let url = server.url("/v1");
    let program = env!("CARGO_BIN_EXE_judge_scorer");
    let script = format!(
        "trap '' XFSZ; ulimit -f 0; exec {program} score rows.jsonl -m polite --no-store --lm {MODEL} --journal j"
    );
    for _ in 0..3 {
        let mut command = Command::new("sh");
        command.args(["-c", &script]).env("NO_PROXY", "127.0.0.1").env("OPENAI_API_KEY", "k");
        command.env("OPENAI_BASE_URL", &url).current_dir(dir.path());
        let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        let expected = "error: cannot open the journal `j`: File too large (os error 27)\n";
        assert_eq!(String::from_utf8(output.stderr).unwrap(), expected);
        assert_eq!((output.status.code(), calls(&server)), (Some(2), (0, 0)));
    }
    let ran = score(dir.path(), (&url, "k"), &JOURNAL).await;
    assert_eq!((ran.0, calls(&server)), (Some(0), (21, 1)), "{}", ran.2);
}

#[tokio::test]
async fn rows_that_the_budget_skipped_are_not_restored() {
    let (dir, server) = (folder(), Server::start(verdict).await);
    let url = server.url("/v1");
    let budget = [&JOURNAL[..], &["--concurrency", "1", "--budget", "2330 msat"]].concat();
    let first = score(dir.path(), (&url, "k"), &budget).await;
    assert_eq!(first.0, Some(1), "{}", first.2);
    assert!(!first.2.contains("restored"), "{}", first.2);
    let scored = calls(&server).0 - 1;
    assert!((1..20).contains(&scored), "{scored}");
    let second = score(dir.path(), (&url, "k"), &budget).await;
    let restored = match scored {
        1 => "journal j: 1 row was restored\n".to_owned(),
        rows => format!("journal j: {rows} rows were restored\n"),
    };
    assert!(second.2.contains(&restored), "{scored} rows are in the journal: {}", second.2);
}
