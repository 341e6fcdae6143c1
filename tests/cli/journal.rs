//! `score --journal`: the output of a run that continues, and of a run that cannot.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use insta::assert_snapshot;

use crate::{Folder, Ran, Words};

const ROWS: &str = r#"{"id": "a", "gold": {"answer": "Paris"}, "pred": {"answer": "paris"}}
{"id": "b", "gold": {"answer": "Rome"}, "pred": {"answer": "Oslo"}}
{"id": "c", "gold": {"answer": "Bern"}, "pred": {"answer": 7}}
"#;

const SCORE: &str = "score rows.jsonl -m em,f1 --max-errors 3";

fn score(folder: &Folder, more: &str) -> Ran {
    folder.run(&format!("{SCORE} --journal journal {more}"))
}

#[test]
fn a_finished_run_is_restored() {
    let folder = Folder::with("rows.jsonl", ROWS);
    let first = score(&folder, "--out first.jsonl");
    let second = score(&folder, "--out second.jsonl");
    let plain = folder.run(&format!("{SCORE} --out plain.jsonl"));
    assert_eq!((&first.out, first.code), (&plain.out, Some(0)), "{}", first.err);
    assert_eq!((&second.out, second.code), (&plain.out, Some(0)), "{}", second.err);
    let warning = "warning: 1 row failed; first error: rows.jsonl:3: metric `em`: field `pred.answer`: expected a string, found the number 7\n";
    assert_eq!(first.err, warning);
    assert_eq!(second.err, format!("{warning}journal journal: 3 rows were restored\n"));
    let file = |name: &str| fs::read_to_string(folder.path(name)).unwrap();
    assert_eq!(file("first.jsonl"), file("plain.jsonl"));
    assert_eq!(file("second.jsonl"), file("plain.jsonl"));
}

#[test]
fn trap_21_a_changed_file_or_parameter_is_named_before_any_row() {
    let folder = Folder::with("rows.jsonl", ROWS);
    assert_eq!(score(&folder, "-q").code, Some(0));
    assert_snapshot!(score(&folder, "--param f1.profile=folded"), @r#"
    -- standard error --
    error: the journal `journal` belongs to a different run: parameter `F1.profile` of `f1` was "dspy", now "folded"; restore what has changed, or choose another directory
    -- exit code 2 --
    "#);
    folder.write("rows.jsonl", ROWS.replace("Oslo", "Rome"));
    let changed = score(&folder, "");
    let start =
        "error: the journal `journal` belongs to a different run: `content of rows.jsonl` was ";
    assert!(changed.err.starts_with(start), "{}", changed.err);
    assert_eq!((changed.code, changed.err.lines().count()), (Some(2), 1));
}

#[test]
fn rows_of_a_pipe_are_compared_one_by_one() {
    let folder = Folder::new();
    let score = |rows: &str| {
        let args = "score - -m em --max-errors 3 --journal j";
        let mut command = folder.command(args);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(rows.as_bytes()).unwrap();
        Ran::from(child.wait_with_output().unwrap())
    };
    assert_eq!(score(ROWS).code, Some(0));
    assert_snapshot!(score(&ROWS.replace("Oslo", "Rome")), @"
    -- standard error --
    error: the journal `j` belongs to a different run: row 2 of the data differs from the journaled one; restore what has changed, or choose another directory
    -- exit code 2 --
    ");
    let fewer = ROWS.lines().take(2).collect::<Vec<_>>().join("\n");
    assert_snapshot!(score(&fewer), @"
    -- standard error --
    error: the journal `j` belongs to a different run: the data has 2 rows, and the journal 3; restore what has changed, or choose another directory
    -- exit code 2 --
    ");
}

#[test]
fn damaged_records_are_reported() {
    let folder = Folder::with("rows.jsonl", ROWS);
    assert_eq!(score(&folder, "-q").code, Some(0));
    let path = folder.path("journal/journal.log");
    let mut journal = fs::read(&path).unwrap();
    let last = journal.len() - 4;
    journal[last] ^= 1;
    fs::write(&path, journal).unwrap();
    let continued = score(&folder, "");
    let expected = "journal journal: 2 rows were restored\nwarning: journal journal: 1 damaged record was ignored; its calls were made again\n";
    assert!(continued.err.ends_with(expected), "{}", continued.err);
    assert_eq!(continued.code, Some(0));
}

/// A limit on the size of files ends writes like a full disk: partly, then with an error.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_stops_the_run_and_the_same_command_continues_it() {
    let rows: String = (0..5_000)
        .map(|id| format!("{{\"id\": {id}, \"gold\": {{\"answer\": \"{id}\"}}, \"pred\": {{\"answer\": \"{}\"}}}}\n", id / 2 * 2))
        .collect();
    let folder = Folder::with("rows.jsonl", rows);
    let args = "score rows.jsonl -m em --journal journal";
    let plain = folder.run("score rows.jsonl -m em");
    let limited = |blocks: u32| {
        let shell = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        let program = folder.command("").get_program().to_owned();
        let mut command = std::process::Command::new("sh");
        command.arg("-c").arg(shell).arg(program).args(args.words()).current_dir(folder.path("."));
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    for blocks in [64, 200] {
        let (code, _, err) = limited(blocks);
        let expected = "error: cannot write the journal `journal`: File too large (os error 27); the records so far are kept: after that is solved, start the same run again to continue\n";
        assert_eq!(code, Some(2), "{err}");
        assert!(err.ends_with(expected), "{err}");
    }
    let continued = folder.run(args);
    assert_eq!((continued.out, continued.code), (plain.out, Some(0)));
    let restored = continued.err.strip_prefix("journal journal: ").unwrap();
    let restored: u64 = restored.split(' ').next().unwrap().parse().unwrap();
    assert!((100..5_000).contains(&restored), "{restored} rows were restored");
}

#[test]
fn failures_are_tried_again_on_request() {
    let folder = Folder::with("rows.jsonl", ROWS);
    assert_eq!(score(&folder, "-q").code, Some(0));
    let again = score(&folder, "--retry-failed");
    assert!(again.err.ends_with("journal journal: 2 rows were restored\n"), "{}", again.err);
    let alone = folder.run("score rows.jsonl -m em --retry-failed");
    assert!(alone.err.contains("--journal <DIR>"), "{}", alone.err);
}

/// Opening a pipe would wait for its other end.
#[cfg(target_os = "linux")]
#[test]
fn anything_but_a_regular_file_is_refused_at_once() {
    let folder = Folder::with("rows.jsonl", ROWS);
    fs::create_dir_all(folder.path("directory/journal.log")).unwrap();
    fs::create_dir(folder.path("pipe")).unwrap();
    let pipe = folder.path("pipe/journal.log");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for (dir, found) in [("directory", "a directory"), ("pipe", "a pipe, socket or device")] {
        let program = folder.command("").get_program().to_owned();
        let mut command = std::process::Command::new("timeout");
        command
            .args(["-s", "KILL", "60"])
            .arg(program)
            .args(SCORE.words())
            .args(["--journal", dir]);
        command.current_dir(folder.path("."));
        let ran = Ran::from(command.output().unwrap());
        let expected = format!(
            "error: cannot read the journal `{dir}`: expected a regular file `journal.log`, found {found}; choose another directory\n"
        );
        assert_eq!((ran.code, ran.err), (Some(2), expected));
    }
}

/// A file keeps its name in the journal if it is named by another path.
#[test]
fn a_data_file_may_be_named_by_another_path() {
    let folder = Folder::with("rows.jsonl", ROWS);
    fs::create_dir(folder.path("more")).unwrap();
    folder.write("more/rows.jsonl", ROWS.replace("\"id\": \"", "\"id\": \"more-"));
    let absolute = folder.path("rows.jsonl").into_os_string().into_string().unwrap();
    let score = |first: &str, second: &str| {
        let args = ["score", first, second, "-m", "em", "--max-errors", "9", "--journal", "j"];
        folder.run(&args)
    };
    assert_eq!(score("rows.jsonl", "more/rows.jsonl").code, Some(0));
    for (first, second) in
        [("./rows.jsonl", "more/../more/rows.jsonl"), (&*absolute, "more/rows.jsonl")]
    {
        let again = score(first, second);
        assert_eq!(again.code, Some(0), "{}", again.err);
        assert!(again.err.ends_with("journal j: 6 rows were restored\n"), "{}", again.err);
    }
    let other = score("more/rows.jsonl", "rows.jsonl");
    let expected =
        "error: the journal `j` belongs to a different run: `content of rows.jsonl` was ";
    assert!(other.err.starts_with(expected), "{}", other.err);
    assert!(other.err.contains(", `content of rows.jsonl (2)` was "), "{}", other.err);
}

/// Runs a metric twice, before and after `change`, and returns the error of the second run.
fn after_a_change(folder: &Folder, args: &[&str], change: impl FnOnce()) -> String {
    let score = || folder.run(&[&["score", "rows.jsonl", "--journal", "j"], args].concat());
    let first = score();
    assert_eq!(first.code, Some(0), "{}", first.err);
    let again = score();
    assert!(again.err.ends_with("journal j: 1 row was restored\n"), "{}", again.err);
    change();
    let changed = score();
    assert_eq!((changed.code, changed.out.as_str()), (Some(2), ""), "{}", changed.err);
    changed.err
}

#[test]
fn trap_37_a_changed_graph_is_named() {
    let row =
        r#"{"id": 1, "gold": {}, "pred": {"sparql_query": "SELECT * WHERE { ?a <a:p> ?b }"}}"#;
    let folder = Folder::with("rows.jsonl", row);
    folder.write("d.nt", "<a:s> <a:p> <a:o> .");
    let args = "-m sparql_returns_results --param sparql_returns_results.data=d.nt".words();
    let error = after_a_change(&folder, &args, || folder.write("d.nt", "<a:s> <a:z> <a:o> ."));
    let expected = "error: the journal `j` belongs to a different run: file `d.nt` of parameter `SparqlReturnsResults.data` of `sparql_returns_results` was ";
    assert!(error.starts_with(expected), "{error}");
    let other = "-m sparql_returns_results --param sparql_returns_results.data=./d.nt";
    folder.write("d.nt", "<a:s> <a:p> <a:o> .");
    let same = folder.run(&format!("score rows.jsonl --journal j {other}"));
    assert_eq!(same.code, Some(0), "{}", same.err);
}

#[test]
fn trap_37_a_changed_test_of_a_sandbox_is_named() {
    if !dsrs_metrics_tests::can_isolate() {
        return;
    }
    let folder = Folder::with("rows.jsonl", r#"{"id": 1, "gold": {}, "pred": {"program": "x"}}"#);
    fs::create_dir_all(folder.path("fold/in")).unwrap();
    folder.write("fold/in/t.sh", "exit 0");
    let params = ["--param", "sandbox.command=sh in/t.sh", "--param", "sandbox.folder=fold"];
    let args = [&["-m", "sandbox"], &params[..]].concat();
    let error = after_a_change(&folder, &args, || folder.write("fold/in/t.sh", "exit 1"));
    let expected = "error: the journal `j` belongs to a different run: file `in/t.sh` of parameter `Sandbox.folder` of `sandbox` was ";
    assert!(error.starts_with(expected), "{error}");
    folder.write("fold/in/t.sh", "exit 0");
    folder.write("fold/more.sh", "");
    let more = folder.run(&[&["score", "rows.jsonl", "--journal", "j"], &args[..]].concat());
    let expected = "different run: file `more.sh` of parameter `Sandbox.folder` of `sandbox` was not set, now ";
    assert!(more.err.contains(expected), "{}", more.err);
    // Another journal has the changed tests.
    folder.write("fold/in/t.sh", "exit 1");
    let new = folder.run(&[&["score", "rows.jsonl", "--journal", "k"], &args[..]].concat());
    assert!(new.out.starts_with("sandbox  0.00%"), "{} {}", new.out, new.err);
}
