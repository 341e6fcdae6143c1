//! The contributions of rows may be merged in any order and in any parts.

use dsrs_metrics::contract::{Answer, Counted, RowAnswer};
use dsrs_metrics::metrics::{
    Auroc, BalancedAccuracy, BrierScore, CohenKappa, ExpectedCalibrationError, KrippendorffAlpha,
    MacroF1, MatthewsCorrelation, SpearmanCorrelation,
};
use dsrs_metrics::prelude::*;
use dsrs_metrics::stats::{AlphaLevel, KappaWeights};
use proptest::prelude::*;
use serde_json::json;

/// The contribution of a row.
pub(super) fn counted(metric: &dyn Metric, gold: &Example, pred: &Prediction) -> Counted {
    match metric.answer(MetricCall::new(gold, pred)) {
        Answer::Ready(Ok(RowAnswer::Counted { counted, .. })) => counted,
        other => panic!("{}: {other:?}", metric.name()),
    }
}

pub(super) fn merged(parts: impl IntoIterator<Item = Counted>) -> Counted {
    let merge = |mut all: Counted, part: Counted| {
        all.merge(&part);
        all
    };
    parts.into_iter().reduce(merge).expect("there is a row")
}

fn metrics() -> Vec<Box<dyn Metric>> {
    vec![
        Box::new(MacroF1::default()),
        Box::new(BalancedAccuracy::default()),
        Box::new(MatthewsCorrelation::default()),
        Box::new(
            CohenKappa::builder()
                .weights(KappaWeights::Quadratic)
                .build(),
        ),
        Box::new(
            KrippendorffAlpha::builder()
                .level(AlphaLevel::Interval)
                .build(),
        ),
        Box::new(SpearmanCorrelation),
    ]
}

fn of_probabilities() -> Vec<Box<dyn Metric>> {
    vec![
        Box::new(Auroc),
        Box::new(BrierScore),
        Box::new(ExpectedCalibrationError::default()),
    ]
}

/// The score's bits, or the reason why it is not defined.
fn bits(counted: &Counted) -> Result<u64, String> {
    counted
        .score()
        .map(f64::to_bits)
        .map_err(|reason| reason.to_string())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_score_does_not_depend_on_order_or_parts(
        rows in prop::collection::vec((0..4_u8, 0..4_u8, 0.0..=1.0_f64), 1..40),
        turned in 0..40_usize,
        split in 0..40_usize,
    ) {
        let (turned, split) = (turned % rows.len(), split % rows.len());
        for metric in metrics().into_iter().chain(of_probabilities()) {
            let reads_probability = metric.spec().pred[0].name == "probability";
            let contributions = rows.iter().map(|(gold, pred, probability)| {
                let gold = if reads_probability { json!(gold % 2) } else { json!(gold) };
                let pred = prediction! { "answer" => *pred, "probability" => *probability };
                counted(&*metric, &example! { "answer" => gold }, &pred)
            });
            let contributions: Vec<Counted> = contributions.collect();
            let in_order = merged(contributions.clone());
            let mut others = contributions.clone();
            others.reverse();
            others.rotate_left(turned);
            let (left, right) = others.split_at(split);
            let parts = [left, right].into_iter().filter(|part| !part.is_empty());
            let in_parts = merged(parts.map(|part| merged(part.to_vec())));
            prop_assert_eq!(bits(&in_order), bits(&in_parts), "{}", metric.name());
        }
    }
}
