//! Means and differences from a metric on a sample: equal to numpy and scipy within 1e-9, and to the estimates of ppi-python.

use dsrs_metrics::stats::{
    Interval, Proportion, SampledMean, Stratum, prediction_powered, sampled_difference,
    sampled_share,
};
use dsrs_metrics_tests::Peer;
use serde::Deserialize;

use super::sequential::{SplitMix, assert_close};

const VECTORS: &[u8] = include_bytes!("../../parity/sampled_vectors.jsonl.gz");
const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/parity/make_sampled_vectors.py"
);
const UNIT: Interval = Interval {
    low: 0.0,
    high: 1.0,
};

#[derive(Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
enum Vector {
    Share {
        /// Rows, passed and sampled.
        strata: Vec<[u64; 3]>,
        estimate: [f64; 4],
    },
    Number {
        seed: u64,
        rows: usize,
        sample: usize,
        correlation: f64,
        estimate: [f64; 4],
        ppi: Option<f64>,
    },
    Difference {
        seed: u64,
        rows: usize,
        sample: usize,
        correlation: f64,
        estimate: [f64; 4],
    },
}

/// Returns the scores and proxies of all rows, and the proxies outside of the sample.
fn scores(
    seed: u64,
    rows: usize,
    sample: usize,
    correlation: f64,
    centre: f64,
) -> (Vec<(f64, f64)>, Vec<f64>) {
    let mut random = SplitMix(seed);
    let row = |_| {
        let (score, noise) = (random.unit(), random.unit());
        let proxy = correlation * score + (1.0 - correlation.abs()) * noise;
        (score - centre, proxy - centre)
    };
    let mut all: Vec<(f64, f64)> = (0..rows).map(row).collect();
    let others = all.split_off(sample);
    (all, others.iter().map(|(_, proxy)| *proxy).collect())
}

#[track_caller]
fn assert_estimate(found: SampledMean, [mean, low, high, worth]: [f64; 4]) {
    assert_close(found.mean, mean);
    assert_close(found.interval.low, low);
    assert_close(found.interval.high, high);
    assert_close(found.worth, worth);
}

#[test]
fn sampled_means_are_those_of_scipy_and_of_ppi_python() {
    let mut with_ppi = 0;
    for vector in dsrs_metrics_tests::vectors::<Vector>(VECTORS) {
        match vector {
            Vector::Share { strata, estimate } => {
                let stratum = |[rows, successes, trials]: [u64; 3]| Stratum {
                    rows,
                    labelled: Proportion { successes, trials },
                };
                let strata: Vec<Stratum> = strata.into_iter().map(stratum).collect();
                assert_estimate(sampled_share(&strata).unwrap(), estimate);
            }
            Vector::Number {
                seed,
                rows,
                sample,
                correlation,
                estimate,
                ppi,
            } => {
                let (sampled, others) = scores(seed, rows, sample, correlation, 0.0);
                let found = prediction_powered(&sampled, &others, UNIT).unwrap();
                assert_estimate(found, estimate);
                if let Some(ppi) = ppi {
                    assert_close(found.mean, ppi);
                    with_ppi += 1;
                }
            }
            Vector::Difference {
                seed,
                rows,
                sample,
                correlation,
                estimate,
            } => {
                let (sampled, others) = scores(seed, rows, sample, correlation, 0.5);
                assert_estimate(
                    sampled_difference(&sampled, &others, 1.0).unwrap(),
                    estimate,
                );
            }
        }
    }
    assert!(with_ppi > 150, "{with_ppi}");
}

#[test]
fn a_proxy_that_says_nothing_changes_nothing_and_one_that_is_always_wrong_helps() {
    let truth = |n: u32| f64::from(n * 37 % 100) / 100.0;
    let estimate = |proxy: &dyn Fn(f64) -> f64| {
        let sample: Vec<_> = (0..100).map(|n| (truth(n), proxy(truth(n)))).collect();
        let others: Vec<_> = (100..1000).map(|n| proxy(truth(n))).collect();
        prediction_powered(&sample, &others, UNIT).unwrap()
    };
    let (constant, right, wrong) = (
        estimate(&|_| 0.5),
        estimate(&|it| it),
        estimate(&|it| 1.0 - it),
    );
    assert_close(constant.worth, 100.0);
    assert!((right.mean - wrong.mean).abs() < 1e-9 && right.worth > 900.0 && wrong.worth > 900.0);
    // Even a proxy that was right on all sampled rows leaves an interval.
    assert!(right.interval.high > right.interval.low, "{right:?}");
}

#[test]
fn what_is_known_of_every_row_has_no_interval_and_what_is_of_none_no_estimate() {
    let stratum = |rows, successes, trials| Stratum {
        rows,
        labelled: Proportion { successes, trials },
    };
    let all = sampled_share(&[stratum(10, 9, 10), stratum(5, 1, 5)]).unwrap();
    assert_close(all.mean, 10.0 / 15.0);
    assert_close(all.interval.high - all.interval.low, 0.0);
    let error = sampled_share(&[stratum(10, 9, 10), stratum(5, 0, 0)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a stratum of 5 rows has no sampled row; sample some of them"
    );
    assert_eq!(
        sampled_share(&[]).unwrap_err().to_string(),
        "not enough rows: no stratum has a row"
    );
    let few = prediction_powered(&[(1.0, 1.0); 2], &[1.0], UNIT).unwrap_err();
    assert_eq!(
        few.to_string(),
        "not enough rows: expected at least 3 sampled rows, found 2"
    );
}

#[test]
fn scipy_computes_the_committed_vectors() {
    let Some(peer) = Peer::with(&["scipy"]) else {
        return;
    };
    assert_eq!(peer.check(SCRIPT), "1400 vectors, as committed");
}
