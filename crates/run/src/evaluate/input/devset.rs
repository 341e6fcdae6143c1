//! The devset of an evaluation: the rows that a program is run on.

use std::any::Any;
use std::fmt::Display;
use std::path::Path;
use std::sync::{Arc, Mutex};

use derive_where::derive_where;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use indexmap::IndexMap;
use serde::de::DeserializeOwned;
use twox_hash::XxHash3_128;

use super::source::Source;
use super::{Given, Input, SeenIds, changed, has_id, listed};
use crate::contract::panic::{self, Panic};
use crate::contract::rows::dynamic::as_example;
use crate::contract::{Example, Pair};
use crate::data::{DataFile, DataReader};
use crate::evaluate::error::{EvaluateError, lock};
use crate::messages::{escape, suggest};

/// A function that returns the id of a devset row.
pub(crate) type RowId<G> = Arc<dyn Fn(&G) -> String + Send + Sync>;

/// A row without a prediction.
type GoldRow<G> = Pair<Arc<G>, ()>;

type GoldStream<G> = BoxStream<'static, Result<Arc<G>, String>>;

/// The rows that a program is run on.
#[derive_where(Clone)]
pub(crate) enum Devset<G> {
    None,
    /// The rows and the files that they were read from.
    List(Arc<Vec<GoldRow<G>>>, Arc<[DataFile]>),
    Stream(Arc<Mutex<Option<GoldStream<G>>>>),
    /// A file that cannot be read.
    Unreadable(EvaluateError),
}

impl<G: Send + Sync + 'static> Devset<G> {
    pub(crate) fn list(rows: impl Iterator<Item = G>) -> Self {
        let rows = rows.map(|gold| listed(Arc::new(gold), ()));
        Self::List(Arc::new(rows.collect()), Arc::default())
    }

    pub(crate) fn stream(rows: GoldStream<G>) -> Self {
        Self::Stream(Arc::new(Mutex::new(Some(rows))))
    }

    /// Reads all rows of a file. If the row type is not [`Example`], rows are deserialized from their gold row.
    pub(crate) fn read(file: &Path) -> Self
    where
        G: DeserializeOwned,
    {
        let read = || {
            let rows = DataReader::read_examples(file)?;
            let (files, rows) = (rows.data_files(), rows.with_hashes());
            let rows = rows
                .map(|row| typed(row?))
                .collect::<Result<Vec<_>, EvaluateError>>()?;
            Ok(Self::List(Arc::new(rows), files.finish(true).into()))
        };
        read().unwrap_or_else(Self::Unreadable)
    }

    /// Checks the number of rows and their ids before a run.
    pub(crate) fn check(&self, row_id: Option<&RowId<G>>) -> Result<(), EvaluateError> {
        let rows = match self {
            Self::None | Self::Stream(_) => return Ok(()),
            Self::Unreadable(error) => return Err(error.clone()),
            Self::List(rows, _) => rows,
        };
        if rows.is_empty() {
            return Err(EvaluateError::no_rows());
        }
        let mut seen = SeenIds::default();
        for (number, row) in rows.iter().enumerate() {
            let panicked = |panic: Panic| {
                let (row, message) = (number + 1, panic.message);
                EvaluateError::input(format!("`row_id` panicked on row {row}: {message}"))
            };
            let named = row_id.map(|row_id| panic::catch(false, || row_id(&row.gold)));
            let named = named.transpose().map_err(panicked)?;
            let own = has_id(row).then_some(&*row.id);
            if let Some(id) = named.as_deref().or(own) {
                seen.insert(id, number as u64, row.origin.as_ref())?;
            }
        }
        Ok(())
    }

    /// Returns the rows for one run. The inputs of a list are checked here, and those of a stream as it is read.
    pub(crate) fn source<P: Send + 'static>(
        &self,
        row_id: Option<RowId<G>>,
        inputs_of_run: Option<Arc<[String]>>,
    ) -> Result<Source<'static, G, P>, EvaluateError> {
        match self {
            Self::None => Err(EvaluateError::setting(
                "expected a devset, found none; set one with `.devset(..)`, or score finished predictions with `.score(..)`",
            )),
            Self::Unreadable(error) => Err(error.clone()),
            Self::List(rows, files) => {
                check_rows(rows.iter().map(|row| &*row.gold), inputs_of_run.as_deref())?;
                let files = Arc::clone(files);
                let (rows, number) = (Arc::clone(rows), rows.len());
                let row = move |row: usize| {
                    let row = changed(rows[row].clone(), |gold| gold, |()| Given::Nothing);
                    Ok(named(row, row_id.as_ref()))
                };
                let rows = (0..number).map(row);
                Ok(Source::iterator(rows).with_files(move |_| files.to_vec()))
            }
            Self::Stream(rows) => {
                let rows = lock(rows).take();
                let used_up = || {
                    EvaluateError::setting(
                        "the devset stream was consumed by an earlier run; build a new evaluation, or pass a list to `.devset(..)`",
                    )
                };
                let rows = rows.ok_or_else(used_up)?.enumerate();
                let rows = rows.map(move |(number, row)| {
                    let row = row.map_err(EvaluateError::input)?;
                    check_row(number as u64 + 1, &*row, inputs_of_run.as_deref())?;
                    Ok(named(listed(row, Given::Nothing), row_id.as_ref()))
                });
                Ok(Source::stream(rows.boxed()))
            }
        }
    }
}

/// Sets a row's id with the setting `row_id`.
fn named<G, P>(mut row: Input<G, P>, row_id: Option<&RowId<G>>) -> Input<G, P> {
    if let Some(row_id) = row_id {
        (row.id, row.is_positional) = (row_id(&row.gold), false);
    }
    row
}

/// Returns a row's place in a random order that depends only on the row ids and the seed.
pub(crate) fn hash_order<N: Display>(seed: u64, id: Option<&str>, position: N) -> (u128, N) {
    let id = id.map_or_else(|| position.to_string(), str::to_owned);
    let hash = XxHash3_128::oneshot_with_seed(seed, id.as_bytes());
    (hash, position)
}

impl<G: Send + Sync + 'static> Devset<G> {
    /// Keeps a sample of the rows, in devset order; see [`EvaluateBuilder`](crate::EvaluateBuilder).
    pub(crate) fn sampled(self, count: usize, seed: u64) -> Self {
        let Self::List(rows, files) = self else {
            return self;
        };
        let key = |(position, row): (usize, &GoldRow<G>)| {
            hash_order(seed, has_id(row).then_some(&*row.id), position)
        };
        let mut keys: Vec<(u128, usize)> = rows.iter().enumerate().map(key).collect();
        keys.sort_unstable();
        keys.truncate(count);
        let mut positions: Vec<usize> = keys.into_iter().map(|(_, position)| position).collect();
        positions.sort_unstable();
        // A row without an id is identified by its position in the whole devset.
        let row = |position: usize| {
            let mut row = rows[position].clone();
            if !has_id(&row) {
                row.id = position.to_string();
            }
            row
        };
        Self::List(Arc::new(positions.into_iter().map(row).collect()), files)
    }
}

impl Devset<Example> {
    /// Applies `change` to each row of a list.
    pub(crate) fn map(self, change: impl Fn(&Example) -> Example) -> Self {
        let Self::List(rows, files) = self else {
            return self;
        };
        let row =
            |row: &GoldRow<Example>| changed(row.clone(), |gold| Arc::new(change(&gold)), |()| ());
        Self::List(Arc::new(rows.iter().map(row).collect()), files)
    }
}

/// Converts a gold row to the devset's row type.
fn typed<G: DeserializeOwned + 'static, P>(
    mut row: Pair<Example, P>,
) -> Result<GoldRow<G>, EvaluateError> {
    let mut example = Some(std::mem::take(&mut row.gold));
    let same = (&mut example as &mut dyn Any).downcast_mut::<Option<G>>();
    let gold = match same.and_then(Option::take) {
        Some(same) => same,
        None => {
            let gold = serde_json::to_value(&example).and_then(serde_json::from_value);
            gold.map_err(|error| {
                let at = row.origin.as_ref().map(|at| format!("{at}: "));
                let at = at.unwrap_or_default();
                EvaluateError::input(format!("{at}cannot read the gold row: {error}"))
            })?
        }
    };
    Ok(changed(row, |_| Arc::new(gold), drop))
}

/// Checks that the row or the run declares inputs. Rows are counted from 1.
fn check_row<G: 'static>(
    row: u64,
    gold: &G,
    of_run: Option<&[String]>,
) -> Result<(), EvaluateError> {
    let declared = as_example(gold).map_or(Ok(()), |example| example.input_names(of_run).map(drop));
    declared.map_err(|error| EvaluateError::setting(format!("row {row}: {error}")))
}

/// Checks a list before its first row is run. Each row must declare its inputs, and each input must be a field of at
/// least one row that declares it.
pub(crate) fn check_rows<'a, G: 'static>(
    rows: impl Iterator<Item = &'a G>,
    of_run: Option<&[String]>,
) -> Result<(), EvaluateError> {
    // Each input with the first row that declares it. An input is removed once a row has it.
    let mut unknown: IndexMap<&str, Option<&Example>> = IndexMap::new();
    for (row, example) in (1..).zip(rows.map_while(as_example)) {
        let names = example.input_names(of_run);
        for name in names.map_err(|error| EvaluateError::setting(format!("row {row}: {error}")))? {
            let first = unknown.entry(name).or_insert(Some(example));
            if example.data.contains_key(name) {
                *first = None;
            }
        }
    }
    let mut unknown = unknown.iter();
    let unknown = unknown.find_map(|(name, row)| Some((*name, (*row)?)));
    unknown.map_or(Ok(()), |(name, row)| {
        let hint = suggest::known_fields("the first row", name, row.keys());
        let name = escape::name(name);
        Err(EvaluateError::setting(format!(
            "no row has the input `{name}`{hint}"
        )))
    })
}
