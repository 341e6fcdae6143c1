//! The HTML report: results as one file that opens in any browser and makes no request.
//!
//! `view.rs` has what the page shows, computed by `figures.rs` (means and intervals), `chart.rs` (histograms), `groups.rs`,
//! `usage.rs` (cost, time, gates) and `change.rs` (two runs). `rows.rs` writes the rows as JSON, which the script turns
//! into a table. `page/` has the template, the style sheet and the script.
//!
//! Everything from a row is text: the template escapes, the JSON contains no `<`, `>` or `&`, and the script does not
//! parse HTML. Characters that would hide or reverse others are escaped as on the terminal. A content security policy forbids requests and all scripts but this one.

mod change;
mod chart;
mod error;
mod figures;
mod groups;
mod rows;
mod usage;
mod view;

use std::borrow::Cow;
use std::io::Write as _;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use minijinja::value::{Serde, Value};
use minijinja::{Environment, escape_formatter};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use self::view::View;
use super::Results;
use crate::evaluate::report::OutputFile;
use crate::messages::escape;

pub use self::error::HtmlError;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
/// Parts of one script.
const SCRIPT: &str = concat!(
    include_str!("page/values.js"),
    include_str!("page/columns.js"),
    include_str!("page/table.js"),
    include_str!("page/diff.js"),
    include_str!("page/detail.js"),
    include_str!("page/controls.js"),
);

/// A report on one or two runs as a self-contained HTML file: scores with 95% intervals and denominators, distributions,
/// groups, cost and time, and a table of all rows with search, filters, word diff, feedback and metadata.
///
/// The file makes no request. Strings from rows are shown as text, also if they contain HTML. A string of more than
/// 20,000 characters is shortened. In a mean a failed row counts as the
/// [failure score](Results::with_failure_score); gated, skipped and abstained rows are counted, but are in no mean.
/// Requires the feature `html`.
///
/// ```
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::results::{HtmlReport, Results};
/// use dsrs_metrics::{Evaluate, Pair};
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
    runs: Vec<&'a Results>,
    title: Option<String>,
    group: Option<String>,
    lower_is_better: Vec<String>,
}

impl<'a> HtmlReport<'a> {
    /// Creates a report on one run.
    pub fn new(results: &'a Results) -> Self {
        Self { runs: vec![results], title: None, group: None, lower_is_better: Vec::new() }
    }

    /// Creates a report on two runs, paired by the ids of their rows, with the rows whose verdict changed first.
    pub fn comparison(a: &'a Results, b: &'a Results) -> Self {
        Self { runs: vec![a, b], ..Self::new(a) }
    }

    setters! {
        /// Sets the title; the default is the name of the run, or of both.
        pub fn title(title: impl Into<String>) => title = Some(title.into());

        /// Shows the scores by this field too: an attribute of the rows, or a dotted path such as `gold.topic`. The intervals
        /// over all rows are then cluster-robust: rows of one group are not counted as independent.
        pub fn group(field: impl Into<String>) => group = Some(field.into());
    }

    /// Sets the metrics whose lower scores are better; a result file does not contain the direction. Each must be in a run.
    pub fn lower_is_better<S: Into<String>>(
        mut self,
        metrics: impl IntoIterator<Item = S>,
    ) -> Self {
        self.lower_is_better.extend(metrics.into_iter().map(Into::into));
        self
    }

    /// Checks that a run has each metric whose lower scores are better.
    fn check_directions(&self) -> Result<(), HtmlError> {
        let metrics = || self.runs.iter().flat_map(|run| run.metrics());
        let of = |name: &str| {
            name.split_once('.').map_or(name.to_owned(), |(metric, _)| metric.to_owned())
        };
        let unknown =
            |name: &&String| metrics().all(|metric| metric != **name && metric != of(name));
        match self.lower_is_better.iter().find(unknown) {
            None => Ok(()),
            Some(metric) => {
                let known: indexmap::IndexSet<String> = metrics().map(str::to_owned).collect();
                let known = known.into_iter().collect();
                Err(HtmlError::NoMetric { metric: metric.clone(), known })
            }
        }
    }

    fn is_lower_better(&self, metric: &str) -> bool {
        self.lower_is_better.iter().any(|it| it == metric)
    }

    /// Returns the page.
    ///
    /// # Errors
    /// [`HtmlError`] if no row has the group's field, or two runs cannot be compared: they have no row in common, or
    /// different gold rows.
    pub fn to_html(&self) -> Result<String, HtmlError> {
        let view = View::new(self)?;
        let data = rows::json(&view, self)?;
        let page = Page {
            policy: policy(),
            style: STYLE,
            script: SCRIPT,
            version: env!("CARGO_PKG_VERSION"),
            data: Value::from_safe_string(data),
            view,
        };
        let mut engine = Environment::new();
        engine.set_formatter(|out, state, value| match value.as_str().map(escape::escaped_lines) {
            Some(Cow::Owned(text)) if !value.is_safe() => {
                escape_formatter(out, state, &Value::from(text))
            }
            _ => escape_formatter(out, state, value),
        });
        // The name's extension turns escaping on.
        engine.add_template("page.html", PAGE)?;
        Ok(engine.get_template("page.html")?.render(Serde(&page))?)
    }

    /// Writes the page to a file, which appears under its name when it is complete.
    ///
    /// # Errors
    /// As [`to_html`](Self::to_html), and [`HtmlError::Output`] if the file cannot be written.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), HtmlError> {
        let path = path.as_ref();
        let html = self.to_html()?;
        OutputFile::create(path)
            .and_then(|file| file.write(|out| out.write_all(html.as_bytes())))
            .map_err(|error| HtmlError::Output { path: path.to_owned(), reason: error.to_string() })
    }
}

/// The variables of the template.
#[derive(Serialize)]
struct Page<'a> {
    policy: String,
    style: &'static str,
    script: &'static str,
    version: &'static str,
    data: Value,
    #[serde(flatten)]
    view: View<'a>,
}

/// The content security policy: no request, this style sheet, this script.
fn policy() -> String {
    let hash = |text: &str| BASE64_STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT),
    )
}
