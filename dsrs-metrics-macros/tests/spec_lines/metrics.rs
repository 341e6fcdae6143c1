//! Metrics whose documentation is the line about their spec that their structs must end with. A test of the macro crate compares
//! it with the expansion, and `tests/macros/metric/spec_line.rs` with the spec.

use dsrs_metrics::contract::CorpusCounts;
use dsrs_metrics::metrics::Check;
use dsrs_metrics::prelude::*;

/// proxy, bool, higher is better, free; reads `gold.expected`, `pred.intent`
#[metric]
pub(crate) fn same_intent(#[gold] expected: &str, #[pred] intent: &str) -> bool {
    expected == intent
}

/// proxy, number in 0.0..=1.0, higher is better, threshold 0.5, free; reads `gold.keywords`, `pred.text`
#[metric(range = 0.0..=1.0, threshold = 0.5)]
pub(crate) fn keywords_found(
    #[gold] keywords: &[String],
    #[pred("text")] reply: &str,
    #[param(default = 3)] most: usize,
) -> Result<f64, String> {
    let found = keywords
        .iter()
        .filter(|word| reply.contains(*word))
        .count()
        .min(most);
    Ok(found as f64 / keywords.len().max(1) as f64)
}

/// truth, number in 0.0..=5.0, lower is better, threshold 2.5, 100 msat a row; reads `gold.answer`, `pred.answer`
#[metric(tier = truth, range = 0..=5, threshold = 2.5, lower_is_better, cost = "100 msat")]
pub(crate) async fn mistakes(#[gold] answer: &str, #[pred("answer")] found: &str) -> Option<u32> {
    (answer != found).then_some(1)
}

/// proxy, number in 0.0..=5.0, higher is better, threshold 2.0, strict, free; reads `pred.answer`
#[metric(range = 0..=5, threshold = 2, lower_is_better, strict)]
pub(crate) fn few_mistakes(#[pred] answer: &str) -> usize {
    answer.len().min(5)
}

/// proxy, one score for all rows in 0.0..=1.0, higher is better, free; reads `gold.label`, `pred.label`
#[metric(corpus, range = 0.0..=1.0)]
pub(crate) fn same_labels(
    #[gold("label")] gold: bool,
    #[pred("label")] pred: bool,
) -> CorpusCounts {
    let share = |counts: &[u64]| (counts[1] > 0).then(|| counts[0] as f64 / counts[1] as f64);
    CorpusCounts::new([u64::from(gold == pred), 1], share)
}

/// proxy, bool, higher is better, free; reads `gold.answer`, `pred.answer`
#[metric]
pub(crate) fn same_field(
    #[param(default = "answer")] field: &str,
    #[gold(named_by = field)] wanted: &str,
    #[pred(named_by = field)] found: &str,
) -> Result<Check, String> {
    let _ = field;
    Ok(if wanted == found {
        Check::pass()
    } else {
        Check::fail("differs")
    })
}

/// proxy, number, higher is better, free
#[metric]
pub(crate) fn row_length(gold: &Example, pred: &Prediction) -> f64 {
    (gold.data.len() + pred.data.len()) as f64
}

/// truth, bool, higher is better, 250 msat a row; reads `gold.question`, `pred.reply`
#[judge(cost = "250 msat")]
pub(crate) struct Polite {
    #[input(gold)]
    question: String,
    #[input(pred)]
    reply: String,
    #[output]
    polite: bool,
}
