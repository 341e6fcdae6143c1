//! Every code example of the reference documents, ported as literally as Rust allows, with the documents' values asserted.
//!
//! One module per document. `README.md` lists each example, its port and each deliberate difference.
//!
//! ```sh
//! cargo run -p dsrs-metrics-examples --features reference --example reference
//! ```
//!
//! With the name of a module, such as `-- heritage_rag`, only that document is run.

#![allow(
    clippy::redundant_closure_for_method_calls,
    clippy::collapsible_if,
    reason = "written as in the documents"
)]

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
    let only = std::env::args().nth(1);
    let documents = [
        "dspy_metrics_and_evaluation",
        "answer_exact_match",
        "dsrs_metrics_document",
        "heritage_rag",
        "gllm_evals",
    ];
    if let Some(unknown) = only.as_deref().filter(|only| !documents.contains(only)) {
        return Err(format!("expected one of {documents:?}, found {unknown:?}").into());
    }
    let runs = |document: &str| only.as_deref().is_none_or(|only| only == document);
    if runs("dspy_metrics_and_evaluation") {
        dspy_metrics_and_evaluation::run().await?;
    }
    if runs("answer_exact_match") {
        answer_exact_match::run()?;
    }
    if runs("dsrs_metrics_document") {
        dsrs_metrics_document::run().await?;
    }
    if runs("heritage_rag") {
        heritage_rag::run().await?;
    }
    if runs("gllm_evals") {
        gllm_evals::run().await?;
    }
    Ok(())
}
