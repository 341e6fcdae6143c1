//! Writes an HTML report on generated results, and measures how long that takes: 20,000 rows, or the number given.
//!
//! ```sh
//! cargo run --release --example html_report -- 20000
//! ```
//!
//! The results are in `target/html_report.jsonl`, the report in `target/html_report.html`. A row has a question, two
//! answers of twelve words, and three scores, one of them by a judge with feedback and reasoning.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Instant;

use dsrs_metrics::results::{HtmlReport, Results};
use serde_json::{Value, json};

const WORDS: [&str; 12] = [
    "the", "museum", "lends", "every", "restored", "map", "of", "the", "harbour", "to", "other",
    "archives",
];

const TOPICS: [&str; 4] = ["loans", "maps", "opening hours", "archive"];

/// Row `i`: every fifth answer is right, and of every fiftieth the judge failed.
fn row(i: usize) -> Value {
    let wrong = i % 5;
    let mut words = WORDS;
    for place in 0..wrong {
        words[(i + 3 * place) % WORDS.len()] = "no";
    }
    let f1 = 1.0 - wrong as f64 / WORDS.len() as f64;
    let judge = match i % 50 {
        0 => {
            json!({"outcome": "metric_failed", "error": "no `score` in the reply", "cost_msats": 100})
        }
        1..8 => json!({"outcome": "gated", "gated_by": "f1"}),
        _ => json!({
            "outcome": "scored", "value": 1 + i % 5, "passed": i % 5 > 2, "confidence": 0.8, "cost_msats": 140,
            "feedback": "The answer names the museum, but does not say where the map is. Cite the catalogue.",
            "metadata": {
                "reasoning": "The first claim is supported by the context. The second one has no support in any of the passages.",
                "claims": [{"text": "maps are lent", "supported": true}, {"text": "to archives", "supported": false}],
            },
        }),
    };
    json!({
        "id": format!("row-{i:06}"),
        "gold": {"question": format!("To whom does the museum lend map {i}?"), "answer": WORDS.join(" ")},
        "pred": {"answer": words.join(" "), "sources": ["catalogue.md", "loans.md"]},
        "latency_s": 0.4 + (i % 17) as f64 / 10.0, "input_tokens": 300 + i % 400, "output_tokens": 20 + i % 60,
        "attributes": {"topic": TOPICS[i % TOPICS.len()]},
        "scores": {
            "answer_exact_match": {
                "outcome": "scored", "value": u8::from(wrong == 0), "passed": wrong == 0, "confidence": 1,
                "details": format!("{wrong} words differ"), "cost_msats": 0,
            },
            "f1": {"outcome": "scored", "value": f1, "confidence": 1, "parts": {"precision": f1, "recall": f1}},
            "faithfulness": judge,
        },
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let rows = std::env::args()
        .nth(1)
        .map_or(Ok(20_000), |rows| rows.parse())?;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target");
    fs::create_dir_all(&folder)?;
    let (results, report) = (
        folder.join("html_report.jsonl"),
        folder.join("html_report.html"),
    );
    let lines: Vec<String> = (0..rows).map(|i| row(i).to_string()).collect();
    fs::write(&results, lines.join("\n"))?;

    let start = Instant::now();
    let results = Results::read(results)?;
    let read = start.elapsed();
    HtmlReport::new(&results).group("topic").write(&report)?;
    let written = start.elapsed() - read;
    let size = fs::metadata(&report)?.len() as f64 / 1e6;
    println!(
        "{rows} rows: read in {:.2} s, written in {:.2} s, {size:.1} MB",
        read.as_secs_f64(),
        written.as_secs_f64()
    );
    Ok(())
}
