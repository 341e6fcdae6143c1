//! The settings of the report: runs, title, groups and directions.

use std::borrow::Cow;

use indexmap::IndexSet;

use super::run::ReportRun;
use crate::messages::{escape, suggest};
use crate::results::run::is_lower_better;
use crate::results::run_scores::Selected;
use crate::results::{Comparison, ComparisonBuilder, Results, ResultsError};

/// A report on one or two runs, as a self-contained HTML file. The report shows scores with 95% intervals and
/// denominators, distributions, groups, cost and time, and a table of the rows with search, filters, word diffs,
/// feedback and metadata.
///
/// The table shows at most 20,000 rows. If there are more, it shows the rows whose outcome or verdict changed, the
/// failed rows, the rows with the worst scores, and a sample of the rest. The page says how many rows of each kind
/// there are. All other parts of the report cover all rows.
///
/// The page makes no requests. Strings from rows are shown as text, even if they contain HTML, and are truncated to
/// 20,000 characters. A failed row counts as the [failure score](Results::with_failure_score) in every mean. Gated,
/// skipped and abstained rows are counted but excluded from every mean. Requires the `html` feature.
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::results::{HtmlReport, Results};
/// use dsrs_metrics::{Evaluate, rows::Pair};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let same = metric_fn("same", |gold, pred| gold.get("answer") == pred.get("answer"));
/// let row = Pair::new("q1", example! { "answer" => "4" }, prediction! { "answer" => "<b>4</b>" });
/// let result = Evaluate::builder().metric(same).build()?.score([row]).await?;
///
/// let results = Results::of(&result)?.with_name("baseline");
/// let html = HtmlReport::new(&results).to_html()?;
/// assert!(html.contains("<title>baseline</title>") && !html.contains("<b>4</b>"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct HtmlReport<'a> {
    pub(super) runs: Vec<Run<'a>>,
    pub(super) title: Option<String>,
    /// The settings of the comparison, and those that a single run also has.
    pub(super) comparison: ComparisonBuilder,
}

/// A run of a report.
#[derive(Debug, Clone, Copy)]
pub(super) enum Run<'a> {
    Results(&'a Results),
    Read(&'a ReportRun<'a>),
}

impl<'a> Run<'a> {
    pub(super) fn totals(
        self,
        group: Option<&str>,
    ) -> Result<Cow<'a, ReportRun<'a>>, ResultsError> {
        match self {
            Self::Results(results) => ReportRun::of(results, group).map(Cow::Owned),
            Self::Read(run) => Ok(Cow::Borrowed(run)),
        }
    }
}

impl<'a> HtmlReport<'a> {
    fn of(runs: Vec<Run<'a>>) -> Self {
        Self {
            runs,
            title: None,
            comparison: Comparison::builder().partial(),
        }
    }

    /// Creates a report on a single run.
    pub fn new(results: &'a Results) -> Self {
        Self::of(vec![Run::Results(results)])
    }

    /// Creates a report on two runs and pairs their rows by id. Rows whose verdict changed come first.
    pub fn comparison(a: &'a Results, b: &'a Results) -> Self {
        Self::of(vec![Run::Results(a), Run::Results(b)])
    }

    /// Creates a report on one or two runs. The runs must have been read with the report's group field.
    #[doc(hidden)]
    pub fn of_runs(runs: &'a [ReportRun<'a>]) -> Self {
        Self::of(runs.iter().map(Run::Read).collect())
    }

    setters! {
        /// Sets the title. The default is the name of the run, or the names of both runs.
        pub fn title(title: impl Into<String>) => title = Some(title.into());

        /// Sets the field to group scores by: an attribute of the rows, or a dotted path such as `gold.topic`. The
        /// report then also shows scores by group. The intervals over all rows are cluster-robust, because rows in the
        /// same group are not independent.
        pub fn group(field: impl Into<String>) => comparison.group = Some(field.into());

        /// Sets whether every run must have a manifest. If `true`, a run without a manifest is an error, because
        /// nothing says what it measured.
        pub fn require_identity(require_identity: bool) => comparison.require_identity = require_identity;
        /// Sets whether to treat metrics with the same version but different code as different metrics. The report
        /// doesn't show a difference in scores between different metrics.
        pub fn strict_identity(strict_identity: bool) => comparison.strict_identity = strict_identity;
    }

    /// Adds metrics to compare even if their identities differ, for example because they use different judges or
    /// thresholds. By default, the report shows how such metrics differ instead of the difference between their scores.
    ///
    /// ```
    /// # use dsrs_metrics::prelude::*;
    /// # use dsrs_metrics::results::{HtmlReport, Results};
    /// # use dsrs_metrics::{Evaluate, metrics::F1, rows::Pair};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let row = || Pair::new("q1", example! { "answer" => "4" }, prediction! { "answer" => "4" });
    /// let a = Evaluate::builder().metric(F1::default()).score([row()]).await?;
    /// let b = Evaluate::builder().metric(F1::default().with_threshold(0.8)).score([row()]).await?;
    /// let (a, b) = (Results::of(&a)?, Results::of(&b)?);
    ///
    /// let report = HtmlReport::comparison(&a, &b);
    /// let html = report.to_html()?;
    /// assert!(html.contains(r#""not_compared":"`threshold` is not set in A, 0.8 in B""#));
    /// assert!(!report.allow_different(["f1"]).to_html()?.contains(r#""not_compared":"#));
    /// # Ok(())
    /// # }
    /// ```
    pub fn allow_different<S: Into<String>>(
        mut self,
        metrics: impl IntoIterator<Item = S>,
    ) -> Self {
        self.comparison
            .allow_different
            .extend(metrics.into_iter().map(Into::into));
        self
    }

    /// Adds metrics for which lower scores are better. Each must be in at least one run. You need this setting only for
    /// runs without a manifest.
    pub fn lower_is_better<S: Into<String>>(
        mut self,
        metrics: impl IntoIterator<Item = S>,
    ) -> Self {
        self.comparison
            .lower_is_better
            .extend(metrics.into_iter().map(Into::into));
        self
    }

    /// Checks that each metric declared lower-is-better is in a run.
    pub(super) fn check_directions(&self, runs: &[&ReportRun<'_>]) -> Result<(), ResultsError> {
        let known: IndexSet<&str> = runs.iter().flat_map(|run| run.metrics()).collect();
        let is_unknown = |name: &&String| {
            !known.contains(&***name) && !known.contains(Selected::new(name).metric())
        };
        let mut declared = self.comparison.lower_is_better.iter();
        let Some(metric) = declared.find(is_unknown) else {
            return Ok(());
        };
        let hint = suggest::did_you_mean(metric, known.iter().copied());
        let hint =
            hint.unwrap_or_else(|| format!("; the runs have {}", escape::names(known.into_iter())));
        let metric = escape::name(metric);
        let message = format!("`{metric}` cannot be lower-is-better, because no run has it{hint}");
        Err(ResultsError::setting("lower_is_better", message))
    }

    pub(super) fn is_lower_better(&self, metric: &str, runs: &[&ReportRun<'_>]) -> bool {
        let runs: Vec<_> = runs.iter().map(|run| &run.scores.run).collect();
        self.comparison.lower_is_better.contains(metric) || is_lower_better(metric, &runs)
    }
}
