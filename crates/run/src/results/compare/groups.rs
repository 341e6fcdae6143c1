//! The groups of rows: the values of a field.

use indexmap::IndexSet;

use super::pairs::{Pair, Pairs};
use super::text::hint;
use crate::messages::escape;
use crate::results::error::ResultsError;

/// The group of every pair. A row without one is a group of its own, as in the evaluation of a run.
pub(super) struct Groups {
    pub(super) names: IndexSet<String>,
    /// The number of each pair's group: the position of its name. A pair without a group has a larger number of its own.
    pub(super) of_pair: Vec<usize>,
    pub(super) rows_without: u64,
}

impl Groups {
    pub(super) fn of(field: &str, pairs: &Pairs<'_>) -> Result<Self, ResultsError> {
        let mut names = IndexSet::new();
        let mut of_pair = Vec::with_capacity(pairs.pairs.len());
        for pair in &pairs.pairs {
            let group = group(field, *pair, pairs)?;
            of_pair.push(group.map(|group| match names.get_index_of(group) {
                Some(place) => place,
                None => names.insert_full(group.to_owned()).0,
            }));
        }
        if names.is_empty() {
            let (file, known) = (pairs.a.run.name(), pairs.a.known_fields());
            let hint = hint(field, known.iter().map(String::as_str));
            let field = escape::name(field);
            return Err(ResultsError::rows(format!(
                "{file}: no row has `{field}`{hint}"
            )));
        }
        let mut next = names.len();
        let mut number = |group: Option<usize>| {
            group.unwrap_or_else(|| {
                next += 1;
                next - 1
            })
        };
        let of_pair = of_pair.into_iter().map(&mut number).collect();
        Ok(Self {
            rows_without: (next - names.len()) as u64,
            names,
            of_pair,
        })
    }
}

/// Returns the group of a row, in both runs or in the run that has the field. A missing value and `null` are `None`.
fn group<'a>(
    field: &str,
    pair: Pair,
    Pairs { a, b, .. }: &Pairs<'a>,
) -> Result<Option<&'a str>, ResultsError> {
    match (a.group(pair.a), b.group(pair.b)) {
        (Some(of_a), Some(of_b)) if of_a != of_b => {
            let (id, field) = (escape::name(a.rows.id(pair.a)), escape::name(field));
            Err(ResultsError::rows(format!(
                "row `{id}`: `{field}` is {of_a:?} in one run and {of_b:?} in the other; group by a field of the data"
            )))
        }
        (of_a, of_b) => Ok(of_a.or(of_b)),
    }
}
