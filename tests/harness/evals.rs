//! The verdicts of the gates of `#[eval]`, compared with intervals and tests of Python, and their
//! error rates.

use dsrs_metrics::Evaluate;
use dsrs_metrics::evals::{Condition, verdicts};
use dsrs_metrics::prelude::*;
use dsrs_metrics::results::{Comparison, Results};
use dsrs_metrics::rows::Pair;
use dsrs_metrics::runs::EvaluationResult;
use dsrs_metrics::stats::detectable_difference;
use dsrs_metrics_tests::Peer;
use serde::Deserialize;

const MARGIN: f64 = 0.05;

/// Pairs of runs, with the interval of their difference, the p-value of non-inferiority and the smallest difference that a
/// paired test detects with a power of 80%.
const PEER: &str = "
import json, sys
import numpy as np
from scipy.linalg import fractional_matrix_power
from scipy.stats import norm, t
from statsmodels.stats.weightstats import DescrStatsW
margin = float(sys.argv[1])

def cr2(d, groups):
    # Bell and McCaffrey (2002) for a regression on a constant, with whole matrices.
    n = len(d)
    members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    residual = np.eye(n) - np.ones((n, n)) / n
    adjusted = [fractional_matrix_power(residual[np.ix_(it, it)], -0.5).real.sum(0) for it in members]
    stderr = np.sqrt(sum((a @ (d - d.mean())[it]) ** 2 for a, it in zip(adjusted, members))) / n
    p = np.array([residual[:, it] @ a for a, it in zip(adjusted, members)])
    inverse = []
    for same in (np.eye(n), (groups[:, None] == groups[None, :]) * 1.0):
        b = p @ same @ p.T
        inverse.append((b ** 2).sum() / np.trace(b) ** 2)
    return stderr, 2 / sum(inverse)

random = np.random.default_rng(20261126)
cases = []
for case in range(120):
    n = int(random.integers(20, 200))
    groups = [int(it) for it in random.integers(0, 12, n)] if case % 3 == 0 else None
    old = np.round(random.random(n), 3)
    new = np.round(np.clip(old + random.normal(random.choice([0, -0.02, -0.1, 0.05]), 0.12, n), 0, 1), 3)
    d = new - old
    if groups is None:
        described = DescrStatsW(d)
        low, high = described.tconfint_mean(0.05)
        stderr = described.std_mean
        p_inferior = described.ttest_mean(-margin, alternative='larger')[1]
    else:
        stderr, degrees = cr2(d, np.array(groups))
        half = t.ppf(0.975, degrees) * stderr
        low, high = d.mean() - half, d.mean() + half
        p_inferior = t.sf((d.mean() + margin) / stderr, degrees)
    shown = (norm.ppf(0.975) + norm.ppf(0.8)) * stderr
    cases.append({'old': old.tolist(), 'new': new.tolist(), 'groups': groups, 'low': low, 'high': high,
                  'p_inferior': float(np.squeeze(p_inferior)), 'shown': shown})
print(json.dumps(cases))
";

#[derive(Deserialize)]
struct Case {
    old: Vec<f64>,
    new: Vec<f64>,
    groups: Option<Vec<u32>>,
    low: f64,
    high: f64,
    p_inferior: f64,
    shown: f64,
}

fn run(scores: &[f64], groups: Option<&[u32]>) -> EvaluationResult {
    let score = |_: &Example, pred: &Prediction| pred.get("score").unwrap().as_f64().unwrap();
    let row = |(row, score): (usize, &f64)| {
        let group = groups.map_or(row as u32, |groups| groups[row]);
        let gold = example! { "topic" => group };
        Pair::new(row.to_string(), gold, prediction! { "score" => *score })
    };
    let evaluate = Evaluate::builder()
        .metric(metric_fn("score", score))
        .build()
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let rows: Vec<Pair> = scores.iter().enumerate().map(row).collect();
    runtime.block_on(evaluate.score(rows)).unwrap()
}

#[test]
fn gates_decide_by_the_intervals_of_scipy() {
    let Some(peer) = Peer::with(&["scipy", "statsmodels"]) else {
        return;
    };
    let cases = peer.output(&["-c", PEER, &MARGIN.to_string()]);
    let cases: Vec<Case> =
        serde_json::from_str(&cases.unwrap_or_else(|error| panic!("{error}"))).unwrap();
    let mut counts = std::collections::BTreeMap::new();
    for case in &cases {
        let groups = case.groups.as_deref();
        let (old, new) = (run(&case.old, groups), run(&case.new, groups));
        let mut builder = Comparison::builder();
        if groups.is_some() {
            builder = builder.group("gold.topic");
        }
        let comparison = builder
            .of(&Results::of(&old).unwrap(), &Results::of(&new).unwrap())
            .unwrap();
        let metric = &comparison.metrics[0];
        let interval = metric.overall.ci95.unwrap();
        assert!(
            (interval.low - case.low).abs() < 1e-9,
            "{} is not {}",
            interval.low,
            case.low
        );
        assert!(
            (interval.high - case.high).abs() < 1e-9,
            "{} is not {}",
            interval.high,
            case.high
        );
        let shown = detectable_difference(metric.overall.stderr.unwrap());
        assert!(
            (shown - case.shown).abs() < 1e-9,
            "{shown} is not {}",
            case.shown
        );

        let gate = [(
            "score.no_worse(by = 0.05)",
            Condition::NoWorse("score", MARGIN),
        )];
        let found = verdicts(&gate, &old, &new, groups.map(|_| "topic"))
            .unwrap()
            .remove(0)
            .0;
        // A one-sided test at half the level of the interval is the same decision.
        let expected = match case.p_inferior < 0.025 {
            true => "passed",
            false if case.high < -MARGIN => "failed",
            false => "undecided",
        };
        assert_eq!(
            found, expected,
            "{} {} {}",
            case.low, case.high, case.p_inferior
        );
        *counts.entry(found).or_insert(0) += 1;
    }

    // Each verdict occurs.
    assert!(
        counts.len() == 3 && counts.values().all(|count| *count >= 5),
        "{counts:?}"
    );
}
