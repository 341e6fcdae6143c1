//! [`ComparisonBuilder`]: the settings of a comparison, and its steps.
//!
//! The file is long because each setting of a comparison is documented with an example.

use std::collections::HashMap;
use std::path::Path;

use indexmap::IndexSet;

use super::Comparison;
use super::difference::Testing;
use super::identity::IdentityComparison;
use super::metric::{MetricComparison, adjust};
use super::pairs::{Compared, ComparedRows, Pairs, RunTotals};
use crate::contract::{Direction, ScoreKind};
use crate::data::NamedFile;
use crate::evaluate::hash_order;
use crate::evaluate::manifest::FORMAT;
use crate::evaluate::report::ResultRow;
use crate::in_order::in_order;
use crate::messages::{escape, suggest};
use crate::results::error::{ResultsError, ResultsErrorKind};
use crate::results::figures::Bounds;
use crate::results::file::Results;
use crate::results::run::{CORPUS, is_lower_better};
use crate::results::run_scores::{RunScores, Selected};

/// The default number of random assignments in the permutation test.
const DRAWS: u32 = 100_000;

/// A builder for a [`Comparison`].
///
/// This builder is created by [`Comparison::builder`].
#[derive(Debug, Clone, Default)]
pub struct ComparisonBuilder {
    metrics: IndexSet<String>,
    pub(in crate::results) lower_is_better: IndexSet<String>,
    pub(in crate::results) allow_different: IndexSet<String>,
    pub(in crate::results) strict_identity: bool,
    pub(in crate::results) group: Option<String>,
    only_paired: bool,
    pub(in crate::results) require_identity: bool,
    draws: Option<u32>,
    mid_p: bool,
    sequential: bool,
    seed: u64,
    listed_rows: Option<usize>,
    places: Option<[&'static str; 2]>,
    is_partial: bool,
}

impl ComparisonBuilder {
    /// Makes the comparison partial: it covers only metrics that both runs have and that can be compared, over the rows
    /// in both runs.
    #[cfg(feature = "html")]
    pub(in crate::results) fn partial(self) -> Self {
        Self {
            is_partial: true,
            ..self.only_paired(true).listed_rows(0)
        }
    }

    /// Sets how to refer to the runs where metrics differ, such as `in the baseline` and `now`.
    pub(crate) fn places(self, places: [&'static str; 2]) -> Self {
        Self {
            places: Some(places),
            ..self
        }
    }

    setters! {
        /// Sets the metrics to compare.
        ///
        /// `NAME.PART` is a named score or component of a metric. `NAME.corpus` is the metric's corpus score, such as
        /// corpus BLEU.
        ///
        /// By default, all metrics and their corpus scores are compared. Both runs must then have the same metrics.
        pub fn metrics(names: impl IntoIterator<Item = impl Into<String>>)
            => metrics = names.into_iter().map(Into::into).collect();

        /// Sets the metrics for which lower scores are better, such as error rates.
        ///
        /// Each metric must be among the compared metrics.
        ///
        /// You need this setting only for runs without a manifest.
        pub fn lower_is_better(names: impl IntoIterator<Item = impl Into<String>>)
            => lower_is_better = names.into_iter().map(Into::into).collect();

        /// Sets the metrics to compare even if their definitions differ between the runs.
        ///
        /// For example, the metrics may use different judges or thresholds. By default, metrics that differ are not
        /// compared. See [`IdentityComparison`](crate::results::IdentityComparison).
        pub fn allow_different(names: impl IntoIterator<Item = impl Into<String>>)
            => allow_different = names.into_iter().map(Into::into).collect();

        /// Sets whether a metric whose code changed counts as a different metric.
        ///
        /// This setting applies to metrics that have the same version in both runs.
        ///
        /// If `true`, metrics whose code changed are not compared. By default, they are compared, and a
        /// [note](crate::results::IdentityComparison::notes) says that the code changed.
        pub fn strict_identity(strict_identity: bool) => strict_identity = strict_identity;

        /// Sets the field to group rows by.
        ///
        /// The field is an attribute or `gold.FIELD`. The interval and the test then account for the similarity of rows
        /// within a group.
        ///
        /// Each group is also compared on its own.
        ///
        /// A row whose field is missing or `null` forms its own group.
        pub fn group(field: impl Into<String>) => group = Some(field.into());

        /// Sets whether to ignore rows that only one run has.
        ///
        /// By default, a row that only one run has is an error.
        pub fn only_paired(only_paired: bool) => only_paired = only_paired;

        /// Sets whether every run must have a manifest.
        ///
        /// If `true`, a run without a manifest is an error, because there is no record of what it measured.
        ///
        /// An edited result file or manifest is always an error.
        ///
        /// ```
        /// use dsrs_metrics::results::Comparison;
        ///
        /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// # let file = std::env::temp_dir().join(format!("dsrs-doc-identity-{}.jsonl", std::process::id()));
        /// std::fs::write(&file, r#"{"id": "q1", "scores": {"em": {"outcome": "scored", "value": 1}}}"#)?;
        /// let builder = Comparison::builder().require_identity(true);
        /// let run = builder.read(&file)?;
        /// let error = builder.of_scores(&run, &run).unwrap_err();
        /// assert!(error.to_string().contains("it has no manifest"));
        /// # std::fs::remove_file(file)?;
        /// # Ok(())
        /// # }
        /// ```
        pub fn require_identity(require_identity: bool) => require_identity = require_identity;

        /// Sets the number of random assignments in the permutation test.
        ///
        /// The default is 100,000, but at most 10,000 are used for a corpus score.
        ///
        /// If there are few rows, all possible assignments are evaluated instead.
        ///
        /// If more than 50,000 rows differ by similar amounts, a normal approximation is used instead. See
        /// [`permutation_limit`](crate::stats::permutation_limit).
        pub fn draws(draws: u32) => draws = Some(draws);

        /// Sets whether to use the mid-p value of McNemar's test for pass/fail metrics.
        ///
        /// By default, the exact p-value is used. The mid-p value detects more differences, but its error rate can be
        /// slightly above the significance level. See [`mcnemar_mid_p`](crate::stats::mcnemar_mid_p).
        pub fn mid_p(mid_p: bool) => mid_p = mid_p;

        /// Sets whether the results stay valid if you compare the runs repeatedly.
        ///
        /// You can then compare runs while rows are still being evaluated. By default, the test and the interval are
        /// valid for a single comparison.
        ///
        /// A sequential test needs more rows to detect a difference. See [`BettingTest`](crate::stats::BettingTest).
        ///
        /// The row order depends only on the row ids and the [`seed`](Self::seed).
        ///
        /// ```
        /// use dsrs_metrics::prelude::*;
        /// use dsrs_metrics::Evaluate;
        /// use dsrs_metrics::results::{Comparison, DifferenceTest, Results};
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// let correct = metric_fn("correct", |gold, pred| gold.get("n") == pred.get("n"));
        /// let devset = (0..200).map(|n| example! { "n" => n });
        /// let evaluate = Evaluate::builder().devset(devset).inputs(["n"]).metric(correct).build()?;
        /// let run = |right: u64| {
        ///     evaluate.run(move |row: Example| async move {
        ///         let n = row.get("n").unwrap().as_u64().unwrap();
        ///         prediction! { "n" => if n % 10 < right { n } else { 0 } }
        ///     })
        /// };
        /// let (old, new) = (Results::of(&run(6).await?)?, Results::of(&run(9).await?)?);
        /// let compared = Comparison::builder().sequential(true).of(&old, &new)?;
        /// let correct = &compared.metrics[0].overall;
        /// assert_eq!(correct.test, DifferenceTest::Betting);
        /// assert!(correct.p_value.unwrap() < 0.001);
        /// # Ok(())
        /// # }
        /// ```
        pub fn sequential(sequential: bool) => sequential = sequential;

        /// Sets the seed for the permutation test and for the sequential row order.
        ///
        /// The default is 0.
        pub fn seed(seed: u64) => seed = seed;

        /// Sets the maximum number of row ids to list per metric.
        ///
        /// The limit applies separately to better and to worse rows.
        ///
        /// By default, all ids are listed. Each id takes about 60 bytes.
        pub fn listed_rows(limit: usize) => listed_rows = Some(limit);
    }

    /// Compares the second run, `b`, with the first run, `a`.
    ///
    /// A row is compared for a metric if each run either scored it or failed on it. Rows that are gated, skipped or
    /// abstained in either run are counted but not compared.
    ///
    /// A failed row counts as the failure score, as in the run's headline, so failures never raise a mean.
    ///
    /// Corpus scores have no failure score, so they exclude rows that failed in either run.
    ///
    /// # Errors
    /// Returns a [`ResultsError`] if the runs have different rows, data, metrics or groups, or if a failed row would
    /// count as better than a scored row.
    pub fn of(&self, a: &Results, b: &Results) -> Result<Comparison, ResultsError> {
        self.of_scores(&self.scores(a), &self.scores(b))
    }

    /// Reads the scores for this comparison from a result file.
    ///
    /// Only ids, outcomes and values are kept in memory. A row takes about 100 bytes, plus 24 bytes for each metric.
    ///
    /// ```
    /// use dsrs_metrics::results::{Comparison, Verdict};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = std::env::temp_dir().join(format!("dsrs-metrics-read-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # let [old, new] = ["old.jsonl", "new.jsonl"].map(|name| folder.join(name));
    /// let file = |score: u32| -> String {
    ///     let row = |id| format!(
    ///         "{{\"id\": {id}, \"scores\": {{\"em\": {{\"outcome\": \"scored\", \"value\": {score}}}}}}}\n"
    ///     );
    ///     (0..40).map(row).collect()
    /// };
    /// std::fs::write(&old, file(0))?;
    /// std::fs::write(&new, file(1))?;
    ///
    /// let builder = Comparison::builder().metrics(["em"]);
    /// let comparison = builder.of_scores(&builder.read(&old)?, &builder.read(&new)?)?;
    /// assert_eq!(comparison.metrics[0].verdict, Verdict::Better);
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the same errors as [`Results::read`].
    pub fn read(&self, file: impl AsRef<Path>) -> Result<RunScores, ResultsError> {
        self.read_named(NamedFile::from(file.as_ref()))
    }

    /// Reads the scores for this comparison from a file with a display name.
    ///
    /// This is like [`read`](Self::read), but messages show the file's `name` instead of its path.
    ///
    /// # Errors
    /// Returns the same errors as [`read`](Self::read).
    #[doc(hidden)]
    pub fn read_named(&self, file: NamedFile<'_>) -> Result<RunScores, ResultsError> {
        let without_texts = |row: &mut ResultRow| {
            row.drop_texts();
            if self.group.is_none() {
                (row.gold, row.pred) = (None, None);
            }
        };
        let group = self.group.as_deref();
        RunScores::read(file, &self.metrics, group, without_texts, |_, _| ())
    }

    /// Returns the ids, outcomes and values that this comparison needs.
    pub(super) fn scores(&self, results: &Results) -> RunScores {
        RunScores::of(results, &self.metrics, self.group.as_deref())
    }

    /// Compares the scores of the second run, `b`, with those of the first run, `a`.
    ///
    /// This is like [`of`](Self::of), but takes the scores returned by this builder's [`read`](Self::read).
    ///
    /// # Errors
    /// Returns the same errors as [`of`](Self::of).
    pub fn of_scores(&self, a: &RunScores, b: &RunScores) -> Result<Comparison, ResultsError> {
        if self.require_identity {
            a.run.require_identity()?;
            b.run.require_identity()?;
        }
        if a.run.failure_score != b.run.failure_score {
            let (a, b) = (a.run.failure_score, b.run.failure_score);
            return Err(ResultsError::rows(format!(
                "failed rows count as {a} in one run and as {b} in the other; set the same failure score"
            )));
        }
        let mut names = self.selected(a, b)?;
        if !self.is_partial {
            let names = names.iter().map(String::as_str).collect();
            self.check_directions(&names, "it is not compared")?;
        }
        let known = a.metrics().chain(b.metrics()).collect();
        let why = "is allowed to differ, but no run has this metric";
        check_known("allow_different", &self.allow_different, &known, why)?;
        let (allowed, is_strict) = (&self.allow_different, self.strict_identity);
        let places = self.places.unwrap_or(["in A", "in B"]);
        let identity = IdentityComparison::of(&a.run, &b.run, &names, allowed, is_strict, places);
        names.retain(|name| identity.is_compared(name));
        if names.is_empty() && !self.is_partial {
            let names = identity.not_compared().map(|(name, _)| escape::name(name));
            let (sentences, names) = (
                identity.sentences().join("; "),
                Vec::from_iter(names).join(","),
            );
            return Err(ResultsError::new(
                ResultsErrorKind::Identity,
                format!(
                    "{sentences}; no metric is left to compare: score both runs with the same metrics, or pass --allow-different {names} (in code, `allow_different`)"
                ),
            ));
        }
        if self.sequential && self.group.is_some() {
            let message = "its test needs independent rows, but the rows are grouped; remove `group` or `sequential`";
            return Err(ResultsError::setting("sequential", message.to_owned()));
        }
        let pairs = Pairs::of([a, b], self.only_paired, self.group.as_deref())?;
        let compare = |name: &String| self.metric(name, &pairs);
        let mut metrics = Vec::with_capacity(names.len());
        let mut reasons = HashMap::new();
        in_order(
            compare,
            |metric| {
                match metric.take() {
                    Some(Err(error))
                        if self.is_partial && error.kind() == ResultsErrorKind::Metric =>
                    {
                        let name = error.name().unwrap_or_default();
                        reasons.insert(name.to_owned(), error.to_string());
                    }
                    metric => metrics.extend(metric.transpose()?),
                }
                Ok::<_, ResultsError>(())
            },
            |pass| names.iter().try_for_each(pass),
        )?;
        adjust(&mut metrics);
        let [only_in_a, only_in_b] = pairs.alone.clone();
        Ok(Comparison {
            format: FORMAT,
            a: RunTotals::of(&pairs, 0),
            b: RunTotals::of(&pairs, 1),
            paired: pairs.rows.len() as u64,
            paired_by_position: pairs.by_position,
            without_group: pairs.groups.map_or(0, |groups| groups.rows_without),
            only_in_a,
            only_in_b,
            group: self.group.clone(),
            seed: self.seed,
            identity,
            metrics,
            reasons,
        })
    }

    /// Returns the metrics to compare, which both runs must have.
    fn selected(&self, a: &RunScores, b: &RunScores) -> Result<IndexSet<String>, ResultsError> {
        if self.is_partial {
            // A name with a dot would be a part of a metric.
            let is_in_both = |name: &&str| !name.contains('.') && b.metrics().any(|it| it == *name);
            return Ok(a.metrics().filter(is_in_both).map(str::to_owned).collect());
        }
        for metric in &self.metrics {
            let is_in = |of: &&RunScores| Selected::new(metric).is_in(of);
            if let Some(without) = [a, b].into_iter().find(|of| !is_in(of)) {
                let hint = suggest::known_names(metric, without.run.metrics());
                let (file, metric) = (without.run.name(), escape::name(metric));
                return Err(ResultsError::rows(format!(
                    "{file}: no row has a score for `{metric}`{hint}"
                )));
            }
        }
        if !self.metrics.is_empty() {
            return Ok(self.metrics.clone());
        }
        for (with, without) in [(a, b), (b, a)] {
            let is_missing = |name: &&str| !Selected::new(name).is_in(without);
            if let Some(metric) = with.run.metrics().find(is_missing) {
                let suggestion = suggest::did_you_mean(metric, without.run.metrics());
                let suggestion = suggestion.unwrap_or_default();
                let (file, other) = (without.run.name(), with.run.name());
                return Err(ResultsError::rows(format!(
                    "{file}: no row has a score for `{}`, which {other} has; to compare only some metrics, select them with -m{suggestion}",
                    escape::name(metric)
                )));
            }
        }
        let mut names = IndexSet::new();
        for metric in a.run.metrics() {
            let corpus = format!("{metric}.{CORPUS}");
            let has_corpus = !a.run.known(metric).is_counted
                && [a, b].iter().all(|it| it.run.known(metric).has_corpus)
                && Selected::new(&corpus).is_corpus(a, b);
            names.insert(metric.to_owned());
            names.extend(has_corpus.then_some(corpus));
        }
        Ok(names)
    }

    /// Checks that every metric declared lower-is-better is one of these. `why` says why other metrics cannot be.
    pub(in crate::results) fn check_directions(
        &self,
        names: &IndexSet<&str>,
        why: &str,
    ) -> Result<(), ResultsError> {
        let why = format!("cannot be lower-is-better, because {why}");
        check_known("lower_is_better", &self.lower_is_better, names, &why)
    }

    fn metric(&self, name: &str, pairs: &Pairs<'_>) -> Result<MetricComparison, ResultsError> {
        let [a, b] = pairs.runs;
        let selected = Selected::new(name);
        let metric = selected.metric;
        let is_corpus = selected.is_corpus(a, b);
        let is_declared = [name, metric]
            .iter()
            .any(|it| self.lower_is_better.contains(*it));
        let is_whole = name == metric || is_corpus;
        let direction = match is_declared || is_whole && is_lower_better(metric, &[&a.run, &b.run])
        {
            true => Direction::LowerIsBetter,
            false => Direction::HigherIsBetter,
        };
        let testing = Testing {
            pairs,
            kind: ScoreKind::Corpus,
            is_pass_or_fail: false,
            is_mid_p: self.mid_p,
            is_sequential: self.sequential,
            range: None,
            direction,
            draws: self.draws.unwrap_or(DRAWS),
            seed: self.seed,
        };
        if is_corpus {
            let compared = testing.corpus(name, metric)?;
            return Ok(match self.sequential {
                true => compared.not_sequential("it scores all rows together"),
                false => compared,
            });
        }
        let failure_score = a.run.failure_score;
        let mut rows = ComparedRows::of(selected, pairs, failure_score);
        if self.sequential {
            let key = |row: &Compared| hash_order(self.seed, Some(pairs.id(row.pair)), row.pair);
            rows.rows.sort_by_cached_key(key);
        }
        check_failure_score(name, &rows, direction, failure_score)?;
        let kind = kind_of(selected, pairs.runs, &rows)?;
        let is_pass_or_fail =
            kind == ScoreKind::Bool && rows.values().all(|it| it == 0.0 || it == 1.0);
        let least = rows.values().fold(f64::INFINITY, f64::min);
        let most = rows.values().fold(f64::NEG_INFINITY, f64::max);
        let range = Bounds::of_both(pairs.runs, name).range(kind, least, most);
        let testing = Testing {
            kind,
            is_pass_or_fail,
            range,
            ..testing
        };
        let listed = self.listed_rows.unwrap_or(usize::MAX);
        let compared = MetricComparison::of_means(name, &rows, testing, failure_score, listed);
        let is_sampled = pairs.runs.iter().any(|run| run.truth(metric).is_some());
        let largest = range.map_or(most - least, |range| range.max - range.min);
        Ok(match is_sampled {
            _ if self.sequential && range.is_none() => {
                compared.not_sequential("its scores have no range")
            }
            true if self.sequential => {
                compared.not_sequential("a run judged only a sample of its rows")
            }
            true => compared.of_sample(selected, pairs, largest),
            false => compared,
        })
    }
}

/// Checks that each metric in a setting is known, or is a part of a known metric. `why` says what is wrong with an
/// unknown one.
fn check_known(
    setting: &str,
    metrics: &IndexSet<String>,
    known: &IndexSet<&str>,
    why: &str,
) -> Result<(), ResultsError> {
    let is_known = |name: &&String| {
        let mut known = known.iter();
        known.any(|it| *it == **name || Selected::new(it).metric == **name)
    };
    let Some(metric) = metrics.iter().find(|name| !is_known(name)) else {
        return Ok(());
    };
    let hint = suggest::known_names(metric, known.iter().copied());
    let message = format!("`{}` {why}{hint}", escape::name(metric));
    Err(ResultsError::setting(setting, message))
}

/// Returns the kind of a metric's scores: pass or fail if both runs have only verdicts, or shares of repeats that pass.
fn kind_of(
    metric: Selected<'_>,
    runs: [&RunScores; 2],
    rows: &ComparedRows,
) -> Result<ScoreKind, ResultsError> {
    let kinds = runs.map(|run| metric.kind(run));
    for [verdicts, numbers] in [[0, 1], [1, 0]] {
        let are = [kinds[verdicts], kinds[numbers]];
        // Numbers with a verdict may be all 0 or 1 in one of the runs.
        if are == [ScoreKind::Bool, ScoreKind::Number].map(Some) && !rows.has_verdict[numbers] {
            let [verdicts, numbers] = [verdicts, numbers].map(|side| runs[side].run.name());
            let message = format!(
                "pass or fail in {verdicts}, numbers in {numbers}; score both runs with the same metric"
            );
            return Err(ResultsError::metric(metric.name, &message));
        }
    }
    let has = |kind| kinds.contains(&Some(kind));
    Ok(match has(ScoreKind::Bool) && !has(ScoreKind::Number) {
        true => ScoreKind::Bool,
        false => ScoreKind::Number,
    })
}

/// Checks that a failed row does not count as better than a scored one.
fn check_failure_score(
    name: &str,
    rows: &ComparedRows,
    direction: Direction,
    failure_score: f64,
) -> Result<(), ResultsError> {
    let failed = rows.failed[0] + rows.failed[1];
    let worst = match direction {
        Direction::HigherIsBetter => rows.values().fold(failure_score, f64::min),
        Direction::LowerIsBetter => rows.values().fold(failure_score, f64::max),
    };
    if failed == 0 || worst == failure_score {
        return Ok(());
    }
    let message = format!(
        "{failed} rows failed and would count as {failure_score}, which is better than the score {worst}; set --failure-score to {worst} or a worse value"
    );
    Err(ResultsError::metric(name, &message))
}
