//! Every code example of the reference documents, ported as literally as Rust allows, with the documents' values asserted.
//!
//! One module per document. `README.md` lists each example, its port and each deliberate difference.
//!
//! ```sh
//! cargo run -p dsrs-metrics-examples --features reference --example reference
//! ```

mod answer_exact_match;
mod dspy_metrics_and_evaluation;
mod dsrs_metrics_document;
mod gllm_evals;
mod heritage_rag;

type Result<T = (), E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// Prints that an example of a document returned the document's values.
fn passed(document: &str, example: &str) {
    println!("{document}: {example}");
}

#[tokio::main]
async fn main() -> Result {
    dspy_metrics_and_evaluation::run().await?;
    answer_exact_match::run()?;
    dsrs_metrics_document::run().await?;
    heritage_rag::run().await?;
    gllm_evals::run().await
}
