//! "Metrics" of dsrs. The files follow the sections of the document.

mod adjutant;
mod core_traits;
mod custom;
mod outcome_coupled;
mod proxies;
mod scoring;
mod tool_calls;
mod truth;

use crate::{Result, passed};

pub(crate) async fn run() -> Result {
    core_traits::run().await?;
    proxies::run().await?;
    truth::run().await?;
    adjutant::run()?;
    scoring::run().await?;
    custom::run().await?;
    outcome_coupled::run().await?;
    tool_calls::run().await?;
    passed("dsrs_metrics_document", "31 examples");
    Ok(())
}
