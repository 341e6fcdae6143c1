//! The baseline of an eval: the outcomes of an earlier run, in a file that you commit. With `rescore`, its predictions
//! are scored again with the metrics of this run.
//!
//! The first line has the name of the eval, the manifest of the run, and the number and hash of the other lines. Each
//! of those is a row: its id, a hash of its gold row, and the result of each metric, so a changed row is one changed
//! line in a diff. Gold row and prediction are included only if the eval asks for them.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use indexmap::IndexMap;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::runtime::Runtime;
use twox_hash::XxHash3_128;

use super::figures::complete;
use crate::contract::Pair;
use crate::evaluate::EvaluateBuilder;
use crate::evaluate::manifest::{FORMAT, Manifest, RunManifest};
use crate::evaluate::report::{ResultOutcome, ResultRow, ResultScore};
use crate::json::sorted;
use crate::messages::escape;
use crate::named_files::read_regular;
use crate::results::Results;

/// The version of the format. Version 1 hashed gold rows as JSON.
const VERSION: u32 = 2;

/// The maximum size of a baseline that is read, in bytes.
const MAX_LENGTH: u64 = 256 << 20;

const RESTORE: &str =
    "restore it (for example, with `git checkout`), or remove it and accept a new one";

/// The first line.
#[derive(Serialize, Deserialize)]
struct Header<R = RunManifest> {
    eval: String,
    format: u32,
    rows: u64,
    /// The XXH3 hash of the other lines.
    xxh3: String,
    run: R,
}

/// The line of a row.
#[derive(Serialize)]
struct Line<'a> {
    id: &'a str,
    gold_hash: String,
    scores: IndexMap<&'a String, IndexMap<&'static str, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gold: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pred: Option<Value>,
}

/// A baseline, which contains the outcomes of an earlier run.
#[doc(hidden)]
pub struct Baseline {
    eval: String,
    /// The rows and the manifest of the earlier run.
    pub results: Results,
    /// The hash of the whole file.
    pub(super) hash: String,
}

impl Baseline {
    /// Reads the baseline of an eval. Returns `None` if the file is missing.
    pub(super) fn read(path: &Path, eval: &str) -> Result<Option<Self>, String> {
        let shown = || escape::name(&path.to_string_lossy()).into_owned();
        let unreadable = |reason: String| {
            let path = shown();
            format!("cannot read the baseline `{path}`: {reason}; {RESTORE}")
        };
        let text = match read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(error.to_string())),
        };
        let baseline = Self::parse(path, &text).map_err(unreadable)?;
        if baseline.eval != eval {
            return Err(format!(
                "the baseline `{}` belongs to the eval `{}`, not to `{eval}`; write another path in `baseline = \"..\"`, or remove the file and accept a new one",
                shown(),
                escape::name(&baseline.eval)
            ));
        }
        Ok(Some(baseline))
    }

    pub(super) fn parse(path: &Path, text: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        let header = lines.next().unwrap_or_default();
        let at = |number: usize, reason: &dyn std::fmt::Display| format!("line {number}: {reason}");
        let version: Version = serde_json::from_str(header).map_err(|error| at(1, &error))?;
        if version.format != VERSION {
            return Err(format!(
                "line 1: expected the format version {VERSION}, found {}; run the version of dsrs-metrics that wrote it, or remove the file and accept a new one",
                version.format
            ));
        }
        let header: Header = serde_json::from_str(header).map_err(|error| at(1, &error))?;
        let mut results = Results::new(path.to_string_lossy().into_owned());
        for (number, line) in lines.clone().enumerate() {
            let at = |reason: &dyn std::fmt::Display| at(number + 2, reason);
            let mut row = ResultRow::of_json(line).map_err(|error| at(&error))?;
            row.gold_hash = row.gold_hash.filter(|hash| *hash != 0);
            results.add(*row).map_err(|error| at(&error))?;
        }
        let rows = results.rows().len() as u64;
        let stated = header.rows;
        if rows != stated {
            return Err(format!(
                "line 1 states {stated} rows, but the file has {rows}"
            ));
        }
        if hash(lines) != header.xxh3 {
            return Err("a row was changed after the file was written".to_owned());
        }
        let run = header.run;
        results = results.with_failure_score(run.failure_score);
        results.set_manifest(Manifest {
            format: FORMAT,
            run,
            process: None,
            file: None,
        });
        let hash = hash(text.lines());
        Ok(Self {
            eval: header.eval,
            results,
            hash,
        })
    }

    /// Returns the content of the file for the results of a run.
    pub(super) fn render(
        eval: &str,
        results: &Results,
        has_rows: bool,
    ) -> serde_json::Result<String> {
        let mut rows = String::new();
        for row in results.rows() {
            let line = serde_json::to_string(&Line::of(row, has_rows)?)?;
            // Writing to a `String` cannot fail.
            let _ = writeln!(rows, "{line}");
        }
        let run = results.manifest().map(|manifest| {
            let mut run = manifest.run.clone();
            // The features depend on the other packages that cargo builds at the same time.
            run.library.features.clear();
            run
        });
        let header = Header {
            eval: eval.to_owned(),
            format: VERSION,
            rows: results.rows().len() as u64,
            xxh3: hash(rows.lines()),
            run,
        };
        // Sorted, because the order of keys also depends on features.
        let header = sorted(&serde_json::to_value(&header)?);
        Ok(format!("{header}\n{rows}"))
    }

    /// Returns the ids of the rows whose gold row differs from the one in these results.
    pub(super) fn changed_gold<'a>(&self, results: &'a Results) -> Vec<&'a str> {
        let is_changed = |row: &&ResultRow| {
            let old = self.results.row(&row.id);
            old.is_some_and(|old| old.gold_hash != row.gold_hash)
        };
        let changed = results.rows().iter().filter(is_changed);
        changed.map(|row| &*row.id).collect()
    }

    /// Returns `true` if this content and the file have the same lines.
    pub(super) fn is_same(&self, content: &str) -> bool {
        hash(content.lines()) == self.hash
    }
}

#[derive(Deserialize)]
struct Version {
    format: u32,
}

/// The keys of a score that determine whether two runs are equal.
const SCORE_KEYS: [&str; 5] = ["outcome", "value", "passed", "is_share", "corpus"];

impl<'a> Line<'a> {
    fn of(row: &'a ResultRow, has_rows: bool) -> serde_json::Result<Self> {
        let score = |(name, score): (&'a String, &ResultScore)| {
            let written = serde_json::to_value(score)?;
            // For a row with a score, the score says everything, even if the row also contributes to a corpus score.
            let has_corpus = score.outcome == ResultOutcome::Counted;
            let keys = SCORE_KEYS
                .into_iter()
                .filter(|key| has_corpus || *key != "corpus");
            let values = keys.filter_map(|key| Some((key, written.get(key)?.clone())));
            Ok((name, values.filter(|(_, it)| !it.is_null()).collect()))
        };
        let scores = row.scores.iter().map(score);
        Ok(Self {
            id: &row.id,
            gold_hash: format!("{:016x}", row.gold_hash.unwrap_or_default()),
            scores: scores.collect::<serde_json::Result<_>>()?,
            gold: row.gold.as_ref().filter(|_| has_rows).map(sorted),
            pred: row.pred.as_ref().filter(|_| has_rows).map(sorted),
        })
    }
}

/// Hashes lines, regardless of their line endings.
fn hash<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let mut hash = XxHash3_128::new();
    for line in lines {
        hash.write(line.as_bytes());
        hash.write(b"\n");
    }
    format!("{:032x}", hash.finish_128())
}

fn read(path: &Path) -> io::Result<String> {
    let length = fs::metadata(path)?.len();
    if length > MAX_LENGTH {
        let reason = format!("expected at most {MAX_LENGTH} bytes, found {length}");
        return Err(io::Error::other(reason));
    }
    read_regular(path)
}

/// Scores the predictions of a baseline again with the metrics that call no model. Returns lines about the metrics.
pub(super) type Rescore<G, P> =
    fn(EvaluateBuilder<G, P>, &mut Baseline, &Runtime) -> Result<Vec<String>, String>;

/// See [`Rescore`].
pub(super) fn rescore<G, P>(
    evaluate: EvaluateBuilder<G, P>,
    baseline: &mut Baseline,
    runtime: &Runtime,
) -> Result<Vec<String>, String>
where
    G: Serialize + DeserializeOwned + Send + Sync + 'static,
    P: Serialize + DeserializeOwned + Send + Sync + 'static,
{
    let failed = |reason: String| {
        format!(
            "the baseline cannot be rescored: {reason}; accept a new baseline, or remove `rescore`"
        )
    };
    let (evaluate, with_models) = evaluate.without_models();
    let kept = with_models.iter().map(|metric| {
        let metric = escape::name(metric);
        format!("baseline not rescored: {metric} calls a model, so it keeps its scores")
    });
    let mut lines: Vec<String> = kept.collect();
    let pairs = baseline.results.rows().iter().filter_map(pair);
    let pairs: Result<Vec<Pair<G, P>>, String> = pairs.collect();
    let pairs = pairs.map_err(failed)?;
    if pairs.is_empty() {
        return Err(failed("it has no predictions".to_owned()));
    }
    if evaluate.metric_specs().is_empty() {
        return Ok(lines);
    }
    let result = runtime.block_on(evaluate.score(pairs));
    let result = result.map_err(|error| failed(error.to_string()))?;
    complete(&result).map_err(failed)?;
    let scored = Results::of(&result).map_err(|error| failed(error.to_string()))?;
    let rescored = baseline.results.rescored(&scored);
    let rescored = rescored.map_err(|error| failed(error.to_string()))?;
    let names = escape::names(result.metric_names());
    lines.push(format!("baseline rescored with the new code: {names}"));
    baseline.results = rescored;
    Ok(lines)
}

/// Returns the row's gold row and prediction, or `None` if its program failed.
fn pair<G: DeserializeOwned, P: DeserializeOwned>(
    row: &ResultRow,
) -> Option<Result<Pair<G, P>, String>> {
    let (gold, pred) = (row.gold.as_ref()?, row.pred.as_ref()?);
    let gold = typed(row, "gold row", gold);
    Some(gold.and_then(|gold| Ok(Pair::new(&*row.id, gold, typed(row, "prediction", pred)?))))
}

fn typed<T: DeserializeOwned>(row: &ResultRow, what: &str, value: &Value) -> Result<T, String> {
    T::deserialize(value).map_err(|error| {
        let id = escape::name(&row.id);
        format!("cannot read the {what} of `{id}`: {error}")
    })
}
