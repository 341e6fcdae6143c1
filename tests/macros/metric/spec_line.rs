//! The last line of a struct's documentation, which the macro writes, has the words that `list` prints. The macro crate
//! compares the same file with the expansion.

#[path = "../../../dsrs-metrics-macros/tests/spec_lines/metrics.rs"]
#[allow(
    clippy::needless_pass_by_value,
    reason = "the cases show what may be written"
)]
mod metrics;

use dsrs_metrics::contract::{MetricSpec, Side};

fn line(spec: &MetricSpec<'_>) -> String {
    let fields = spec.get_input_spec().map(|(side, field)| {
        let side = if side == Side::Gold { "gold" } else { "pred" };
        format!("`{side}.{}`", field.name)
    });
    let fields: Vec<_> = fields.collect();
    let reads = if fields.is_empty() { "" } else { "; reads " };
    format!("{}{reads}{}", spec.properties(), fields.join(", "))
}

#[test]
fn the_documented_line_is_that_of_the_spec() {
    for spec in [
        metrics::SameIntent::SPEC,
        metrics::KeywordsFound::SPEC,
        metrics::Mistakes::SPEC,
        metrics::FewMistakes::SPEC,
        metrics::SameLabels::SPEC,
        metrics::SameField::SPEC,
        metrics::RowLength::SPEC,
        metrics::PoliteJudge::SPEC,
    ] {
        assert_eq!(line(&spec), spec.doc, "{}", spec.name);
    }
}
