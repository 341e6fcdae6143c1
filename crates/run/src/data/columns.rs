//! The fields of a row that the columns of CSV and Parquet become.

use std::collections::HashSet;

use super::result_row::{ATTRIBUTES, costs_of, is_of_run};
use super::selection::FieldSelection;
use crate::core::spec::Side;

/// The field of a row that a cell becomes.
pub(super) enum Target {
    Id,
    Field(Side, &'static str),
    Attribute(String),
    /// The outcome of a metric, if this column of its costs has a value too. A CSV file has one in every row.
    #[cfg_attr(not(feature = "parquet"), allow(dead_code))]
    Outcome(usize),
    /// The column is empty in common rows. A row with a value in it is decoded as a whole.
    Unusual,
    Unread,
}

/// Returns the field that the cells of a column become. `position` returns the position of a column among the columns that are
/// read.
pub(super) fn target(
    name: &str,
    selection: &FieldSelection,
    are_of_results: bool,
    position: impl Fn(&str) -> Option<usize>,
) -> Target {
    let field = |side, field| {
        let name = selection.field(side, field);
        name.map_or(Target::Unread, |name| Target::Field(side, name))
    };
    match name.split_once('.') {
        _ if name == "id" => return Target::Id,
        _ if matches!(name, "gold" | "pred") => return Target::Unusual,
        Some(("gold", name)) => return field(Side::Gold, name),
        Some(("pred", name)) => return field(Side::Pred, name),
        _ => {}
    }
    match costs_of(name).and_then(|costs| position(&costs)) {
        Some(costs) if are_of_results => return Target::Outcome(costs),
        // A row with a value in both columns is a result row.
        Some(_) => return Target::Unusual,
        None if !are_of_results => return Target::Attribute(name.to_owned()),
        None => {}
    }
    match name.strip_prefix(ATTRIBUTES) {
        Some(name) => Target::Attribute(name.to_owned()),
        None if is_of_run(name) => Target::Unusual,
        None => Target::Unread,
    }
}

/// The columns of a result file that show which rows have results and can be scored again, and the attributes that are read.
pub(super) fn result_columns<'n>(
    names: impl Iterator<Item = &'n str>,
    selection: &FieldSelection,
) -> HashSet<&'n str> {
    let names: HashSet<_> = names.collect();
    let mut read: HashSet<_> = names
        .iter()
        .copied()
        .filter(|name| is_of_run(name))
        .collect();
    if !selection.reads_attributes() {
        read.remove("attributes");
    }
    for name in &names {
        if let Some(costs) = costs_of(name).and_then(|costs| names.get(&*costs).copied()) {
            read.extend([*name, costs]);
        }
        let attribute = name.strip_prefix(ATTRIBUTES);
        read.extend(
            attribute
                .filter(|it| selection.reads_attribute(it))
                .map(|_| *name),
        );
    }
    read
}
