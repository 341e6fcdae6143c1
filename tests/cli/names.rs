//! Unknown names and invalid values in arguments, and the suggestions for them.

use dsrs_metrics::cli::Registry;
use dsrs_metrics::metric_fn;
use dsrs_metrics::metrics::F1;
use insta::assert_snapshot;

use crate::{Folder, scorer};

const GOOD: &str = r#"{"gold": {"answer": "1"}, "pred": {"answer": "1"}}"#;

/// The error of `score rows.jsonl ARGS`.
#[track_caller]
fn error_of(args: &str) -> String {
    Folder::with("rows.jsonl", GOOD).score_error(&format!("rows.jsonl {args}"))
}

/// The usage error of `score rows.jsonl ARGS`, which is one line.
#[track_caller]
fn usage(args: &str) -> String {
    let ran = Folder::with("rows.jsonl", GOOD).run(&format!("score rows.jsonl {args}"));
    assert_eq!(
        (ran.code, &*ran.out, ran.err.lines().count()),
        (Some(2), "", 1)
    );
    ran.err.trim_end().to_owned()
}

#[test]
fn unknown_metrics() {
    assert_eq!(
        error_of("-m sametext"),
        "unknown metric `sametext`; did you mean `same_text`?"
    );
    assert_eq!(error_of("-m EM"), "unknown metric `EM`; did you mean `em`?");
    assert_eq!(
        error_of("-m zzz"),
        "unknown metric `zzz`; see `list` for all metrics"
    );
    assert_eq!(
        error_of("-m obeys,obeys"),
        "duplicate metric `obeys`; list it once"
    );
}

#[test]
fn unknown_parameters() {
    assert_snapshot!(error_of("-m distance --param distance.scal=2"),
        @"metric `distance` has no parameter `scal`; it takes `scale`; did you mean `scale`?");
    assert_snapshot!(error_of("-m obeys --param obeys.x=2"),
        @"metric `obeys` has no parameter `x`; it takes none");
    assert_snapshot!(error_of("-m distance --param distnace.scale=2"),
        @"--param distnace.scale: `distnace` is not a metric in this run; did you mean `distance`?");
    assert_snapshot!(error_of("-m distance --param obeys.scale=2"),
        @"--param obeys.scale: `obeys` is not a metric in this run; add it with -m");
}

#[test]
fn parameters_that_are_missing_or_of_the_wrong_type() {
    assert_snapshot!(error_of("-m short_note"),
        @"metric `short_note` requires the parameter `limit` (a whole number, 0 or more): --param short_note.limit=VALUE");
    assert_snapshot!(error_of("-m short_note --param short_note.limit=few"),
        @"metric `short_note`: parameter `limit`: expected a whole number, 0 or more, found `few`");
    assert_snapshot!(usage("-m distance --param distance=2"),
        @"error: invalid value 'distance=2' for '--param <NAME.KEY=VALUE>': expected NAME.KEY=VALUE, as in f1.profile=folded");
}

#[test]
fn a_parameter_is_set_once() {
    assert_snapshot!(error_of("-m distance --param distance.scale=2 --param distance.scale=2"),
        @"--param distance.scale: set twice; set it once");
}

#[test]
fn invalid_mappings() {
    let map_error = |map| usage(&format!("-m obeys --map {map}"));
    assert_snapshot!(map_error("gold.answer"),
        @"error: invalid value 'gold.answer' for '--map <FIELD=PATH>': invalid mapping `gold.answer`: expected FIELD=PATH, as in gold.answer=answers");
    assert_snapshot!(map_error("answer=answers"),
        @"error: invalid value 'answer=answers' for '--map <FIELD=PATH>': invalid mapping `answer=answers`: expected `gold.FIELD`, `pred.FIELD`, `id` or `repeat` before `=`, found `answer`");
    assert_snapshot!(map_error("pred.answer=a..b"),
        @"error: invalid value 'pred.answer=a..b' for '--map <FIELD=PATH>': invalid mapping `pred.answer=a..b`: empty segment in the path `a..b`; remove the extra dot");
    assert_snapshot!(error_of("-m obeys --map pred.answer=a --map pred.answer=b"),
        @"--map: duplicate mapping of `pred.answer`; keep one");
}

#[test]
fn a_mapping_of_a_misspelt_field_is_refused() {
    assert_snapshot!(error_of("-m em --map pred.anser=text"),
        @"--map pred.anser=text: no metric in this run reads `pred.anser`; did you mean `pred.answer`?");
    let row = r#"{"id": 1, "gold": {"answer": "a"}, "pred": {"answer": "a"}, "text": "b"}"#;
    let folder = Folder::with("rows.jsonl", row);
    // The field has its own mapping, names the groups, or is written; and no similar field is read.
    for options in [
        "--map pred.anser=text --map pred.answer=text",
        "--map gold.answers=text --group gold.answers",
        "--map pred.anser=text --with-rows --out out.jsonl",
        "--map pred.context=text",
    ] {
        folder.printed(&format!("score rows.jsonl -m em {options}"));
    }
}

#[test]
fn invalid_thresholds() {
    assert_snapshot!(error_of("-m same_text --fail-under some_text=0.8"),
        @"--fail-under some_text: `some_text` is not a metric in this run; did you mean `same_text`?");
    assert_snapshot!(usage("-m same_text --fail-under same_text=nan"),
        @"error: invalid value 'same_text=nan' for '--fail-under <NAME=X>': expected a finite number such as 0.6, or a percentage such as 60%, found `nan`");
}

#[test]
fn invalid_numbers() {
    let option_error = |option, value| usage(&format!("-m obeys {option} {value}"));
    assert_snapshot!(option_error("--timeout", "30"),
        @"error: invalid value '30' for '--timeout <TIME>': time unit needed, for example 30sec or 30ms");
    assert_snapshot!(error_of("-m obeys --timeout 0s"),
        @"expected `timeout` to be above 0 s, found 0 s; use a longer timeout, or none");
    assert_snapshot!(option_error("--failure-score", "inf"),
        @"error: invalid value 'inf' for '--failure-score <X>': expected a finite number, found `inf`");
    for score in ["1e308", "-1.1e300"] {
        let error = error_of(&format!("-m same_text --failure-score {score}"));
        assert!(
            error.starts_with("expected `failure_score` between -1e300 and 1e300"),
            "{error}"
        );
    }
    assert_snapshot!(option_error("--max-errors", "0"),
        @"error: invalid value '0' for '--max-errors <N>': 0 is not in 1..18446744073709551615");
    assert_snapshot!(option_error("--repeats", "0"),
        @"error: invalid value '0' for '--repeats <N>': 0 is not in 1..=10000");
    assert_snapshot!(option_error("--concurrency", "0"),
        @"error: invalid value '0' for '--concurrency <N>': 0 is not in 1..=4294967295");
}

#[test]
fn unknown_options() {
    assert_snapshot!(usage("-m obeys --repaets 3"),
        @"error: unexpected argument '--repaets' found; a similar argument exists: '--repeats'");
    assert_snapshot!(usage("-m obeys --fail-umder obeys=3"),
        @"error: unexpected argument '--fail-umder' found; a similar argument exists: '--fail-under'");
}

#[test]
fn no_arguments_are_invalid_usage() {
    let output = scorer().output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("Usage: scorer <COMMAND>")
    );
}

#[test]
fn duplicate_and_invalid_metric_names() {
    let named = |name: &str| metric_fn(name, |_, _| 1.0);
    let mut registry = Registry::builtin();
    registry.add_metric(named("f1")).unwrap();
    assert_eq!(
        registry.add::<F1>().unwrap_err().to_string(),
        "duplicate metric name `f1`; rename one with #[metric(name = \"..\")]",
        "one metric replaces the built-in one, a second one is a duplicate"
    );
    registry.add_metric(named("mine")).unwrap();
    assert_eq!(
        registry.add_metric(named("mine")).unwrap_err().to_string(),
        "duplicate metric name `mine`; rename one with #[metric(name = \"..\")]"
    );
    assert_eq!(
        registry.add_metric(named("a.b")).unwrap_err().to_string(),
        "invalid metric name `a.b`: expected letters, digits, `_` and `-`; rename the metric"
    );
}

#[test]
fn an_internal_error_is_one_line() {
    let ran = Folder::with("rows.jsonl", GOOD).run("score rows.jsonl -m broken");
    assert_eq!((ran.code, &*ran.out), (Some(101), ""));
    let start = "error: internal error in dsrs-metrics: there is a mistake (tests/cli/scorer.rs:";
    assert!(
        ran.err.starts_with(start) && ran.err.lines().count() == 1,
        "{:?}",
        ran.err
    );
}
