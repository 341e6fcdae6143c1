//! `--score NAME=PATH`: reads any column or path of a file as scores that another program computed. The file is
//! converted to a result file, whose manifest says where the scores come from.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

use clap::Args;
use indexmap::{IndexMap, IndexSet};
use serde_json::Value;

use super::args::FileArguments;
use super::output::{Result, err, print_error};
use crate::agreement::verdict_word;
use crate::contract::{
    Direction, MetricError, MetricIdentity, MetricScore, MetricSpec, Outcome, Scored, Side,
};
use crate::data::{Format, Mapping, ObjectRow};
use crate::json::read::is_not_finite;
use crate::json::{found, text};
use crate::messages::escape;
use crate::messages::suggest::known_names;
use crate::results::{ForeignRow, ForeignRun, RowAttempt, parse_cell, write_foreign_rows};

/// A score in a column: `NAME=PATH[:higher|:lower][:MIN..MAX]`.
#[derive(Debug, Clone)]
pub(crate) struct OwnScore {
    name: String,
    path: String,
    direction: Direction,
    range: Option<[f64; 2]>,
}

impl FromStr for OwnScore {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "expected NAME=PATH, with :lower if lower is better and the range if there is one, as in faithfulness=faithfulness:0..1";
        let (name, mut path) = text.split_once('=').ok_or(EXPECTED)?;
        let (mut direction, mut range) = (Direction::HigherIsBetter, None);
        while let Some((before, last)) = path.rsplit_once(':') {
            match (last, of_range(last)) {
                ("higher", _) => direction = Direction::HigherIsBetter,
                ("lower", _) => direction = Direction::LowerIsBetter,
                (_, Some(found)) => range = Some(found),
                _ => break,
            }
            path = before;
        }
        let is_name = !name.is_empty() && !name.contains(['.', ',']);
        if !is_name || path.is_empty() {
            return Err(EXPECTED);
        }
        Ok(Self {
            name: name.to_owned(),
            path: path.to_owned(),
            direction,
            range,
        })
    }
}

/// Parses `MIN..MAX`.
fn of_range(text: &str) -> Option<[f64; 2]> {
    let (min, max) = text.split_once("..")?;
    let range = [min.parse().ok()?, max.parse().ok()?];
    (range[0] < range[1]).then_some(range)
}

/// Options for commands that read scores from other programs.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct OwnScoreArguments {
    /// Read this column or path of the rows as a score that another program computed, e.g. faithfulness=faithfulness,
    /// cost=usage.cost:lower or stars=rating:1..5. By default, higher is better. The files can then contain rows in any
    /// format, or be folders of such files; a row without a value has no score
    #[arg(long = "score", value_name = "NAME=PATH[:lower][:MIN..MAX]")]
    pub(crate) scores: Vec<OwnScore>,
    /// With --score, the columns that form the id, e.g. id=question or id=task,language, and the column that numbers
    /// several samples with the same id, e.g. repeat=trial
    #[arg(long = "map", value_name = "id=PATH", requires = "scores", value_parser = id_or_repeat)]
    pub(crate) mappings: Vec<Mapping>,
    #[command(flatten)]
    pub(crate) files: FileArguments,
}

/// Parses a mapping for the id or the repeat.
fn id_or_repeat(text: &str) -> Result<Mapping, &'static str> {
    let is_known = |it: &Mapping| matches!(&*it.field(), "id" | "repeat");
    let mapping = text.parse().ok().filter(is_known);
    mapping.ok_or("expected id=PATH or repeat=PATH, as in id=question")
}

/// Rows by id, in the order of the file.
type Rows = IndexMap<String, ForeignRow>;

impl OwnScoreArguments {
    /// Returns `true` if the user named any score.
    ///
    /// # Errors
    /// Returns an error if options are set that apply only to files with scores.
    pub(crate) fn is_set(&self) -> Result<bool> {
        let is_set = !self.scores.is_empty();
        self.files.check(is_set, "--score NAME=PATH")?;
        Ok(is_set)
    }

    /// Writes the rows of a file, or of the files in a folder, with their scores as a result file. Rows without ids of
    /// their own get their numbers as ids, unless they are compared by id.
    pub(crate) fn convert(&self, name: &Path, out: &Path, needs_ids: bool) -> Result<()> {
        let files =
            Format::files_in(name).map_err(|reason| err!("{}: {reason}", name.display()))?;
        let (mut rows, mut columns) = (Rows::new(), IndexSet::new());
        let mut missing: Vec<&OwnScore> = self.scores.iter().collect();
        for file in &files {
            let objects = self.files.reader().read_objects(file)?;
            if let Some(note) = objects.note() {
                print_error(format_args!("note: {note}"));
            }
            for row in objects {
                let row = row?;
                columns.extend(row.keys().map(str::to_owned));
                missing.retain(|score| row.find(&score.path).is_none());
                self.add(&row, &mut rows, needs_ids)?;
            }
        }
        if let Some(score) = missing.first() {
            let known = known_names(&score.path, columns.iter().map(String::as_str));
            let (file, path) = (name.display(), escape::name(&score.path));
            let score = escape::name(&score.name);
            return Err(err!("{file}: --score {score}: no row has `{path}`{known}"));
        }
        let repeats = rows.values().map(|row| row.attempts.len()).max();
        let repeats = repeats.filter(|count| *count > 1);
        let metrics = self.scores.iter();
        let run = ForeignRun {
            label: name.file_stem().map(|it| it.to_string_lossy().into_owned()),
            metrics: metrics.map(|it| (it.name.clone(), it.identity())).collect(),
            repeats: repeats.and_then(|it| u32::try_from(it).ok()),
            ..ForeignRun::default()
        };
        Ok(write_foreign_rows(out, rows.into_values().collect(), run)?)
    }

    /// Adds a row, or one sample of a row.
    fn add(&self, row: &ObjectRow, rows: &mut Rows, needs_ids: bool) -> Result<()> {
        let mapping = self.mappings.iter().find(|it| it.field() == "id");
        let id = id_of(row, mapping, needs_ids)?;
        let outcomes = self.scores.iter();
        let outcomes = outcomes.map(|it| Ok((it.name.clone(), it.outcome(row)?)));
        let attempt = RowAttempt {
            pred: row.side(Side::Pred),
            outcomes: outcomes.collect::<Result<_>>()?,
            ..RowAttempt::default()
        };
        let has_repeats = self.mappings.iter().any(|it| it.field() == "repeat");
        if let Some(first) = rows.get_mut(&id) {
            if !has_repeats {
                return Err(err!(
                    "{}: duplicate id `{}`; pass --map id=COLUMN,COLUMN if the id spans several columns, or --map repeat=COLUMN if the rows are samples of the same id",
                    row.at,
                    escape::name(&id)
                ));
            }
            first.attempts.push(attempt);
            return Ok(());
        }
        let value = |key: &str| Some((key.to_owned(), value_at(row, key)?));
        let has_id = row.has_id || mapping.is_some();
        let foreign = ForeignRow {
            id: id.clone(),
            is_positional: !has_id,
            gold: row.side(Side::Gold).unwrap_or_default(),
            attributes: row.keys().filter_map(value).collect(),
            attempts: vec![attempt],
        };
        rows.insert(id, foreign);
        Ok(())
    }
}

/// Returns a row's id: its own, or the mapping's value. The row's position can be the id only if no other file must
/// have the same ids.
pub(crate) fn id_of(row: &ObjectRow, mapping: Option<&Mapping>, is_needed: bool) -> Result<String> {
    let id = match mapping {
        Some(mapping) => row.mapped(mapping).and_then(text),
        None => Some(row.id.clone()).filter(|_| row.has_id || !is_needed),
    };
    id.filter(|id| !id.is_empty()).ok_or_else(|| {
        let path = escape::name(mapping.map_or("id", Mapping::path));
        let keys: Vec<&str> = row.keys().collect();
        let (at, keys) = (&row.at, escape::names(keys.into_iter()));
        err!("{at}: expected an id at `{path}`, found a row with {keys}; pass --map id=COLUMN, with a column that identifies the row in both files")
    })
}

impl OwnScore {
    /// Returns the identity of a score whose computation is unknown: its name, direction, range and path.
    fn identity(&self) -> MetricIdentity {
        let mut spec = MetricSpec::new(&self.name).with_direction(self.direction);
        if let Some([min, max]) = self.range {
            spec = spec.with_range(min, max);
        }
        let parameters = [("computed", "elsewhere"), ("path", &*self.path)];
        let parameters = parameters.map(|(key, value)| (key.to_owned(), value.to_owned()));
        MetricIdentity::of_other_program(&spec, BTreeMap::from(parameters))
    }

    /// Returns a row's outcome: a score or a verdict, no score for null or an empty cell, and a failure for NaN.
    fn outcome(&self, row: &ObjectRow) -> Result<Outcome> {
        let value = value_at(row, &self.path).unwrap_or_default();
        let scored = |value: f64, passed: Option<bool>| {
            let score = MetricScore::new(value);
            Outcome::Scored(Scored::of_other_program(score, passed, Default::default()))
        };
        let verdict = |passed: bool| scored(f64::from(u8::from(passed)), Some(passed));
        let failed = |found: &str| {
            let reason = format_args!("the score is {found}, not a number");
            Ok(Outcome::from(MetricError::failed(&self.name, reason)))
        };
        let (at, name, path) = (&row.at, escape::name(&self.name), escape::name(&self.path));
        match &value {
            Value::Null if row.has_nan => failed("null or NaN"),
            Value::Null => Ok(Outcome::Abstained),
            Value::Bool(passed) => Ok(verdict(*passed)),
            Value::Number(number) => {
                let score = number.as_f64().unwrap_or_default();
                match self.range {
                    Some([min, max]) if score < min || score > max => Err(err!(
                        "{at}: `{path}`: expected a score in [{min}, {max}], the range of --score {name}, found {score}; fix the row, or correct the range"
                    )),
                    _ => Ok(scored(score, None)),
                }
            }
            Value::String(word) if is_not_finite(word) => failed(word),
            other => match other.as_str().and_then(verdict_word) {
                Some(passed) => Ok(verdict(passed)),
                None => Err(err!(
                    "{at}: --score {name}: expected a number, true or false, or a verdict such as pass or fail at `{path}`, found {}; name the path of the score, as in {path}.PATH",
                    found(other)
                )),
            },
        }
    }
}

/// Returns the value at a path. If it is a CSV cell, it is parsed.
fn value_at(row: &ObjectRow, path: &str) -> Option<Value> {
    let value = row.find(path)?;
    Some(match row.textual {
        true => parse_cell(&value),
        false => value.into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::{Direction, OwnScore};

    #[test]
    fn a_score_has_a_path_a_direction_and_a_range() {
        let of = |text: &str| text.parse::<OwnScore>();
        let score = of("cost=usage:eur.total:lower:0..2.5").unwrap();
        assert_eq!((&*score.name, &*score.path), ("cost", "usage:eur.total"));
        assert_eq!(
            (score.direction, score.range),
            (Direction::LowerIsBetter, Some([0.0, 2.5]))
        );
        let score = of("f=metrics.f:-1..1").unwrap();
        assert_eq!(
            (score.direction, score.range),
            (Direction::HigherIsBetter, Some([-1.0, 1.0]))
        );
        for wrong in ["f", "=x", "f=", "f=:lower", "a.b=x", "f=:0..1"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
