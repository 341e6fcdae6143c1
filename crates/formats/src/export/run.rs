//! The run to export: its rows and figures, facts about it, and the texts in each row.

use std::collections::BTreeMap;
use std::fs;
use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use indexmap::IndexMap;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use uuid::Builder;

use crate::FormatError;
use crate::contract::score::OFFLINE_JUDGE;
use crate::contract::{Direction, MetricIdentity, ScoreKind};
use crate::import::as_string;
pub(super) use crate::import::{fields, present};
use crate::messages::hash;
use crate::results::{
    Comparison, MetricFigures, ResultOutcome, ResultRow, ResultsError, RunManifest, manifest_of,
    read_rows,
};
use crate::trajectory::Trajectory;

/// The tags and fields that the caller specified.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    pub(super) tags: BTreeMap<String, String>,
    pub(super) input: Option<String>,
    pub(super) target: Option<String>,
    pub(super) output: Option<String>,
}

/// A result file, its figures, and the settings of its export.
pub(super) struct ExportedRun<'a> {
    pub(super) file: &'a Path,
    settings: &'a Settings,
    /// The run's description in the manifest, with the caller's tags. Empty if there is no manifest.
    pub(super) manifest: RunManifest,
    #[cfg(feature = "inspect")]
    pub(super) rows: u64,
    /// Each metric's figures over all rows, in the order of the file.
    pub(super) metrics: IndexMap<String, MetricFigures>,
    /// The time when the run ended, or if that is unknown, when the file was written.
    pub(super) ended: SystemTime,
    /// The time when the run started, if the manifest contains it.
    pub(super) started: Option<SystemTime>,
    /// The run's identifier: the hash of the file, taken from its manifest if there is one.
    id: String,
}

impl<'a> ExportedRun<'a> {
    /// Reads the scores in the file.
    pub(super) fn read(file: &'a Path, settings: &'a Settings) -> Result<Self, FormatError> {
        if file.as_os_str() == "-" {
            return Err(FormatError::new(
                "--to: expected a result file, found standard input, which cannot be read more than once; save it to a file",
            ));
        }
        let manifest = manifest_of(file, None).map_err(ResultsError::from)?;
        let group = manifest.and_then(|manifest| manifest.ok()?.run.group);
        let mut columns = Comparison::builder();
        if let Some(group) = group {
            columns = columns.group(group);
        }
        let scores = columns.read(file)?;
        let figures = |name: &str| (name.to_owned(), scores.figures(name));
        let manifest = scores.manifest();
        let process = manifest.and_then(|manifest| manifest.process.as_ref());
        let started = process.and_then(|it| humantime::parse_rfc3339(&it.started).ok());
        let duration = process.and_then(|it| Duration::try_from_secs_f64(it.duration_s).ok());
        let ended = started.and_then(|started| started.checked_add(duration?));
        let unreadable = |reason: std::io::Error| {
            FormatError::at(file, format_args!("cannot be read: {reason}"))
        };
        let written = || fs::metadata(file).and_then(|found| found.modified());
        let described = manifest.and_then(|manifest| manifest.file.as_ref());
        let hash = || File::open(file).and_then(hash::of_reader);
        let id = described.map_or_else(hash, |described| Ok(described.xxh3.clone()));
        let mut manifest = manifest.map_or_else(unknown, |manifest| manifest.run.clone());
        manifest.tags.extend(settings.tags.clone());
        Ok(Self {
            file,
            settings,
            manifest,
            #[cfg(feature = "inspect")]
            rows: scores.row_count(),
            metrics: scores.metrics().map(figures).collect(),
            ended: ended.map_or_else(written, Ok).map_err(unreadable)?,
            started,
            id: id.map_err(unreadable)?,
        })
    }

    /// Returns `true` if the metric's scores are pass or fail.
    pub(super) fn is_verdict(&self, metric: &str) -> bool {
        self.metrics
            .get(metric)
            .is_some_and(|figures| figures.kind == ScoreKind::Bool)
    }

    /// Returns the caller's tag with this name, or else the run's.
    pub(super) fn tag(&self, name: &str) -> Option<&str> {
        let tag = self.manifest.tags.get(name).map(String::as_str);
        tag.filter(|value| !value.is_empty())
    }

    /// Returns the name of the scored data: the tag, otherwise the file names without folder and extension, otherwise
    /// the name of the result file.
    pub(super) fn dataset(&self) -> String {
        if let Some(dataset) = self.tag("dataset") {
            return dataset.to_owned();
        }
        let files = self.manifest.data.iter();
        let names: Vec<String> = files.map(|file| stem(Path::new(&file.name))).collect();
        match &*names {
            [] => stem(self.file),
            names => names.join("+"),
        }
    }

    pub(super) fn identity(&self, metric: &str) -> Option<&MetricIdentity> {
        self.manifest.metrics.get(metric)
    }

    /// Returns the parameters of a metric.
    #[cfg(feature = "inspect")]
    pub(super) fn parameters(&self, metric: &str) -> BTreeMap<String, String> {
        let identity = self.identity(metric).map(MetricIdentity::parameters);
        identity.cloned().unwrap_or_default()
    }

    pub(super) fn is_lower_better(&self, metric: &str) -> bool {
        let direction = self.identity(metric).map(MetricIdentity::direction);
        direction == Some(Direction::LowerIsBetter)
    }

    pub(super) fn annotator(&self, metric: &str) -> Annotator<'_> {
        let models = self.identity(metric).map(MetricIdentity::models);
        match models.unwrap_or_default() {
            [] => Annotator::Code,
            models if models.iter().all(|model| model == OFFLINE_JUDGE) => Annotator::OfflineJudge,
            models => Annotator::Models(models),
        }
    }

    /// Returns an id that is the same every time the same run is exported: a UUID with a hash instead of random bits.
    pub(super) fn uuid(&self, parts: &[&str]) -> String {
        let bits = self.hash(parts);
        let uuid = Builder::from_random_bytes(std::array::from_fn(|place| bits[place]));
        uuid.into_uuid().to_string()
    }

    /// Returns a hash of the run and these parts.
    pub(super) fn hash(&self, parts: &[&str]) -> [u8; 32] {
        let mut hash = Sha256::new();
        for part in [&[&*self.id], parts].concat() {
            // Lengths separate the parts.
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hash.finalize().into()
    }

    /// Calls a function with each row, in the order of the file.
    pub(super) fn each_row(
        &self,
        mut each: impl FnMut(&ResultRow) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        read_rows(self.file, |row, _| each(row))?;
        Ok(())
    }
}

/// Returns what is known about a run that has no manifest.
fn unknown() -> RunManifest {
    let mut run = RunManifest::default();
    run.ending = "complete".to_owned();
    run.library.version = "unknown".to_owned();
    run
}

/// The number of results that a format cannot contain, by outcome.
#[derive(Default)]
pub(super) struct LeftOut(IndexMap<&'static str, u64>);

impl LeftOut {
    pub(super) fn add(&mut self, outcome: ResultOutcome) {
        *self.0.entry(outcome.name()).or_default() += 1;
    }

    /// Returns a note such as `results without a score are not in the output: 2 abstained, 1 gated`.
    pub(super) fn note(&self) -> Option<String> {
        let each = self.0.iter().map(|(name, count)| format!("{count} {name}"));
        let mut each: Vec<String> = each.collect();
        each.sort_unstable();
        (!each.is_empty()).then(|| {
            let each = each.join(", ");
            format!("results without a score are not in the output: {each}")
        })
    }
}

/// The kind of evaluator that computed a score.
pub(super) enum Annotator<'a> {
    /// A formula, without a model.
    Code,
    /// The offline stand-in for a judge.
    OfflineJudge,
    /// Language models, each given by its id and endpoint.
    Models(&'a [String]),
}

/// Returns a file's name without its folder and extension.
pub(super) fn stem(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// Returns the time that has passed since 1970.
pub(super) fn since_1970(time: SystemTime) -> Duration {
    time.duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Returns the program's token usage, if both numbers are known.
pub(super) fn token_usage(row: &ResultRow) -> Option<Value> {
    let (input, output) = row.input_tokens.zip(row.output_tokens)?;
    Some(json!({
        "input_tokens": input, "output_tokens": output, "total_tokens": input.saturating_add(output),
    }))
}

/// A row of the run in the form that other programs use.
pub(super) struct Sample {
    pub(super) input: String,
    /// The expected answers. There are several if the field is a list.
    pub(super) target: Vec<String>,
    /// The program's answer, or `None` if the program failed or the file does not contain predictions.
    pub(super) output: Option<String>,
    /// The agent's trajectory, if the prediction contains one.
    pub(super) trajectory: Option<Trajectory>,
}

impl Sample {
    pub(super) fn of(row: &ResultRow, run: &ExportedRun<'_>) -> Result<Self, FormatError> {
        let settings = run.settings;
        let named = |option: &str, field: &Option<String>| match field {
            None => Ok(None),
            Some(field) => match row.field(field) {
                Some(value) => Ok(Some(value)),
                None => Err(FormatError::new(format_args!(
                    "{}: --{option}: missing field `{field}`; write the name of an attribute, gold.FIELD or pred.FIELD",
                    row.at()
                ))),
            },
        };
        let first = |fields: &[&str]| fields.iter().find_map(|field| row.field(field));
        let input = named("input", &settings.input)?;
        let input = input.or_else(|| first(&["gold.input", "gold.question"]));
        let input = input.or(row.gold.as_ref());
        let target = named("target", &settings.target)?;
        let target = target.or_else(|| first(&["gold.target", "gold.answer"]));
        let target = match target {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(values)) => values.iter().map(as_string).collect(),
            Some(value) => vec![as_string(value)],
        };
        let output = match &row.pred {
            None => None,
            Some(pred) => {
                let output = named("output", &settings.output)?;
                let output = output.or_else(|| first(&["pred.answer"]));
                Some(as_string(output.unwrap_or(pred)))
            }
        };
        let trajectory = row
            .field("pred.trajectory")
            .filter(|value| value.is_array());
        let trajectory = trajectory.and_then(|value| Trajectory::from_json(value.clone()).ok());
        Ok(Self {
            input: input.map(as_string).unwrap_or_default(),
            target,
            output,
            trajectory,
        })
    }
}
