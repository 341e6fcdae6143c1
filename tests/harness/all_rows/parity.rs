//! Replays the committed vectors: the scores of scikit-learn, scipy and krippendorff, compared to within 1e-6. With the
//! packages installed, also checks that the vectors are up to date.

use std::collections::BTreeMap;

use dsrs_metrics::metrics::{
    Accuracy, Auroc, BalancedAccuracy, BrierScore, CohenKappa, ExpectedCalibrationError,
    KrippendorffAlpha, MacroF1, MatthewsCorrelation, MicroF1, SpearmanCorrelation,
};
use dsrs_metrics::prelude::*;
use dsrs_metrics::stats::{AlphaLevel, KappaWeights};
use dsrs_metrics_tests::{Peer, vectors};
use serde::Deserialize;
use serde_json::json;

use super::states::{counted, merged};

const VECTORS: &[u8] = include_bytes!("../../parity/corpus_vectors.jsonl.gz");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/parity/make_corpus_vectors.py");

#[derive(Deserialize)]
struct Vector {
    #[serde(flatten)]
    of: Of,
    scores: BTreeMap<String, Option<f64>>,
}

#[derive(Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
enum Of {
    Labels {
        gold: Vec<String>,
        pred: Vec<String>,
        subset: Vec<String>,
    },
    Probabilities {
        truth: Vec<u8>,
        probability: Vec<f64>,
    },
    Ranks {
        gold: Vec<f64>,
        pred: Vec<f64>,
    },
}

impl Of {
    fn rows(&self) -> Vec<(Example, Prediction)> {
        let row = |gold, name: &str, pred| {
            (
                example! { "answer" => gold },
                Prediction::from_iter([(name, pred)]),
            )
        };
        match self {
            Self::Labels { gold, pred, .. } => gold
                .iter()
                .zip(pred)
                .map(|(gold, pred)| row(json!(gold), "answer", json!(pred)))
                .collect(),
            Self::Probabilities { truth, probability } => {
                let rows = truth.iter().zip(probability);
                rows.map(|(gold, pred)| row(json!(gold), "probability", json!(pred)))
                    .collect()
            }
            Self::Ranks { gold, pred } => gold
                .iter()
                .zip(pred)
                .map(|(gold, pred)| row(json!(gold), "answer", json!(pred)))
                .collect(),
        }
    }

    fn metric(&self, name: &str) -> Box<dyn Metric> {
        let subset: &[String] = match self {
            Self::Labels { subset, .. } => subset,
            _ => &[],
        };
        let kappa = |weights| Box::new(CohenKappa::builder().weights(weights).build());
        let alpha = |level| Box::new(KrippendorffAlpha::builder().level(level).build());
        let error = |bins| Box::new(ExpectedCalibrationError::builder().bins(bins).build());
        match name {
            "accuracy" => Box::new(Accuracy::default()),
            "macro_f1" => Box::new(MacroF1::default()),
            "macro_f1 subset" => Box::new(MacroF1::builder().labels(subset.to_vec()).build()),
            "micro_f1" => Box::new(MicroF1::default()),
            "micro_f1 subset" => Box::new(MicroF1::builder().labels(subset.to_vec()).build()),
            "balanced_accuracy" => Box::new(BalancedAccuracy::default()),
            "matthews_correlation" => Box::new(MatthewsCorrelation::default()),
            "cohen_kappa" => kappa(KappaWeights::Unweighted),
            "cohen_kappa linear" => kappa(KappaWeights::Linear),
            "cohen_kappa quadratic" => kappa(KappaWeights::Quadratic),
            "krippendorff_alpha" => alpha(AlphaLevel::Nominal),
            "krippendorff_alpha ordinal" => alpha(AlphaLevel::Ordinal),
            "krippendorff_alpha interval" => alpha(AlphaLevel::Interval),
            "spearman_correlation" => Box::new(SpearmanCorrelation),
            "auroc" => Box::new(Auroc),
            "brier_score" => Box::new(BrierScore),
            "expected_calibration_error 10" => error(10),
            "expected_calibration_error 4" => error(4),
            other => panic!("{other}"),
        }
    }
}

#[test]
fn scores_of_all_rows_agree_with_scikit_learn() {
    let (mut compared, mut undefined, mut wrong) = (0, 0, Vec::new());
    for vector in vectors::<Vector>(VECTORS) {
        let rows = vector.of.rows();
        for (name, expected) in &vector.scores {
            let metric = vector.of.metric(name);
            let score = merged(
                rows.iter()
                    .map(|(gold, pred)| counted(&*metric, gold, pred)),
            )
            .score();
            compared += 1;
            undefined += usize::from(expected.is_none());
            let is_same = match (&score, expected) {
                (Ok(score), Some(expected)) => (score - expected).abs() < 1e-6,
                (Err(_), None) => true,
                _ => false,
            };
            if !is_same {
                wrong.push(format!(
                    "{name}: expected {expected:?}, found {score:?} on {rows:?}"
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(5)].join("\n")
    );
    assert_eq!((compared, undefined), (2059, 163));
}

#[test]
fn the_packages_still_return_the_scores_of_all_rows() {
    let Some(peer) = Peer::with(&["krippendorff", "scikit-learn", "scipy"]) else {
        return;
    };
    assert_eq!(peer.check(SCRIPT), "365 vectors, as committed");
}
