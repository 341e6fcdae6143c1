//! Warnings about a judge whose replies came from several models, although one is configured.

use crate::evaluate::{JudgeReplies, MetricSummary};
use crate::messages::escape;

/// A line for each judge whose replies came from more than one reported model, or from more than one fingerprint of a model.
pub(super) fn warnings(metric: &MetricSummary) -> Vec<String> {
    let judges = JudgeReplies::of_each(&metric.judged_by);
    let mut lines: Vec<String> = judges
        .filter_map(|replies| warning(&metric.name, &replies))
        .collect();
    if metric.judged_by_others > 0 {
        lines.push(format!(
            "warning: {}: {} replies came from further models or fingerprints, which no output names",
            metric.name, metric.judged_by_others
        ));
    }
    lines
}

fn warning(metric: &str, replies: &JudgeReplies<'_>) -> Option<String> {
    let JudgeReplies {
        judge,
        models,
        fingerprints,
    } = replies;
    let start = format!(
        "warning: {metric}: the replies of {} came from",
        escape::name(judge)
    );
    if models.len() > 1 {
        return Some(format!("{start} {} models: {models}", models.len()));
    }
    (fingerprints.len() > 1).then(|| {
        let model = models
            .names()
            .next()
            .map_or_else(String::new, |it| format!(" of {}", escape::name(it)));
        format!(
            "{start} {} fingerprints{model}: {fingerprints}",
            fingerprints.len()
        )
    })
}
