//! Writes the HTML report.
//!
//! The report is one file that opens in any browser and makes no requests.
//!
//! The page is the shell in `page/page.html` with the data as JSON, which the script in `page/` turns into text, charts
//! and tables. `run.rs` reads the totals over all rows of a run, and then the rows that `table_rows.rs` chooses. `view.rs`
//! returns the data of the sections, with `histogram.rs`, and `rows.rs` writes it together with the rows.
//!
//! Everything from a row is treated as text. The JSON contains no `<`, `>` or `&`, and the script does not parse HTML.
//! Characters that would hide or reverse others are escaped as on the terminal.
//!
//! A content security policy forbids requests and all other scripts.

mod histogram;
mod rows;
mod run;
mod table_rows;
mod view;

use std::borrow::Cow;
use std::io::Write as _;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest as _, Sha256};

#[doc(hidden)]
pub use self::run::ReportRun;
use self::view::View;
use crate::evaluate::report::OutputFile;
use crate::messages::escape;
use crate::results::{Comparison, ComparisonBuilder, Results, ResultsError, ResultsErrorKind};

const STYLE: &str = include_str!("page/style.css");
/// The parts of the script.
const SCRIPT: &str = concat!(
    include_str!("page/values.js"),
    include_str!("page/figures.js"),
    include_str!("page/facts.js"),
    include_str!("page/sections.js"),
    include_str!("page/columns.js"),
    include_str!("page/table.js"),
    include_str!("page/diff.js"),
    include_str!("page/detail.js"),
    include_str!("page/bars.js"),
    include_str!("page/controls.js"),
);

/// A report on one or two runs, as a self-contained HTML file.
///
/// The report shows scores with 95% intervals and denominators, distributions, groups, cost and time. A table shows the
/// rows with search, filters, word diffs, feedback and metadata.
///
/// The table shows at most 20,000 rows. If there are more, it shows the following rows:
///
/// - rows whose outcome or verdict changed
/// - rows that failed
/// - rows with the worst scores
/// - a sample of the rest
///
/// The page shows how many rows of each kind there are. All other parts of the report cover all rows.
///
/// The page makes no requests. Strings from rows are shown as text, even if they contain HTML, and are truncated to
/// 20,000 characters.
///
/// A failed row counts as the [failure score](Results::with_failure_score) in every mean. Gated, skipped and abstained
/// rows are counted but excluded from every mean.
///
/// This type requires the `html` feature.
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
    runs: Vec<Run<'a>>,
    title: Option<String>,
    /// The settings of the comparison, and those that a single run also has.
    pub(super) comparison: ComparisonBuilder,
}

/// A run in a report.
#[derive(Debug, Clone, Copy)]
enum Run<'a> {
    Results(&'a Results),
    Read(&'a ReportRun<'a>),
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

    /// Creates a report on two runs, with rows paired by id.
    ///
    /// Rows whose verdict changed come first in the table.
    pub fn comparison(a: &'a Results, b: &'a Results) -> Self {
        Self::of(vec![Run::Results(a), Run::Results(b)])
    }

    /// Creates a report on one or two runs.
    ///
    /// Read the runs with the group field that you set for the report.
    #[doc(hidden)]
    pub fn of_runs(runs: &'a [ReportRun<'a>]) -> Self {
        Self::of(runs.iter().map(Run::Read).collect())
    }

    setters! {
        /// Sets the title of the report.
        ///
        /// The default is the name of the run, or the names of both runs.
        pub fn title(title: impl Into<String>) => title = Some(title.into());

        /// Sets the field to group scores by.
        ///
        /// The field is an attribute of the rows, or a dotted path such as `gold.topic`. The report then also shows
        /// scores by group.
        ///
        /// The intervals over all rows are then cluster-robust, because rows in the same group are not independent.
        pub fn group(field: impl Into<String>) => comparison.group = Some(field.into());

        /// Sets whether every run must have a manifest.
        ///
        /// If `true`, a run without a manifest is an error, because there is no record of what it measured.
        pub fn require_identity(require_identity: bool) => comparison.require_identity = require_identity;
        /// Sets whether a metric whose code changed counts as a different metric.
        ///
        /// If two metrics count as different, the report doesn't show the difference between their scores.
        pub fn strict_identity(strict_identity: bool) => comparison.strict_identity = strict_identity;

        /// Sets the metrics to compare even if their definitions differ between the runs.
        ///
        /// For example, the metrics may use different judges or thresholds. By default, the report shows how the
        /// metrics differ, but not the difference between their scores.
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
        pub fn allow_different(names: impl IntoIterator<Item = impl Into<String>>)
            => comparison.allow_different = names.into_iter().map(Into::into).collect();

        /// Sets the metrics for which lower scores are better.
        ///
        /// Each metric must be in at least one run.
        ///
        /// You need this setting only for runs without a manifest.
        pub fn lower_is_better(names: impl IntoIterator<Item = impl Into<String>>)
            => comparison.lower_is_better = names.into_iter().map(Into::into).collect();
    }

    /// Returns the report as an HTML page.
    ///
    /// # Errors
    /// Returns a [`ResultsError`] if no row has the group field, or if the two runs share no rows or have different
    /// gold rows.
    pub fn to_html(&self) -> Result<String, ResultsError> {
        let group = self.comparison.group.as_deref();
        let runs = self.runs.iter().map(|run| match run {
            Run::Results(results) => Cow::Owned(ReportRun::of(results, group)),
            Run::Read(run) => Cow::Borrowed(*run),
        });
        let runs: Vec<_> = runs.collect();
        let runs: Vec<&ReportRun<'_>> = runs.iter().map(AsRef::as_ref).collect();
        if self.comparison.require_identity {
            runs.iter()
                .try_for_each(|run| run.scores.run.require_identity())?;
        }
        let data = rows::json(&View::new(self, &runs)?)?;
        Ok(format!(
            include_str!("page/page.html"),
            policy = policy(),
            title = html_text(&self.title.clone().unwrap_or_else(|| title(&runs))),
            style = STYLE,
            script = SCRIPT,
            data = data,
            version = env!("CARGO_PKG_VERSION"),
        ))
    }

    /// Writes the page to a file.
    ///
    /// The file is written atomically, so it appears only once it is complete.
    ///
    /// # Errors
    /// Returns the same errors as [`to_html`](Self::to_html), or an error if the file cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), ResultsError> {
        let path = path.as_ref();
        let html = self.to_html()?;
        OutputFile::create(path)
            .and_then(|file| file.write(|out| out.write_all(html.as_bytes())))
            .map_err(|reason| {
                let message = format!("{}: cannot be written: {reason}", path.display());
                ResultsError::new(ResultsErrorKind::Output, message)
            })
    }
}

/// Returns the file name of each run, without folder and extension.
fn title(runs: &[&ReportRun<'_>]) -> String {
    let stem = |run: &&ReportRun<'_>| {
        let name = Path::new(run.scores.run.name());
        let stem = name.file_stem().unwrap_or(name.as_os_str());
        stem.to_string_lossy().into_owned()
    };
    runs.iter().map(stem).collect::<Vec<_>>().join(" and ")
}

/// Escapes a string for use as text in an HTML element.
fn html_text(text: &str) -> String {
    escape::escaped_lines(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// Returns the content security policy: no requests, only this style sheet and this script.
fn policy() -> String {
    let hash = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT),
    )
}
