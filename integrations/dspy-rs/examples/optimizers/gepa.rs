//! Compiles a program with GEPA, which improves the instruction by the metric's feedback.

use dspy_rs::GEPA;
use dsrs_metrics::metrics::F1;
use dsrs_metrics_dspy_rs::WithMetric;

use super::program::{self, Compiled, Qa};

/// Compiles the program. GEPA shows the feedback on a minibatch to the model, which reflects on it.
pub(crate) async fn compile() -> anyhow::Result<Compiled> {
    let server = program::start().await?;
    let mut module = Qa::new().with_metric(F1::default());
    let gepa = GEPA::builder().num_iterations(2).minibatch_size(3).build();
    gepa.compile_with_feedback(&mut module, program::trainset())
        .await?;
    module.report().check()?;
    Ok(Compiled::new(module, &server))
}
