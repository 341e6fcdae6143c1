//! Every built-in metric explains its score: `details` is the reason why the score is not the best one.

mod rows;

use std::collections::BTreeSet;

use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Scored,
    contract::{Direction, ScoreKind, Settings},
};
use dsrs_metrics_tests::can_isolate;

/// The table of all built-in metrics, which is compared with `list`.
const TABLE: &str = include_str!("../../../dsrs-metrics/docs/metrics.md");

/// A row on which a metric does not reach its best score, and the details of that score.
struct Case {
    metric: Box<dyn Metric>,
    gold: Example,
    pred: Prediction,
    details: &'static str,
}

fn case(
    metric: impl Metric + 'static,
    gold: Example,
    pred: Prediction,
    details: &'static str,
) -> Case {
    Case {
        metric: Box::new(metric),
        gold,
        pred,
        details,
    }
}

fn scored(case: &Case, call: MetricCall<'_>) -> Scored {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    // The models of composites, which have none of their own.
    let settings = Settings::new().with(rows::models());
    let scored = settings.scope(async { case.metric.answer(call).await });
    let scored = runtime.block_on(scored);
    scored.unwrap_or_else(|error| panic!("{error}"))
}

/// Returns `true` if a row could have a better score.
fn can_be_better(spec: &MetricSpec<'_>, value: f64) -> bool {
    match spec.direction {
        Direction::LowerIsBetter => value > 0.0,
        Direction::HigherIsBetter => value < spec.range.map_or(1.0, |range| range.max),
    }
}

#[test]
fn every_built_in_metric_has_a_case_and_explains_its_score() {
    let mut cases = rows::cases();
    let mut named: BTreeSet<String> = cases
        .iter()
        .map(|case| case.metric.name().to_owned())
        .collect();
    // A row has no score of its own to explain.
    for metric in rows::over_all_rows() {
        assert_eq!(metric.spec().kind, ScoreKind::Corpus, "{}", metric.name());
        named.insert(metric.name().to_owned());
    }
    let sandboxed = rows::sandboxed();
    named.extend(sandboxed.iter().map(|case| case.metric.name().to_owned()));
    if can_isolate() {
        cases.extend(sandboxed);
    }
    let head = "| name | tier |";
    let lines = TABLE.lines().skip_while(|line| !line.starts_with(head));
    let lines = lines.skip(2).take_while(|line| line.starts_with('|'));
    // The first cell has the name of a metric and the names of its aliases.
    let names = lines.filter_map(|line| line.split(" | ").next()?.strip_prefix("| "));
    let names = names.flat_map(|cell| cell.split(", alias "));
    let listed: BTreeSet<String> = names
        .map(|name| name.trim_matches('`').to_owned())
        .collect();
    assert!(listed.len() > 50, "the table is not where it was");
    assert_eq!(named, listed);

    let mut wrong = Vec::new();
    for case in &cases {
        let name = case.metric.name();
        let call = MetricCall::new(&case.gold, &case.pred);
        let explained = scored(case, call);
        assert!(
            can_be_better(&case.metric.spec(), explained.score.value),
            "{name}: best score"
        );
        let unread = scored(case, call.without_explanation());
        assert_eq!(unread.score.value, explained.score.value, "{name}");
        assert_eq!(unread.passed, explained.passed, "{name}");
        let feedback = explained.clone().into_feedback().feedback;
        assert!(!feedback.starts_with("The score is"), "{name}: {feedback}");
        let details = explained.into_score().details.unwrap_or_default();
        if details != case.details {
            wrong.push(format!(
                "{name}: expected {:?}\n  found {details:?}",
                case.details
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The details that the documents show for a pass, and the feedback that a failure adds.
#[test]
fn passes_are_explained_as_the_documents_show() {
    for (case, feedback) in rows::passes() {
        let explained = scored(&case, MetricCall::new(&case.gold, &case.pred));
        let name = case.metric.name();
        assert_eq!(
            explained.score.details.as_deref(),
            Some(case.details),
            "{name}"
        );
        assert_eq!(explained.feedback().as_deref(), feedback, "{name}");
    }
}

/// Values of a row are escaped, and of bounded length.
#[test]
fn explanations_are_bounded_and_escaped() {
    let long = "\u{1b}[31m ".repeat(20_000);
    let words: Vec<String> = (0..1000).map(|word| format!("word{word}")).collect();
    for case in rows::with(&long, &words.join(" ")) {
        let name = case.metric.name();
        let explained = scored(&case, MetricCall::new(&case.gold, &case.pred));
        let details = explained.into_score().details.unwrap();
        assert!(details.len() < 3_000, "{name}: {} bytes", details.len());
        assert!(!details.contains('\u{1b}'), "{name}: {details:?}");
    }
}
