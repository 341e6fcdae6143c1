//! Compiles a program with COPRO.

use dspy_rs::{COPRO, Optimizer};
use dsrs_metrics::metrics::F1;
use dsrs_metrics_dspy_rs::WithMetric;

use super::program::{self, Compiled, Qa};

/// Compiles the program. COPRO runs each proposed instruction on all rows, and keeps the best.
pub(crate) async fn compile() -> anyhow::Result<Compiled> {
    let server = program::start().await?;
    let mut module = Qa::new().with_metric(F1::default());
    let copro = COPRO::builder().breadth(4).depth(2).build();
    copro.compile(&mut module, program::trainset()).await?;
    module.report().check()?;
    Ok(Compiled::new(module, &server))
}
