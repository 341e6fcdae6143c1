//! `store info`, `store prune`, and the options of `score` for the store.

use std::path::Path;
use std::process::Command;

use dsrs_metrics::lm::{LanguageModel, ScriptedLm, Store, Stored};
use rusqlite::Connection;

use crate::ask;
use crate::judge_command_line::{MODEL, refused, score, verdict};
use crate::server::Server;

struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

/// Runs `judge_scorer store ..` with the store in this folder.
fn store(folder: &Path, args: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_judge_scorer"));
    let output = command
        .arg("store")
        .args(args)
        .arg("--store")
        .arg(folder)
        .output()
        .unwrap();
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Ran {
    #[track_caller]
    fn printed(&self) -> &str {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""));
        &self.out
    }
}

/// A store with these replies of 7 msat. The time of the first one is 2001, that of the last one is in the future.
async fn with_replies(count: u64) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let lm = Stored::new(
        ScriptedLm::new().otherwise("x".repeat(1500)).cost(7),
        store.clone(),
    );
    for call in 0..count {
        lm.complete(&ask(&call.to_string())).await.unwrap();
    }
    let path = store.path().to_owned();
    drop((lm, store));
    let connection = Connection::open(path).unwrap();
    connection
        .execute(
            "UPDATE records SET stored_at = 1000000000 WHERE number = 1",
            (),
        )
        .unwrap();
    let last = "UPDATE records SET stored_at = 9000000000000 WHERE number = ?1";
    connection
        .execute(last, [i64::try_from(count).unwrap()])
        .unwrap();
    dir
}

#[tokio::test]
async fn info_prints_number_cost_size_and_times() {
    let dir = with_replies(3).await;
    let path = dir.path().canonicalize().unwrap().join("store.sqlite");
    let size = path.metadata().unwrap().len() as f64 / 1000.0;
    let expected = format!(
        "{}: {size:.1} kB\n\
         model replies          3\n\
         program outputs        0\n\
         metric evaluations     0\n\
         total cost             21 msat\n\
         stored                 2001-09-09T01:46:40Z to 9999-12-31T23:59:59Z\n",
        path.display()
    );
    assert_eq!(store(dir.path(), &["info"]).printed(), expected);
    let checked = store(dir.path(), &["info", "--check"]);
    assert_eq!(checked.printed(), format!("{expected}no damage found\n"));
}

#[tokio::test]
async fn info_with_check_reports_damage() {
    let dir = with_replies(3).await;
    let path = dir.path().join("store.sqlite");
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(9).rposition(|it| it == b"xxxxxxxxx").unwrap();
    bytes[at] = b'y';
    std::fs::write(&path, bytes).unwrap();
    store(dir.path(), &["info"]).printed();
    let ran = store(dir.path(), &["info", "--check"]);
    assert_eq!((ran.code, &*ran.out), (Some(2), ""));
    let expected = "store.sqlite: the database is damaged (record ";
    assert!(
        ran.err.contains(expected) && ran.err.lines().count() == 1,
        "{}",
        ran.err
    );
}

#[tokio::test]
async fn prune_removes_old_records_and_those_beyond_a_size() {
    let dir = with_replies(200).await;
    let (path, size) = (dir.path().join("store.sqlite"), || {
        dir.path().join("store.sqlite").metadata().unwrap().len()
    });
    let before = size();
    let old = store(dir.path(), &["prune", "--older-than", "30d"]);
    let line = old.printed();
    assert!(
        line.contains("store.sqlite: 1 records removed, ") && line.ends_with(" kB\n"),
        "{line}"
    );
    let beyond = store(dir.path(), &["prune", "--max-size", "200kB"]);
    assert!(
        beyond.printed().contains(" records removed, "),
        "{}",
        beyond.out
    );
    assert!(before > 400_000 && size() <= 200_000, "{before} {}", size());
    let connection = Connection::open(path).unwrap();
    let number = |sql| {
        connection
            .query_row(sql, (), |row| row.get::<_, i64>(0))
            .unwrap()
    };
    assert_eq!(
        number("SELECT max(number) FROM records"),
        200,
        "the newest remain"
    );
    assert!((20..100).contains(&number("SELECT count(*) FROM records")));
    drop(connection);
    let again = store(
        dir.path(),
        &["prune", "--older-than", "30d", "--max-size", "200kB"],
    );
    assert!(
        again.printed().contains(": 0 records removed, "),
        "{}",
        again.out
    );
}

#[test]
fn a_command_without_a_store_or_with_an_invalid_limit_says_so() {
    let dir = tempfile::tempdir().unwrap();
    for args in [&["info"][..], &["prune", "--older-than", "1d"]] {
        let none = store(dir.path(), args);
        assert!(
            none.printed().ends_with("store.sqlite: no store\n"),
            "{}",
            none.out
        );
    }
    assert!(
        std::fs::read_dir(dir.path()).unwrap().next().is_none(),
        "no store is created"
    );
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    let is_file = store(&file, &["info"]);
    assert_eq!(is_file.code, Some(2));
    assert!(
        is_file
            .err
            .ends_with("file: it is a file; choose a folder\n"),
        "{}",
        is_file.err
    );
    for (args, expected) in [
        (
            ["prune", "--older-than", "soon"],
            "invalid value 'soon' for '--older-than <TIME>'",
        ),
        (
            ["prune", "--max-size", "much"],
            "invalid value 'much' for '--max-size <SIZE>'",
        ),
    ] {
        let ran = store(dir.path(), &args);
        assert_eq!(ran.code, Some(2), "{}", ran.err);
        assert!(ran.err.contains(expected), "{}", ran.err);
    }
    let without = store(dir.path(), &["prune"]);
    assert_eq!(without.code, Some(2), "{}", without.out);
    assert!(without.err.contains("--older-than"), "{}", without.err);
}

#[tokio::test]
async fn score_uses_the_store_of_the_option_and_refuses_a_file() {
    let server = Server::start(verdict).await;
    let (url, dir) = (server.url("/v1"), tempfile::tempdir().unwrap());
    let other = tempfile::tempdir().unwrap();
    let variables = [
        ("OPENAI_API_KEY", "k"),
        ("OPENAI_BASE_URL", url.as_str()),
        ("DSRS_STORE", other.path().to_str().unwrap()),
    ];
    let folder = dir.path().to_str().unwrap();
    let args = ["-m", "polite", "--lm", MODEL, "--store", folder];
    assert_eq!(score(3, &args, &variables).await.code, Some(0));
    assert!(std::fs::read_dir(other.path()).unwrap().next().is_none());
    assert_eq!(Store::open(dir.path()).unwrap().info().unwrap().replies, 3);
    let calls = server.received().len();
    for more in [&[][..], &["--estimate"]] {
        let args = ["-m", "polite", "--lm", MODEL, "--store", "rows.jsonl"];
        let ran = score(3, &[&args, more].concat(), &variables).await;
        refused(&ran, "rows.jsonl: it is a file; choose a folder");
    }
    assert_eq!(server.received().len(), calls);
}
