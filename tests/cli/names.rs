//! Names and values on the command line that are wrong: which were meant?

use dsrs_metrics::cli::Registry;
use dsrs_metrics::metric_fn;
use dsrs_metrics::metrics::F1;

use crate::{Folder, scorer};

const GOOD: &str = r#"{"gold": {"answer": "1"}, "pred": {"answer": "1"}}"#;

#[track_caller]
fn said(args: &[&str]) -> String {
    Folder::with("rows.jsonl", GOOD).refused(&[&["rows.jsonl"], args].concat())
}

/// What clap says: the first line.
#[track_caller]
fn usage(args: &[&str]) -> String {
    let ran = Folder::with("rows.jsonl", GOOD).run(&[&["score", "rows.jsonl"], args].concat());
    assert_eq!((ran.code, &*ran.out), (Some(2), ""));
    ran.err.lines().next().unwrap().to_owned()
}

#[test]
fn unknown_metrics() {
    assert_eq!(
        said(&["-m", "sametext"]),
        "no metric is called `sametext`; did you mean `same_text`?"
    );
    assert_eq!(said(&["-m", "zzz"]), "no metric is called `zzz`; `list` shows all");
    assert_eq!(said(&["-m", "obeys,obeys"]), "the metric `obeys` is asked for twice");
}

#[test]
fn unknown_parameters() {
    assert_eq!(
        said(&["-m", "distance", "--param", "distance.scal=2"]),
        "metric `distance` has no parameter `scal`; it takes `scale`; did you mean `scale`?"
    );
    assert_eq!(
        said(&["-m", "obeys", "--param", "obeys.x=2"]),
        "metric `obeys` has no parameter `x`; it takes none"
    );
    assert_eq!(
        said(&["-m", "distance", "--param", "distnace.scale=2"]),
        "--param distnace.scale: `distnace` is not among the metrics of this run; did you mean \
         `distance`?"
    );
    assert_eq!(
        said(&["-m", "distance", "--param", "obeys.scale=2"]),
        "--param obeys.scale: `obeys` is not among the metrics of this run; add it with -m"
    );
}

#[test]
fn parameters_that_are_missing_or_of_the_wrong_type() {
    assert_eq!(
        said(&["-m", "short_note"]),
        "metric `short_note` needs its parameter `limit` (a whole number, 0 or more): --param short_note.limit=VALUE"
    );
    assert_eq!(
        said(&["-m", "short_note", "--param", "short_note.limit=few"]),
        "metric `short_note`: parameter `limit` should be a whole number, 0 or more; found `few`"
    );
    assert_eq!(
        usage(&["-m", "distance", "--param", "distance=2"]),
        "error: invalid value 'distance=2' for '--param <NAME.KEY=VALUE>': write NAME.KEY=VALUE, as \
         in f1.threshold=0.8"
    );
}

#[test]
fn bad_maps() {
    let said_of_map = |map| usage(&["-m", "obeys", "--map", map]);
    assert_eq!(
        said_of_map("gold.answer"),
        "error: invalid value 'gold.answer' for '--map <FIELD=PATH>': bad mapping `gold.answer`: \
         write FIELD=PATH, as in gold.answer=answers"
    );
    assert_eq!(
        said_of_map("answer=answers"),
        "error: invalid value 'answer=answers' for '--map <FIELD=PATH>': bad mapping \
         `answer=answers`: on its left stands `gold.FIELD`, `pred.FIELD` or `id`, not `answer`"
    );
    assert_eq!(
        said_of_map("pred.answer=a..b"),
        "error: invalid value 'pred.answer=a..b' for '--map <FIELD=PATH>': bad mapping \
         `pred.answer=a..b`: the path `a..b` has an empty part"
    );
    assert_eq!(
        said(&["-m", "obeys", "--map", "pred.answer=a", "--map", "pred.answer=b"]),
        "--map: `pred.answer` is mapped twice"
    );
}

#[test]
fn bad_limits() {
    assert_eq!(
        said(&["-m", "same_text", "--fail-under", "some_text=80"]),
        "--fail-under some_text: `some_text` is not among the metrics of this run; did you mean \
         `same_text`?"
    );
    assert_eq!(
        usage(&["-m", "same_text", "--fail-under", "same_text=nan"]),
        "error: invalid value 'same_text=nan' for '--fail-under <NAME=X>': `nan` is not a finite \
         number"
    );
}

#[test]
fn bad_numbers() {
    let said_of = |option, value| usage(&["-m", "obeys", option, value]);
    assert_eq!(
        said_of("--timeout", "30"),
        "error: invalid value '30' for '--timeout <TIME>': time unit needed, for example 30sec or 30ms"
    );
    assert_eq!(
        said_of("--timeout", "0s"),
        "error: invalid value '0s' for '--timeout <TIME>': a timeout of zero fails every row"
    );
    assert_eq!(
        said_of("--failure-score", "inf"),
        "error: invalid value 'inf' for '--failure-score <X>': `inf` is not a finite number"
    );
    assert_eq!(
        said_of("--max-errors", "0"),
        "error: invalid value '0' for '--max-errors <N>': 0 is not in 1..18446744073709551615"
    );
    assert_eq!(
        said(&["-m", "obeys", "--concurrency", "0"]),
        "a concurrency of 0 scores nothing: --concurrency takes 1 or more"
    );
}

#[test]
fn options_that_do_not_exist() {
    assert_eq!(
        usage(&["-m", "obeys", "--repeats", "3"]),
        "error: unexpected argument '--repeats' found"
    );
    assert_eq!(
        usage(&["-m", "obeys", "--fail-umder", "obeys=3"]),
        "error: unexpected argument '--fail-umder' found"
    );
}

#[test]
fn no_arguments_are_bad_usage() {
    let output = scorer().output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("Usage: scorer <COMMAND>"));
}

#[test]
fn names_that_are_taken() {
    let named = |name: &str| metric_fn(name, |_, _| 1.0);
    let mut registry = Registry::builtin();
    registry.add_metric(named("f1")).unwrap();
    assert_eq!(
        registry.add::<F1>().unwrap_err().to_string(),
        "two metrics are called `f1`; rename one with #[metric(name = \"..\")]",
        "one stands in for the built-in metric, two are a mistake"
    );
    registry.add_metric(named("mine")).unwrap();
    assert_eq!(
        registry.add_metric(named("mine")).unwrap_err().to_string(),
        "two metrics are called `mine`; rename one with #[metric(name = \"..\")]"
    );
    assert_eq!(
        registry.add_metric(named("a.b")).unwrap_err().to_string(),
        "a metric cannot be called `a.b`: use letters, digits and `_`"
    );
}

#[test]
fn a_bug_is_one_line() {
    let ran = Folder::with("rows.jsonl", GOOD).run(&["score", "rows.jsonl", "-m", "broken"]);
    assert_eq!((ran.code, &*ran.out), (Some(101), ""));
    let said = "error: a bug in dsrs-metrics: there is a mistake (tests/cli/scorer.rs:";
    assert!(ran.err.starts_with(said) && ran.err.lines().count() == 1, "{:?}", ran.err);
}
