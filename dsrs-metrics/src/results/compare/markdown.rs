//! A comparison as Markdown, for the summary of a CI job.

use super::Comparison;
use super::text::{HEADER, cells};
use crate::results::markdown::{escaped, table};

impl Comparison {
    /// Returns the comparison as Markdown: the runs, a table of the metrics and a sentence for each. Names of metrics and
    /// files are escaped.
    #[must_use]
    pub fn markdown(&self) -> String {
        let header = std::iter::once("metric").chain(HEADER);
        let rows = self.metrics.iter();
        let rows = rows.map(|metric| cells(&metric.name, &metric.overall, metric.kind));
        let mut text = format!(
            "A: {}<br>\nB: {}\n\n{}\n",
            escaped(&self.a.to_string()),
            escaped(&self.b.to_string()),
            table(header, rows)
        );
        for metric in &self.metrics {
            text.push_str(&format!("- {}\n", escaped(&metric.sentence())));
        }
        text
    }
}
