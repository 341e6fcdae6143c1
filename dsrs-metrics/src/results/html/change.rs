//! How the scores of a metric differ between two runs.

use serde::Serialize;

use super::figures::counted;
use super::view::CountView;
use crate::core::spec::ScoreKind;
use crate::results::Results;
use crate::stats::{Interval, Moments};

/// The difference of B and A over the rows that count in the mean of both.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Change {
    text: String,
    class: &'static str,
    counts: Vec<CountView>,
}

impl Change {
    /// `None` unless there are two runs, and rows that both scored.
    pub(super) fn new(
        runs: &[&Results],
        metric: &str,
        kind: ScoreKind,
        lower_is_better: bool,
    ) -> Option<Self> {
        let [a, b] = runs else { return None };
        let mut differences = Vec::new();
        for row in a.rows() {
            let other = b.row(&row.id).and_then(|row| row.scores.get(metric));
            let value_a = row.scores.get(metric).and_then(|it| counted(it, a.failure_score()));
            let value_b = other.and_then(|it| counted(it, b.failure_score()));
            differences.extend(value_a.zip(value_b).map(|(a, b)| b - a));
        }
        let moments: Moments = differences.iter().copied().collect();
        let mean = moments.mean()?;
        let ci95 = moments.uncertainty().ci95();
        let (up, down) = (count(&differences, |it| it > 0.0), count(&differences, |it| it < 0.0));
        let (better, worse) = if lower_is_better { (down, up) } else { (up, down) };
        let same = count(&differences, |it| it == 0.0);
        Some(Self {
            text: text(kind, mean, ci95),
            class: class(ci95, lower_is_better),
            counts: vec![
                CountView::new(better, "better in B"),
                CountView::new(worse, "worse"),
                CountView::new(same, "same"),
            ],
        })
    }
}

fn count(differences: &[f64], accepts: impl Fn(f64) -> bool) -> u64 {
    differences.iter().filter(|it| accepts(**it)).count() as u64
}

/// `B − A: −2.10 points, 95% interval −3.80 to −0.40`
fn text(kind: ScoreKind, mean: f64, ci95: Option<Interval>) -> String {
    let (scale, decimals, unit) = match kind {
        ScoreKind::Bool => (100.0, 2, " points"),
        ScoreKind::Number => (1.0, 4, ""),
    };
    let number = |value: f64| {
        let sign = if value < 0.0 {
            "−"
        } else if value > 0.0 {
            "+"
        } else {
            ""
        };
        format!("{sign}{:.decimals$}", (scale * value).abs())
    };
    let difference = format!("B − A: {}{unit}", number(mean));
    match ci95 {
        Some(ci95) => {
            format!("{difference}, 95% interval {} to {}", number(ci95.low), number(ci95.high))
        }
        None => difference,
    }
}

/// The style: only if the interval excludes 0 one of the runs is better.
fn class(ci95: Option<Interval>, lower_is_better: bool) -> &'static str {
    match ci95 {
        Some(ci95) if ci95.low > 0.0 => ["better", "worse"][usize::from(lower_is_better)],
        Some(ci95) if ci95.high < 0.0 => ["worse", "better"][usize::from(lower_is_better)],
        _ => "",
    }
}
