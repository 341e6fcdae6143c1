//! Determines what a run scores: its metrics with their parameters, and its rows.

use std::sync::Arc;

use indexmap::IndexMap;

use super::{Run, limits};
use crate::args::{Param, ScoreArguments};
use crate::contract::{Example, FieldError, Metric, MetricErrorKind, Params, Prediction, Side};
use crate::data::{DataReader, Pairs, Samples, guess_mappings};
use crate::evaluate::{EvaluateBuilder, EvaluateError, EvaluateErrorKind};
use crate::files::is_regular;
use crate::messages::escape;
use crate::messages::suggest::{did_you_mean, nearest};
use crate::metrics::registry::{Entry, Registry};
use crate::options::set;
use crate::output::{CliError, Result, err, of_metric};

/// The builder for evaluating rows from files.
pub(super) type Builder = EvaluateBuilder<Example, Prediction>;

/// Returns the names of the run's metrics. The metric that judges a sample comes last.
pub(super) fn names(args: &ScoreArguments) -> impl Iterator<Item = &str> {
    args.metrics
        .iter()
        .chain(&args.truth)
        .map(|name| name.trim())
}

/// Creates the metrics in the order of the options, and checks that `--param` and `--fail-under` name only these
/// metrics.
pub(crate) fn configure(
    registry: &Registry,
    args: &ScoreArguments,
) -> Result<Vec<Arc<dyn Metric>>> {
    let mut selected = IndexMap::new();
    for name in names(args) {
        let entry = registry.find(name).map_err(of_metric)?;
        if selected.insert(name, (entry, Params::default())).is_some() {
            return Err(err!("duplicate metric `{name}`; list it once"));
        }
    }
    let unknown = |name: &str, option: &str| {
        let hint = did_you_mean(name, names(args));
        let hint = hint.as_deref().unwrap_or("; add it with -m");
        err!("{option}: `{name}` is not a metric in this run{hint}")
    };
    for param in &args.params {
        let Param { metric, key, value } = param;
        let Some((_, params)) = selected.get_mut(&**metric) else {
            return Err(unknown(metric, &format!("--param {metric}.{key}")));
        };
        if params.has(key) {
            return Err(err!("--param {metric}.{key}: set twice; set it once"));
        }
        params.insert(key, value);
    }
    let create = |(entry, params): &(&Entry, Params)| entry.create(params).map_err(of_metric);
    let metrics = selected.values().map(create).collect::<Result<Vec<_>>>()?;
    for threshold in &args.fail_under {
        let Some(place) = selected.get_index_of(threshold.metric()) else {
            let name = &threshold.name;
            return Err(unknown(name, &format!("--fail-under {name}")));
        };
        limits::check(threshold, &metrics[place].spec(), args.failure_score)?;
    }
    Ok(metrics)
}

/// Returns a reader configured by the options, without mappings.
fn reader(args: &ScoreArguments) -> DataReader {
    let mut reader = args.files.reader();
    if let Some(gold) = &args.gold {
        let missing = args.missing.unwrap_or_default();
        reader = reader.with_gold(gold).with_missing(missing);
    }
    for conversion in args.split.iter().chain(&args.decimal_comma) {
        reader = reader.with_conversion(conversion.clone());
    }
    set(reader, args.join.clone(), DataReader::with_join)
}

/// Returns `true` if `--map` maps this field.
pub(super) fn maps(args: &ScoreArguments, field: &str) -> bool {
    args.mappings.iter().any(|mapping| mapping.field() == field)
}

impl Run<'_> {
    /// Opens the files for these metrics, with the format and mappings from the options.
    pub(super) fn open(&self) -> Result<Pairs> {
        let args = self.args;
        let mut reader = reader(args);
        for (position, mapping) in args.mappings.iter().enumerate() {
            let (field, before) = (mapping.field(), &args.mappings[..position]);
            if before.iter().any(|other| other.field() == field) {
                return Err(err!("--map: duplicate mapping of `{field}`; keep one"));
            }
            reader = reader.with_mapping(mapping.clone());
        }
        self.check_mappings()?;
        Ok(reader.read_named(self.inputs.iter().copied())?)
    }

    /// Reads the rows' samples, which `--map repeat=..` numbers.
    pub(super) fn samples(&self, rows: Pairs) -> Result<Samples> {
        if self.args.repeats.is_some() {
            return Err(err!(
                "--repeats: the files already have several samples per row (--map repeat=..); pass only one of the two options"
            ));
        }
        Ok(rows.for_metrics(&self.metrics).into_samples()?)
    }

    /// Checks that no mapping has a misspelt field. A field counts as misspelt if nothing reads it, while a field with
    /// a similar name is read but not mapped. Other unused mappings are allowed, because several runs can share the
    /// options.
    fn check_mappings(&self) -> Result<()> {
        let (args, metrics) = (self.args, &self.metrics);
        let may_read_others = |metric: &Arc<dyn Metric>| !metric.spec().only_fields;
        if args.with_rows || args.group.is_some() || metrics.iter().any(may_read_others) {
            return Ok(());
        }
        let fields = |metric: &Arc<dyn Metric>| {
            let spec = metric.spec();
            let fields = spec.get_input_spec();
            Vec::from_iter(fields.map(|(side, field)| format!("{side}.{}", field.name)))
        };
        let read: Vec<String> = metrics.iter().flat_map(fields).collect();
        for (mapping, field) in args.mappings.iter().map(|it| (it, it.field())) {
            let Some((side, name)) = field.split_once('.').filter(|_| !read.contains(&field))
            else {
                continue;
            };
            let of_side = read
                .iter()
                .filter_map(|it| it.strip_prefix(side)?.strip_prefix('.'));
            let meant = nearest(name, of_side).map(|name| format!("{side}.{name}"));
            if let Some(meant) = meant.filter(|meant| !maps(args, meant)) {
                return Err(err!(
                    "--map {mapping}: no metric in this run reads `{field}`; did you mean `{meant}`?"
                ));
            }
        }
        Ok(())
    }

    /// Adds advice about a missing field to an error.
    pub(super) fn with_hint(&self, error: EvaluateError) -> CliError {
        if error.kind() == EvaluateErrorKind::DuplicateId && maps(self.args, "id") {
            return err!(
                "{error}; if they are samples of the same row, pass --map repeat=COLUMN; otherwise pass --map id=COLUMN,COLUMN"
            );
        }
        let Some(metric) = error.unreadable_row() else {
            return error.into();
        };
        let MetricErrorKind::Field {
            side,
            error: FieldError::Missing { field, .. },
        } = metric.kind()
        else {
            return error.into();
        };
        let field = (*side, &**field);
        let hint = self.elsewhere(field, "the row does not have", "the row has it");
        err!("{error}; {hint}")
    }

    /// Says where to look for a missing field.
    pub(super) fn elsewhere(&self, (side, name): (Side, &str), lack: &str, has: &str) -> String {
        let mut mappings = self.args.mappings.iter();
        match mappings.find(|mapping| mapping.sets(side, name)) {
            Some(mapping) => format!("--map names `{}`, which {lack}", mapping.path()),
            None => {
                let suggested = self.suggested(&format!("{side}.{}", escape::name(name)));
                format!("if {has} elsewhere, pass {suggested}")
            }
        }
    }

    /// Returns the mapping to write for a field. If the first row has a column with a similar name, the mapping uses
    /// that column.
    fn suggested(&self, field: &str) -> String {
        let columns = self.columns_of_first_row();
        let is_mapped = |column: &str| self.args.mappings.iter().any(|it| it.path() == column);
        let is_free = |column: &&str| *column != field && !is_mapped(column);
        let free = columns.iter().map(String::as_str).filter(is_free);
        let mut guesses = guess_mappings([field], free).into_iter();
        guesses
            .next()
            .unwrap_or_else(|| format!("--map {field}=PATH"))
    }

    /// Returns the first row's attributes and the paths of its fields, to suggest one in an error message. The result
    /// is empty for a stream.
    pub(super) fn columns_of_first_row(&self) -> Vec<String> {
        let args = self.args;
        let first = || {
            let file = self.inputs.first().filter(|file| is_regular(file.path))?;
            let mappings = args.mappings.iter().cloned();
            let reader = mappings.fold(reader(args), DataReader::with_mapping);
            reader.read_named([*file]).ok()?.next()?.ok()
        };
        let Some(first) = first() else {
            return Vec::new();
        };
        let gold = first.gold.keys().map(|name| format!("gold.{name}"));
        let pred = first.pred.keys().map(|name| format!("pred.{name}"));
        let attributes = first.attributes.keys().map(str::to_owned);
        let is_of_row = |column: &String| args.mappings.iter().all(|it| it.field() != *column);
        attributes
            .chain(gold.chain(pred).filter(is_of_row))
            .collect()
    }
}
