//! The HTML report: results as one file that opens in any browser and makes no requests.
//!
//! `report.rs` has the settings. `run.rs` reads the totals over all rows of a run, and then the rows that
//! `table_rows.rs` chooses. `view.rs` returns the sections of the page as JSON, with `facts.rs` (manifests, cost and
//! time), `chart.rs` (histograms), `groups.rs` (parts and groups) and `change.rs` (two runs). `rows.rs` writes the rows
//! as JSON, which the script turns into a table. `page/` has the template, style sheet and script.
//!
//! Everything from a row is treated as text. The template escapes it, the JSON contains no `<`, `>` or `&`, and the
//! script does not parse HTML. Characters that would hide or reverse others are escaped as on the terminal. A content
//! security policy forbids requests and any script but this one.

mod change;
mod chart;
mod facts;
mod groups;
mod labels;
mod report;
mod rows;
mod run;
mod table_rows;
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
use crate::evaluate::report::OutputFile;
use crate::messages::escape;
use crate::results::{ResultsError, ResultsErrorKind};

pub use self::report::HtmlReport;
#[doc(hidden)]
pub use self::run::ReportRun;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/style.css");
/// The parts of the script.
const SCRIPT: &str = concat!(
    include_str!("page/values.js"),
    include_str!("page/columns.js"),
    include_str!("page/table.js"),
    include_str!("page/diff.js"),
    include_str!("page/detail.js"),
    include_str!("page/bars.js"),
    include_str!("page/controls.js"),
);

impl HtmlReport<'_> {
    /// Returns the report as an HTML page.
    ///
    /// # Errors
    /// Returns a [`ResultsError`] if no row has the group field, or if the two runs cannot be compared because they
    /// share no rows or have different gold rows.
    pub fn to_html(&self) -> Result<String, ResultsError> {
        let group = self.group.as_deref();
        let runs = self.runs.iter().map(|run| run.totals(group));
        let runs = runs.collect::<Result<Vec<_>, _>>()?;
        let runs: Vec<&ReportRun<'_>> = runs.iter().map(AsRef::as_ref).collect();
        if self.require_identity {
            runs.iter()
                .try_for_each(|run| run.scores.run.require_identity())?;
        }
        let view = View::new(self, &runs)?;
        let data = rows::json(&view)?;
        let page = Page {
            policy: policy(),
            style: STYLE,
            script: SCRIPT,
            version: env!("CARGO_PKG_VERSION"),
            data: Value::from_safe_string(data),
            view: view.page(self),
        };
        let mut engine = Environment::new();
        engine.set_formatter(
            |out, state, value| match value.as_str().map(escape::escaped_lines) {
                Some(Cow::Owned(text)) if !value.is_safe() => {
                    escape_formatter(out, state, &Value::from(text))
                }
                _ => escape_formatter(out, state, value),
            },
        );
        // The name's extension turns on escaping.
        engine
            .add_template("page.html", PAGE)
            .and_then(|()| engine.get_template("page.html")?.render(Serde(&page)))
            .map_err(|error| {
                ResultsError::new(
                    ResultsErrorKind::Output,
                    format!("the page cannot be rendered: {error}"),
                )
            })
    }

    /// Writes the page to a file atomically: the file appears only once it is complete.
    ///
    /// # Errors
    /// Returns the same errors as [`to_html`](Self::to_html), and an error if the file cannot be written.
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

/// The variables of the template.
#[derive(Serialize)]
struct Page {
    policy: String,
    style: &'static str,
    script: &'static str,
    version: &'static str,
    data: Value,
    #[serde(flatten)]
    view: serde_json::Value,
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
