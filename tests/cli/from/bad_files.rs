//! Files of another format, damaged lines and absurd values in the formats without archives.

use std::fs;

use dsrs_metrics::runs::formats::{Epochs, ForeignFormat, import_file};
use serde_json::Value;

use super::{lm_eval, log};
use crate::Folder;

const FORMATS: [&str; 4] = ["inspect", "lm-eval", "otlp", "atif"];

#[track_caller]
fn error(format: &str, content: impl AsRef<[u8]>) -> String {
    let folder = Folder::with("file.jsonl", content);
    let error = folder.score_error(&format!("--from {format} file.jsonl -m em"));
    let reason = error.strip_prefix("file.jsonl: ").map(str::to_owned);
    reason.unwrap_or_else(|| panic!("{error}"))
}

#[test]
fn a_file_beyond_the_largest_size_is_not_read() {
    let folder = Folder::with("file.jsonl", "{}");
    let file = fs::File::options()
        .write(true)
        .open(folder.path("file.jsonl"));
    file.unwrap().set_len((2 << 30) + 1).unwrap();
    for format in ["lm-eval", "atif"] {
        assert_eq!(
            folder.score_error(&format!("--from {format} file.jsonl -m em")),
            "file.jsonl: larger than 2048 MiB; split it into several files"
        );
    }
}

#[test]
fn a_file_of_another_format_is_described() {
    let results = r#"{"id":"a","scores":{"em":{"outcome":"scored","value":1}}}"#;
    let eval = fs::read(log("agent.eval")).unwrap();
    let samples = fs::read(lm_eval("weak", "sums")).unwrap();
    let files: [(&[u8], &str); 8] = [
        (
            results.as_bytes(),
            "a result file of this program; leave out --from",
        ),
        (
            br#"{"gold":{},"pred":{}}"#,
            "rows of gold labels and predictions; leave out --from",
        ),
        (b"", "an empty file"),
        (b" \n\n", "an empty file"),
        (b"[1, 2]", "a list"),
        (b"{\"x\": 1}", "an object with `x`"),
        (
            &eval,
            "a ZIP archive, like an inspect_ai log (`--from inspect`)",
        ),
        (&samples, "samples from lm-eval (`--from lm-eval`)"),
    ];
    for format in FORMATS {
        for (content, found) in files {
            let is_own =
                content == eval && format == "inspect" || content == samples && format == "lm-eval";
            if is_own {
                continue;
            }
            let error = error(format, content);
            assert!(
                error.starts_with("expected ") && error.ends_with(&format!(", found {found}")),
                "{format}: {error}"
            );
        }
    }
}

#[test]
fn a_file_that_is_missing_is_named() {
    for format in FORMATS {
        let error = Folder::new().score_error(&format!("--from {format} none -m em"));
        assert_eq!(error, "none: No such file or directory (os error 2)");
    }
}

#[test]
fn damaged_samples_of_lm_eval_are_named_with_their_line() {
    let good = r#"{"doc_id":1,"doc":{},"target":"a","filtered_resps":["a"],"acc":1.0}"#;
    for (second, expected) in [
        (
            good.to_owned(),
            "line 2: duplicate sample for document `1`; keep the samples of only one task",
        ),
        (
            r#"{"doc":{}}"#.to_owned(),
            "line 2: expected an lm-eval sample with a number or string `doc_id`",
        ),
        (good[..20].to_owned(), "line 2: EOF while parsing"),
        (
            format!(
                r#"{{"doc_id":2,"doc":{}{}}}"#,
                "[".repeat(500),
                "]".repeat(500)
            ),
            "line 2: expected at most 127 levels",
        ),
        (
            r#"{"doc_id":2,"metrics":7}"#.to_owned(),
            "line 2: invalid type: integer `7`",
        ),
    ] {
        let error = error("lm-eval", format!("{good}\n{second}\n"));
        assert!(error.starts_with(expected), "{error}");
    }
    let utf8 = [good.as_bytes(), b"\n{\"doc_id\":2,\"doc\":\"\xff\"}"].concat();
    assert_eq!(error("lm-eval", utf8), "line 2: invalid UTF-8 at byte 19");
}

#[test]
fn a_score_of_a_sample_that_is_not_a_number_is_a_failure() {
    let line = |id: u32, value: &str| {
        format!(
            r#"{{"doc_id":{id},"target":"a","filtered_resps":["a"],"metrics":["acc"],"acc":{value}}}"#
        )
    };
    let lines = [
        line(0, "NaN"),
        line(1, "Infinity"),
        line(2, "1.0"),
        line(3, "[1, 2]"),
    ]
    .join("\n");
    let folder = Folder::with("samples_t_d.jsonl", lines);
    let ran = folder.run("compare --from lm-eval samples_t_d.jsonl samples_t_d.jsonl --json");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let compared: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let acc = &compared["metrics"]["acc"];
    assert_eq!((&acc["n"], &acc["failed"]["a"]), (&4.into(), &3.into()));
    assert!(!ran.err.contains("left out"), "{}", ran.err);
}

/// The error of the first of two samples of lm-eval when only the second one has a score.
fn error_of_score(first: &str) -> String {
    let second = r#"{"doc_id":1,"target":"a","filtered_resps":["a"],"metrics":["acc"],"acc":1.0}"#;
    let folder = Folder::with("samples_t_d.jsonl", format!("{first}\n{second}"));
    let out = folder.path("rows.jsonl");
    import_file(
        ForeignFormat::LmEval,
        Epochs::Repeats,
        &folder.path("samples_t_d.jsonl"),
        &out,
    )
    .unwrap();
    let row: Value =
        serde_json::from_str(folder.read("rows.jsonl").lines().next().unwrap()).unwrap();
    let score = &row["scores"]["acc"];
    assert_eq!(score["outcome"], "metric_failed", "{row}");
    score["error"].as_str().unwrap().to_owned()
}

#[test]
fn a_sample_without_the_score_of_others_is_a_failure() {
    let sample = |end: &str| format!(r#"{{"doc_id":0,"target":"a","filtered_resps":["a"],{end}}}"#);
    for (end, expected) in [
        (
            r#""metrics":["acc"],"acc":"0.0""#,
            r#"the score is the string "0.0", not a number"#,
        ),
        (
            r#""metrics":["acc"],"acc":[0.0]"#,
            "the score is a list, not a number",
        ),
        (
            r#""metrics":["acc"],"acc":NaN"#,
            "the score is missing, null or NaN, not a number",
        ),
        (
            r#""metrics":["acc"],"acc":-Infinity"#,
            r#"the score is the string "-Infinity", not a number"#,
        ),
        (
            r#""metrics":["acc"]"#,
            "the score is missing, null or NaN, not a number",
        ),
        (
            r#""metrics":[],"acc":0.0"#,
            "the file has no score for this row, but has one for others",
        ),
        (
            r#""acc":"0.0""#,
            "the file has no score for this row, but has one for others",
        ),
    ] {
        assert_eq!(
            error_of_score(&sample(end)),
            format!("metric `acc`: {expected}"),
            "{end}"
        );
    }
}

#[test]
fn a_mistake_in_the_first_line_is_not_another_format() {
    for (format, content, expected) in [
        (
            "lm-eval",
            r#"{"doc_id":null,"acc":1.0}"#,
            "line 1: expected an lm-eval sample with a number or string `doc_id`, found no `doc_id`",
        ),
        (
            "lm-eval",
            r#"{"doc_id":1,"acc":1.0"#,
            "line 1: EOF while parsing an object at line 1 column 21",
        ),
        (
            "lm-eval",
            r#"{"doc_id":1,"acc":1.0,"acc":0.0}"#,
            "line 1: duplicate key `acc` at line 1 column 32",
        ),
        (
            "otlp",
            r#"{"resourceSpans":7}"#,
            "line 1: invalid type: integer `7`, expected a sequence at line 1 column 18",
        ),
        (
            "atif",
            r#"{"schema_version":"2","steps":[]}"#,
            "line 1: no `schema_version` of ATIF; expected a trajectory",
        ),
        (
            "inspect",
            r#"{"version":3,"eval":{"task":"t","model":"m"}}"#,
            "expected a format version of at most 2, found 3; update dsrs-metrics",
        ),
        (
            "inspect",
            "PK\u{5}\u{6}\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
            "expected an inspect_ai log (.eval or .json), found a ZIP archive without `header.json`",
        ),
    ] {
        assert_eq!(error(format, content), expected, "{format}: {content}");
    }
}

#[test]
fn a_byte_order_mark_is_skipped_in_each_format() {
    let marked = |content: &[u8]| [b"\xef\xbb\xbf", content].concat();
    let (samples, log) = (
        fs::read(lm_eval("weak", "sums")).unwrap(),
        fs::read(log("graded.json")).unwrap(),
    );
    let atif = super::trajectories::TRAJECTORIES.as_bytes().to_vec();
    let spans = super::spans::TRACES.as_bytes().to_vec();
    let over_lines =
        serde_json::from_str::<Value>(super::spans::TRACES.lines().next().unwrap()).unwrap();
    let over_lines = serde_json::to_string_pretty(&over_lines)
        .unwrap()
        .into_bytes();
    for (format, content) in [
        (ForeignFormat::LmEval, samples),
        (ForeignFormat::Inspect, log),
        (ForeignFormat::Atif, atif),
        (ForeignFormat::Otlp, spans),
        (ForeignFormat::Otlp, over_lines),
    ] {
        let rows = [content.clone(), marked(&content)].map(|content| {
            let folder = Folder::with("file", content);
            import_file(
                format,
                Epochs::Repeats,
                &folder.path("file"),
                &folder.path("rows.jsonl"),
            )
            .unwrap();
            folder.read("rows.jsonl")
        });
        assert!(rows[0].lines().count() > 0);
        assert_eq!(rows[0], rows[1], "{format:?}");
    }
    let other = error("lm-eval", marked(br#"{"resourceSpans":[]}"#));
    assert!(
        other.ends_with("found spans from OpenTelemetry (`--from otlp`)"),
        "{other}"
    );
}

#[test]
fn an_attribute_of_a_span_may_be_deep_within_the_limit_of_json() {
    let deep = |levels: usize| {
        let value = format!(
            "{}{{\"stringValue\":\"x\"}}{}",
            "{\"arrayValue\":{\"values\":[".repeat(levels),
            "]}}".repeat(levels)
        );
        format!(
            r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{{"traceId":"t","spanId":"a","attributes":[{{"key":"gen_ai.operation.name","value":{{"stringValue":"execute_tool"}}}},{{"key":"gen_ai.x","value":{value}}}]}}]}}]}}]}}"#
        )
    };
    let folder = Folder::with("file.jsonl", deep(30));
    let ran = folder.run("score --from otlp file.jsonl -m no_loops");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let error = error("otlp", format!("{}\n{}", deep(1), deep(100)));
    assert!(
        error.starts_with("line 2: expected at most 127 levels"),
        "{error}"
    );
}

#[test]
fn a_json_log_that_is_cut_off_is_named() {
    let whole = fs::read(log("graded.json")).unwrap();
    let error = error("inspect", &whole[..whole.len() / 2]);
    assert!(error.starts_with("the object does not end; "), "{error}");
}
