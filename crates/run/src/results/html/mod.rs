//! The HTML report: results as one file that opens in any browser and makes no requests.
//!
//! The page is the shell in `page/page.html` with the data as JSON, which the script in `page/` turns into text, charts
//! and tables. `report.rs` has the settings. `run.rs` reads the totals over all rows of a run, and then the rows that
//! `table_rows.rs` chooses. `view.rs` returns the data of the sections, with `histogram.rs`, and `rows.rs` writes it together with the rows.
//!
//! Everything from a row is treated as text. The JSON contains no `<`, `>` or `&`, and the script does not parse HTML.
//! Characters that would hide or reverse others are escaped as on the terminal. A content security policy forbids
//! requests and any script but this one.

mod histogram;
mod report;
mod rows;
mod run;
mod table_rows;
mod view;

use std::io::Write as _;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest as _, Sha256};

use self::view::View;
use crate::evaluate::report::OutputFile;
use crate::messages::escape;
use crate::results::{ResultsError, ResultsErrorKind};

pub use self::report::HtmlReport;
#[doc(hidden)]
pub use self::run::ReportRun;

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

impl HtmlReport<'_> {
    /// Returns the report as an HTML page.
    ///
    /// # Errors
    /// Returns a [`ResultsError`] if no row has the group field, or if the two runs cannot be compared because they
    /// share no rows or have different gold rows.
    pub fn to_html(&self) -> Result<String, ResultsError> {
        let group = self.comparison.group.as_deref();
        let runs = self.runs.iter().map(|run| run.totals(group));
        let runs = runs.collect::<Result<Vec<_>, _>>()?;
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

/// Returns the file name of each run, without folder and extension.
fn title(runs: &[&ReportRun<'_>]) -> String {
    let stem = |run: &&ReportRun<'_>| {
        let stem = Path::new(run.scores.run.name()).file_stem();
        stem.map_or(run.scores.run.name().into(), |stem| {
            stem.to_string_lossy().into_owned()
        })
    };
    runs.iter().map(stem).collect::<Vec<_>>().join(" and ")
}

/// Returns a string as text of an HTML element.
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
