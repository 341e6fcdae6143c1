//! Too few rows, and rows that do not differ: a note instead of a number.

use dsrs_metrics::agreement::Agreement;
use dsrs_metrics::stats::{
    Bootstrap, ConfusionMatrix, KappaWeights, Proportion, cohen_kappa, spearman,
};

use super::{agreement, note};

#[test]
fn without_rows_no_figure_is_zero() {
    let nothing: [(bool, bool); 0] = [];
    let nothing = agreement(nothing);
    assert_eq!((nothing.rows, nothing.compared), (0, 0));
    let figures = [
        (&nothing.accuracy, "not enough rows: needs 1"),
        (&nothing.kappa, "not enough rows: needs 2"),
        (&nothing.kappa_quadratic, "not enough rows: needs 2"),
        (&nothing.spearman, "not enough rows: needs 3"),
        (&nothing.sensitivity, "not enough rows: needs 1"),
        (&nothing.passed, "not enough rows: needs 1"),
        (&nothing.corrected, "not enough rows: no row has a verdict"),
    ];
    for (figure, expected) in figures {
        assert_eq!(
            (figure.value, figure.ci95, figure.n),
            (None, None, 0),
            "{expected}"
        );
        assert_eq!(note(figure), expected);
    }
}

#[test]
fn no_statistic_of_no_rows_is_a_number() {
    let empty = Proportion::default();
    assert_eq!((empty.rate(), empty.wilson()), (None, None));
    assert_eq!(
        cohen_kappa(&ConfusionMatrix::of(2, []), KappaWeights::Linear),
        None
    );
    assert_eq!(
        cohen_kappa(&ConfusionMatrix::of(0, []), KappaWeights::Linear),
        None
    );
    assert_eq!(spearman(&[], &[]), None);
    assert_eq!(spearman(&[1.0], &[2.0]), None);
    assert_eq!(spearman(&[1.0, 2.0], &[2.0]), None);
    assert_eq!(Bootstrap::default().interval(0, |_| Some(1.0)), None);
    let none = Bootstrap {
        resamples: 0,
        seed: 0,
    };
    assert_eq!(none.interval(9, |_| Some(1.0)), None);
}

#[test]
fn a_single_row_has_an_accuracy_and_nothing_else() {
    let one = agreement([(true, true)]);
    assert_eq!((one.accuracy.value, one.accuracy.n), (Some(1.0), 1));
    let interval = one.accuracy.ci95.unwrap();
    assert!((interval.low - 0.206_549_314_377_213_2).abs() < 1e-12 && interval.high == 1.0);
    assert_eq!((one.kappa.value, one.spearman.value), (None, None));
    assert_eq!(
        (one.corrected.value, one.corrected.ci95),
        (Some(1.0), one.accuracy.ci95)
    );
}

#[test]
fn few_rows_have_an_estimate_without_interval() {
    let pairs = [
        (true, true),
        (true, false),
        (false, false),
        (false, false),
        (true, true),
    ];
    let few = agreement(pairs);
    assert!((few.kappa.value.unwrap() - 8.0 / 13.0).abs() < 1e-12);
    assert_eq!((few.kappa.ci95, few.spearman.ci95), (None, None));
    assert_eq!(
        note(&few.kappa),
        "not enough rows for an interval: needs 10"
    );
    let twice = agreement(pairs.into_iter().chain(pairs));
    for figure in [&twice.kappa, &twice.spearman] {
        let (value, interval) = (figure.value.unwrap(), figure.ci95.unwrap());
        assert!(
            interval.low < value && value < interval.high,
            "{value} {interval:?}"
        );
    }
    assert_eq!(twice.kappa.note, None);
}

#[test]
fn perfect_agreement_has_no_interval_of_zero_width() {
    let perfect = agreement([(true, true), (false, false)].repeat(50));
    assert_eq!((perfect.kappa.value, perfect.kappa.ci95), (Some(1.0), None));
    assert_eq!(
        (perfect.spearman.value, perfect.spearman.ci95),
        (Some(1.0), None)
    );
    assert!(note(&perfect.kappa).starts_with("no interval: the rows vary too little"));
    // Wilson's interval still bounds the share from below.
    assert!(
        (perfect.accuracy.ci95.unwrap().low - 100.0 / (100.0 + 1.959_963_984_540_054_f64.powi(2)))
            .abs()
            < 1e-12
    );
}

#[test]
fn one_class_of_labels_leaves_kappa_undefined() {
    let all_good = agreement([(true, true); 30]);
    assert_eq!(all_good.accuracy.value, Some(1.0));
    assert_eq!(
        note(&all_good.kappa),
        "undefined: all labels and scores are the same"
    );
    assert_eq!(
        note(&all_good.spearman),
        "undefined: all labels are the same"
    );
    assert_eq!(
        (all_good.specificity.value, all_good.specificity.n),
        (None, 0)
    );
    assert_eq!(
        (all_good.corrected.value, all_good.corrected.ci95),
        (Some(1.0), all_good.accuracy.ci95)
    );
    let all_bad = agreement([(true, false), (false, false)].repeat(20));
    assert_eq!(all_bad.corrected.value, Some(0.0));
    assert!(all_bad.corrected.ci95.unwrap().high > 0.08);
}

#[test]
fn a_judge_that_passes_everything_agrees_no_more_than_chance() {
    let judge = agreement([(true, true), (true, true), (true, false)].repeat(20));
    assert_eq!((judge.kappa.value, judge.kappa.ci95), (Some(0.0), None));
    assert_eq!(note(&judge.spearman), "undefined: all scores are the same");
    // The labels still tell how many of the passed rows should pass.
    assert_eq!(judge.corrected.value, Some(2.0 / 3.0));
}

#[test]
fn the_table_names_each_reason_once() {
    let scores = [0.3, 0.9, 0.4].into_iter().zip([false, true, true]);
    let table = Agreement::of(scores).unwrap().to_string();
    let expected = "\
3 rows: 3 compared, 0 without a label, 0 without a score
Spearman            0.8660 (3 rows)       not enough rows for an interval: needs 10
accuracy; Cohen's kappa; sensitivity; specificity; passed; passed, corrected (3 rows): undefined: \
the scores have no verdict; set a threshold";
    assert_eq!(table, expected);
}
