//! The outputs of a command: an output never replaces an input or another output, each file is complete or absent, and
//! results are printed even if no file can be written.
#![cfg(unix)]

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::symlink;
use std::process::Stdio;

use insta::assert_snapshot;

use crate::{Folder, Ran};

const ROWS: &str = r#"{"id": "a", "gold": {"answer": "1"}, "pred": {"answer": "1"}}
{"id": "b", "gold": {"answer": "1"}, "pred": {"answer": "0.25"}}
"#;

const HEADLINE: &str = "same_text  50.00% [9.45, 90.55] (1/2, 0 failed)\n";

fn rows() -> Folder {
    Folder::with("in.jsonl", ROWS)
}

/// Two result files.
fn results() -> Folder {
    let folder = rows();
    for out in ["a.jsonl", "b.jsonl"] {
        folder.printed(&format!("score in.jsonl -m same_text -q --out {out}"));
    }
    folder
}

/// Runs a command that must be refused with this message and change no file.
#[track_caller]
fn refused(folder: &Folder, args: &str, message: &str) {
    let content = || {
        let names = folder.files();
        let content: Vec<_> = names
            .iter()
            .map(|name| fs::read(folder.path(name)).ok())
            .collect();
        (names, content)
    };
    let before = content();
    let ran = folder.run(args);
    let expected = (Some(2), String::new(), format!("error: {message}\n"));
    assert_eq!((ran.code, ran.out, ran.err), expected, "{args}");
    assert_eq!(content(), before, "{args}");
}

#[test]
fn no_output_of_any_command_is_an_input() {
    let folder = results();
    symlink("a.jsonl", folder.path("link.html")).unwrap();
    for (args, message) in [
        (
            "compare a.jsonl b.jsonl --markdown a.jsonl",
            "--markdown a.jsonl and A a.jsonl are the same file; choose another file for --markdown",
        ),
        (
            "compare a.jsonl b.jsonl --markdown ./b.jsonl",
            "--markdown ./b.jsonl and B b.jsonl are the same file; choose another file for --markdown",
        ),
        (
            "report a.jsonl --out link.html",
            "--out link.html and RESULTS a.jsonl are the same file; choose another file for --out",
        ),
        (
            "report b.jsonl a.jsonl --out link.html",
            "--out link.html and RESULTS a.jsonl are the same file; choose another file for --out",
        ),
        (
            "score in.jsonl -m em --junit in.jsonl",
            "--junit in.jsonl and DATA in.jsonl are the same file; choose another file for --junit",
        ),
    ] {
        refused(&folder, args, message);
    }
    // A file that a metric reads.
    folder.write("graph.nt", "<a:s> <a:p> <a:o> .");
    refused(
        &folder,
        "score in.jsonl -m sparql_executes --param sparql_executes.data=graph.nt --markdown ./graph.nt",
        "--markdown ./graph.nt and --param sparql_executes.data graph.nt are the same file; choose another file for --markdown",
    );
    refused(
        &folder,
        r#"score in.jsonl -m sparql_executes --param sparql_executes.data=["a.nt","graph.nt"] --summary graph.nt"#,
        "--summary graph.nt and --param sparql_executes.data graph.nt are the same file; choose another file for --summary",
    );
    // A file may be in a list twice.
    let twice = r#"score in.jsonl -m em -q --param sparql_executes.data=["graph.nt","graph.nt"]"#;
    let ran = folder.run(twice);
    assert!(
        ran.err
            .contains("`sparql_executes` is not a metric in this run"),
        "{ran:?}"
    );
    // A folder that a metric reads, with a file that exists and with a new one.
    fs::create_dir(folder.path("tests")).unwrap();
    folder.write("tests/check.md", "exit 0");
    for output in ["--markdown tests/check.md", "--out ./tests/new.jsonl"] {
        let (option, _) = output.split_once(' ').unwrap();
        refused(
            &folder,
            &format!(
                "score in.jsonl -m sandbox --param sandbox.command=true --param sandbox.folder=tests {output}"
            ),
            &format!(
                "{output} is in the folder `tests`, named by the parameter `Sandbox.folder`; choose another file for {option}"
            ),
        );
    }
    // Standard input is a file, too.
    let mut command = folder.command("compare - b.jsonl --markdown a.jsonl");
    let ran = Ran::from(
        command
            .stdin(File::open(folder.path("a.jsonl")).unwrap())
            .output()
            .unwrap(),
    );
    let message =
        "error: --markdown a.jsonl and A - are the same file; choose another file for --markdown\n";
    assert_eq!((ran.code, &*ran.err), (Some(2), message));
}

#[test]
fn no_output_is_another_output() {
    let folder = rows();
    fs::create_dir(folder.path("sub")).unwrap();
    symlink("sub", folder.path("also")).unwrap();
    symlink("new.xml", folder.path("dangling.md")).unwrap();
    let score = "score in.jsonl -m em";
    for (options, message) in [
        (
            "--out y.jsonl --junit y.jsonl --markdown y.jsonl",
            "--junit y.jsonl and --out y.jsonl are the same file; choose another file for --junit",
        ),
        (
            "--junit sub/y --summary also/y",
            "--summary also/y and --junit sub/y are the same file; choose another file for --summary",
        ),
        (
            "--junit new.xml --markdown dangling.md",
            "--markdown dangling.md and --junit new.xml are the same file; choose another file for --markdown",
        ),
        (
            "--junit - --markdown -",
            "--junit - and --markdown - both write to standard output; choose one of them",
        ),
        (
            "--summary - --json",
            "--summary - and --json both write to standard output; choose one of them",
        ),
    ] {
        refused(&folder, &format!("{score} {options}"), message);
    }
}

#[test]
fn no_output_is_a_redirected_stream() {
    let folder = rows();
    let redirected = |options: &str, stdout: Stdio, stderr: Stdio| {
        let args = format!("score in.jsonl -m same_text {options}");
        folder
            .command(&args)
            .stdout(stdout)
            .stderr(stderr)
            .output()
            .unwrap()
    };
    let create = |name: &str| Stdio::from(File::create(folder.path(name)).unwrap());
    let ran = redirected("--markdown o.md", create("o.md"), Stdio::piped());
    let message = "error: --markdown o.md and standard output are the same file; choose another file for --markdown\n";
    assert_eq!(String::from_utf8(ran.stderr).unwrap(), message);
    let ran = redirected("--out e.jsonl", Stdio::piped(), create("e.jsonl"));
    assert_eq!((ran.status.code(), &*ran.stdout), (Some(2), &b""[..]));
    let message = "error: --out e.jsonl and standard error are the same file; choose another file for --out\n";
    assert_eq!(folder.read("e.jsonl"), message);
    let append = File::options()
        .append(true)
        .open(folder.path("in.jsonl"))
        .unwrap();
    let ran = redirected("", append.into(), Stdio::piped());
    let message = "error: standard output and DATA in.jsonl are the same file; choose another file for standard output\n";
    assert_eq!(String::from_utf8(ran.stderr).unwrap(), message);
    assert_eq!(folder.read("in.jsonl"), ROWS);
    // Both streams may be one file, as in `> log 2>&1`.
    let log = File::create(folder.path("log")).unwrap();
    let ran = redirected("-q", log.try_clone().unwrap().into(), log.into());
    assert_eq!(
        (ran.status.code(), folder.read("log")),
        (Some(0), HEADLINE.to_owned())
    );
}

#[test]
fn an_output_that_is_a_dash_is_printed_instead_of_the_headlines() {
    let folder = results();
    let printed = |args: &str| folder.printed(args);
    let score = "score in.jsonl -m same_text -q";
    assert_snapshot!(printed(&format!("{score} --markdown -")), @r"
    | metric | score |
    | --- | --- |
    | same\_text | 50.00% \[9.45, 90.55\] (1/2, 0 failed) |

    Rows that do not pass:

    | row | metric | score | explanation |
    | --- | --- | --- | --- |
    | b | same\_text | false |  |
    ");
    assert_eq!(
        printed(&format!(
            "{score} --markdown - --junit r.xml --summary s.csv"
        ))
        .lines()
        .count(),
        9
    );
    let (xml, table) = (folder.read("r.xml"), folder.read("s.csv"));
    assert!(xml.contains("<failure message=\"score 0\"") && table.starts_with("metric,kind,score"));
    assert_eq!(printed(&format!("{score} --junit -")), xml);
    assert_eq!(printed(&format!("{score} --summary -")), table);
    printed("compare a.jsonl b.jsonl --markdown c.md");
    assert_eq!(
        printed("compare a.jsonl b.jsonl --markdown -"),
        folder.read("c.md")
    );
    assert!(
        !folder.files().contains(&"-".to_owned()),
        "{:?}",
        folder.files()
    );
    // A pipe is written as it is, after the headlines.
    let piped = printed(&format!("{score} --markdown /dev/stdout"));
    assert!(
        piped.starts_with(HEADLINE) && piped.contains("| same\\_text |"),
        "{piped}"
    );
}

#[test]
fn junit_on_standard_output_is_the_file_without_characters_that_a_terminal_obeys() {
    let folder = Folder::with("in.jsonl", ROWS.replace("\"b\"", "\"b\\u202e\\u009b\""));
    let args = "score in.jsonl -m same_text -q --junit";
    folder.printed(&format!("{args} r.xml"));
    let printed = folder.run(&format!("{args} -")).out;
    assert!(printed.contains("name=\"b&#x202e;&#x9b;\""), "{printed}");
    assert_eq!(
        printed
            .replace("&#x202e;", "\u{202e}")
            .replace("&#x9b;", "\u{9b}"),
        folder.read("r.xml")
    );
}

#[test]
fn files_for_ci_appear_when_they_are_complete() {
    let folder = Folder::new();
    let outputs = ["r.xml", "s.md", "t.csv"];
    for name in outputs {
        folder.write(name, "of yesterday");
    }
    let files = "--junit r.xml --markdown s.md --summary t.csv";
    let unchanged = || outputs.map(|name| folder.read(name)) == ["of yesterday"; 3];

    // Killed while the first row is scored.
    let mut child = folder
        .command(&format!("score - -m sleeps,same_text {files}"))
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let row = r#"{"gold": {"answer": "1"}, "pred": {"answer": "1", "seconds": 60.0}}"#;
    writeln!(child.stdin.as_ref().unwrap(), "{row}").unwrap();
    // One of each file.
    let has_started = || {
        folder
            .files()
            .iter()
            .filter(|name| name.ends_with(".tmp"))
            .count()
            == 3
    };
    for _ in 0..3_000 {
        if has_started() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(has_started() && unchanged(), "{:?}", folder.files());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(unchanged(), "a run that is killed leaves the old files");

    // Invalid input leaves them, too.
    folder.write("in.jsonl", "{\n");
    let args = &format!("score in.jsonl -m same_text {files}");
    let ran = folder.run(args);
    assert_eq!((ran.code, &*ran.out), (Some(2), ""));
    assert!(ran.err.starts_with("error: in.jsonl:1"), "{}", ran.err);
    assert_eq!(ran.err.lines().count(), 1);
    assert!(unchanged());
    let names = [&["in.jsonl"], &outputs[..]].concat();
    assert_eq!(
        folder.files(),
        names,
        "the hidden files of the killed run are removed"
    );

    // New files do not exist before they are complete.
    for name in outputs {
        fs::remove_file(folder.path(name)).unwrap();
    }
    assert_eq!(folder.run(args).code, Some(2));
    assert_eq!(folder.files(), ["in.jsonl"]);
    folder.write("in.jsonl", ROWS);
    folder.printed(args);
    assert_eq!(folder.files(), names);
}

#[test]
fn a_link_is_kept_and_its_target_is_replaced() {
    let folder = results();
    for (args, name) in [
        ("score in.jsonl -m same_text -q --markdown", "s.md"),
        ("compare a.jsonl b.jsonl --markdown", "c.md"),
    ] {
        fs::create_dir_all(folder.path("deep")).unwrap();
        folder.write(&format!("deep/{name}"), "old");
        symlink(format!("deep/{name}"), folder.path(name)).unwrap();
        folder.printed(&format!("{args} {name}"));
        assert!(folder.path(name).is_symlink());
        assert!(folder.read(&format!("deep/{name}")).contains("same\\_text"));
        assert_eq!(
            fs::read_dir(folder.path("deep")).unwrap().count(),
            1,
            "no temporary file is left"
        );
        fs::remove_dir_all(folder.path("deep")).unwrap();
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_was_computed_is_printed_and_each_file_is_tried() {
    let folder = results();
    let full = "cannot be written: No space left on device (os error 28)\n";
    let args = "score in.jsonl -m same_text -q --junit /dev/full --markdown /dev/full --summary s.csv --out o.jsonl";
    let ran = folder.run(args);
    let errors = format!("error: --junit /dev/full: {full}error: --markdown /dev/full: {full}");
    assert_eq!(
        (ran.code, &*ran.out, &*ran.err),
        (Some(2), HEADLINE, &*errors)
    );
    assert!(folder.read("s.csv").contains("same_text,bool,0.5"));
    assert_eq!(folder.read("o.jsonl").lines().count(), 2);

    // The result file fails, and the files for CI are written.
    symlink("/dev/full", folder.path("full.jsonl")).unwrap();
    let args = "score in.jsonl -m same_text -q --junit r.xml --out full.jsonl";
    let mut command = folder.command(&args.split(' ').collect::<Vec<_>>());
    // Where the rows are kept that a device does not take.
    let ran = Ran::from(command.env("TMPDIR", folder.path("")).output().unwrap());
    assert!(ran.out.starts_with(HEADLINE), "{ran:?}");
    let error = "error: cannot write `full.jsonl`: No space left on device";
    assert!(
        ran.code == Some(2) && ran.err.starts_with(error),
        "{}",
        ran.err
    );
    assert!(folder.read("r.xml").contains("same_text"));

    // Standard output fails, and the files are written.
    let mut command = folder.command("score in.jsonl -m same_text -q --markdown m.md");
    let ran = command
        .stdout(File::options().write(true).open("/dev/full").unwrap())
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(2));
    assert!(folder.read("m.md").contains("same\\_text"));

    let ran = folder.run("compare a.jsonl b.jsonl --markdown /dev/full");
    assert_eq!(
        (ran.code, &*ran.err),
        (Some(2), &*format!("error: --markdown /dev/full: {full}"))
    );
    assert!(ran.out.contains("same_text"), "{}", ran.out);
}

#[test]
fn a_file_that_cannot_be_written_is_found_before_rows_are_read() {
    let folder = rows();
    fs::create_dir(folder.path("dir")).unwrap();
    for (file, reason) in [
        ("no/such/r.xml", "No such file"),
        ("dir", "it is a directory"),
    ] {
        let mut command = folder.command(&format!("score - -m same_text --junit {file}"));
        let mut child = command
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // Nothing is written to standard input, which is still open.
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let start = format!("error: --junit {file}: cannot be written: {reason}");
        assert!(line.starts_with(&start), "{line}");
        assert_eq!(child.wait().unwrap().code(), Some(2));
    }
}
