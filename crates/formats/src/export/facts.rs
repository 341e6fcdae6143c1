//! [`Facts`]: information about a run, from its manifest and from tags.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sha2::{Digest as _, Sha256};
use uuid::Builder;

use super::error::ExportError;
use super::run::ExportedRun;
use crate::core::score::OFFLINE_JUDGE;
use crate::core::{Direction, MetricIdentity};
use crate::messages::hash;
use crate::results::Manifest;

/// The kind of evaluator that computed a score.
pub(super) enum Annotator<'a> {
    /// A formula.
    Code,
    /// The offline stand-in of a judge.
    OfflineJudge,
    /// Language models, by their ids with endpoints.
    Models(&'a [String]),
}

pub(super) struct Facts<'a> {
    manifest: Option<&'a Manifest>,
    tags: &'a BTreeMap<String, String>,
    file: &'a Path,
    /// When the run ended, or else when the file was written.
    pub(super) ended: SystemTime,
    /// When the run started, if the manifest contains it.
    pub(super) started: Option<SystemTime>,
    /// The identifier of the run: the hash of the file, from its manifest if there is one.
    run: String,
}

impl<'a> Facts<'a> {
    pub(super) fn new(
        run: &'a ExportedRun<'_>,
        tags: &'a BTreeMap<String, String>,
    ) -> Result<Self, ExportError> {
        let (manifest, file) = (run.manifest(), run.file);
        let process = manifest.and_then(|manifest| manifest.process.as_ref());
        let started = process.and_then(|it| humantime::parse_rfc3339(&it.started).ok());
        let duration = process.and_then(|it| Duration::try_from_secs_f64(it.duration_s).ok());
        let ended = started.and_then(|started| started.checked_add(duration?));
        let unreadable = |reason| ExportError::Unreadable {
            file: file.to_owned(),
            reason,
        };
        let written = || fs::metadata(file).and_then(|found| found.modified());
        let ended = ended.map_or_else(written, Ok).map_err(unreadable)?;
        let described = manifest.and_then(|manifest| manifest.file.as_ref());
        let hash = || File::open(file).and_then(hash::of_reader);
        let run = described.map_or_else(hash, |described| Ok(described.xxh3.clone()));
        let run = run.map_err(unreadable)?;
        Ok(Self {
            manifest,
            tags,
            file,
            ended,
            started,
            run,
        })
    }

    /// Returns a tag of the caller, or else of the run.
    pub(super) fn tag(&self, name: &str) -> Option<&'a str> {
        let of_run = || self.manifest?.run.tags.get(name);
        self.tags
            .get(name)
            .or_else(of_run)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// Returns all tags. A tag of the caller replaces the tag of the run with its name.
    pub(super) fn tags(&self) -> BTreeMap<&'a str, &'a str> {
        let of_run = self
            .manifest
            .into_iter()
            .flat_map(|manifest| &manifest.run.tags);
        of_run
            .chain(self.tags)
            .map(|(name, value)| (&**name, &**value))
            .collect()
    }

    /// The label of the run, which names its program.
    pub(super) fn label(&self) -> Option<&'a str> {
        self.manifest?.run.label.as_deref()
    }

    /// The data that was scored: the tag, or the names of the files without folder and extension, or the name of the result file.
    pub(super) fn dataset(&self) -> String {
        if let Some(dataset) = self.tag("dataset") {
            return dataset.to_owned();
        }
        let files = self
            .manifest
            .map(|manifest| &*manifest.run.data)
            .unwrap_or_default();
        let names: Vec<String> = files
            .iter()
            .map(|file| stem(Path::new(&file.name)))
            .collect();
        if names.is_empty() {
            stem(self.file)
        } else {
            names.join("+")
        }
    }

    pub(super) fn identity(&self, metric: &str) -> Option<&'a MetricIdentity> {
        self.manifest?.run.metrics.get(metric)
    }

    pub(super) fn is_lower_better(&self, metric: &str) -> bool {
        let direction = self.identity(metric).map(MetricIdentity::direction);
        direction == Some(Direction::LowerIsBetter)
    }

    pub(super) fn annotator(&self, metric: &str) -> Annotator<'a> {
        match self
            .identity(metric)
            .map(MetricIdentity::models)
            .unwrap_or_default()
        {
            [] => Annotator::Code,
            models if models.iter().all(|model| model == OFFLINE_JUDGE) => Annotator::OfflineJudge,
            models => Annotator::Models(models),
        }
    }

    /// The version of the library that made the run.
    pub(super) fn version(&self) -> &'a str {
        self.manifest
            .map_or("unknown", |manifest| &*manifest.run.library.version)
    }

    /// The manifest of the run.
    pub(super) fn manifest(&self) -> Option<&'a Manifest> {
        self.manifest
    }

    /// The end of the run in whole seconds since 1970.
    pub(super) fn ended_s(&self) -> u64 {
        self.ended
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default()
            .as_secs()
    }

    /// Returns an id that is the same each time that the same run is exported: a UUID whose random bits are a hash.
    pub(super) fn uuid(&self, parts: &[&str]) -> String {
        let bits = self.hash(parts);
        Builder::from_random_bytes(std::array::from_fn(|place| bits[place]))
            .into_uuid()
            .to_string()
    }

    /// Returns a hash of the run and of these parts.
    pub(super) fn hash(&self, parts: &[&str]) -> [u8; 32] {
        let mut hash = Sha256::new();
        for part in [&[&*self.run], parts].concat() {
            // Lengths separate the parts.
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hash.finalize().into()
    }
}

/// The name of a file without folder and extension.
pub(super) fn stem(file: &Path) -> String {
    file.file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// Nanoseconds since 1970 as a string, as OTLP JSON has 64-bit integers.
pub(super) fn nanos(time: SystemTime) -> String {
    time.duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_nanos()
        .to_string()
}
