//! Compiles a program with an optimizer of dspy-rs against F1 of dsrs-metrics, offline: a local server takes the place of the
//! language model.
//!
//! ```text
//! cargo run --example optimizers -- copro
//! cargo run --example optimizers -- mipro
//! cargo run --example optimizers -- gepa
//! ```

pub(crate) mod copro;
pub(crate) mod gepa;
pub(crate) mod mipro;
pub(crate) mod model;
pub(crate) mod program;
pub(crate) mod server;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let optimizer = std::env::args().nth(1);
    let compiled = match optimizer.as_deref() {
        Some("copro") => copro::compile().await?,
        Some("mipro") => mipro::compile().await?,
        Some("gepa") => gepa::compile().await?,
        other => anyhow::bail!(
            "expected copro, mipro or gepa, found {}",
            other.map_or("no argument".to_owned(), |found| format!(
                "`{}`",
                found.escape_debug()
            ))
        ),
    };
    compiled.print();
    Ok(())
}
