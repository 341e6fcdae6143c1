//! Verdicts, numbers on a scale, named classes: which values are compared, and which are rejected.

use dsrs_metrics::Outcome;
use dsrs_metrics::agreement::{Agreement, AgreementError, Label, Rating};
use dsrs_metrics::prelude::*;

use super::{agreement, assert_close, note};

#[test]
fn rows_without_score_or_label_are_counted() {
    let failed = || Rating::Missing("metric_failed".into());
    let rows = [
        (Rating::from(true), Some(true)),
        (Rating::from(true), Some(false)),
        (Rating::from(false), Some(false)),
        (Rating::from(true), None),
        (failed(), Some(true)),
        (failed(), None),
        (Rating::from(None::<bool>), Some(true)),
    ];
    let found = agreement(rows);
    assert_eq!((found.rows, found.compared, found.without_label), (7, 3, 1));
    assert_eq!(found.without_score["metric_failed"], 2);
    assert_eq!(found.without_score["absent"], 1);
    assert_close(found.accuracy.value, 2.0 / 3.0);
    // The row without label has a verdict.
    assert_eq!((found.passed.successes, found.passed.n), (Some(3), 4));
    let table = found.to_string();
    let counts =
        "7 rows: 3 compared, 1 without a label, 3 without a score (2 metric_failed, 1 absent)\n";
    assert!(table.starts_with(counts), "{table}");
}

#[test]
fn sensitivity_and_specificity_have_denominators_of_their_own() {
    let pairs = [(true, true); 8].into_iter().chain([(false, true); 2]);
    let found = agreement(pairs.chain([(false, false); 3]).chain([(true, false); 1]));
    assert_eq!(
        (found.sensitivity.successes, found.sensitivity.n),
        (Some(8), 10)
    );
    assert_eq!(
        (found.specificity.successes, found.specificity.n),
        (Some(3), 4)
    );
    assert_eq!(
        serde_json::to_value(&found.confusion).unwrap(),
        serde_json::json!([[3, 1], [2, 8]])
    );
    assert_eq!(found.classes, ["fail", "pass"]);
}

#[test]
fn a_metrics_own_verdict_counts_unless_a_threshold_is_set() {
    let rating = |passed, score| Rating::Verdict { passed, score };
    let rows = [
        (rating(false, 0.6), true),
        (rating(false, 0.1), false),
        (rating(true, 0.9), true),
    ];
    assert_close(agreement(rows.clone()).accuracy.value, 2.0 / 3.0);
    let at_half = Agreement::builder()
        .threshold(0.5)
        .of(rows.clone())
        .unwrap();
    assert_eq!(at_half.accuracy.value, Some(1.0));
    let reversed = Agreement::builder()
        .threshold(0.5)
        .lower_is_better(true)
        .of(rows)
        .unwrap();
    assert_eq!(reversed.accuracy.value, Some(0.0));
    // The order of the scores is the same whatever passes.
    assert_eq!(at_half.spearman.value, reversed.spearman.value);
}

#[test]
fn zeros_and_ones_and_verdict_words_are_verdicts() {
    let scores = [1.0, 0.0, 1.0, 0.0];
    for labels in [
        ["yes", "no", "no", "no"],
        ["Correct", "incorrect", "INCORRECT", "incorrect"],
        // Cells of a CSV file become strings.
        ["1", "0", "0", "0"],
        ["1.0", "0.0", "0.0", "0.0"],
    ] {
        let found = agreement(scores.into_iter().zip(labels));
        assert_eq!(
            (found.accuracy.successes, found.sensitivity.n),
            (Some(3), 1)
        );
    }
    let found = agreement(scores.into_iter().zip([1.0, 0.0, 0.0, 0.0]));
    assert_eq!(
        (found.accuracy.successes, found.sensitivity.n),
        (Some(3), 1)
    );
    assert_eq!(found.classes, ["fail", "pass"]);
}

#[test]
fn positive_names_the_passing_labels() {
    let rows = [
        (true, "great"),
        (true, "fine"),
        (false, "poor"),
        (true, "poor"),
    ];
    let found = Agreement::builder()
        .positive(["great", "fine"])
        .of(rows)
        .unwrap();
    assert_eq!(
        (found.sensitivity.successes, found.sensitivity.n),
        (Some(2), 2)
    );
    assert_eq!(
        (found.specificity.successes, found.specificity.n),
        (Some(1), 2)
    );
    let rows = [(true, 5.0), (false, 4.0), (false, 1.0)];
    let found = Agreement::builder().positive(["4", "5"]).of(rows).unwrap();
    assert_eq!(
        (found.sensitivity.successes, found.sensitivity.n),
        (Some(1), 2)
    );
    let error = Agreement::builder()
        .positive(["good"])
        .of([(true, "great")])
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected a passing label (`good`) in at least one row, found `great`"
    );
}

#[test]
fn numbers_on_one_scale_are_ordered_classes() {
    // kappas by scikit-learn 1.9.1
    let scores = [1.0, 2.0, 3.0, 4.0, 5.0, 3.0, 4.0, 2.0, 5.0, 1.0, 4.0];
    let labels = [1.0, 2.0, 3.0, 5.0, 5.0, 2.0, 4.0, 1.0, 5.0, 1.0, 5.0];
    let found = agreement(scores.into_iter().zip(labels));
    assert_eq!(found.classes, ["1", "2", "3", "4", "5"]);
    assert_close(found.accuracy.value, 7.0 / 11.0);
    assert_close(found.kappa.value, KAPPAS[0]);
    assert_close(found.kappa_linear.value, KAPPAS[1]);
    assert_close(found.kappa_quadratic.value, KAPPAS[2]);
    assert_eq!(
        note(&found.passed),
        "undefined: the labels are not verdicts; name the passing labels (positive)"
    );
}

const KAPPAS: [f64; 3] = [
    0.551_020_408_163_265_3,
    0.792_452_830_188_679_3,
    0.922_807_017_543_859_6,
];

#[test]
fn a_scale_names_classes_that_do_not_occur() {
    let pairs = [
        (1.0, 1.0),
        (2.0, 4.0),
        (4.0, 4.0),
        (1.0, 2.0),
        (4.0, 2.0),
        (2.0, 2.0),
    ];
    let as_seen = agreement(pairs);
    let whole = Agreement::builder()
        .scale(["1", "2", "3", "4"])
        .of(pairs)
        .unwrap();
    assert_eq!(as_seen.classes, ["1", "2", "4"]);
    assert_eq!(whole.classes, ["1", "2", "3", "4"]);
    assert_eq!(as_seen.kappa.value, whole.kappa.value);
    assert_ne!(as_seen.kappa_linear.value, whole.kappa_linear.value);
    let error = Agreement::builder()
        .scale(["1", "2", "3"])
        .of(pairs)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "expected a value of the scale 1, 2, 3, found `4`"
    );
    assert_eq!(error.row(), Some(1));
}

#[test]
fn named_classes_have_no_order_without_a_scale() {
    let rows = [
        ("low", "low"),
        ("high", "mid"),
        ("mid", "mid"),
        ("low", "mid"),
        ("high", "high"),
    ];
    let found = agreement(rows);
    assert_eq!(found.classes, ["high", "low", "mid"]);
    assert_eq!(found.accuracy.successes, Some(3));
    // 3 of 5 agree, 7 of 25 by chance.
    assert!((found.kappa.value.unwrap() - 4.0 / 9.0).abs() < 1e-12);
    for figure in [&found.kappa_linear, &found.kappa_quadratic, &found.spearman] {
        assert_eq!(
            note(figure),
            "undefined: the classes have no order; set a scale"
        );
    }
    let ordered = Agreement::builder()
        .scale(["low", "mid", "high"])
        .of(rows)
        .unwrap();
    assert_eq!(ordered.kappa.value, found.kappa.value);
    assert!((ordered.kappa_linear.value.unwrap() - 6.0 / 11.0).abs() < 1e-12);
    assert!((ordered.spearman.value.unwrap() - 0.5_f64.sqrt()).abs() < 1e-12);
}

#[test]
fn scores_without_verdicts_are_compared_by_order_only() {
    let found = agreement([(0.2, false), (0.9, true), (0.8, true), (0.3, false)]);
    assert_close(found.spearman.value, 0.8_f64.sqrt());
    assert_eq!(found.accuracy.value, None);
    assert_eq!(
        note(&found.kappa),
        "undefined: the scores have no verdict; set a threshold"
    );
    // Fractions are unlikely to be on a scale of whole numbers.
    let found = agreement([(0.2, 1.0), (0.9, 5.0), (0.8, 4.0), (0.3, 2.0)]);
    assert_eq!(found.spearman.value, Some(1.0));
    assert_eq!(
        note(&found.kappa),
        "undefined: the scores and labels do not share a scale with few values"
    );
    // Bools compared with grades.
    let found = agreement([(true, 4.0), (false, 2.0), (true, 5.0)]);
    assert_eq!(
        note(&found.kappa),
        "undefined: the labels are not verdicts; name the passing labels (positive)"
    );
}

#[test]
fn more_than_twenty_values_are_not_classes() {
    let numbers = |n: u32| {
        (0..n)
            .map(|n| (f64::from(n), f64::from(n + 1)))
            .collect::<Vec<_>>()
    };
    assert_eq!(agreement(numbers(19)).classes.len(), 20);
    let many = agreement(numbers(20));
    assert_eq!((many.classes.len(), many.accuracy.value), (0, None));
    assert_eq!(many.spearman.value, Some(1.0));
}

#[test]
fn values_that_cannot_be_compared_are_rejected_with_their_row() {
    type Row = (Option<Rating>, Option<Label>);
    let row = |rating: Rating, label: Label| (Some(rating), Some(label));
    let rejected = |rows: Vec<Row>| -> AgreementError { Agreement::of(rows).unwrap_err() };
    let nan = rejected(vec![
        row(0.5.into(), true.into()),
        row(f64::NAN.into(), true.into()),
    ]);
    assert_eq!(
        (nan.row(), nan.to_string()),
        (Some(1), "expected a finite score, found NaN".into())
    );
    let infinite = rejected(vec![row(0.5.into(), f64::INFINITY.into())]);
    assert_eq!(infinite.row(), Some(0));
    assert_eq!(
        infinite.to_string(),
        "expected a finite label, found inf; omit the label if it is unknown"
    );
    let mixed = rejected(vec![
        row(true.into(), true.into()),
        row(true.into(), "no".into()),
    ]);
    assert_eq!(
        mixed.to_string(),
        "expected a bool like the earlier labels, found `no`, a string; omit the label if it is unknown"
    );
    let mixed = rejected(vec![
        row(true.into(), true.into()),
        row("no".into(), true.into()),
    ]);
    assert_eq!(
        mixed.to_string(),
        "expected a number, as in earlier rows, found the label `no`"
    );
    let class = rejected(vec![(None, None), row(0.5.into(), "meh".into())]);
    assert_eq!(class.row(), Some(1));
    assert!(class.to_string().contains("such as `meh`"));
    let class = Agreement::of([(0.5, "\u{1b}[2J\n")]).unwrap_err();
    assert!(
        class.to_string().contains(r"such as `\u{1b}[2J\n`;"),
        "{class}"
    );
    let threshold = Agreement::builder()
        .threshold(f64::NAN)
        .of([(0.5, true)])
        .unwrap_err();
    assert_eq!(
        threshold.to_string(),
        "expected a finite threshold, found NaN"
    );
}

#[metric(threshold = 0.5)]
fn near(#[pred] guess: Option<f64>) -> Option<f64> {
    guess
}

#[test]
fn outcomes_of_a_run_are_ratings() {
    let outcome = |guess: Option<f64>| {
        let pred = prediction! { "guess" => guess };
        let scored = Near.answer(MetricCall::new(&example! {}, &pred)).ready();
        Outcome::from(scored.expect("a synchronous metric"))
    };
    let outcomes = [outcome(Some(0.8)), outcome(Some(0.2)), outcome(None)];
    let found = agreement(outcomes.iter().zip([true, false, true]));
    assert_eq!((found.compared, found.accuracy.value), (2, Some(1.0)));
    assert_eq!(found.without_score["abstained"], 1);
}
