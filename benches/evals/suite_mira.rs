//! The suite with mira's `#[eval]`, as a study that its host runs.

use mira::scorer::scorer;
use mira::subject::subject_fn;
use mira::{Dataset, Eval, Sample, Score, Study, Transcript, eval};

/// A number in [0, 1) for a seed (SplitMix64), the same as in `suite.rs`.
fn noise(seed: u64) -> f64 {
    let mixed = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// A judge that finds each reply polite in nine of ten runs.
fn is_polite(reply: &str) -> bool {
    let row: u64 = reply.rsplit(' ').next().and_then(|row| row.parse().ok()).unwrap_or(0);
    let run: u64 = std::env::var("RUN").ok().and_then(|run| run.parse().ok()).unwrap_or(0);
    noise(1_000 * run + row) < 0.9
}

fn rows() -> Dataset {
    let rows = (0..40).map(|row| Sample::new(row.to_string(), format!("question number {row}")));
    Dataset::new(rows.collect())
}

// begin
#[eval]
fn replies() -> Eval {
    Eval::new("replies")
        .dataset(rows())
        .subject(subject_fn(|row, _| async move {
            Transcript::response(row.input.join(" ").replace("question", "reply"))
        }))
        .scorer(scorer("polite", |_, reply| match is_polite(&reply.final_response) {
            true => Score::pass("polite", "it is"),
            false => Score::fail("polite", "it is not"),
        }))
        .build()
}
// end

fn main() -> std::io::Result<()> {
    Study::registered().serve_blocking()
}
