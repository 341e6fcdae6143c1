//! Replays the committed vectors: results of scikit-learn, scipy and statsmodels for labels and scores,
//! compared to within 1e-9. If the peers are installed, the vectors are compared with them too.

use dsrs_metrics::agreement::Agreement;
use dsrs_metrics::stats::{
    ConfusionMatrix, Interval, KappaWeights, Proportion, cohen_kappa, spearman,
};
use dsrs_metrics_tests::Peer;
use serde::Deserialize;

const VECTORS: &[u8] = include_bytes!("../../parity/agree_vectors.jsonl.gz");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/parity/make_agree_vectors.py");

#[derive(Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
enum Vector {
    Classes {
        classes: usize,
        label: Vec<usize>,
        given: Vec<usize>,
        accuracy: f64,
        wilson: (f64, f64),
        confusion: Vec<Vec<u64>>,
        kappa: [Option<f64>; 3],
        standard_error: [Option<f64>; 3],
    },
    Ranks {
        x: Vec<f64>,
        y: Vec<f64>,
        spearman: Option<f64>,
    },
    Share {
        successes: u64,
        trials: u64,
        wilson: (f64, f64),
    },
}

fn vectors() -> impl Iterator<Item = Vector> {
    dsrs_metrics_tests::vectors(VECTORS)
}

#[track_caller]
fn assert_close(found: Option<f64>, expected: Option<f64>, what: &str) {
    match (found, expected) {
        (Some(found), Some(expected)) => {
            assert!(
                (found - expected).abs() <= 1e-9,
                "{what}: {found} is not {expected}"
            );
        }
        _ => assert_eq!(found, expected, "{what}"),
    }
}

#[track_caller]
fn assert_interval(found: Option<Interval>, (low, high): (f64, f64)) {
    assert_close(found.map(|interval| interval.low), Some(low), "low");
    assert_close(found.map(|interval| interval.high), Some(high), "high");
}

#[test]
fn accuracy_confusion_and_kappa_are_those_of_scikit_learn() {
    const WEIGHTS: [KappaWeights; 3] = [
        KappaWeights::Unweighted,
        KappaWeights::Linear,
        KappaWeights::Quadratic,
    ];
    let (mut compared, mut undefined) = (0, 0);
    for vector in vectors() {
        let Vector::Classes {
            classes,
            label,
            given,
            accuracy,
            wilson,
            confusion,
            kappa,
            standard_error,
        } = vector
        else {
            continue;
        };
        let matrix = ConfusionMatrix::of(classes, label.iter().copied().zip(given.iter().copied()));
        for (row, counts) in confusion.iter().enumerate() {
            let found: Vec<u64> = (0..classes)
                .map(|column| matrix.count(row, column))
                .collect();
            assert_eq!(&found, counts);
        }
        let share = Proportion {
            successes: matrix.agreeing(),
            trials: matrix.total(),
        };
        assert_close(share.rate(), Some(accuracy), "accuracy");
        assert_interval(share.wilson(), wilson);
        for ((weights, expected), error) in WEIGHTS.into_iter().zip(kappa).zip(standard_error) {
            let found = cohen_kappa(&matrix, weights);
            assert_close(found.map(|kappa| kappa.value), expected, "kappa");
            undefined += usize::from(found.is_none());
            // Of no error we make no number; statsmodels gives what rounding leaves of it.
            if let Some(kappa) = found.filter(|kappa| kappa.standard_error > 0.0) {
                assert_close(Some(kappa.standard_error), error, "standard error");
            }
        }
        compared += 1;
    }
    assert_eq!(undefined, 12, "four vectors know one class only");
    assert!(compared >= 360, "only {compared} vectors");
    println!("{compared} vectors, no difference");
}

#[test]
fn an_agreement_over_a_scale_gives_the_figures_of_scikit_learn() {
    let mut compared = 0;
    for vector in vectors() {
        let Vector::Classes {
            classes,
            label,
            given,
            accuracy,
            kappa,
            ..
        } = vector
        else {
            continue;
        };
        let numbers = |values: &[usize]| values.iter().map(|v| *v as f64).collect::<Vec<_>>();
        let pairs = numbers(&given).into_iter().zip(numbers(&label));
        let scale = (0..classes).map(|class| class.to_string());
        let agreement = Agreement::builder()
            .scale(scale)
            .resamples(0)
            .of(pairs)
            .unwrap();
        assert_close(agreement.accuracy.value, Some(accuracy), "accuracy");
        assert_eq!(agreement.accuracy.n, label.len() as u64);
        if label.len() >= 2 {
            let found = [
                &agreement.kappa,
                &agreement.kappa_linear,
                &agreement.kappa_quadratic,
            ];
            for (found, expected) in found.into_iter().zip(kappa) {
                assert_close(found.value, expected, "kappa");
            }
        }
        let pairs = numbers(&given);
        let correlation = spearman(&pairs, &numbers(&label));
        let enough = label.len() >= 3;
        assert_eq!(agreement.spearman.value, correlation.filter(|_| enough));
        compared += 1;
    }
    assert!(compared >= 360, "only {compared} vectors");
}

#[test]
fn spearman_is_that_of_scipy() {
    let (mut compared, mut undefined) = (0, 0);
    for vector in vectors() {
        let Vector::Ranks {
            x,
            y,
            spearman: expected,
        } = vector
        else {
            continue;
        };
        assert_close(spearman(&x, &y), expected, "spearman");
        undefined += usize::from(expected.is_none());
        compared += 1;
    }
    assert!(
        compared >= 600 && undefined >= 2,
        "only {compared} vectors, {undefined} undefined"
    );
    println!("{compared} vectors, no difference, {undefined} undefined on both sides");
}

#[test]
fn wilson_intervals_are_those_of_scipy() {
    let mut compared = 0;
    for vector in vectors() {
        let Vector::Share {
            successes,
            trials,
            wilson,
        } = vector
        else {
            continue;
        };
        assert_interval(Proportion { successes, trials }.wilson(), wilson);
        compared += 1;
    }
    assert!(compared >= 150, "only {compared} vectors");
}

#[test]
fn the_peers_still_say_so() {
    let Some(peer) = Peer::with(&["scikit-learn", "scipy", "statsmodels"]) else {
        return;
    };
    assert_eq!(peer.check(SCRIPT), "1167 vectors, as committed");
}
