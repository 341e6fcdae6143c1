//! The report with its groups and changes, from which the sections of the page are computed.

use super::change::Changes;
use super::group_of::GroupOf;
use super::report::HtmlReport;

/// The data of the page.
pub(super) struct Source<'r, 'a> {
    pub(super) report: &'r HtmlReport<'a>,
    pub(super) groups: Option<GroupOf>,
    pub(super) changes: Changes,
}

impl Source<'_, '_> {
    /// The group of a row; `None` without groups, and for a row without the field.
    pub(super) fn group(&self, run: usize, row: usize) -> Option<&str> {
        self.groups.as_ref()?.of_rows[run][row].as_deref()
    }
}
