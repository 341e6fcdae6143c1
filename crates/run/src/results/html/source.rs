//! The report with its runs, groups and changes, from which the sections of the page are computed.

use super::change::Changes;
use super::groups::Groups;
use super::report::HtmlReport;
use super::run::ReportRun;

/// The data of the page.
pub(super) struct Source<'r, 'a> {
    pub(super) report: &'r HtmlReport<'a>,
    pub(super) runs: &'r [&'r ReportRun<'a>],
    pub(super) groups: Option<Groups<'r>>,
    pub(super) changes: Changes,
}

impl Source<'_, '_> {
    pub(super) fn is_lower_better(&self, metric: &str) -> bool {
        self.report.is_lower_better(metric, self.runs)
    }
}
