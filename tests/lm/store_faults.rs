//! A store that cannot be used: what is no store, a full disk, damage, a dead process, a clock that is wrong.

use std::error::Error;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dsrs_metrics::lm::{LanguageModel, LmError, LmErrorKind, LmRequest, ScriptedLm, Store, Stored};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::ask;

const OTHER: &str =
    "choose another folder (--store, DSRS_STORE), or disable the store (--no-store)";

fn temp_dir() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn open(dir: &TempDir) -> Store {
    Store::open(dir.path()).unwrap()
}

/// A model that numbers its replies.
fn counting() -> ScriptedLm {
    let calls = AtomicU64::new(0);
    ScriptedLm::new().otherwise(move |_: &LmRequest| {
        format!("reply {}", calls.fetch_add(1, Ordering::SeqCst) + 1)
    })
}

async fn text(lm: &impl LanguageModel, request: &LmRequest) -> String {
    lm.complete(request).await.unwrap().text
}

fn execute(path: &Path, sql: &str) {
    Connection::open(path).unwrap().execute_batch(sql).unwrap();
}

fn is_store_error(error: &LmError) -> bool {
    matches!(error.kind(), LmErrorKind::Store { .. })
}

/// Every file that may be in place of a store: the message, and that it is not changed.
#[test]
fn what_is_no_store_is_refused_and_not_changed() {
    let refused = |prepare: &dyn Fn(&Path)| {
        let dir = temp_dir();
        let path = dir.path().join("store.sqlite");
        prepare(&path);
        let before = std::fs::read(&path).ok();
        let error = Store::open(dir.path()).unwrap_err();
        assert_eq!(std::fs::read(&path).ok(), before);
        let LmErrorKind::Store(message) = error.kind() else {
            panic!("{error}")
        };
        let (named, reason) = message.split_once(": ").unwrap();
        assert!(named.ends_with("store.sqlite"), "{named}");
        reason.to_owned()
    };
    let notes = refused(&|path| std::fs::write(path, "some notes of mine\n".repeat(500)).unwrap());
    assert_eq!(
        notes,
        format!("it is not a database; move the file away, or {OTHER}")
    );
    let of_another = refused(&|path| execute(path, "CREATE TABLE mail (subject TEXT)"));
    assert_eq!(
        of_another,
        format!("it is another program's database; {OTHER}")
    );
    let newer = refused(&|path| {
        execute(
            path,
            "PRAGMA application_id = 1685287539; PRAGMA user_version = 2",
        );
    });
    assert_eq!(
        newer,
        format!(
            "it has version 2, but this version of dsrs-metrics reads version 1; update dsrs-metrics, or {OTHER}"
        )
    );
    let folder = refused(&|path| std::fs::create_dir(path).unwrap());
    assert_eq!(folder, format!("Is a directory (os error 21); {OTHER}"));
}

#[test]
fn a_folder_that_cannot_be_created_is_named() {
    let dir = temp_dir();
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = Store::open(file.join("store")).unwrap_err();
    let LmErrorKind::Store(message) = error.kind() else {
        panic!("{error}")
    };
    assert!(message.contains("file/store: "), "{message}");
    assert!(error.to_string().ends_with(OTHER), "{error}");
    let source = error
        .source()
        .and_then(|source| source.downcast_ref::<std::io::Error>());
    assert_eq!(source.unwrap().kind(), std::io::ErrorKind::NotADirectory);
    let error = Store::open(&file).unwrap_err().to_string();
    assert!(
        error.ends_with("file: it is a file; choose a folder"),
        "{error}"
    );
}

/// `lm_stored_calls FOLDER 10` as a user who may not write to the folder, also where the tests run as root.
#[cfg(unix)]
fn as_another_user(folder: &Path) -> Output {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(folder, 0o555);
    // The program may be in a folder of the user.
    let programs = temp_dir();
    mode(programs.path(), 0o755);
    let program = programs.path().join("lm_stored_calls");
    std::fs::copy(env!("CARGO_BIN_EXE_lm_stored_calls"), &program).unwrap();
    let mut command = Command::new(program);
    if rustix::process::geteuid().is_root() {
        command.uid(65534).gid(65534);
    }
    let output = command.arg(folder).arg("10").output().unwrap();
    mode(folder, 0o755);
    output
}

#[cfg(unix)]
#[test]
fn a_store_that_may_not_be_written_is_refused_before_any_call() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = temp_dir();
    let expected = format!("store.sqlite: Permission denied (os error 13); {OTHER}\n");
    for exists in [false, true] {
        if exists {
            let path = open(&dir).path().to_owned();
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o444)).unwrap();
        }
        let ran = as_another_user(dir.path());
        let err = String::from_utf8(ran.stderr).unwrap();
        assert_eq!(
            (ran.status.code(), &*ran.stdout),
            (Some(2), &b""[..]),
            "{err}"
        );
        assert!(err.ends_with(&expected), "{err}");
    }
}

/// A page is changed, or one byte of it, or the end is missing: an error with what to do, or right replies.
#[tokio::test]
async fn a_damaged_store_is_an_error_or_returns_right_replies() {
    const FLIPS: usize = 6;
    let intact = temp_dir();
    let lm = Stored::new(counting(), open(&intact));
    for call in 0..200 {
        lm.complete(&ask(&format!("call {call}"))).await.unwrap();
    }
    drop(lm);
    let bytes = std::fs::read(intact.path().join("store.sqlite")).unwrap();
    let pages = bytes.len() / 4096;
    assert!(pages > 20, "{pages}");
    let (mut found, mut called_again) = (0, 0);
    for (page, kind) in (0..pages).flat_map(|page| (0..2 + FLIPS).map(move |kind| (page, kind))) {
        let dir = temp_dir();
        let mut damaged = bytes.clone();
        match kind {
            0 => damaged.truncate(page * 4096 + 100),
            1 => damaged[page * 4096..][..4096]
                .iter_mut()
                .for_each(|byte| *byte ^= 0x5a),
            _ => damaged[page * 4096 + (page * 7919 + kind * 104_729) % 4096] ^= 1 << kind,
        }
        std::fs::write(dir.path().join("store.sqlite"), damaged).unwrap();
        let store = match Store::open(dir.path()) {
            Ok(store) => store,
            Err(error) => {
                assert!(is_store_error(&error), "{page} {kind}: {error}");
                found += 1;
                continue;
            }
        };
        let is_found = store.check().is_err();
        found += usize::from(is_found);
        let lm = Stored::new(ScriptedLm::new().otherwise("new"), store);
        for call in 0..200 {
            match lm.complete(&ask(&format!("call {call}"))).await {
                Ok(reply) if reply.text == "new" => {
                    // A file without its first page is empty.
                    assert!(
                        is_found || (page, kind) == (0, 0),
                        "{page} {kind}: lost in silence"
                    );
                    called_again += 1;
                }
                Ok(reply) => assert_eq!(reply.text, format!("reply {}", call + 1)),
                Err(error) => assert!(is_store_error(&error), "{page} {kind}: {error}"),
            }
        }
    }
    assert!(
        found >= 2 * pages && called_again > 0,
        "{found} of {pages} pages, {called_again}"
    );
}

/// The index leads to the record beside the right one.
#[tokio::test]
async fn a_damaged_index_finds_no_other_record() {
    let intact = temp_dir();
    let lm = Stored::new(counting(), open(&intact));
    for call in 0..60 {
        lm.complete(&ask(&format!("call {call}"))).await.unwrap();
    }
    drop(lm);
    let path = intact.path().join("store.sqlite");
    let key: Vec<u8> = Connection::open(&path)
        .unwrap()
        .query_row("SELECT key FROM records WHERE number = 50", (), |row| {
            row.get(0)
        })
        .unwrap();
    let bytes = std::fs::read(path).unwrap();
    // In the table and in the index, where the number follows.
    let keys = (0..bytes.len() - 40).filter(|at| bytes[*at..].starts_with(&key));
    let number = keys
        .map(|at| at + key.len())
        .find(|at| bytes[*at] == 50)
        .unwrap();
    let (dir, mut damaged) = (temp_dir(), bytes);
    damaged[number] = 51;
    std::fs::write(dir.path().join("store.sqlite"), damaged).unwrap();
    let lm = Stored::new(ScriptedLm::new().otherwise("new"), open(&dir));
    assert_eq!(text(&lm, &ask("call 50")).await, "reply 51");
    assert_eq!(text(&lm, &ask("call 49")).await, "new");
}

/// The log that SQLite has not copied into the database, as a killed process leaves it.
#[tokio::test]
async fn a_damaged_log_returns_right_replies_and_loses_the_records_behind_the_damage() {
    let running = temp_dir();
    let lm = Stored::new(counting(), open(&running));
    for call in 0..40 {
        lm.complete(&ask(&format!("call {call}"))).await.unwrap();
    }
    let files = ["store.sqlite", "store.sqlite-wal"];
    let [database, log] = files.map(|file| std::fs::read(running.path().join(file)).unwrap());
    let mut lost = 0;
    for part in 0..20 {
        let dir = temp_dir();
        let mut damaged = log.clone();
        let at = damaged.len() * part / 20 + 50;
        damaged[at] ^= 0x10;
        for (file, bytes) in files.iter().zip([&database, &damaged]) {
            std::fs::write(dir.path().join(file), bytes).unwrap();
        }
        let lm = Stored::new(ScriptedLm::new().otherwise("new"), open(&dir));
        for call in 0..40 {
            match &*text(&lm, &ask(&format!("call {call}"))).await {
                "new" => lost += 1,
                reply => assert_eq!(reply, format!("reply {}", call + 1), "{part}"),
            }
        }
    }
    assert!(lost > 0);
}

#[tokio::test]
async fn a_store_that_cannot_be_written_pays_for_one_call_only() {
    let dir = temp_dir();
    let store = open(&dir);
    let path = store.path().to_owned();
    let scripted = counting();
    let lm = Stored::new(&scripted, store);
    for table in ["records", "spending"] {
        let fail = format!(
            "CREATE TRIGGER full_{table} BEFORE INSERT ON {table} BEGIN SELECT raise(FAIL, 'full'); END"
        );
        execute(&path, &fail);
    }
    for call in 0..5 {
        let error = lm.complete(&ask(&call.to_string())).await.unwrap_err();
        assert!(error.to_string().ends_with(": full"), "{error}");
    }
    assert_eq!(scripted.calls(), 1);
    execute(
        &path,
        "DROP TRIGGER full_records; DROP TRIGGER full_spending",
    );
    assert_eq!(text(&lm, &ask("0")).await, "reply 2");
}

const CALLS: usize = 2_000;
/// The maximum number of calls in progress.
const IN_PROGRESS: usize = 64;

/// Runs `SCRIPT FOLDER PROGRAM PAID`, where the program makes calls, fails, and succeeds when space is free again. Checks that
/// no call was made in vain, apart from those in progress.
fn fails_and_continues(shell: Command, script: &str, reason: &str) {
    let (folder, paid) = (temp_dir(), temp_dir());
    let paid = paid.path().join("paid");
    let mut shell = shell;
    shell.args(["sh", "-c", script, "sh"]).arg(folder.path());
    shell
        .arg(env!("CARGO_BIN_EXE_lm_stored_calls"))
        .arg(&paid)
        .arg(CALLS.to_string());
    let ran = shell.output().unwrap();
    let (out, err) = (
        String::from_utf8(ran.stdout).unwrap(),
        String::from_utf8(ran.stderr).unwrap(),
    );
    assert_eq!(ran.status.code(), Some(0), "{err}");
    let (first, second) = out
        .split_once("exit code 2, then\n")
        .unwrap_or_else(|| panic!("{out}"));
    // The end of the process may cut off the line of another thread.
    let lines = || {
        err.split_inclusive('\n')
            .filter(|line| line.ends_with('\n'))
    };
    assert!(
        lines().count() > 0 && lines().all(|line| line.contains(reason)),
        "{err}"
    );
    let (first, second) = (first.lines().count(), second.lines().count());
    assert!(
        (1..CALLS).contains(&first) && second == CALLS,
        "{first}, {second}"
    );
    let paid = std::fs::read_to_string(paid).unwrap().lines().count();
    assert!(
        (CALLS..=CALLS + IN_PROGRESS).contains(&paid),
        "{paid} calls were paid"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_stops_the_calls_and_the_next_run_continues() {
    let mut shell = Command::new("unshare");
    shell.arg("-m");
    let mount = "mount -t tmpfs -o size=16m none";
    // Mounting needs privileges.
    let probe = Command::new("unshare")
        .args(["-m", "sh", "-c", &format!("{mount} /mnt")])
        .output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        return;
    }
    let script = format!(
        r#"{mount} "$1" && ln -s "$3" "$1/paid" && head -c 14000000 /dev/zero > "$1/filler" || exit 99
"$2" "$1" "$4"; echo "exit code $?, then"; rm "$1/filler"; exec "$2" "$1" "$4""#
    );
    fails_and_continues(
        shell,
        &script,
        "the disk is full; free space, and run the same command again",
    );
}

#[cfg(unix)]
#[test]
fn a_limit_of_the_file_size_stops_the_calls_and_the_next_run_continues() {
    let script = r#"ln -s "$3" "$1/paid"
(trap '' XFSZ; ulimit -f 1000; exec "$2" "$1" "$4"); echo "exit code $?, then"; exec "$2" "$1" "$4""#;
    fails_and_continues(Command::new("env"), script, "disk I/O error");
}

const LOCKED: &str = "DSRS_TEST_LOCKED_STORE";

/// Begins to write, in a process that is killed meanwhile.
#[test]
fn holds_the_lock_until_it_is_killed() {
    let Some(path) = std::env::var_os(LOCKED) else {
        return;
    };
    let connection = Connection::open(path).unwrap();
    connection
        .execute_batch("BEGIN IMMEDIATE; DELETE FROM records")
        .unwrap();
    println!("\nlocked");
    std::thread::sleep(Duration::from_secs(600));
}

#[tokio::test]
async fn a_process_that_was_killed_while_it_wrote_leaves_neither_a_lock_nor_a_change() {
    use std::io::{BufRead as _, BufReader};
    let dir = temp_dir();
    let store = open(&dir);
    let lm = Stored::new(counting(), store.clone());
    assert_eq!(text(&lm, &ask("?")).await, "reply 1");
    let mut holder = Command::new(std::env::current_exe().unwrap());
    let name = "store_faults::holds_the_lock_until_it_is_killed";
    holder
        .args(["--exact", name, "--nocapture"])
        .env(LOCKED, store.path());
    let mut holder = holder.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(holder.stdout.take().unwrap()).lines();
    assert!(lines.map(Result::unwrap).any(|line| line == "locked"));
    let reading = text(&lm, &ask("?")).await;
    assert_eq!(reading, "reply 1", "a read does not wait");
    holder.kill().unwrap();
    holder.wait().unwrap();
    let begun = std::time::Instant::now();
    assert_eq!(text(&lm, &ask("!")).await, "reply 2");
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(store.info().unwrap().replies, 2);
}

#[tokio::test]
async fn a_write_waits_for_that_of_another_process() {
    let dir = temp_dir();
    let lm = Stored::new(counting(), open(&dir));
    let other = Connection::open(dir.path().join("store.sqlite")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (begun, held) = (std::time::Instant::now(), Duration::from_millis(300));
    let release = std::thread::spawn(move || {
        std::thread::sleep(held);
        other.execute_batch("COMMIT").unwrap();
    });
    assert_eq!(text(&lm, &ask("?")).await, "reply 1");
    assert!(begun.elapsed() >= held);
    release.join().unwrap();
}

/// Records of the future, as a clock leaves them that is set back, or that was wrong.
#[tokio::test]
async fn a_clock_that_goes_back_changes_neither_replies_nor_a_refresh() {
    let day = Duration::from_secs(24 * 60 * 60);
    for stored_at in [4_000_000_000, i64::MAX, 0, -1, i64::MIN] {
        let dir = temp_dir();
        let store = open(&dir);
        let model = counting();
        let lm = Stored::new(&model, store.clone());
        assert_eq!(text(&lm, &ask("?")).await, "reply 1");
        execute(
            store.path(),
            &format!("UPDATE records SET stored_at = {stored_at}"),
        );
        assert_eq!(text(&lm, &ask("?")).await, "reply 1");
        let refreshed = Stored::new(&model, store.clone()).refresh().unwrap();
        assert_eq!(text(&refreshed, &ask("?")).await, "reply 2");
        assert_eq!(
            text(&refreshed, &ask("?")).await,
            "reply 2",
            "paid once per run"
        );
        execute(
            store.path(),
            &format!("UPDATE records SET stored_at = {stored_at}"),
        );
        assert_eq!(store.info().unwrap().replies, 1);
        let is_old = u64::from(stored_at <= 0);
        assert_eq!(
            store.prune(Some(day), None).unwrap().records,
            is_old,
            "{stored_at}"
        );
        assert_eq!(
            store.prune(None, Some(1)).unwrap().records,
            1 - is_old,
            "{stored_at}"
        );
        assert_eq!(text(&lm, &ask("?")).await, "reply 3");
    }
}
