//! The default metrics of each tier, added by `ScorerBuilder`.

use std::sync::Arc;

use crate::contract::Metric;
use crate::metrics::{Diff, Format, Length, Syntax};
use crate::shipped::LlmJudge;

/// Returns the default proxy metrics.
pub fn proxies() -> [Arc<dyn Metric>; 3] {
    [
        Arc::new(Format::default()),
        Arc::new(Length::default()),
        Arc::new(Syntax::default()),
    ]
}

/// Returns the default truth metrics: one with a cost, then one without.
pub fn truths() -> [Arc<dyn Metric>; 2] {
    [Arc::new(LlmJudge::default()), Arc::new(Diff::default())]
}
