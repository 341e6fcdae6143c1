//! Files of another format, damaged lines and absurd values in the formats without archives.

use std::fs;

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
fn a_file_of_another_format_is_described() {
    let results = r#"{"id":"a","scores":{"em":{"outcome":"scored","value":1}}}"#;
    let eval = fs::read(log("agent.eval")).unwrap();
    let samples = fs::read(lm_eval("weak", "sums")).unwrap();
    let files: [(&[u8], &str); 8] = [
        (results.as_bytes(), "a result file of this program; leave out --from"),
        (br#"{"gold":{},"pred":{}}"#, "rows of gold labels and predictions; leave out --from"),
        (b"", "an empty file"),
        (b" \n\n", "an empty file"),
        (b"[1, 2]", "a list"),
        (b"{\"x\": 1}", "an object with `x`"),
        (&eval, "a ZIP archive, as logs of inspect_ai are (`--from inspect`)"),
        (&samples, "samples of lm-eval (`--from lm-eval`)"),
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
            "line 2: a second sample of document `1`, first in line 1; write the samples of one task",
        ),
        (r#"{"doc":{}}"#.to_owned(), "line 2: no `doc_id`; expected a sample of lm-eval"),
        (good[..20].to_owned(), "line 2: EOF while parsing"),
        (
            format!(r#"{{"doc_id":2,"doc":{}{}}}"#, "[".repeat(500), "]".repeat(500)),
            "line 2: expected at most 127 levels",
        ),
        (r#"{"doc_id":2,"metrics":7}"#.to_owned(), "line 2: invalid type: integer `7`"),
    ] {
        let error = error("lm-eval", format!("{good}\n{second}\n"));
        assert!(error.starts_with(expected), "{error}");
    }
    let utf8 = [good.as_bytes(), b"\n{\"doc_id\":2,\"doc\":\"\xff\"}"].concat();
    assert_eq!(error("lm-eval", utf8), "line 2: invalid UTF-8 at byte 19");
}

#[test]
fn nan_among_samples_is_no_score_and_infinity_a_failure() {
    let line = |id: u32, value: &str| {
        format!(
            r#"{{"doc_id":{id},"target":"a","filtered_resps":["a"],"metrics":["acc"],"acc":{value}}}"#
        )
    };
    let lines = [line(0, "NaN"), line(1, "Infinity"), line(2, "1.0"), line(3, "[1, 2]")].join("\n");
    let folder = Folder::with("samples_t_d.jsonl", lines);
    let ran = folder.run("compare --from lm-eval samples_t_d.jsonl samples_t_d.jsonl --json");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let compared: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let acc = &compared["metrics"]["acc"];
    assert_eq!((&acc["n"], &acc["failed"]["a"]), (&2.into(), &1.into()));
    assert!(ran.err.contains("left out, since their values are not numbers: `acc`"), "{}", ran.err);
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
            r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{{"traceId":"t","spanId":"a","attributes":[{{"key":"gen_ai.x","value":{value}}}]}}]}}]}}]}}"#
        )
    };
    let folder = Folder::with("file.jsonl", deep(30));
    let ran = folder.run("score --from otlp file.jsonl -m no_loops");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let error = error("otlp", format!("{}\n{}", deep(1), deep(100)));
    assert!(error.starts_with("line 2: expected at most 127 levels"), "{error}");
}

#[test]
fn a_json_log_that_is_cut_off_is_named() {
    let whole = fs::read(log("graded.json")).unwrap();
    let error = error("inspect", &whole[..whole.len() / 2]);
    assert!(error.starts_with("the object does not end; "), "{error}");
}
