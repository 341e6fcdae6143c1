//! The share of passes corrected for error rates: worked examples, undefined cases, and the
//! coverage of its interval in simulated studies.

use dsrs_metrics::agreement::Agreement;
use dsrs_metrics::stats::{
    CorrectedRate, ErrorRates, Interval, NotDefined, Proportion, rogan_gladen,
};

use super::coverage::{Random, assert_covers};
use super::{agreement, assert_close, note, quick};

fn share(successes: u64, trials: u64) -> Proportion {
    Proportion { successes, trials }
}

fn correct(
    observed: (u64, u64),
    sensitivity: (u64, u64),
    specificity: (u64, u64),
) -> Result<CorrectedRate, NotDefined> {
    let rates = ErrorRates {
        sensitivity: share(sensitivity.0, sensitivity.1),
        specificity: share(specificity.0, specificity.1),
    };
    rogan_gladen(share(observed.0, observed.1), &rates)
}

#[test]
fn a_worked_example() {
    // 15% of 1,000 positive, sensitivity 90% (45/50), specificity 95% (190/200): (0.15 - 0.05) /
    // 0.85. The interval follows the authors' formulas, in double precision.
    let corrected = correct((150, 1_000), (45, 50), (190, 200)).unwrap();
    assert!((corrected.rate - 0.1 / 0.85).abs() < 1e-12);
    assert!(
        (corrected.interval.low - LANG_REICZIGEL.0).abs() < 1e-9,
        "{corrected:?}"
    );
    assert!(
        (corrected.interval.high - LANG_REICZIGEL.1).abs() < 1e-9,
        "{corrected:?}"
    );
}

const LANG_REICZIGEL: (f64, f64) = (0.072_342_231_346_081_38, 0.161_128_376_723_378);

#[test]
fn a_judge_no_better_than_chance_has_no_correction() {
    for (sensitivity, specificity) in [
        ((5, 10), (5, 10)),
        ((1, 3), (2, 3)),
        ((0, 9), (9, 9)),
        ((1, 10), (1, 10)),
    ] {
        let error = correct((40, 100), sensitivity, specificity).unwrap_err();
        assert!(
            error.to_string().starts_with("undefined: sensitivity "),
            "{error:?}"
        );
    }
    assert!(correct((40, 100), (6, 10), (5, 10)).is_ok());
    assert_eq!(
        correct((0, 0), (5, 10), (9, 10)),
        Err("not enough rows: no row has a verdict".into())
    );
    assert_eq!(
        correct((4, 9), (0, 0), (9, 10)),
        Err("not enough rows: no compared row has a passing label".into())
    );
    assert_eq!(
        correct((4, 9), (5, 10), (0, 0)),
        Err("not enough rows: no compared row has a failing label".into())
    );
    let rates = ErrorRates {
        sensitivity: share(10, 20),
        specificity: share(0, 10),
    };
    let inverted = by_error_rates([(true, false), (false, true)], rates);
    assert_eq!(
        (inverted.corrected.value, inverted.corrected.ci95),
        (None, None)
    );
    assert_eq!(
        note(&inverted.corrected),
        "undefined: sensitivity 0.5000 + specificity 0.0000 is not above 1, so passing carries no information about the label"
    );
}

#[test]
fn very_few_labelled_rows_give_the_widest_interval() {
    let corrected = correct((50, 100), (1, 1), (5, 100)).unwrap();
    assert_eq!(
        corrected.interval,
        Interval {
            low: 0.0,
            high: 1.0
        }
    );
}

#[test]
fn with_every_row_labelled_the_correction_is_the_share_of_passing_labels() {
    let pairs = [(true, true); 60]
        .into_iter()
        .chain([(false, true); 15])
        .chain([(true, false); 5]);
    let found = agreement(pairs.chain([(false, false); 20]));
    assert_eq!(found.passed.value, Some(0.65));
    assert_close(found.corrected.value, 0.75);
    let labels = share(75, 100).wilson().unwrap();
    let interval = found.corrected.ci95.unwrap();
    assert!(
        (interval.low - labels.low).abs() < 1e-12 && (interval.high - labels.high).abs() < 1e-12
    );
}

#[test]
fn rows_without_label_count_by_the_labels_of_their_verdict() {
    let labelled = [(true, Some(true)); 45]
        .into_iter()
        .chain([(false, Some(true)); 5]);
    let labelled = labelled
        .chain([(true, Some(false)); 10])
        .chain([(false, Some(false)); 40]);
    let others = [(true, None); 550].into_iter().chain([(false, None); 450]);
    let found = agreement(labelled.chain(others));
    assert_eq!(
        (found.passed.successes, found.corrected.n),
        (Some(605), 1_100)
    );
    // 605 of 1,100 passed, 45 of 55 rightly; 495 failed, 5 of 45 wrongly.
    assert_close(found.corrected.value, 0.5);
    let interval = found.corrected.ci95.unwrap();
    assert!(
        interval.contains(0.5) && interval.high - interval.low < 0.16,
        "{interval}"
    );
}

fn by_error_rates(rows: impl IntoIterator<Item = (bool, bool)>, rates: ErrorRates) -> Agreement {
    Agreement::builder()
        .resamples(0)
        .error_rates(rates)
        .of(rows)
        .unwrap()
}

#[test]
fn error_rates_of_other_rows_replace_the_labels() {
    let rates = ErrorRates {
        sensitivity: share(90, 100),
        specificity: share(80, 100),
    };
    let rows = [(true, true); 55].into_iter().chain([(false, true); 45]);
    let found = by_error_rates(rows, rates);
    assert_close(found.corrected.value, 0.5);
    assert_eq!(
        found.corrected.ci95,
        Some(rogan_gladen(share(55, 100), &rates).unwrap().interval)
    );
    assert_eq!(found.error_rates, Some(rates));
    let text = found.to_string();
    assert!(
        text.contains("; Lang and Reiczigel for the correction by error rates of other rows"),
        "{text}"
    );
}

#[test]
fn an_estimate_above_1_is_clamped_with_a_note() {
    let rates = ErrorRates {
        sensitivity: share(45, 50),
        specificity: share(1, 2),
    };
    let found = by_error_rates([(true, true); 1_000], rates);
    assert_eq!(found.corrected.value, Some(1.0));
    assert!(found.corrected.ci95.unwrap().contains(1.0));
    assert!(
        note(&found.corrected).starts_with("the estimate 1.2"),
        "{}",
        note(&found.corrected)
    );
}

/// A simulated study: numbers of rows with and without labels, and a judge of known error rates.
struct Study {
    labelled: usize,
    others: usize,
    should_pass: f64,
    sensitivity: f64,
    specificity: f64,
}

impl Study {
    fn run(&self, random: &mut Random) -> Agreement {
        let row = |row: usize, random: &mut Random| {
            let label = random.chance(self.should_pass);
            let right = if label {
                self.sensitivity
            } else {
                self.specificity
            };
            let passed = random.chance(right) == label;
            (passed, (row < self.labelled).then_some(label))
        };
        let rows = self.labelled + self.others;
        quick((0..rows).map(|at| row(at, random)).collect::<Vec<_>>())
    }
}

#[test]
fn the_interval_contains_the_truth_in_19_of_20_studies() {
    let study = |labelled, others, should_pass, sensitivity, specificity| Study {
        labelled,
        others,
        should_pass,
        sensitivity,
        specificity,
    };
    for study in [
        study(100, 1_000, 0.6, 0.9, 0.8),
        study(100, 1_000, 0.83, 0.9, 0.95),
        study(200, 800, 0.3, 0.7, 0.7),
        study(100, 100, 0.6, 0.9, 0.8),
        study(50, 500, 0.83, 0.9, 0.95),
        study(400, 100, 0.3, 0.7, 0.7),
        study(200, 2_000, 0.95, 0.95, 0.8),
        study(142, 0, 0.83, 0.9, 0.95),
    ] {
        let Study {
            labelled,
            others,
            should_pass,
            sensitivity,
            specificity,
        } = study;
        let what = format!(
            "{should_pass} should pass, sensitivity {sensitivity}, specificity {specificity}, {labelled} rows \
             labelled, {others} not"
        );
        assert_covers(&what, should_pass, |random| {
            study.run(random).corrected.ci95
        });
    }
}
