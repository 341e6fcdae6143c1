//! A comparison as Markdown, for the summary of a CI job.

use super::Comparison;
use super::text::table_cells;
use crate::results::markdown::{escaped, table};

impl Comparison {
    /// Returns the comparison as Markdown: the runs, a table of the metrics, and a sentence for each metric. Metric and
    /// file names are escaped.
    pub fn markdown(&self) -> String {
        let mut rows = table_cells("metric", &self.lines()).into_iter();
        let header = rows.next().unwrap_or_default();
        let mut text = format!(
            "A: {}<br>\nB: {}\n\n{}\n",
            escaped(&self.a.to_string()),
            escaped(&self.b.to_string()),
            table(header.iter().map(String::as_str), rows)
        );
        if self.paired_by_position {
            text.push_str("- rows have no ids and are paired by position\n");
        }
        for line in self.identity.to_string().lines() {
            text.push_str(&format!("- {}\n", escaped(line)));
        }
        for metric in &self.metrics {
            text.push_str(&format!("- {}\n", escaped(&metric.sentence())));
        }
        text
    }
}
