//! Input that is piped, long, or has very long rows: memory stays bounded.

use insta::assert_snapshot;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Stdio};

use crate::{Folder, Ran, Words, scorer};

const MIB: usize = 1 << 20;

fn piped(args: &(impl Words + ?Sized)) -> (Child, ChildStdin) {
    let mut command = scorer();
    command.arg("score").args(args.words());
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let stdin = child.stdin.take().unwrap();
    (child, stdin)
}

fn fed(args: &(impl Words + ?Sized), input: &str) -> Ran {
    let (child, mut stdin) = piped(args);
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    Ran::from(child.wait_with_output().unwrap())
}

/// The peak memory of the process, in bytes.
#[cfg(target_os = "linux")]
fn peak_memory(child: &Child) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    peak.trim()
        .trim_end_matches(" kB")
        .parse::<usize>()
        .unwrap()
        * 1024
}

#[test]
fn standard_input_is_jsonl_by_default() {
    let row = r#"{"pred": {"answer": "0.5"}}"#;
    let scored = "obeys  0.5000 [all scores are equal] (mean of 2/2, 0 failed)\n";
    let ran = fed("- -m obeys", &format!("{row}\n{row}"));
    assert_eq!((ran.code, &*ran.out, &*ran.err), (Some(0), scored, ""));
    let array = format!("[{row},{row}]");
    assert_eq!(fed("- -m obeys --format json", &array).out, scored);
    let csv = "pred.answer\n0.5\n0.5\n";
    assert_eq!(fed("- -m obeys --format csv", csv).out, scored);
}

#[test]
fn invalid_standard_input() {
    let error = |args: &str, input| {
        let ran = fed(args, input);
        assert_eq!((ran.code, &*ran.out), (Some(2), ""));
        ran.error()
    };
    assert_snapshot!(error("- -m obeys", "{\n"),
        @"<stdin>:1:1: invalid JSON: EOF while parsing an object; write one object per line");
    assert_snapshot!(error("- -m obeys", ""),
        @"<stdin>: expected at least one row, found none; add rows");
    assert_snapshot!(error("- - -m obeys", ""),
        @"standard input (`-`) is named twice, but can be read only once; name it once");
}

#[test]
fn a_panic_while_a_row_is_read_is_an_error_with_its_place() {
    let rows = "{\"pred\": {\"word\": \"a\"}}\n{\"pred\": {\"word\": \"!\"}}\n";
    let error = |file| format!("error: {file}:2: metric `pickiness` panicked: cannot read `!`\n");
    let ran = fed("- -m pickiness", rows);
    assert_eq!(
        (ran.code, &*ran.out, &*ran.err),
        (Some(2), "", &*error("<stdin>"))
    );
    let folder = Folder::with("rows.jsonl", rows);
    let ran = folder.run("score rows.jsonl -m pickiness");
    assert_eq!(
        (ran.code, &*ran.out, &*ran.err),
        (Some(2), "", &*error("rows.jsonl"))
    );
}

#[test]
fn standard_input_is_one_of_several_files() {
    let folder = Folder::with("rows.jsonl", r#"{"pred": {"answer": "1"}}"#);
    let file = folder.path("rows.jsonl");
    let ran = fed(
        &[file.to_str().unwrap(), "-", "-m", "obeys"],
        r#"{"pred": {"answer": "0"}}"#,
    );
    assert_eq!(
        ran.out,
        "obeys  0.5000 [-5.8531, 6.8531; few rows] (mean of 2/2, 0 failed)\n"
    );
}

/// Writes rows of 20 KB each.
#[cfg(target_os = "linux")]
fn write_long_rows(stdin: &mut ChildStdin, rows: usize) {
    let text = "x".repeat(10_000);
    for _ in 0..rows {
        let row = format!(r#"{{"gold": {{"answer": "{text}"}}, "pred": {{"answer": "{text}"}}}}"#);
        writeln!(stdin, "{row}").unwrap();
    }
}

/// Checks that 10,000 rows take little more memory than 2,000. What the program itself takes depends on its features.
#[cfg(target_os = "linux")]
fn assert_flat(peak_of: impl Fn(usize) -> usize) {
    let grown = peak_of(10_000).saturating_sub(peak_of(2_000));
    assert!(grown < 12 * MIB, "160 MB of rows took {} KiB", grown / 1024);
}

#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_grow_with_the_rows() {
    assert_flat(|rows| {
        let (child, mut stdin) = piped("- -m same_text");
        write_long_rows(&mut stdin, rows);
        // The pipe is still open, so the process still runs.
        let peak = peak_memory(&child);
        drop(stdin);
        let ran = Ran::from(child.wait_with_output().unwrap());
        let all = format!("({rows}/{rows}, 0 failed)\n");
        assert!(ran.out.ends_with(&all), "{}", ran.out);
        peak
    });
}

#[test]
#[cfg(target_os = "linux")]
fn memory_does_not_grow_with_the_rows_of_a_junit_file() {
    assert_flat(|rows| {
        let (mut child, mut stdin) = piped("- -m same_text -q --junit -");
        write_long_rows(&mut stdin, rows);
        drop(stdin);
        // The pipe is full long before the last case, so the process still runs.
        let (mut out, mut xml) = (child.stdout.take().unwrap(), vec![0; 1_000]);
        out.read_exact(&mut xml).unwrap();
        let peak = peak_memory(&child);
        out.read_to_end(&mut xml).unwrap();
        assert!(child.wait().unwrap().success());
        let xml = String::from_utf8(xml).unwrap();
        assert_eq!(xml.matches("<testcase ").count(), rows);
        peak
    });
}

#[test]
#[cfg(target_os = "linux")]
fn objects_that_no_metric_reads_do_not_fill_the_memory() {
    // 19 MB, which need 1.5 GB as values.
    let objects = "{\"a\":0},".repeat(19_000_000 / 8);
    let row = format!(r#"{{"gold": {{}}, "pred": {{"answer": "1"}}, "log": [{objects}0]}}"#);
    let folder = Folder::with("rows.jsonl", &row);
    folder.write("rows.json", format!("[{row}]"));
    for args in ["rows.jsonl", "rows.json", "rows.jsonl --out o.jsonl"] {
        let file = args.split(' ').next().unwrap();
        let limit = "ulimit -v 900000; exec \"$0\" score";
        let mut command = std::process::Command::new("/bin/sh");
        command
            .args(["-c", &format!("{limit} {args} -m obeys")])
            .arg(scorer().get_program());
        let ran = Ran::from(command.current_dir(folder.path("")).output().unwrap());
        let error = "expected a row of at most 8388608 JSON values, where an object counts as 20, found more; split the row, or write its long lists as strings";
        assert_eq!(
            (ran.code, &*ran.err),
            (Some(2), &*format!("error: {file}:1: {error}\n"))
        );
    }
}

#[test]
fn a_long_field_is_scored() {
    let text = "x".repeat(30 * MIB);
    let row = format!(r#"{{"gold": {{"answer": "{text}"}}, "pred": {{"answer": "{text}"}}}}"#);
    let folder = Folder::with("rows.jsonl", row);
    let ran = folder.run("score rows.jsonl -m same_text");
    assert_eq!(
        (&*ran.out, &*ran.err),
        ("same_text  100.00% [20.65, 100.00] (1/1, 0 failed)\n", "")
    );
}

#[test]
fn a_field_of_100_mb_is_rejected() {
    let text = "x".repeat(100_000_000);
    let too_long = "the row is longer than 67108864 bytes, the limit for one row; check for a missing line \
                    end or closing quote";
    let inputs = [
        (
            "rows.jsonl",
            format!(r#"{{"gold": {{"answer": "{text}"}}, "pred": {{"answer": "x"}}}}"#),
        ),
        (
            "rows.json",
            format!(r#"[{{"gold": {{"answer": "{text}"}}, "pred": {{"answer": "x"}}}}]"#),
        ),
    ];
    for (name, content) in inputs {
        let error = Folder::with(name, content).score_error(&[name, "-m", "same_text"]);
        assert_eq!(error, format!("{name}:1: {too_long}"));
    }
    let csv = format!("gold.answer,pred.answer\nx,x\nx,\"{text}\nx,x\n");
    let error = Folder::with("rows.csv", csv).score_error("rows.csv -m same_text");
    assert_eq!(error, format!("rows.csv:3: {too_long}"));
}

#[test]
#[cfg(target_os = "linux")]
fn a_line_without_end_is_rejected_before_it_fills_the_memory() {
    let (child, mut stdin) = piped("- -m same_text");
    let mut peak = 0;
    let chunk = vec![b'x'; MIB];
    for _ in 0..1_000 {
        if stdin.write_all(&chunk).is_err() {
            break;
        }
        peak = peak.max(peak_memory(&child));
    }
    drop(stdin);
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(2));
    assert!(peak < 200 * MIB, "a row of 1 GB took {} MiB", peak / MIB);
}

/// Rows as data sets have them, and some that are unusual, lack a prediction, or fail.
fn varied_rows(number: usize) -> String {
    let row = |number: usize| {
        let (gold, pred) = match number % 500 {
            450 => (r#"["Paris"]"#, r#""answer": null"#),
            460 => (r#"[]"#, r#""answer": "Paris""#),
            470 => (
                r#"["caf\u00e9", "x"]"#,
                r#""answer": "the caf\u00e9!", "answers": [1e3]"#,
            ),
            480 => (r#""Paris""#, r#""text": "Paris""#),
            other if other % 2 == 0 => (r#"["Paris", "Paris, France"]"#, r#""answer": "paris""#),
            _ => (
                r#"["Eiffel Tower"]"#,
                r#""answer": "Eiffel Tower in Paris""#,
            ),
        };
        format!(
            "{{\"id\": \"q{number:04}\", \"gold\": {{\"answer\": {gold}}}, \"pred\": {{{pred}}}}}\n"
        )
    };
    (0..number).map(row).collect()
}

#[test]
fn rows_that_are_counted_as_they_are_decoded_have_the_same_summary() {
    let rows = varied_rows(4_000);
    let folder = Folder::with("rows.jsonl", &rows);
    let score = |options: &str| folder.run(&format!("score rows.jsonl {options}"));
    let counted = score("-m em,f1");
    // With a limit of errors, rows are evaluated one by one.
    assert_eq!(counted, score("-m em,f1 --max-errors 1000"));
    let em = "em  49.40% [47.85, 50.95] (1976/4000, 8 failed counted as 0, 16 without `answer`; 49.50% of the 3992 scored)";
    let f1 = "f1  0.8273 [0.8218, 0.8329] (mean of 3992/4000, 8 failed counted as 0, 16 without `answer`; 0.8290 over the 3992 scored)";
    assert_eq!(counted.out, format!("{em}\n{f1}\n"));
    let again = rows.replacen("q3210", "q0007", 1);
    folder.write("rows.jsonl", again);
    let error = "duplicate row id `q0007` (rows rows.jsonl:8 and rows.jsonl:3211); ids must be unique within a run";
    assert_eq!(folder.score_error("rows.jsonl -m em,f1"), error);
    folder.write(
        "rows.jsonl",
        rows.replacen(r#"{"id": "q3210", "gold""#, r#"{"goal""#, 1),
    );
    let error = "rows.jsonl:3211: metric `em`: no field `gold.answer`; found no fields; if the row has it elsewhere, pass --map gold.answer=PATH";
    assert_eq!(folder.score_error("rows.jsonl -m em,f1"), error);
}
