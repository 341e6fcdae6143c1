use dsrs_metrics::contract::CorpusCounts;
use dsrs_metrics::prelude::*;

#[metric(corpus = true, threshold = 0.5, strict)]
fn errors(#[pred] wrong: u64, #[pred] words: u64) -> CorpusCounts {
    CorpusCounts::new([wrong, words], |counts: &[u64]| Some(counts[0] as f64 / counts[1] as f64))
}

fn main() {}
