//! An invalid setup is rejected before anything runs.

use super::ScriptedMetric;
use dsrs_metrics::prelude::*;
use dsrs_metrics::scoring::{AggregationMethod, MetricSet, Scorer, ScorerBuilder, ScoringConfig};

fn rejection(scorer: ScorerBuilder) -> String {
    scorer.build().unwrap_err().to_string()
}

fn cheap() -> ScorerBuilder {
    Scorer::builder().metric(ScriptedMetric::proxy("cheap"))
}

#[test]
fn a_scorer_needs_metrics_with_unique_names() {
    assert_eq!(
        rejection(Scorer::builder()),
        "expected at least one metric, found none; add one with `.metric(..)`"
    );
    let duplicate = cheap().metric(ScriptedMetric::truth("cheap", 1));
    assert_eq!(
        rejection(duplicate),
        "duplicate metric name `cheap`; rename one with `#[metric(name = \"..\")]`, or wrap one in a composite"
    );
}

#[test]
fn a_metric_belongs_to_the_tier_of_its_spec() {
    let wrong = rejection(cheap().truth(ScriptedMetric::proxy("b")));
    assert_eq!(
        wrong,
        "expected a truth metric, found the proxy metric `b`; add it as a proxy metric"
    );
    let wrong = rejection(cheap().proxy(ScriptedMetric::truth("b", 1)));
    assert_eq!(
        wrong,
        "expected a proxy metric, found the truth metric `b`; add it as a truth metric"
    );
    let mut set = MetricSet::new();
    set.add(ScriptedMetric::truth("b", 1));
    set.add(ScriptedMetric::proxy("a"));
    assert_eq!(
        format!("{set:?}"),
        r#"MetricSet { proxy: ["a"], truth: ["b"] }"#
    );
    let scorer = cheap().threshold(0.25);
    let debug = format!("{scorer:?} {:?}", cheap().threshold(0.25).build().unwrap());
    assert_eq!(debug.matches(r#"["cheap"]"#).count(), 1, "{debug}");
    assert_eq!(debug.matches("threshold: 0.25").count(), 2, "{debug}");
}

#[test]
fn a_set_lists_its_proxies_before_its_truth_metrics() {
    let mut set = MetricSet::new();
    assert!(set.is_empty());
    set.add(ScriptedMetric::truth("b", 1));
    set.add(ScriptedMetric::proxy("a"));
    set.add(ScriptedMetric::truth("c", 1));
    assert!(!set.is_empty());
    let names: Vec<_> = set.all().map(|metric| metric.name().to_owned()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert_eq!((set.proxy().len(), set.truth().len()), (1, 2));
}

#[test]
fn every_metric_needs_a_range_that_can_be_normalized() {
    let number = |name: &str| metric_fn(name, |_, _| 1.0);
    let truth = MetricTier::Truth;
    let no_range = |metric: &str| {
        format!(
            "`{metric}` declares no range, which is required to average it with other metrics; \
             declare one with `#[metric(range = 0.0..=1.0)]` or `.with_range(0.0, 1.0)`"
        )
    };
    assert_eq!(rejection(cheap().metric(number("x"))), no_range("x"));
    assert_eq!(
        rejection(cheap().metric(number("y").with_tier(truth))),
        no_range("y")
    );
    let with_bool = cheap().metric(metric_fn("z", |_, _| true)).build().unwrap();
    assert!(
        with_bool.metrics().all().any(|metric| metric.name() == "z"),
        "a bool has one"
    );
    for (min, max) in [
        (1.0, 1.0),
        (1.0, 0.0),
        (0.0, f64::INFINITY),
        (f64::MIN, f64::MAX),
    ] {
        let error = rejection(cheap().metric(number("x").with_range(min, max)));
        assert!(
            error.contains(
                "of `x` cannot be normalized to [0, 1]; declare a finite range whose maximum exceeds its minimum"
            ),
            "{error}"
        );
    }
}

#[test]
fn numbers_out_of_range_are_rejected() {
    for threshold in [-0.1, 1.1, f64::INFINITY] {
        assert_eq!(
            rejection(cheap().threshold(threshold)),
            format!("expected `threshold` between 0 and 1, found {threshold:?}")
        );
    }
    let error = rejection(cheap().threshold(f64::NAN));
    assert_eq!(error, "expected `threshold` between 0 and 1, found NaN");
    assert_eq!(
        rejection(cheap().num_rollouts(0)),
        "expected `num_rollouts` to be at least 1, found 0"
    );
    assert_eq!(
        rejection(cheap().budget_msats(0)),
        "expected `budget_msats` to be at least 1, found 0; omit it for no limit"
    );
    let half = rejection(cheap().aggregation(AggregationMethod::TrimmedMean(0.5)));
    assert_eq!(
        half,
        "expected 0, or a percentage from 1 to less than 50, to trim at each end, found 0.5; write `TrimmedMean(10.0)`"
    );
}

#[metric(tier = truth)]
fn same(#[gold] answer: &str, #[pred("answer")] other: &str) -> bool {
    answer == other
}

#[metric(tier = truth)]
async fn same_later(#[gold] answer: &str, #[pred("answer")] other: &str) -> bool {
    answer == other
}

#[test]
fn a_truth_metric_that_makes_no_call_needs_no_cost_under_a_budget() {
    let scorer = Scorer::builder()
        .metric(Same)
        .budget_msats(100)
        .build()
        .unwrap();
    assert_eq!(scorer.config().budget_msats, Some(100));
    let error = rejection(Scorer::builder().metric(SameLater).budget_msats(100));
    assert!(
        error.starts_with("the truth metric `same_later` declares no cost"),
        "{error}"
    );
}

#[test]
fn a_metric_without_a_cost_cannot_escape_the_budget() {
    let local = ScriptedMetric::truth("test_pass", 0);
    let scorer = || {
        cheap()
            .metric(local.clone())
            .metric(ScriptedMetric::truth("dear", 9))
    };
    assert_eq!(
        rejection(scorer().budget_msats(100)),
        "the truth metric `test_pass` declares no cost, so the budget cannot limit it; declare one with \
         `#[metric(cost = \"100 msat\")]`, or write `.free(\"test_pass\")` if it is free"
    );
    let free = scorer()
        .budget_msats(100)
        .free("test_pass")
        .build()
        .unwrap();
    assert_eq!(free.config().budget_msats, Some(100));
    let unlimited = scorer().build().unwrap();
    assert_eq!(
        unlimited.config().budget_msats,
        None,
        "without a budget no cost is required"
    );
    let error = rejection(scorer().budget_msats(100).free("test_pas"));
    assert_eq!(
        error,
        "`.free(\"test_pas\")` does not name a truth metric of this scorer"
    );
}

#[test]
fn the_defaults_are_those_of_the_config_and_it_round_trips() {
    let scorer = cheap().build().unwrap();
    assert_eq!(scorer.config(), &ScoringConfig::default());
    let config = ScoringConfig {
        threshold: 0.25,
        aggregation: AggregationMethod::TrimmedMean(10.0),
        ..ScoringConfig::default()
    };
    let json = serde_json::to_string(&config).unwrap();
    let read: ScoringConfig = serde_json::from_str(&json).unwrap();
    assert_eq!(read, config);
    let unknown = serde_json::from_str::<ScoringConfig>(r#"{ "rollouts": 3 }"#).unwrap_err();
    assert!(
        unknown.to_string().contains("unknown field `rollouts`"),
        "{unknown}"
    );
    let scorer = cheap().config(read).build().unwrap();
    assert_eq!(
        (scorer.config().threshold, scorer.config().num_rollouts),
        (0.25, 1)
    );
}
