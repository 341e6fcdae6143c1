//! Compares which of two runs is closer to labels, row by row.

use indexmap::IndexMap;

use super::builder::ComparisonBuilder;
use super::metric::{MetricComparison, Verdict};
use super::text::rows;
use crate::agreement::Closeness;
use crate::contract::{Outcome, ScoreKind};
use crate::results::figures::Unit;
use crate::results::file::Results;
use crate::results::{ResultOutcome, ResultRow, ResultScore, ResultsError};

impl ComparisonBuilder {
    /// Compares two runs by how close their scores are to the labels.
    ///
    /// For each metric, the `metrics` map says how close its scores are to the labels. The rows of the first run come
    /// first, followed by those of the second run.
    ///
    /// For verdict labels, the runs are compared by how often the metric is right. For numeric labels, they are
    /// compared by the distance from the label, where lower is better.
    ///
    /// # Errors
    /// Returns a [`ResultsError`] if the runs have different rows, or if no row can be compared with a label.
    #[doc(hidden)]
    pub fn closer(
        &self,
        [a, b]: [&Results; 2],
        metrics: &IndexMap<String, Closeness>,
    ) -> Result<Vec<MetricComparison>, ResultsError> {
        let sides = [
            of_side(a, a, metrics, 0)?,
            of_side(a, b, metrics, a.rows().len())?,
        ];
        let distances = metrics.iter().filter(|(_, it)| !it.is_right);
        let builder = self
            .clone()
            .metrics(metrics.keys())
            .allow_different([""; 0])
            .lower_is_better(distances.map(|(name, _)| name));
        Ok(builder.of(&sides[0], &sides[1])?.metrics)
    }
}

/// Returns a run's rows with their closeness as the score. `first` is the position of the run's first row in the
/// closeness values.
fn of_side(
    order: &Results,
    run: &Results,
    metrics: &IndexMap<String, Closeness>,
    first: usize,
) -> Result<Results, ResultsError> {
    let mut results = Results::new(run.name().to_owned());
    for (position, row) in order.rows().iter().enumerate() {
        let score = |(name, closeness): (&String, &Closeness)| {
            let value = (*closeness.rows.get(first + position)?)?;
            let score = ResultScore {
                outcome: ResultOutcome::Scored,
                value: Some(value),
                passed: closeness.is_right.then_some(value == 1.0),
                ..ResultScore::of(&Outcome::Abstained)
            };
            Some((name.clone(), score))
        };
        let scores = metrics.iter().filter_map(score).collect();
        results.add(ResultRow {
            scores,
            pred: None,
            ..row.clone()
        })?;
    }
    Ok(results)
}

impl MetricComparison {
    /// Returns a sentence that says which judge is closer to the labels.
    #[doc(hidden)]
    pub fn closer_sentence(&self, [of_a, of_b]: [&str; 2]) -> String {
        let (it, unit) = (&self.overall, Unit(self.kind));
        let (Some(a), Some(b), Some(difference)) = (it.a, it.b, it.difference) else {
            return "no row has a label and scores from both judges".to_owned();
        };
        let (sign, [(first, one), (second, other)]) = match self.verdict {
            Verdict::Worse => (-1.0, [(of_a, a), (of_b, b)]),
            _ => (1.0, [(of_b, b), (of_a, a)]),
        };
        let interval = unit.interval_after(it.ci95, sign);
        let p = self.p_adjusted;
        let p = p.map_or(String::new(), |p| format!(", {}", self.p_text(p)));
        let change = unit.change_with_unit(sign * difference);
        let means = match self.kind {
            ScoreKind::Bool => {
                let [one, other] = [one, other].map(|mean| mean * it.n as f64);
                format!(
                    "{one:.0} of {} right and {other:.0} of {}",
                    rows(it.n),
                    it.n
                )
            }
            _ => {
                let [one, other] = [one, other].map(|mean| unit.figure(mean));
                format!(
                    "mean absolute difference of {one} and {other} from the label over {}",
                    rows(it.n)
                )
            }
        };
        let figures = format!("{means}, difference {change}{interval}{p}");
        match self.verdict {
            Verdict::Better | Verdict::Worse => {
                format!("judge {first} is closer to the labels than {second}: {figures}")
            }
            Verdict::NotEnoughRows { needed } => format!(
                "not enough rows to compare judge {first} with {second}: {figures}; a test at 5% needs at least {needed} rows"
            ),
            Verdict::Unchanged | Verdict::NoDifference | Verdict::NotTested => {
                format!("no significant difference between judge {first} and {second}: {figures}")
            }
        }
    }
}
