//! Warnings about a judge whose replies came from several models, although one is configured.

use std::collections::BTreeMap;

use crate::evaluate::{JudgedBy, MetricSummary};
use crate::messages::escape;

/// The largest number of models or fingerprints in a warning.
const SHOWN: usize = 5;

/// Replies by the name of a model or a fingerprint.
type Counts<'a> = BTreeMap<&'a str, u64>;

/// A line for each judge whose replies came from more than one reported model, or from more than one fingerprint of a model.
pub(super) fn warnings(metric: &MetricSummary) -> Vec<String> {
    let of_judge = |judges: &[JudgedBy]| warning(&metric.name, judges);
    let judges = metric.judged_by.chunk_by(|one, other| one.judge == other.judge);
    let mut lines: Vec<String> = judges.filter_map(of_judge).collect();
    if metric.judged_by_others > 0 {
        lines.push(format!(
            "warning: {}: {} replies came from further models or fingerprints, which no output names",
            metric.name, metric.judged_by_others
        ));
    }
    lines
}

/// A line about one judge. Names are sorted, so the fingerprints of a model are next to each other.
fn warning(metric: &str, judges: &[JudgedBy]) -> Option<String> {
    let mut models = Counts::new();
    for judged in judges.iter().filter(|judged| !judged.model.is_empty()) {
        *models.entry(&judged.model).or_default() += judged.replies;
    }
    let judge = escape::name(&judges.first()?.judge);
    let start = format!("warning: {metric}: the replies of {judge} came from");
    if models.len() > 1 {
        return Some(format!("{start} {} models: {}", models.len(), listed(&models)));
    }
    // An unknown fingerprint is not another one.
    let known = judges.iter().filter_map(|it| Some((it.fingerprint.as_deref()?, it.replies)));
    let fingerprints: Counts<'_> = known.collect();
    (fingerprints.len() > 1).then(|| {
        let model =
            models.keys().next().map_or_else(String::new, |it| format!(" of {}", escape::name(it)));
        format!("{start} {} fingerprints{model}: {}", fingerprints.len(), listed(&fingerprints))
    })
}

fn listed(counts: &Counts<'_>) -> String {
    let shown = counts.iter().take(SHOWN).map(|(name, replies)| {
        let replies =
            if *replies == 1 { "1 reply".to_owned() } else { format!("{replies} replies") };
        format!("{} ({replies})", escape::name(name))
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    match counts.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
