//! The objectives of one score: a named score or a component each, for multi-objective optimizers.

use serde_json::{Value, json};

use crate::score::{FeedbackMetric, Part, Scored};
use crate::spec::MetricSpec;

/// Returns an objective for each named score, or for each component with a score, or a single one. The metadata has the
/// `name`, and where they exist the `passed`, `range` and `details` of the objective.
pub fn objectives(scored: Scored, spec: &MetricSpec<'_>) -> Vec<FeedbackMetric> {
    if !scored.parts().is_empty() {
        return scored
            .parts()
            .iter()
            .map(|part| of_part(part, spec))
            .collect();
    }
    let of_component = |name: &str, scored: &Scored| {
        let passed = scored.passed.map(Value::from);
        let details = scored.own_details().map(Value::from);
        let objective = scored.clone().into_feedback().with_metadata("name", name);
        described(objective, [("passed", passed), ("details", details)])
    };
    let components = scored.components();
    let objectives: Vec<_> = components
        .filter_map(|component| Some(of_component(component.name, component.outcome.scored()?)))
        .collect();
    if !objectives.is_empty() {
        return objectives;
    }
    let passed = scored.passed.map(Value::from);
    let details = scored.own_details().map(Value::from);
    let described_by = [
        ("passed", passed),
        ("details", details),
        ("range", range(spec)),
    ];
    vec![described(
        scored.into_feedback().with_metadata("name", spec.name),
        described_by,
    )]
}

fn of_part(part: &Part, spec: &MetricSpec<'_>) -> FeedbackMetric {
    let feedback = part.feedback.clone();
    let feedback = feedback.unwrap_or_else(|| format!("{} is {}.", part.name, part.value));
    let objective = FeedbackMetric::new(part.value, feedback).with_metadata("name", &*part.name);
    let passed = spec.verdict(part.value).map(Value::from);
    described(objective, [("passed", passed), ("range", range(spec))])
}

fn range(spec: &MetricSpec<'_>) -> Option<Value> {
    spec.range.map(|range| json!([range.min, range.max]))
}

fn described<const N: usize>(
    mut objective: FeedbackMetric,
    entries: [(&str, Option<Value>); N],
) -> FeedbackMetric {
    for (key, value) in entries {
        if let Some(value) = value {
            objective.metadata.entry(key.to_owned()).or_insert(value);
        }
    }
    objective
}
