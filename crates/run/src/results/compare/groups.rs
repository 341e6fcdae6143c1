//! The groups of rows: the values of a field.

use indexmap::IndexSet;

use super::error::CompareError;
use super::pairs::{Pair, Pairs};

/// The group of every pair. A row without one is a group of its own, as in the evaluation of a run.
pub(super) struct Groups {
    pub(super) names: IndexSet<String>,
    /// The number of each pair's group: the position of its name. A pair without a group has a larger number of its own.
    pub(super) of_pair: Vec<usize>,
    pub(super) rows_without: u64,
}

impl Groups {
    pub(super) fn of(field: &str, pairs: &Pairs<'_>) -> Result<Self, CompareError> {
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
            let (file, field) = (pairs.a.run.name().to_owned(), field.to_owned());
            return Err(CompareError::NoGroup {
                file,
                field,
                known: pairs.a.known_fields(),
            });
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
) -> Result<Option<&'a str>, CompareError> {
    match (a.group(pair.a), b.group(pair.b)) {
        (Some(of_a), Some(of_b)) if of_a != of_b => {
            let (id, field) = (a.rows.id(pair.a).to_owned(), field.to_owned());
            let (of_a, of_b) = (format!("{of_a:?}"), format!("{of_b:?}"));
            Err(CompareError::DifferentGroups {
                id,
                field,
                of_a,
                of_b,
            })
        }
        (of_a, of_b) => Ok(of_a.or(of_b)),
    }
}
