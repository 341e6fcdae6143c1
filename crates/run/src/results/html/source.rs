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
