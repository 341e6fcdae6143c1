//! Compiles a program with MIPROv2.

use dspy_rs::{MIPROv2, Optimizer};
use dsrs_metrics::metrics::F1;
use dsrs_metrics_dspy_rs::WithMetric;

use super::program::{self, Compiled, Qa};

/// Compiles the program. MIPROv2 scores its own traces, and then each proposed instruction on a minibatch.
pub(crate) async fn compile() -> anyhow::Result<Compiled> {
    let server = program::start().await?;
    let mut module = Qa::new().with_metric(F1::default());
    let mipro = MIPROv2::builder()
        .num_candidates(3)
        .minibatch_size(4)
        .build();
    mipro.compile(&mut module, program::trainset()).await?;
    module.report().check()?;
    Ok(Compiled::new(module, &server))
}
