//! What is wrong with a setup is said before anything runs.

use super::Told;
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    AggregationError, AggregationMethod, MetricSet, Scorer, ScorerBuilder, ScorerError,
    ScoringConfig,
};

fn refused(scorer: ScorerBuilder) -> ScorerError {
    scorer.build().unwrap_err()
}

fn cheap() -> ScorerBuilder {
    Scorer::builder().metric(Told::proxy("cheap"))
}

#[test]
fn a_scorer_needs_metrics_with_names_of_their_own() {
    assert_eq!(refused(Scorer::builder()), ScorerError::NoMetric);
    let twice = cheap().metric(Told::truth("cheap", 1));
    assert_eq!(refused(twice), ScorerError::DuplicateMetric { name: "cheap".to_owned() });
}

#[test]
fn a_metric_stands_in_its_own_tier() {
    let wrong = refused(cheap().truth(Told::proxy("b")));
    assert_eq!(wrong.to_string(), "`b` is a proxy metric and cannot stand among the truth metrics");
    let wrong = refused(cheap().proxy(Told::truth("b", 1)));
    assert_eq!(wrong.to_string(), "`b` is a truth metric and cannot stand among the proxy metrics");
    let mut set = MetricSet::new();
    set.add(Told::truth("b", 1));
    set.add_proxy(Told::proxy("a")).unwrap();
    assert_eq!(format!("{set:?}"), r#"MetricSet { proxy: ["a"], truth: ["b"] }"#);
    let tier = MetricTier::Truth;
    let metric = "c".to_owned();
    let error = set.add_proxy(Told::truth("c", 1)).unwrap_err();
    assert_eq!((error, set.len()), (ScorerError::WrongTier { metric, tier }, 2));
}

#[test]
fn every_metric_needs_a_range_that_can_be_brought_to_0_and_1() {
    let number = |name: &str| metric_fn(name, |_, _| 1.0);
    let truth = MetricTier::Truth;
    let no_range = |metric: &str| ScorerError::NoRange { metric: metric.to_owned() };
    assert_eq!(refused(cheap().metric(number("x"))), no_range("x"));
    assert_eq!(refused(cheap().metric(number("y").with_tier(truth))), no_range("y"));
    let with_bool = cheap().metric(metric_fn("z", |_, _| true)).build().unwrap();
    assert!(with_bool.metrics().all().any(|metric| metric.name() == "z"), "a bool has one");
    for (min, max) in [(1.0, 1.0), (1.0, 0.0), (0.0, f64::INFINITY), (f64::MIN, f64::MAX)] {
        let error = refused(cheap().metric(number("x").with_range(min, max)));
        assert!(matches!(error, ScorerError::UnusableRange { .. }), "{error}");
    }
}

#[test]
fn numbers_have_to_make_sense() {
    for threshold in [-0.1, 1.1, f64::INFINITY] {
        assert_eq!(refused(cheap().threshold(threshold)), ScorerError::Threshold { threshold });
    }
    let error = refused(cheap().threshold(f64::NAN));
    assert_eq!(error.to_string(), "a threshold of NaN lies outside [0, 1], where proxy scores lie");
    assert_eq!(refused(cheap().num_rollouts(0)), ScorerError::ZeroRollouts);
    assert_eq!(refused(cheap().budget_msats(0)), ScorerError::ZeroBudget);
    let half = refused(cheap().aggregation(AggregationMethod::TrimmedMean(0.5)));
    assert_eq!(half, ScorerError::Aggregation(AggregationError::Trim { fraction: 0.5 }));
}

#[test]
fn trap_23_a_metric_without_a_price_cannot_escape_the_budget() {
    let local = Told::truth("test_pass", 0);
    let scorer = || cheap().metric(local.clone()).metric(Told::truth("dear", 9));
    assert_eq!(
        refused(scorer().budget_msats(100)).to_string(),
        "the budget cannot hold `test_pass`, a truth metric that declares no cost: declare one \
         with `#[metric(cost = \"100 msat\")]`, or say `.free(\"test_pass\")` if it really has none"
    );
    let free = scorer().budget_msats(100).free("test_pass").build().unwrap();
    assert_eq!(free.config().budget_msats, Some(100));
    let unlimited = scorer().build().unwrap();
    assert_eq!(unlimited.config().budget_msats, None, "without one there is nothing to escape");
    let error = refused(scorer().budget_msats(100).free("test_pas"));
    assert_eq!(error, ScorerError::UnknownFree { name: "test_pas".to_owned() });
}

#[test]
fn the_defaults_are_those_of_the_config_and_it_round_trips() {
    let scorer = cheap().build().unwrap();
    assert_eq!(scorer.config(), &ScoringConfig::default());
    let config = ScoringConfig {
        threshold: 0.25,
        aggregation: AggregationMethod::TrimmedMean(0.1),
        ..ScoringConfig::default()
    };
    let json = serde_json::to_string(&config).unwrap();
    let read: ScoringConfig = serde_json::from_str(&json).unwrap();
    assert_eq!(read, config);
    let scorer = cheap().config(read).build().unwrap();
    assert_eq!((scorer.config().threshold, scorer.config().num_rollouts), (0.25, 1));
}
