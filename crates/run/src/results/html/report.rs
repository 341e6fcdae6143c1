//! The settings of the report: runs, title, groups and directions.

use std::borrow::Cow;

use indexmap::IndexSet;

use super::run::ReportRun;
use crate::messages::escape;
use crate::messages::suggest::nearest;
use crate::results::run::is_lower_better;
use crate::results::{Results, ResultsError};

/// A report on one or two runs as a self-contained HTML file. It shows scores with 95% intervals and denominators,
/// distributions, groups, cost and time, and a table of the rows with search, filters, word diff, feedback and
/// metadata.
///
/// The table shows at most 20,000 rows. If there are more, it keeps those whose outcome or verdict changed, those that
/// failed, those with the worst scores, and a sample of the rest; the page says how many of each. All other figures
/// cover all rows.
///
/// The file makes no requests. Strings from rows are shown as text, even if they contain HTML, and are shortened beyond
/// 20,000 characters. In a mean, a failed row counts as the [failure score](Results::with_failure_score); gated,
/// skipped and abstained rows are counted but are in no mean. Requires the `html` feature.
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
    pub(super) group: Option<String>,
    pub(super) allow_different: IndexSet<String>,
    pub(super) require_identity: bool,
    pub(super) strict_identity: bool,
    lower_is_better: Vec<String>,
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
            group: None,
            allow_different: IndexSet::new(),
            require_identity: false,
            strict_identity: false,
            lower_is_better: Vec::new(),
        }
    }

    /// Creates a report on one run.
    pub fn new(results: &'a Results) -> Self {
        Self::of(vec![Run::Results(results)])
    }

    /// Creates a report on two runs, whose rows are paired by id. Rows whose verdict changed come first.
    pub fn comparison(a: &'a Results, b: &'a Results) -> Self {
        Self::of(vec![Run::Results(a), Run::Results(b)])
    }

    /// Creates a report on one or two runs that were read with this report's groups.
    #[doc(hidden)]
    pub fn of_runs(runs: &'a [ReportRun<'a>]) -> Self {
        Self::of(runs.iter().map(Run::Read).collect())
    }

    setters! {
        /// Sets the title; the default is the name of the run, or of both runs.
        pub fn title(title: impl Into<String>) => title = Some(title.into());

        /// Also shows the scores grouped by this field: an attribute of the rows, or a dotted path such as
        /// `gold.topic`. The intervals over all rows are then cluster-robust, because rows of one group do not count as
        /// independent.
        pub fn group(field: impl Into<String>) => group = Some(field.into());

        /// Requires a manifest. A run without a manifest is an error, because nothing says what it measured.
        pub fn require_identity(require_identity: bool) => require_identity = require_identity;
        /// Sets whether a metric with the same version but different code counts as a different metric, whose
        /// difference is not shown.
        pub fn strict_identity(strict_identity: bool) => strict_identity = strict_identity;
    }

    /// Compares these metrics even though their identities differ, for example because of another judge or threshold.
    /// By default, the report shows what differs instead of the difference between the scores.
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
    /// assert!(html.contains("not compared: `threshold` is not set in A, 0.8 in B"));
    /// assert!(!report.allow_different(["f1"]).to_html()?.contains("not compared:"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn allow_different<S: Into<String>>(
        mut self,
        metrics: impl IntoIterator<Item = S>,
    ) -> Self {
        self.allow_different
            .extend(metrics.into_iter().map(Into::into));
        self
    }

    /// Sets the metrics for which lower scores are better; each must be in a run. You need this only for runs without a
    /// manifest.
    pub fn lower_is_better<S: Into<String>>(
        mut self,
        metrics: impl IntoIterator<Item = S>,
    ) -> Self {
        self.lower_is_better
            .extend(metrics.into_iter().map(Into::into));
        self
    }

    /// Checks that each metric declared lower-is-better is in a run.
    pub(super) fn check_directions(&self, runs: &[&ReportRun<'_>]) -> Result<(), ResultsError> {
        let metrics = || runs.iter().flat_map(|run| run.metrics());
        let of = |name: &str| {
            name.split_once('.')
                .map_or(name.to_owned(), |(metric, _)| metric.to_owned())
        };
        let unknown =
            |name: &&String| metrics().all(|metric| metric != **name && metric != of(name));
        match self.lower_is_better.iter().find(unknown) {
            None => Ok(()),
            Some(metric) => {
                let known: IndexSet<&str> = metrics().collect();
                let known: Vec<String> = known.into_iter().map(str::to_owned).collect();
                let meant = meant(metric, &known).unwrap_or_else(|| {
                    format!(
                        "the runs have {}",
                        escape::names(known.iter().map(String::as_str))
                    )
                });
                let metric = escape::name(metric);
                let message = format!("lower is better for `{metric}`, which no run has; {meant}");
                Err(ResultsError::setting("lower_is_better", message))
            }
        }
    }

    pub(super) fn is_lower_better(&self, metric: &str, runs: &[&ReportRun<'_>]) -> bool {
        let runs: Vec<_> = runs.iter().map(|run| &run.scores.run).collect();
        self.lower_is_better.iter().any(|it| it == metric) || is_lower_better(metric, &runs)
    }
}

/// Suggests the name that was probably meant, if one is similar.
pub(super) fn meant(name: &str, known: &[String]) -> Option<String> {
    let nearest = nearest(name, known.iter().map(String::as_str))?;
    Some(format!("did you mean `{}`?", escape::name(nearest)))
}
