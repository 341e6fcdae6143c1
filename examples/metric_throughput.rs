//! Rows per second of each built-in metric, on one thread, without the harness; and its time relative to a loop that
//! counts the words of the same rows; and the time that an explanation adds to a row if it is read.
//!
//! `cargo run --release --example metric_throughput [SECONDS_EACH]`

mod word_baseline;

use std::time::Duration;

use dsrs_metrics::metrics as m;
use dsrs_metrics::prelude::*;
use dsrs_metrics::text::{BleuTokens, RougeTokens};

use word_baseline::Rows;

/// The number of distinct rows, which is larger than the caches of any metric.
const ROWS: usize = 256;

const WORDS: [&str; 24] = [
    "the",
    "museum",
    "of",
    "modern",
    "art",
    "in",
    "Paris",
    "was",
    "founded",
    "by",
    "a",
    "group",
    "of",
    "painters,",
    "and",
    "holds",
    "1,200",
    "works",
    "from",
    "the",
    "19th",
    "century.",
    "It",
    "is",
];

/// Returns a string of `words` words. The seed changes about one word in eight.
fn text(row: usize, words: usize, seed: usize) -> String {
    let word = |at: usize| match (row * 31 + at * 17 + seed * 13) % 8 {
        0 => WORDS[(row + at * seed) % WORDS.len()],
        _ => WORDS[(row * 7 + at * 5) % WORDS.len()],
    };
    (0..words).map(word).collect::<Vec<_>>().join(" ")
}

fn rows(row: impl Fn(usize) -> (Example, Prediction)) -> Rows {
    (0..ROWS).map(row).collect()
}

fn texts(words: usize) -> Rows {
    rows(|row| {
        (
            example! { "answer" => text(row, words, 1) },
            prediction! { "answer" => text(row, words, 2), "context" => text(row, 2 * words, 1) },
        )
    })
}

fn numbers() -> Rows {
    rows(|row| {
        let said = format!("so {row} times 7 makes ${},000.00.", row * 7);
        (
            example! { "answer" => format!("{}000", row * 7) },
            prediction! { "answer" => said },
        )
    })
}

fn heritage() -> Rows {
    let names = |row: usize, seed| (0..8).map(|at| text(row + at, 3, seed)).collect::<Vec<_>>();
    rows(|row| {
        let gold = example! {
            "expected_intent" => "temporal", "expected_entity_type" => "person",
            "expected_entities" => names(row, 1)
        };
        let pred = prediction! {
            "intent" => "Entity_lookup", "entity_type" => "person", "entities" => names(row, 2)
        };
        (gold, pred)
    })
}

fn rankings() -> Rows {
    rows(|row| {
        let relevant: Vec<String> = (0..5)
            .map(|at| format!("d{}", (row * 3 + at * 11) % 50))
            .collect();
        let retrieved: Vec<String> = (0..50)
            .map(|at| format!("d{}", (row + at * 7) % 50))
            .collect();
        (
            example! { "relevant" => relevant },
            prediction! { "retrieved" => retrieved },
        )
    })
}

fn extractions() -> Rows {
    let json = |row: usize, seed| {
        let items: Vec<_> = (0..5).map(|at| text(row + at, 2, seed)).collect();
        serde_json::json!({
            "name": text(row, 2, seed), "address": {"street": text(row, 3, seed), "city": "Paris"},
            "founded": 1900 + row, "open": row.is_multiple_of(2), "items": items,
        })
    };
    rows(|row| {
        (
            example! { "answer" => json(row, 1) },
            prediction! { "answer" => json(row, 2).to_string() },
        )
    })
}

/// A metric, and its parameters that differ from the defaults.
struct Measured {
    params: &'static str,
    metric: Box<dyn Metric>,
}

impl Measured {
    fn new(metric: impl Metric + 'static) -> Self {
        Self {
            params: "",
            metric: Box::new(metric),
        }
    }

    fn with(self, params: &'static str) -> Self {
        Self { params, ..self }
    }
}

/// Returns the metrics, with the rows on which they are measured and a description of the rows.
fn table() -> Vec<(&'static str, Vec<Measured>, Rows)> {
    vec![
        ("answers of 12 words", answers(), texts(12)),
        (
            "numbers in a sentence",
            vec![Measured::new(m::NumericMatch::default())],
            numbers(),
        ),
        ("8 entities on each side", entities(), heritage()),
        ("50 retrieved, 5 relevant", retrieval(), rankings()),
        ("strings of 40 words", overlap(), texts(40)),
        (
            "10 fields, prediction as a string",
            vec![Measured::new(m::JsonFieldAccuracy::default())],
            extractions(),
        ),
    ]
}

fn answers() -> Vec<Measured> {
    vec![
        Measured::new(m::AnswerExactMatch::default()),
        Measured::new(m::AnswerPassageMatch::default()),
        Measured::new(m::Em::default()),
        Measured::new(m::F1::default()),
        Measured::new(m::HotpotF1::default()),
        Measured::new(m::Precision::default()),
        Measured::new(m::Recall::default()),
    ]
}

fn entities() -> Vec<Measured> {
    vec![
        Measured::new(m::IntentAccuracy),
        Measured::new(m::IntentAccuracyWithFallback::default()),
        Measured::new(m::EntityF1::default()),
        Measured::new(m::EntityTypeAccuracy::default()),
    ]
}

fn retrieval() -> Vec<Measured> {
    vec![
        Measured::new(m::PrecisionAtK::default()),
        Measured::new(m::RecallAtK::default()),
        Measured::new(m::HitRate::default()),
        Measured::new(m::ReciprocalRank::default()),
        Measured::new(m::AveragePrecision::default()),
        Measured::new(m::Ndcg::default()),
    ]
}

fn overlap() -> Vec<Measured> {
    vec![
        Measured::new(m::Bleu::default()),
        Measured::new(m::Bleu::builder().tokens(BleuTokens::Char).build()).with("tokens=char"),
        Measured::new(m::Chrf::default()),
        Measured::new(m::Chrf::builder().word_order(2).build()).with("word_order=2"),
        Measured::new(m::Rouge1::default()),
        Measured::new(m::Rouge2::default()),
        Measured::new(m::RougeL::default()),
        Measured::new(m::RougeL::builder().tokens(RougeTokens::Unicode).build())
            .with("tokens=unicode"),
        Measured::new(m::Wer::default()),
        Measured::new(m::Cer::default()),
        Measured::new(m::EditSimilarity::default()),
    ]
}

fn main() {
    let seconds = std::env::args()
        .nth(1)
        .and_then(|seconds| seconds.parse().ok())
        .unwrap_or(0.5);
    let time = Duration::from_secs_f64(seconds);
    println!("{}", word_baseline::head());
    for (what, metrics, rows) in table() {
        let loops = word_baseline::of_words(&rows, time);
        for Measured { params, metric } in metrics {
            let name = format!("{} {params}", metric.name());
            println!(
                "{}",
                word_baseline::measured(&name, what, &*metric, &rows, time, loops)
            );
        }
    }
}
