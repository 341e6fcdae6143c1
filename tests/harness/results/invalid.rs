//! Runs that cannot be compared: one sentence each, and used in part only on request.

use dsrs_metrics::results::{Comparison, Results};

use super::{run, with_attributes};

#[track_caller]
fn error(a: &Results, b: &Results) -> String {
    let error = Comparison::of(a, b).unwrap_err().to_string();
    assert!(!error.contains('\n'), "{error}");
    error
}

#[test]
fn different_rows_are_compared_only_on_request() {
    let a = run(
        "a",
        &[
            ("q1", "true"),
            ("q2", "true"),
            ("q3", "false"),
            ("q4", "true"),
            ("q5", "true"),
            ("q6", "true"),
        ],
    );
    let b = run("b", &[("q6", "true"), ("q7", "false")]);
    assert_eq!(
        error(&a, &b),
        "expected the same rows in both runs, found 5 only in a (`q1`, `q2`, `q3` and 2 more) and 1 only in b (`q7`); \
         to compare the 1 common rows, pass --only-paired (in code, `only_paired(true)`)"
    );
    let comparison = Comparison::builder().only_paired(true).of(&a, &b).unwrap();
    assert_eq!((comparison.paired, comparison.metrics[0].overall.n), (1, 1));
    assert_eq!(
        (comparison.only_in_a.len(), &*comparison.only_in_b),
        (5, &["q7".to_owned()][..])
    );
    let text = comparison.to_string();
    let counted = "1 row in both, 5 only in A, not compared (`q1`, `q2`, `q3` and 2 more), 1 only in B, not compared (`q7`)";
    assert!(text.contains(counted), "{text}");

    let other = run("c", &[("x1", "true")]);
    let expected = "c:1: `id`: expected ids from a such as `q1`, found `x1`, and no row has a matching id; compare runs over the same rows";
    assert_eq!(error(&a, &other), expected);
    let error = Comparison::builder()
        .only_paired(true)
        .of(&a, &other)
        .unwrap_err()
        .to_string();
    assert_eq!(error, expected);
}

#[test]
fn rows_of_other_data_with_the_same_ids_are_an_error() {
    let row = |gold: &str| {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("r.jsonl");
        let score = r#"{"m":{"outcome":"scored","value":1}}"#;
        std::fs::write(
            &file,
            format!(r#"{{"id":"1","gold":{gold},"scores":{score}}}"#),
        )
        .unwrap();
        Results::read(file).unwrap()
    };
    let (paris, rome, none) = (row(r#"{"a":"Paris"}"#), row(r#"{"a":"Rome"}"#), row("null"));
    let found = error(&paris, &rome);
    assert!(
        found.starts_with("the gold rows of `1` differ: the first is at "),
        "{found}"
    );
    assert!(
        found.ends_with("r.jsonl:1; compare runs over the same data"),
        "{found}"
    );
    assert_eq!(Comparison::of(&paris, &none).unwrap().paired, 1);
}

#[test]
fn other_metrics_are_an_error_with_the_nearest_name() {
    let a = run("a", &[("1", "exact_match:true f1:0.5")]);
    let b = run("b", &[("1", "exact_math:true f1:0.5")]);
    assert_eq!(
        error(&a, &b),
        "b: no row has a score for `exact_match`, which a has; to compare only some metrics, select them with \
         -m; did you mean `exact_math`?"
    );
    let only = |names: [&str; 1]| Comparison::builder().metrics(names).of(&a, &b);
    assert_eq!(only(["f1"]).unwrap().metrics.len(), 1);
    assert_eq!(
        only(["exact_match"]).unwrap_err().to_string(),
        "b: no row has a score for `exact_match`; did you mean `exact_math`?"
    );
    assert_eq!(
        only(["bleu"]).unwrap_err().to_string(),
        "a: no row has a score for `bleu`, only `exact_match`, `f1`"
    );
    assert_eq!(
        only(["f1.recall"]).unwrap_err().to_string(),
        "a: no row has a score for `f1.recall`; did you mean `f1`?"
    );
}

#[test]
fn pass_or_fail_and_numbers_are_not_compared() {
    let a = run("a", &[("1", "true"), ("2", "false")]);
    let b = run("b", &[("1", "0.5"), ("2", "1")]);
    let expected = "`m`: pass or fail in a, numbers in b; score both runs with the same metric";
    assert_eq!(error(&a, &b), expected);
    assert_eq!(error(&b, &a), expected);
}

#[test]
fn groups_are_a_field_of_the_data() {
    let rows = |name: &str, groups: [&str; 2]| {
        with_attributes(name, [("1", "true", groups[0]), ("2", "true", groups[1])])
    };
    let a = rows("a", [r#"{"topic":"x"}"#, r#"{"topic":"y"}"#]);
    let by = |field: &str, b: &Results| {
        Comparison::builder()
            .group(field)
            .of(&a, b)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        by("topics", &a),
        "no row has the field `topics`; did you mean `topic`?"
    );
    let other = rows("b", [r#"{"topic":"x"}"#, r#"{"topic":"z"}"#]);
    assert_eq!(
        by("topic", &other),
        "row `2`: `topic` is \"y\" in one run and \"z\" in the other; group by a field of the data"
    );
    let without = rows("c", ["{}", r#"{"topic":null}"#]);
    let found = Comparison::builder()
        .group("topic")
        .of(&without, &without)
        .unwrap_err();
    assert_eq!(found.to_string(), "no row has the field `topic`");
    let without = rows("c", [r#"{"topic":"x"}"#, "{}"]);
    // One of the runs may lack the field.
    assert_eq!(
        Comparison::builder()
            .group("topic")
            .of(&a, &without)
            .unwrap()
            .paired,
        2
    );
}

#[test]
fn a_direction_of_a_metric_that_is_not_compared_is_an_error_with_the_nearest_name() {
    let a = run("a", &[("1", "recall:0.5 f1:0.5")]);
    let of = |metric: &str| Comparison::builder().lower_is_better([metric]).of(&a, &a);
    assert_eq!(
        of("recal").unwrap_err().to_string(),
        "`recal` cannot be lower-is-better, because it is not compared; did you mean `recall`?"
    );
    assert_eq!(
        of("TYPO").unwrap_err().to_string(),
        "`TYPO` cannot be lower-is-better, because it is not compared, only `recall`, `f1`"
    );
    assert_eq!(
        of("recall").unwrap().metrics[0].direction,
        dsrs_metrics::contract::Direction::LowerIsBetter
    );
    let f1 = Comparison::builder()
        .metrics(["f1"])
        .lower_is_better(["recall"])
        .of(&a, &a);
    assert_eq!(
        f1.unwrap_err().to_string(),
        "`recall` cannot be lower-is-better, because it is not compared, only `f1`"
    );
}
