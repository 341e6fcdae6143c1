//! Chooses the rows whose labels would tell the most about the pass rate of all rows.

use twox_hash::XxHash3_128;

use super::builder::AgreementBuilder;
use super::compare::Pairs;
use super::rating::{AgreementError, Label, Rating};
use crate::stats::Stratum;

impl AgreementBuilder {
    /// Chooses which rows to label next. Returns the positions of up to `count` rows with a verdict but no label,
    /// picking those whose labels would narrow the interval of [`corrected`](super::Agreement::corrected) most. `id`
    /// returns a row's id, given its position.
    ///
    /// Picks each row from the verdict for which one more label would lower the variance of the estimate most. The
    /// variance is the sum of `W² p (1 - p) / n` over both verdicts (Neyman 1934). `W` is the share of all rows with
    /// the verdict, and `n` is the number of labels for it. `p` is the share of those labels that pass, after adding
    /// one pass and one failure. Among rows with the same verdict, the choice is random, based on a hash of their ids
    /// and the [`seed`](Self::seed).
    ///
    /// ```
    /// use dsrs_metrics::agreement::{Agreement, Label, Rating};
    ///
    /// // The judge passed 800 of 1,000 rows. It is nearly always right about them, and half the time about the others.
    /// let row = |n: u32| {
    ///     let (passed, is_labelled) = (n % 5 != 0, n < 100);
    ///     let label = if passed { n % 50 != 1 } else { n % 2 == 0 };
    ///     (Rating::from(passed), Label::from(is_labelled.then_some(label)))
    /// };
    /// let rows: Vec<_> = (0..1_000).map(row).collect();
    /// let next = Agreement::builder().next_labels(&rows, |row| row.to_string(), 40)?;
    /// let of_passed = next.iter().filter(|row| **row % 5 != 0);
    /// assert_eq!((next.len(), of_passed.count()), (40, 4));
    /// # Ok::<(), dsrs_metrics::agreement::AgreementError>(())
    /// ```
    ///
    /// # Errors
    /// Returns an [`AgreementError`] if a number is not finite, or if labels or ratings are not verdicts.
    pub fn next_labels(
        &self,
        rows: &[(Rating, Label)],
        id: impl Fn(usize) -> String,
        count: usize,
    ) -> Result<Vec<usize>, AgreementError> {
        let pairs = Pairs::of(rows, self)?;
        let passing = pairs.passing.as_ref().ok_or_else(|| AgreementError {
            row: None,
            message: "expected labels that are verdicts, such as `true` and `false`; name those that pass with --positive (in code, `positive`)".to_owned(),
        })?;
        let mut strata = [Stratum::default(); 2];
        let mut unlabelled = [Vec::new(), Vec::new()];
        for (row, (rating, label)) in rows.iter().enumerate() {
            let Some(passed) = pairs.verdict(rating) else {
                continue;
            };
            let (verdict, label) = (usize::from(passed), passing.label(label));
            strata[verdict].record(label);
            if label.is_none() {
                let key = XxHash3_128::oneshot_with_seed(self.seed, id(row).as_bytes());
                unlabelled[verdict].push((key, row));
            }
        }
        let order = unlabelled.map(|mut keys| {
            keys.sort_unstable();
            keys.into_iter().map(|(_, row)| row)
        });
        Ok(allocated(strata, order, count))
    }
}

/// Takes rows of both verdicts, each time of the one with the larger gain.
fn allocated(
    strata: [Stratum; 2],
    mut order: [impl ExactSizeIterator<Item = usize>; 2],
    count: usize,
) -> Vec<usize> {
    let mut labels = strata.map(|stratum| stratum.labelled.trials as f64);
    let gain = |verdict: usize, labels: f64| {
        let Stratum { rows, labelled } = strata[verdict];
        let share = (labelled.successes as f64 + 1.0) / (labelled.trials as f64 + 2.0);
        (rows as f64).powi(2) * share * (1.0 - share) / (labels * (labels + 1.0))
    };
    let mut next = Vec::new();
    while next.len() < count {
        let gains = [0, 1].map(|verdict| match order[verdict].len() {
            0 => -1.0,
            _ => gain(verdict, labels[verdict]),
        });
        let verdict = usize::from(gains[1] > gains[0]);
        let Some(row) = order[verdict].next() else {
            break;
        };
        labels[verdict] += 1.0;
        next.push(row);
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Proportion;

    #[test]
    fn no_other_allocation_has_a_smaller_variance() {
        let stratum = |rows, successes, trials| Stratum {
            rows,
            labelled: Proportion { successes, trials },
        };
        let cases = [
            [stratum(300, 3, 10), stratum(700, 28, 30)],
            [stratum(50, 1, 4), stratum(900, 6, 12)],
        ];
        for strata in cases {
            let variance = |failed: usize| {
                let terms = [failed, 20 - failed].into_iter().zip(strata);
                let term = |(more, stratum): (usize, Stratum)| {
                    let Proportion { successes, trials } = stratum.labelled;
                    let share = (successes as f64 + 1.0) / (trials as f64 + 2.0);
                    (stratum.rows as f64).powi(2) * share * (1.0 - share)
                        / (trials as f64 + more as f64)
                };
                terms.map(term).sum::<f64>()
            };
            let next = allocated(strata, [0..40, 100..700], 20);
            let failed = next.iter().filter(|row| **row < 100).count();
            let best = (0..=20).min_by(|a, b| variance(*a).total_cmp(&variance(*b)));
            assert_eq!((next.len(), Some(failed)), (20, best));
        }
    }

    #[test]
    fn a_verdict_without_labels_comes_first_and_no_row_twice() {
        let strata = [
            Stratum {
                rows: 5,
                ..Stratum::default()
            },
            Stratum {
                rows: 3,
                ..Stratum::default()
            },
        ];
        let next = allocated(strata, [0..5, 5..8], 100);
        assert_eq!(next[..2], [0, 5]);
        assert_eq!(next.len(), 8);
    }
}
