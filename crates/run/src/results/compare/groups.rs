//! The groups of rows: the values of a field.

use indexmap::IndexSet;

use super::error::CompareError;
use super::pairs::Pair;
use crate::json::describe;
use crate::results::ResultRow;
use crate::results::file::Results;

/// The group of every pair. A row without one is a group of its own, as in the evaluation of a run.
pub(super) struct Groups {
    pub(super) names: IndexSet<String>,
    /// The number of each pair's group: the position of its name. A pair without a group has a larger number of its own.
    pub(super) of_pair: Vec<usize>,
    pub(super) rows_without: u64,
}

impl Groups {
    pub(super) fn of(field: &str, pairs: &[Pair<'_>], a: &Results) -> Result<Self, CompareError> {
        let groups = pairs.iter().map(|pair| group(field, pair)).collect::<Result<Vec<_>, _>>()?;
        let names: IndexSet<String> = groups.iter().flatten().cloned().collect();
        if names.is_empty() {
            let known = pairs.iter().flat_map(|pair| pair.a.attributes.iter());
            let known = known.filter(|(_, value)| !value.is_null());
            let known: IndexSet<String> = known.map(|(name, _)| name.to_owned()).collect();
            let (file, field) = (a.name().to_owned(), field.to_owned());
            return Err(CompareError::NoGroup { file, field, known: known.into_iter().collect() });
        }
        let mut next = names.len();
        let number = |group: &Option<String>| {
            group.as_ref().and_then(|group| names.get_index_of(group)).unwrap_or_else(|| {
                next += 1;
                next - 1
            })
        };
        let of_pair = groups.iter().map(number).collect();
        Ok(Self { rows_without: (next - names.len()) as u64, names, of_pair })
    }
}

/// Returns the group of a row, in both runs or in the run that has the field. A missing value and `null` are `None`.
fn group(field: &str, pair: &Pair<'_>) -> Result<Option<String>, CompareError> {
    let value = |row: &ResultRow| row.field(field).cloned().and_then(describe::text);
    match (value(pair.a), value(pair.b)) {
        (Some(of_a), Some(of_b)) if of_a != of_b => {
            let (id, field) = (pair.a.id.clone(), field.to_owned());
            let (of_a, of_b) = (format!("{of_a:?}"), format!("{of_b:?}"));
            Err(CompareError::DifferentGroups { id, field, of_a, of_b })
        }
        (of_a, of_b) => Ok(of_a.or(of_b)),
    }
}
