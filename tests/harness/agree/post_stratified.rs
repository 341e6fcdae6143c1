//! The pass rate of all rows by post-stratification: values by hand, rows without what it needs, and its width, coverage and
//! error beside those of the labels alone and of Rogan and Gladen, in simulated studies:
//! `cargo test -p dsrs-metrics-tests --test harness post_stratified::the_table -- --nocapture`.

use dsrs_metrics::agreement::{Agreement, LabelSample};
use dsrs_metrics::stats::{
    CorrectedRate, ErrorRates, Proportion, Stratum, post_stratified, rogan_gladen,
};

use super::coverage::Random;
use super::{agreement, note, quick};

fn stratum(rows: u64, successes: u64, trials: u64) -> Stratum {
    Stratum {
        rows,
        labelled: Proportion { successes, trials },
    }
}

#[test]
fn the_interval_is_that_of_the_formula() {
    // By hand: `0.7 * 46/50 + 0.3 * 12/50`, Wilson's intervals, and MOVER with the term for the share of passes.
    let expected = [
        (stratum(700, 46, 50), stratum(300, 12, 50), POOR_JUDGE),
        (stratum(950, 60, 60), stratum(50, 0, 40), GOOD_JUDGE),
        (stratum(10, 1, 1), stratum(10, 0, 1), TWO_LABELS),
        (stratum(2, 2, 2), stratum(7, 2, 3), FIVE_LABELS),
    ];
    for (passed, failed, (rate, low, high)) in expected {
        let found = post_stratified(passed, failed).unwrap();
        assert!((found.rate - rate).abs() < 1e-9, "{found:?}");
        assert!((found.interval.low - low).abs() < 1e-9, "{found:?}");
        assert!((found.interval.high - high).abs() < 1e-9, "{found:?}");
        assert_eq!(found.unclamped, None);
    }
}

const POOR_JUDGE: (f64, f64, f64) = (0.716, 0.632_476_358_092_222_6, 0.772_056_864_738_541_7);
const GOOD_JUDGE: (f64, f64, f64) = (0.95, 0.891_262_383_989_073_2, 0.964_200_815_345_391_6);
const TWO_LABELS: (f64, f64, f64) = (0.5, 0.046_779_046_283_730_86, 0.953_220_953_716_269_1);
const FIVE_LABELS: (f64, f64, f64) = (
    0.740_740_740_740_740_7,
    0.344_500_731_396_460_7,
    0.970_741_952_040_276_6,
);

#[test]
fn without_a_label_of_a_verdict_there_is_a_reason_and_no_rate() {
    let none = stratum(0, 0, 0);
    assert_eq!(
        post_stratified(none, none),
        Err("not enough rows: no row has a verdict".into())
    );
    let failed = post_stratified(stratum(97, 40, 40), stratum(3, 0, 0));
    assert_eq!(
        failed,
        Err("no labelled row was judged fail, but 3 rows were; label some of them".into())
    );
    let found = agreement(
        [(true, Some(true)); 40]
            .into_iter()
            .chain([(false, None); 3]),
    );
    assert_eq!((found.corrected.value, found.corrected.ci95), (None, None));
    assert_eq!(
        note(&found.corrected),
        "no labelled row was judged fail, but 3 rows were; label some of them"
    );
}

#[test]
fn one_verdict_is_the_share_of_its_labels() {
    for (passed, failed) in [
        (stratum(100, 9, 10), stratum(0, 0, 0)),
        (stratum(0, 0, 0), stratum(100, 9, 10)),
        (stratum(10, 9, 10), stratum(0, 0, 0)),
        // Every row has a label.
        (stratum(8, 8, 8), stratum(2, 1, 2)),
    ] {
        let labels = Proportion {
            successes: 9,
            trials: 10,
        };
        let found = post_stratified(passed, failed).unwrap();
        assert_eq!(
            (Some(found.rate), Some(found.interval)),
            (labels.rate(), labels.wilson())
        );
    }
    let one = post_stratified(stratum(1, 1, 1), stratum(0, 0, 0)).unwrap();
    assert_eq!((one.rate, one.interval.high), (1.0, 1.0));
    assert!((one.interval.low - 0.206_549_314_377_213_2).abs() < 1e-12);
}

#[test]
fn no_estimate_is_outside_of_its_interval() {
    let shares = || (0..=4).flat_map(|n| (0..=n).map(move |k| (k, n)));
    for (a, m) in shares() {
        for (b, n) in shares() {
            for unlabelled in [0, 1, 90] {
                let passed = stratum(m + unlabelled, a, m);
                if let Ok(found) = post_stratified(passed, stratum(n + 3, b, n)) {
                    assert_contains(&found);
                }
            }
            let share = |(successes, trials)| Proportion { successes, trials };
            let rates = ErrorRates {
                sensitivity: share((a, m)),
                specificity: share((b, n)),
            };
            for observed in shares().chain([(729, 1_000), (5, 90)]) {
                if let Ok(found) = rogan_gladen(share(observed), &rates) {
                    assert_contains(&found);
                }
            }
        }
    }
}

#[test]
fn the_interval_of_a_rate_by_other_error_rates_is_widened_up_to_the_rate() {
    // One row that should fail: the corrected centre is below 0.
    let all = |trials| Proportion {
        successes: trials,
        trials,
    };
    let rates = ErrorRates {
        sensitivity: all(60),
        specificity: all(1),
    };
    let found = rogan_gladen(
        Proportion {
            successes: 138,
            trials: 1_000,
        },
        &rates,
    )
    .unwrap();
    assert!((found.rate - 0.138).abs() < 1e-12, "{found:?}");
    assert_eq!((found.interval.low, found.interval.high), (0.0, found.rate));
}

#[track_caller]
fn assert_contains(found: &CorrectedRate) {
    let CorrectedRate {
        rate,
        interval,
        unclamped,
    } = *found;
    assert!(interval.contains(rate), "{found:?}");
    assert!(0.0 <= interval.low && interval.high <= 1.0, "{found:?}");
    assert!(
        unclamped.is_none_or(|rate| !(0.0..=1.0).contains(&rate)),
        "{found:?}"
    );
}

/// Returns 1,000 rows, judged with these rates. 100 of them have a label.
#[derive(Clone, Copy)]
struct Study {
    should_pass: f64,
    sensitivity: f64,
    specificity: f64,
}

const ROWS: usize = 1_000;
const LABELS: usize = 100;
const STUDIES: u64 = 2_000;

/// Verdict and label of a row.
type Row = (bool, bool);

impl Study {
    fn rows(self, random: &mut Random) -> Vec<Row> {
        let row = |_| {
            let label = random.chance(self.should_pass);
            let right = if label {
                self.sensitivity
            } else {
                self.specificity
            };
            (random.chance(right) == label, label)
        };
        (0..ROWS).map(row).collect()
    }
}

/// The first rows are a random sample.
fn at_random(rows: &[Row]) -> Vec<bool> {
    (0..rows.len()).map(|row| row < LABELS).collect()
}

/// Half of the labels are of rows that failed, or fewer if fewer failed.
fn by_verdict(rows: &[Row]) -> Vec<bool> {
    let failed = rows
        .iter()
        .filter(|(passed, _)| !passed)
        .count()
        .min(LABELS / 2);
    let (mut of_failed, mut of_passed) = (failed, LABELS - failed);
    let choose = |(passed, _): &Row| {
        let left = if *passed {
            &mut of_passed
        } else {
            &mut of_failed
        };
        let is_chosen = *left > 0;
        *left -= usize::from(is_chosen);
        is_chosen
    };
    rows.iter().map(choose).collect()
}

/// The rate by three methods, if each exists.
fn estimates(rows: &[Row], labelled: &[bool]) -> [Option<CorrectedRate>; 3] {
    let (mut passed, mut failed) = (Stratum::default(), Stratum::default());
    let (mut rates, mut labels) = (ErrorRates::default(), Proportion::default());
    let mut others = Proportion::default();
    for ((verdict, label), is_labelled) in rows.iter().zip(labelled) {
        let stratum = if *verdict { &mut passed } else { &mut failed };
        stratum.record(is_labelled.then_some(*label));
        match is_labelled {
            true => {
                rates.record(*label, *verdict);
                labels.record(*label);
            }
            false => others.record(*verdict),
        }
    }
    let alone = labels.rate().zip(labels.wilson());
    [
        alone.map(|(rate, interval)| CorrectedRate {
            rate,
            interval,
            unclamped: None,
        }),
        rogan_gladen(others, &rates).ok(),
        post_stratified(passed, failed).ok(),
    ]
}

/// Mean width, coverage and root mean square error.
#[derive(Default)]
struct Quality {
    width: f64,
    covered: Proportion,
    squares: f64,
    defined: f64,
}

impl Quality {
    /// A rate that is not defined covers nothing.
    fn add(&mut self, found: Option<CorrectedRate>, truth: f64) {
        self.covered
            .record(found.is_some_and(|found| found.interval.contains(truth)));
        if let Some(CorrectedRate { rate, interval, .. }) = found {
            self.defined += 1.0;
            self.width += interval.high - interval.low;
            self.squares += (rate - truth).powi(2);
        }
    }

    fn width(&self) -> f64 {
        self.width / self.defined
    }

    fn coverage(&self) -> f64 {
        self.covered.rate().unwrap()
    }

    fn shown(&self) -> String {
        let error = (self.squares / self.defined).sqrt();
        format!("{:.3}/{:.3}/{:.3}", self.width(), self.coverage(), error)
    }
}

#[test]
fn the_table_of_widths_and_coverage() {
    /// Three standard errors of a coverage of 94%.
    const NOISE: f64 = 0.016;
    let studies = [
        (0.7, 0.95, 0.9),
        (0.7, 0.9, 0.8),
        (0.7, 0.85, 0.6),
        (0.9, 0.95, 0.9),
        (0.9, 0.97, 0.7),
        (0.9, 0.9, 0.5),
        (0.95, 0.97, 0.8),
        (0.97, 0.98, 0.8),
        (0.5, 0.9, 0.9),
    ];
    println!(
        "width/coverage/error; R: 100 random labels of 1,000 rows, V: 50 failed and 50 passed"
    );
    println!(
        "rate sens spec | labels alone R    | Rogan-Gladen R    | post-stratified R | labels alone V    | Rogan-Gladen V    | post-stratified V"
    );
    for (should_pass, sensitivity, specificity) in studies {
        let study = Study {
            should_pass,
            sensitivity,
            specificity,
        };
        let mut qualities: [Quality; 6] = Default::default();
        for seed in 0..STUDIES {
            let rows = study.rows(&mut Random::new(seed));
            let random = estimates(&rows, &at_random(&rows));
            let chosen = estimates(&rows, &by_verdict(&rows));
            for (quality, found) in qualities.iter_mut().zip(random.into_iter().chain(chosen)) {
                quality.add(found, should_pass);
            }
        }
        let shown: Vec<String> = qualities.iter().map(Quality::shown).collect();
        println!(
            "{should_pass:.2} {sensitivity:.2} {specificity:.2} | {}",
            shown.join(" | ")
        );
        let [alone, _, random, _, rogan_gladen, chosen] = &qualities;
        for quality in [random, chosen] {
            assert!(
                quality.coverage() >= 0.94 - NOISE,
                "{should_pass} {sensitivity} {specificity}"
            );
        }
        assert!(random.width() < alone.width());
        assert!(rogan_gladen.coverage() < 0.6 || should_pass == 0.5);
    }
}

fn labelled(rows: &[(bool, Option<bool>)], stated: LabelSample) -> (LabelSample, String) {
    let found = Agreement::builder()
        .resamples(0)
        .label_sample(stated)
        .of(rows.to_vec())
        .unwrap();
    let text = found.to_string();
    let line = text
        .lines()
        .find(|line| line.starts_with("labels: "))
        .unwrap()
        .to_owned();
    (found.labelled.unwrap().sample, line)
}

#[test]
fn the_report_says_how_the_labelled_rows_were_chosen() {
    let rows = |passed: usize, failed: usize, of_passed: usize, of_failed: usize| {
        let row = move |at: usize, verdict: bool, labels: usize| {
            (
                verdict,
                (at < labels).then_some(verdict != at.is_multiple_of(9)),
            )
        };
        let passes = (0..passed).map(move |at| row(at, true, of_passed));
        passes
            .chain((0..failed).map(move |at| row(at, false, of_failed)))
            .collect::<Vec<_>>()
    };
    use LabelSample::{ByVerdict, EveryRow, Random, Unknown};
    let (sample, line) = labelled(&rows(700, 300, 50, 50), Unknown);
    assert_eq!(sample, ByVerdict);
    assert_eq!(
        line,
        "labels: 100 of 1000 rows, apparently chosen by verdict: 50.00% (50/100) of them passed, but 70.00% (700/1000) of all rows \
         (Fisher's exact test: p < 0.01). So accuracy, kappa, Spearman, sensitivity and specificity describe only these rows; `passed, corrected` describes all rows if the labelled rows of each verdict are a \
         random sample"
    );
    // Verdicts that contradict what was stated have precedence.
    assert_eq!(labelled(&rows(700, 300, 50, 50), Random), (ByVerdict, line));
    let (sample, line) = labelled(&rows(700, 300, 66, 34), Unknown);
    assert_eq!(sample, Unknown);
    assert_eq!(
        line,
        "labels: 100 of 1000 rows, chosen in an unknown way. Unless they are a random sample, accuracy, kappa, Spearman, \
         sensitivity and specificity describe only these rows; `passed, corrected` describes all rows if the labelled rows of each verdict are a random sample"
    );
    let (sample, line) = labelled(&rows(700, 300, 66, 34), Random);
    assert_eq!(
        (sample, &*line),
        (Random, "labels: a random sample of 100 of 1000 rows")
    );
    let (sample, line) = labelled(&rows(700, 300, 66, 34), ByVerdict);
    assert!(
        line.starts_with("labels: 100 of 1000 rows, chosen by verdict. So accuracy"),
        "{line}"
    );
    assert_eq!(sample, ByVerdict);
    // Without labels of failed rows there is no corrected rate to rely on.
    let (sample, line) = labelled(&rows(700, 300, 100, 0), Unknown);
    assert!(line.ends_with("describe only these rows"), "{line}");
    assert_eq!(sample, ByVerdict);
    let every = labelled(&rows(70, 30, 70, 30), Random);
    assert_eq!(
        every,
        (
            EveryRow,
            "labels: every row with a verdict has one".to_owned()
        )
    );
    assert_eq!(quick([(true, None::<bool>); 3]).labelled, None);
}
