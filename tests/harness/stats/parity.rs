//! Replays the committed vectors: what scipy and statsmodels compute, within 1e-9. With the peers installed, also
//! whether they still compute it.

use dsrs_metrics::stats::{
    Clusters, Moments, Proportion, Uncertainty, bca_interval, holm, mcnemar_exact,
    permutation_test, rows_for_power,
};
use dsrs_metrics_tests::Peer;
use serde::Deserialize;

const VECTORS: &[u8] = include_bytes!("../../parity/stats_vectors.jsonl.gz");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/parity/make_stats_vectors.py");

#[derive(Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
enum Vector {
    Mean {
        scores: Vec<f64>,
        mean: f64,
        variance: f64,
        stderr: f64,
        ci95: (f64, f64),
    },
    Clusters {
        scores: Vec<f64>,
        groups: Vec<u32>,
        mean: f64,
        stderr: f64,
        ci95: (f64, f64),
    },
    Flips {
        wins: u64,
        losses: u64,
        p_value: f64,
    },
    Permutation {
        differences: Vec<f64>,
        p_value: f64,
    },
    Holm {
        p_values: Vec<f64>,
        adjusted: Vec<f64>,
    },
    Bca {
        scores: Vec<f64>,
        means: Vec<f64>,
        ci95: (f64, f64),
    },
    Power {
        deviation: f64,
        difference: f64,
        rows: u64,
    },
    Attempts {
        n: u64,
        c: u64,
        k: u64,
        pass_at: f64,
        pass_hat: f64,
    },
}

#[track_caller]
fn assert_close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= 1e-9,
        "{found} is not {expected}"
    );
}

#[track_caller]
fn assert_uncertainty(found: Uncertainty, stderr: f64, (low, high): (f64, f64)) {
    let Uncertainty::Known {
        stderr: found,
        ci95,
    } = found
    else {
        panic!("{found:?}")
    };
    assert_close(found, stderr);
    assert_close(ci95.low, low);
    assert_close(ci95.high, high);
}

#[test]
fn every_figure_is_that_of_scipy_or_statsmodels() {
    let mut compared = [0; 8];
    for vector in dsrs_metrics_tests::vectors::<Vector>(VECTORS) {
        let kind = match vector {
            Vector::Mean {
                scores,
                mean,
                variance,
                stderr,
                ci95,
            } => {
                let moments: Moments = scores.into_iter().collect();
                assert_close(moments.mean().unwrap(), mean);
                assert_close(moments.variance().unwrap(), variance);
                assert_uncertainty(moments.uncertainty(), stderr, ci95);
                0
            }
            Vector::Clusters {
                scores,
                groups,
                mean,
                stderr,
                ci95,
            } => {
                let mut clusters = Clusters::default();
                groups
                    .iter()
                    .zip(&scores)
                    .for_each(|(group, score)| clusters.record(*group, *score));
                assert_close(clusters.mean().unwrap(), mean);
                assert_uncertainty(clusters.uncertainty(), stderr, ci95);
                1
            }
            Vector::Flips {
                wins,
                losses,
                p_value,
            } => {
                assert_close(mcnemar_exact(wins, losses), p_value);
                2
            }
            Vector::Permutation {
                differences,
                p_value,
            } => {
                let test = permutation_test(&differences, 1, 0);
                assert!(test.is_exact);
                assert_close(test.p_value, p_value);
                3
            }
            Vector::Holm { p_values, adjusted } => {
                let found = holm(&p_values);
                assert_eq!(found.len(), adjusted.len());
                found
                    .into_iter()
                    .zip(adjusted)
                    .for_each(|(found, it)| assert_close(found, it));
                4
            }
            Vector::Bca {
                scores,
                means,
                ci95,
            } => {
                let (n, sum) = (scores.len() as f64, scores.iter().sum::<f64>());
                let jackknife: Vec<_> = scores
                    .iter()
                    .map(|score| (sum - score) / (n - 1.0))
                    .collect();
                let found = bca_interval(sum / n, means, &jackknife).unwrap();
                assert_close(found.low, ci95.0);
                assert_close(found.high, ci95.1);
                7
            }
            Vector::Power {
                deviation,
                difference,
                rows,
            } => {
                assert_eq!(rows_for_power(deviation, difference), Some(rows));
                5
            }
            Vector::Attempts {
                n,
                c,
                k,
                pass_at,
                pass_hat,
            } => {
                let attempts = Proportion {
                    successes: c,
                    trials: n,
                };
                assert_close(attempts.pass_at(k).unwrap(), pass_at);
                assert_close(attempts.pass_hat(k).unwrap(), pass_hat);
                6
            }
        };
        compared[kind] += 1;
    }
    assert_eq!(compared, [220, 80, 282, 40, 40, 40, 71, 40]);
}

/// Phipson and Smyth 2010: the observed assignment is one of those that are counted.
#[test]
fn a_sampled_p_value_is_never_zero() {
    let test = permutation_test(&[1.0; 40], 999, 0);
    assert_eq!(
        (test.p_value, test.assignments, test.is_exact),
        (0.001, 999, false)
    );
}

#[test]
fn the_peers_compute_the_committed_vectors() {
    let Some(peer) = Peer::with(&["scipy", "statsmodels"]) else {
        return;
    };
    assert_eq!(peer.check(SCRIPT), "813 vectors, as committed");
}
