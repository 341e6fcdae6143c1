//! Sums over rows, each with its denominator.
//!
//! Rows are summarized by their mean: the median of passes and fails would hide the pass rate.

use std::fmt;

use serde::Serialize;

use super::row::{RowScore, RowStatus};
use crate::contract::score::OFFLINE_JUDGE;
use crate::evaluate::Spending;
use crate::stats::decimals;
use crate::stats::{Moments, Uncertainty};

/// A summary of all rows in a run.
///
/// Each row counts towards exactly one of `scored`, `gated`, `skipped` and `failed`.
///
/// | number | sum | divided by |
/// | --- | --- | --- |
/// | `mean_scored` | scores of scored rows | `scored` |
/// | `mean` | the same, and 0 for each gated or failed row | `scored + gated + failed` |
///
/// [`mean`](Self::mean) and [`mean_scored`](Self::mean_scored) exclude skipped rows, but the headline counts them.
///
/// Sums are exact, so the result does not depend on the order in which rows finish.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ScoringSummary {
    /// The number of rows.
    pub rows: u64,
    /// The number of rows with at least one rollout that passed the gate.
    ///
    /// If there is no gate, all rollouts pass.
    pub passed: u64,
    /// The number of rows with a score.
    pub scored: u64,
    /// The number of rows that the proxies rejected.
    pub gated: u64,
    /// The number of rows that the budget did not cover.
    pub skipped: u64,
    /// The number of rows that failed.
    ///
    /// A failed row has no score because the program or a metric failed, or because a metric abstained.
    pub failed: u64,
    /// The number of rows with fewer rollouts than the configuration requires.
    pub short: u64,
    /// The number of rows scored by only some of a panel's judges.
    ///
    /// For each of these rows, at least one judge on the panel returned no verdict.
    pub judged_in_part: u64,
    /// The number of scored rows that a judge scored offline, without a language model.
    pub judged_offline: u64,
    /// The number of rollouts.
    pub rollouts: u64,
    /// The number of rollouts that the proxies rejected.
    pub rollouts_gated: u64,
    /// The number of rollouts that failed.
    ///
    /// A failed rollout has no score because the program or a metric failed, or because a metric abstained.
    pub rollouts_failed: u64,
    /// The mean score, in [0, 1].
    ///
    /// Gated and failed rows count as 0. This field is `None` if no row was scored or gated.
    pub mean: Option<f64>,
    /// The standard error and 95% interval of the [`mean`](Self::mean).
    ///
    /// The interval is a Student's t interval within [0, 1].
    #[serde(flatten)]
    pub uncertainty: Uncertainty,
    /// The mean score of the scored rows, in [0, 1].
    pub mean_scored: Option<f64>,
    /// The scorer's budget in millisatoshis.
    ///
    /// All clones of the scorer and all its runs share this budget.
    pub budget: Option<u64>,
    /// The number and cost of the calls made for the rows.
    #[serde(flatten)]
    pub spending: Spending,
}

/// Writes one line: the mean with its denominators, then calls and cost.
impl fmt::Display for ScoringSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.mean, self.uncertainty.ci95()) {
            (None, _) => f.write_str("not enough rows (scored ")?,
            (Some(mean), Some(ci95)) => write!(f, "{} {ci95:.4} (mean of ", decimals(mean, 4))?,
            (Some(mean), None) => {
                let reason = self.uncertainty.reason().unwrap_or_default();
                write!(f, "{} [{reason}] (mean of ", decimals(mean, 4))?;
            }
        }
        write!(f, "{}/{}, {} failed", self.scored, self.rows, self.failed)?;
        let as_zero = self.mean.map_or("", |_| " counted as 0");
        if self.failed > 0 {
            f.write_str(as_zero)?;
        }
        let unscored = [
            (self.gated, "gated", as_zero),
            (self.skipped, "skipped because of the budget", ""),
            (self.judged_in_part, "judged by part of the panel", ""),
        ];
        for (count, what, as_zero) in unscored.into_iter().filter(|(count, ..)| *count > 0) {
            write!(f, ", {count} {what}{as_zero}")?;
        }
        match self.mean_scored {
            same if same == self.mean => {}
            Some(mean) => write!(f, "; {} over the {} scored", decimals(mean, 4), self.scored)?,
            None => f.write_str("; none has a score")?,
        }
        if self.judged_offline > 0 {
            write!(f, "; judge: {OFFLINE_JUDGE}")?;
        }
        f.write_str(")")?;
        // Only if any row has or should have several rollouts.
        if self.rollouts != self.rows || self.short > 0 {
            let (failed, gated) = (self.rollouts_failed, self.rollouts_gated);
            let rollouts = self.rollouts;
            write!(f, "; {rollouts} rollouts, {failed} failed, {gated} gated")?;
        }
        if self.short > 0 {
            let (short, rows) = (self.short, self.rows);
            write!(f, ", fewer than configured in {short}/{rows} rows")?;
        }
        self.fmt_spending(f)
    }
}

impl ScoringSummary {
    /// Summarizes the rows of a run by a scorer with this budget.
    pub(super) fn of(rows: &[RowScore], budget: Option<u64>) -> Self {
        let mut summary = Self {
            rows: rows.len() as u64,
            budget,
            ..Self::default()
        };
        let mut scores = Moments::default();
        for row in rows {
            summary.short += u64::from(row.is_short());
            summary.rollouts += row.rollouts.len() as u64;
            summary.rollouts_gated += row.gated() as u64;
            summary.rollouts_failed += row.failed() as u64;
            summary.passed += u64::from(row.rollouts.iter().any(|rollout| rollout.passed));
            summary.spending.add(&row.spending);
            match row.status {
                RowStatus::Scored { score } => {
                    summary.scored += 1;
                    summary.judged_in_part += u64::from(row.is_judged_in_part());
                    summary.judged_offline += u64::from(row.is_judged_offline());
                    scores.record(score);
                }
                RowStatus::Gated { .. } => summary.gated += 1,
                RowStatus::Skipped { .. } => summary.skipped += 1,
                RowStatus::Failed { .. } => summary.failed += 1,
            }
        }
        summary.mean_scored = scores.mean();
        scores.record_times(0.0, summary.gated + summary.failed);
        if summary.scored + summary.gated > 0 {
            summary.mean = scores.mean();
            summary.uncertainty = scores.uncertainty_within(0.0, 1.0);
        }
        summary
    }

    fn fmt_spending(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let it = self.spending;
        write!(f, "; {} truth calls made", it.truth_calls)?;
        if it.truth_calls_gated > 0 {
            let (gated, saved) = (it.truth_calls_gated, it.saved_msats);
            write!(f, ", {gated} avoided by the gate, saving {saved} msat")?;
        }
        write!(f, "; spent {} msat", it.spent_msats)?;
        if let Some(budget) = self.budget {
            let (reserved, returned) = (it.reserved_msats, it.returned_msats);
            write!(
                f,
                " of {budget}, {reserved} reserved and {returned} returned"
            )?;
        }
        if it.overrun_msats > 0 {
            write!(
                f,
                ", {} msat more than the metrics declared",
                it.overrun_msats
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scoring::row::Rollout;

    /// A row with a rollout for each status. `expected` is the configured number of rollouts.
    fn row(status: &RowStatus, rollouts: &[RowStatus], expected: usize) -> RowScore {
        let rollout = |status: &RowStatus| Rollout {
            status: status.clone(),
            passed: status.score().is_some(),
            proxy: None,
            outcomes: Vec::new(),
        };
        let rollouts = rollouts.iter().map(rollout).collect();
        RowScore {
            status: status.clone(),
            rollouts,
            expected,
            spending: Spending::default(),
        }
    }

    #[test]
    fn rollouts_are_counted_by_their_status_and_shown_if_a_row_has_or_should_have_several() {
        let scored = RowStatus::Scored { score: 0.5 };
        let gated = RowStatus::Gated {
            proxy: 0.25,
            by: "proxies".to_owned(),
        };
        let shown = |rows: &[RowScore]| ScoringSummary::of(rows, None).to_string();
        let one = row(&scored, std::slice::from_ref(&scored), 1);
        let head = "0.5000 [0.0046, 0.9954] (mean of 2/2, 0 failed)";
        let tail = "; 0 truth calls made; spent 0 msat";
        assert_eq!(shown(&[one.clone(), one.clone()]), format!("{head}{tail}"));
        let several = row(&scored, &[scored.clone(), gated.clone(), gated], 3);
        let rollouts = "; 4 rollouts, 0 failed, 2 gated";
        assert_eq!(
            shown(&[one.clone(), several.clone()]),
            format!("{head}{rollouts}{tail}")
        );
        // Two rows have two rollouts, but the first has none.
        let short = row(&scored, &[], 1);
        let two = row(&scored, &[scored.clone(), scored.clone()], 2);
        let rollouts = "; 2 rollouts, 0 failed, 0 gated, fewer than configured in 1/2 rows";
        assert_eq!(shown(&[short, two]), format!("{head}{rollouts}{tail}"));
    }
}
