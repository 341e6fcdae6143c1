//! Facts about the runs: a line of a table with a value for each run.

use indexmap::IndexMap;
use serde::Serialize;

use super::labels::NOTHING;
use super::run::ReportRun;

/// A name, and a value for each run. A value is one or more lines.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct Fact {
    name: String,
    values: Vec<Vec<String>>,
}

/// Returns the facts of all runs, in the order in which they first occur.
pub(super) fn facts(
    runs: &[&ReportRun<'_>],
    of_run: impl Fn(&ReportRun<'_>) -> Vec<(String, Vec<String>)>,
) -> Vec<Fact> {
    let mut facts: IndexMap<String, Vec<Vec<String>>> = IndexMap::new();
    for (place, run) in runs.iter().enumerate() {
        for (name, value) in of_run(run) {
            let nothing = || vec![vec![NOTHING.to_owned()]; runs.len()];
            facts.entry(name).or_insert_with(nothing)[place] = value;
        }
    }
    facts
        .into_iter()
        .map(|(name, values)| Fact { name, values })
        .collect()
}
