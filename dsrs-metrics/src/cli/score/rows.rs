//! The rows of a run: opening the files, and rejecting rows that a metric cannot read.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::{FutureExt, Stream, stream};

use crate::cli::args::ScoreArguments;
use crate::cli::error::CliError;
use crate::cli::hint::Hint;
use crate::core::call::MetricCall;
use crate::core::error::{MetricError, MetricErrorKind};
use crate::core::field_error::FieldError;
use crate::core::metric::Metric;
use crate::core::panic::catch;
use crate::core::rows::dynamic::{Example, Prediction};
use crate::core::rows::pair::{Origin, Pair};
use crate::core::spec::Side;
use crate::data::{
    DataError, DataReader, FieldSelection, Format, LentRow, Mapping, Pairing, Pairs, RowVisitor,
};
use crate::evaluate::{ChunkRows, EvaluateError};
use crate::text::suggest::nearest;

/// Opens the files, with the format and the mappings of the options, for these metrics.
pub(super) fn open(args: &ScoreArguments, metrics: &[Arc<dyn Metric>]) -> Result<Pairs, CliError> {
    let mut reader = DataReader::new();
    if let Some(format) = args.format {
        reader = reader.with_format(format.into());
    }
    for (position, mapping) in args.mappings.iter().enumerate() {
        if args.mappings[..position].iter().any(|other| other.field() == mapping.field()) {
            return Err(CliError::DuplicateMapping { field: mapping.field() });
        }
        reader = reader.with_mapping(mapping.clone());
    }
    check_mappings(args, metrics)?;
    if let Some(selection) = selection(args, metrics) {
        reader = reader.with_selection(selection);
    }
    Ok(reader.read(&args.data)?)
}

/// Checks that no mapping has a misspelt field: one that nothing reads, beside a field of a similar name that is read and
/// not mapped. Another mapping that nothing reads has no effect: several runs may share the options.
fn check_mappings(args: &ScoreArguments, metrics: &[Arc<dyn Metric>]) -> Result<(), CliError> {
    let may_read_others = |metric: &Arc<dyn Metric>| !metric.spec().only_fields;
    if args.with_rows || metrics.iter().any(may_read_others) {
        return Ok(());
    }
    let mut read: Vec<(Side, &str)> = Vec::new();
    for metric in metrics {
        read.extend(metric.spec().get_input_spec().map(|(side, field)| (side, field.name)));
    }
    let is_mapped = |side, name: &str| args.mappings.iter().any(|mapping| mapping.sets(side, name));
    for mapping in &args.mappings {
        let Some((side, name)) = mapping.side_and_name() else { continue };
        let field = mapping.field();
        let is_group = args.group.as_deref().is_some_and(|group| group.starts_with(&field));
        if is_group || read.contains(&(side, name)) {
            continue;
        }
        let of_side = read.iter().filter(|(its, _)| *its == side).map(|(_, name)| *name);
        if let Some(meant) = nearest(name, of_side).filter(|meant| !is_mapped(side, meant)) {
            let hint = Hint::DidYouMean(format!("{side}.{meant}"));
            return Err(CliError::UnreadMapping { mapping: mapping.to_string(), field, hint });
        }
    }
    Ok(())
}

/// The fields that the run reads, if others need not be decoded.
fn selection(args: &ScoreArguments, metrics: &[Arc<dyn Metric>]) -> Option<FieldSelection> {
    if args.with_rows || args.journal.is_some() || args.junit.is_some() {
        return None;
    }
    let mut selection = FieldSelection::default();
    for metric in metrics {
        let spec = metric.spec();
        if !spec.only_fields || spec.is_async {
            return None;
        }
        for (side, field) in spec.get_input_spec() {
            selection.add_field(side, field.name, field.required);
        }
    }
    if args.out.is_some() {
        selection.add_attributes();
    }
    if let Some(group) = &args.group {
        selection.add_path(group);
    }
    Some(selection)
}

/// Returns the attributes of the first row and the paths of its fields, to name one in an error; none of a stream.
pub(super) fn groups_of_first_row(args: &ScoreArguments) -> Vec<String> {
    let Some(file) = args.data.first().filter(|file| super::is_regular(file)) else {
        return Vec::new();
    };
    let mut reader = DataReader::new();
    if let Some(format) = args.format {
        reader = reader.with_format(format.into());
    }
    let first = reader.read([file]).ok().and_then(|mut rows| rows.next()?.ok());
    first.map_or_else(Vec::new, |Pair { gold, pred, attributes, .. }| {
        let gold = gold.keys().map(|name| format!("gold.{name}"));
        let pred = pred.keys().map(|name| format!("pred.{name}"));
        attributes.keys().map(str::to_owned).chain(gold).chain(pred).collect()
    })
}

/// Whether several workers can decode the rows: those of JSONL files, for metrics that compute at once. Metrics that wait
/// read row by row, since no row may be paid for that follows an invalid one.
pub(super) fn are_in_chunks(args: &ScoreArguments, metrics: &[Arc<dyn Metric>]) -> bool {
    let format = args.format.map(Format::from);
    let is_lines = |file| format.or_else(|| Format::of(file)) == Some(Format::Jsonl);
    args.data.iter().all(|file| is_lines(file)) && metrics.iter().all(|it| !it.spec().is_async)
}

/// The mappings whose path no row has.
pub(super) struct UnusedMappings {
    pairing: Arc<Pairing>,
    /// Whether the last row was read.
    is_complete: Arc<AtomicBool>,
}

impl UnusedMappings {
    /// Returns the mappings, unless rows are left.
    pub(super) fn find(&self) -> Vec<Mapping> {
        match self.is_complete.load(Ordering::Acquire) {
            true => self.pairing.unused_mappings().cloned().collect(),
            false => Vec::new(),
        }
    }
}

/// Rows, up to the first that a metric cannot read.
pub(super) struct CheckedRows {
    pairs: Pairs,
    check: Arc<RowCheck>,
    is_complete: Arc<AtomicBool>,
}

/// The check of a row before it is scored.
struct RowCheck {
    /// The metrics that must be able to read every row.
    metrics: Vec<Arc<dyn Metric>>,
    mappings: Vec<Mapping>,
}

/// Why there are no more rows.
#[derive(Debug, thiserror::Error)]
pub(super) enum RowError {
    #[error(transparent)]
    Data(#[from] DataError),
    #[error("{at}: {error}{hint}")]
    Unreadable { at: Origin, error: Box<MetricError>, hint: MapHint },
    #[error("panic while reading rows: {0}")]
    Panicked(String),
}

impl CheckedRows {
    pub(super) fn new(pairs: Pairs, metrics: Vec<Arc<dyn Metric>>, mappings: Vec<Mapping>) -> Self {
        let check = Arc::new(RowCheck { metrics, mappings });
        Self { pairs, check, is_complete: Arc::default() }
    }

    pub(super) fn unused_mappings(&self) -> UnusedMappings {
        let is_complete = Arc::clone(&self.is_complete);
        UnusedMappings { pairing: Arc::clone(self.pairs.pairing()), is_complete }
    }

    /// Returns functions that decode and check the rows of a chunk.
    pub(super) fn into_chunks(
        mut self,
    ) -> impl Iterator<Item = impl FnOnce(&mut ChunkRows<'_, Example, Prediction>)> {
        std::iter::from_fn(move || {
            let chunk = self.pairs.next_chunk();
            self.is_complete.store(chunk.is_none(), Ordering::Release);
            let check = Arc::clone(&self.check);
            chunk.map(|chunk| {
                move |rows: &mut ChunkRows<'_, _, _>| {
                    chunk.visit(&mut CheckedChunk { rows, check: &check });
                }
            })
        })
    }
}

/// The rows of a chunk, up to the first that a metric cannot read.
struct CheckedChunk<'c, 's> {
    rows: &'c mut ChunkRows<'s, Example, Prediction>,
    check: &'c RowCheck,
}

impl RowVisitor for CheckedChunk<'_, '_> {
    fn takes_lent(&self) -> bool {
        self.rows.takes_lent()
    }

    /// A row that has scores of all metrics needs no check: each could read it.
    fn lent(&mut self, row: &LentRow) -> bool {
        self.rows.lend(&row.id, &row.at, &row.gold, &row.pred)
    }

    fn own(&mut self, row: Result<Pair, DataError>) -> bool {
        let row = row.map_err(RowError::from).and_then(|pair| self.check.check(pair));
        let is_last = row.is_err();
        self.rows.push(row.map_err(|error| EvaluateError::input(format!("{error:#}"))));
        !is_last
    }
}

impl RowCheck {
    fn check(&self, pair: Pair) -> Result<Pair, RowError> {
        let Some(at) = &pair.origin else {
            return Ok(pair);
        };
        for metric in &self.metrics {
            let metric = &**metric;
            // Reading a field may run code of the metric's author.
            let error = catch(false, || read_error(metric, &pair.gold, &pair.pred));
            let error = error.unwrap_or_else(|panic| Some(panicked(metric, panic.message)));
            if let Some(error) = error {
                let hint = MapHint::of(&error, &self.mappings);
                let (at, error) = (at.clone(), Box::new(error));
                return Err(RowError::Unreadable { at, error, hint });
            }
        }
        Ok(pair)
    }
}

impl Iterator for CheckedRows {
    type Item = Result<Pair, RowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let pair = self.pairs.next();
        self.is_complete.store(pair.is_none(), Ordering::Release);
        pair.map(|pair| pair.map_err(RowError::from).and_then(|pair| self.check.check(pair)))
    }
}

/// Why the metric cannot read the row; `None` if it can.
fn read_error(metric: &dyn Metric, gold: &Example, pred: &Prediction) -> Option<MetricError> {
    if metric.can_evaluate(gold, pred) {
        return None;
    }
    // `can_evaluate` returns no reason. A call returns it before it awaits anything.
    let call = MetricCall::new(gold, pred);
    let error = metric.answer(call).into_future().now_or_never().and_then(Result::err);
    Some(error.unwrap_or_else(|| MetricError::failed(metric.name(), "it cannot evaluate this row")))
}

fn panicked(metric: &dyn Metric, message: String) -> MetricError {
    MetricError::panicked(metric.name(), message)
}

/// What to do about a missing field.
#[derive(Debug)]
pub(super) struct MapHint(Option<String>);

impl MapHint {
    fn of(error: &MetricError, mappings: &[Mapping]) -> Self {
        let MetricErrorKind::Field { side, error: FieldError::Missing { field, .. } } =
            error.kind()
        else {
            return Self(None);
        };
        let mapping = mappings.iter().find(|mapping| mapping.sets(*side, field));
        Self(Some(match mapping {
            Some(mapping) => {
                format!("--map names `{}`, which the row does not have", mapping.path())
            }
            None => format!("if the row has it elsewhere, write --map {side}.{field}=PATH"),
        }))
    }
}

impl fmt::Display for MapHint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_ref().map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}

/// Reads the rows on a separate thread, a few of them ahead.
pub(super) fn read_on_thread(
    rows: impl Iterator<Item = Result<Pair, RowError>> + Send + 'static,
) -> io::Result<impl Stream<Item = Result<Pair, RowError>> + Send + 'static> {
    const AHEAD: usize = 8;
    let (send, receive) = tokio::sync::mpsc::channel(AHEAD);
    let read = move || {
        let result = catch(false, || {
            for row in rows {
                if send.blocking_send(row).is_err() {
                    // The harness has stopped.
                    break;
                }
            }
        });
        if let Err(panic) = result {
            // Without an error, the closed channel would look like the end of the rows.
            let _ = send.blocking_send(Err(RowError::Panicked(panic.message)));
        }
    };
    std::thread::Builder::new().name("rows".to_owned()).spawn(read)?;
    Ok(stream::unfold(receive, |mut receive| async {
        receive.recv().await.map(|row| (row, receive))
    }))
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;

    use super::{RowError, read_on_thread};

    #[test]
    fn a_panic_of_the_reader_is_an_error_and_not_the_end_of_the_rows() {
        let rows = std::iter::from_fn(|| panic!("out of paper"));
        let rows = read_on_thread(rows).unwrap().collect::<Vec<_>>();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let rows = runtime.block_on(rows);
        let messages: Vec<_> =
            rows.iter().map(|row| row.as_ref().map_err(RowError::to_string)).collect();
        assert_eq!(messages.len(), 1);
        assert_eq!(messages[0].as_ref().unwrap_err(), "panic while reading rows: out of paper");
    }
}
