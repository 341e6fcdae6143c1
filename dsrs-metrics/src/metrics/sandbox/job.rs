//! What a metric that runs something is told: which fields become which files, and who isolates.

use std::path::Path;
use std::sync::Arc;

use serde::de::Error as _;
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::core::rows::dynamic::{Example, Prediction};
use crate::core::spec::Side;
use crate::metrics::check::{Unscored, at_least};
use crate::metrics::field as fields;
use crate::sandbox::{
    Bubblewrap, Ending, Job, Limits, Report, SandboxProvider, Unconfined, check_path,
};

/// What a file of the work folder holds.
///
/// On a command line a field is its name (`"program"` or `"pred.program"` of the prediction, `"gold.test"` of the gold row), a text is
/// `{"text": "..."}`, and a list is its parts one after the other.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(from = "Written", into = "Written")]
pub enum Source {
    /// A field of one half of the row; what is no text is written as JSON.
    Field(Side, String),
    /// A text, the same for each row.
    Text(String),
    /// One after the other, with nothing in between.
    Parts(Vec<Source>),
}

/// A field of the prediction.
pub fn field(name: impl Into<String>) -> Source {
    Source::Field(Side::Pred, name.into())
}

/// A field of the gold row.
pub fn gold(name: impl Into<String>) -> Source {
    Source::Field(Side::Gold, name.into())
}

/// A source as a command line has it.
#[derive(Deserialize, Serialize)]
#[serde(untagged)]
enum Written {
    Field(String),
    Text { text: String },
    Parts(Vec<Source>),
}

impl From<Written> for Source {
    fn from(written: Written) -> Self {
        match written {
            Written::Text { text } => Self::Text(text),
            Written::Parts(parts) => Self::Parts(parts),
            Written::Field(name) => {
                match (name.strip_prefix("gold."), name.strip_prefix("pred.")) {
                    (Some(name), _) => gold(name),
                    (_, Some(name)) => field(name),
                    _ => field(name),
                }
            }
        }
    }
}

impl From<Source> for Written {
    fn from(source: Source) -> Self {
        match source {
            Source::Text(text) => Self::Text { text },
            Source::Parts(parts) => Self::Parts(parts),
            Source::Field(side, name) => Self::Field(format!("{side}.{name}")),
        }
    }
}

impl Source {
    fn write(
        &self,
        example: &Example,
        pred: &Prediction,
        into: &mut String,
    ) -> Result<(), Unscored> {
        match self {
            Self::Text(text) => into.push_str(text),
            Self::Parts(parts) => {
                for part in parts {
                    part.write(example, pred, into)?;
                }
            }
            Self::Field(side, name) => {
                let row = if *side == Side::Gold { &example.data } else { &pred.data };
                into.push_str(&fields::written(fields::value(row, *side, name)?));
            }
        }
        Ok(())
    }
}

/// The files of the work folder: for each its relative path and what it holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SandboxFiles(Vec<(String, Source)>);

impl SandboxFiles {
    /// Adds a file.
    pub fn push(&mut self, path: impl Into<String>, source: Source) {
        self.0.push((path.into(), source));
    }
}

impl<P: Into<String>> FromIterator<(P, Source)> for SandboxFiles {
    fn from_iter<I: IntoIterator<Item = (P, Source)>>(files: I) -> Self {
        Self(files.into_iter().map(|(path, source)| (path.into(), source)).collect())
    }
}

impl<'de> Deserialize<'de> for SandboxFiles {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let files = indexmap::IndexMap::<String, Source>::deserialize(deserializer)?;
        for path in files.keys() {
            check_path(path).map_err(D::Error::custom)?;
        }
        Ok(files.into_iter().collect())
    }
}

impl Serialize for SandboxFiles {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut files = serializer.serialize_map(Some(self.0.len()))?;
        for (path, source) in &self.0 {
            files.serialize_entry(path, source)?;
        }
        files.end()
    }
}

/// Who runs the command; [`Bubblewrap`] unless another is named.
///
/// On a command line there is `bubblewrap` only.
#[derive(Debug, Clone)]
pub struct Isolation(Arc<dyn SandboxProvider>);

impl Isolation {
    /// Another provider.
    pub fn by(provider: impl SandboxProvider + 'static) -> Self {
        Self(Arc::new(provider))
    }

    /// None at all: the command can do whatever the harness can do. See [`Unconfined`].
    #[must_use]
    pub fn none_because_i_trust_the_code() -> Self {
        Self::by(Unconfined::run_without_isolation_because_i_trust_the_code())
    }
}

impl Default for Isolation {
    fn default() -> Self {
        Self::by(Bubblewrap::new())
    }
}

impl Serialize for Isolation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name())
    }
}

impl<'de> Deserialize<'de> for Isolation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        match &*name {
            "bubblewrap" => Ok(Self::default()),
            other => Err(D::Error::custom(format!(
                "no isolation is called `{other}`; there is `bubblewrap`"
            ))),
        }
    }
}

/// The parameters that all metrics of this folder have, as one metric was given them.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) command: &'a str,
    pub(super) files: &'a SandboxFiles,
    pub(super) folder: &'a str,
    pub(super) readable: &'a [String],
    pub(super) timeout_secs: u64,
    pub(super) limits: &'a Limits,
    pub(super) isolation: &'a Isolation,
}

impl Asked<'_> {
    /// What would fail each row alike.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.command.trim().is_empty() {
            return Err("there is no command to run: set `command`".to_owned());
        }
        let Limits { cpu_secs, memory_mb, processes, disk_mb, .. } = *self.limits;
        at_least("timeout_secs", self.timeout_secs, 1)?;
        at_least("limits.cpu_secs", cpu_secs.unwrap_or(1), 1)?;
        at_least("limits.memory_mb", memory_mb, 1)?;
        at_least("limits.processes", processes, 1)?;
        at_least("limits.disk_mb", disk_mb, 1)?;
        if !self.folder.is_empty() && !Path::new(self.folder).is_dir() {
            return Err(format!("`folder`: there is no folder `{}`", self.folder));
        }
        let is_absent =
            |path: &&String| !Path::new(path).is_absolute() || !Path::new(path).exists();
        match self.readable.iter().find(is_absent) {
            Some(path) if Path::new(path).is_absolute() => {
                Err(format!("`readable`: there is no `{path}`"))
            }
            Some(path) => Err(format!("`readable`: `{path}` is no absolute path")),
            None => Ok(()),
        }
    }

    /// Runs the command over the row's files.
    pub(super) async fn run(
        &self,
        example: &Example,
        pred: &Prediction,
    ) -> Result<Report, Unscored> {
        let mut files = Vec::with_capacity(self.files.0.len());
        for (path, source) in &self.files.0 {
            let mut content = String::new();
            source.write(example, pred, &mut content)?;
            files.push((path.clone(), content));
        }
        let job = Job {
            command: self.command.to_owned(),
            files,
            folder: (!self.folder.is_empty()).then(|| self.folder.into()),
            readable: self.readable.iter().map(Into::into).collect(),
            limits: Limits { time_secs: self.timeout_secs, ..self.limits.clone() },
        };
        let report = self.isolation.0.run(&job).await.map_err(Unscored::because)?;
        match self.no_command(&report) {
            Some(reason) => Err(Unscored::Because(reason)),
            None => Ok(report),
        }
    }

    /// A command that is not there says nothing of the row, and all that the shell says is that.
    fn no_command(&self, report: &Report) -> Option<String> {
        let name = self.command.split_whitespace().next()?;
        let said = report.stderr.trim().strip_suffix("not found")?.trim_end();
        let said = said.strip_suffix("command").map_or(said, str::trim_end);
        let is_all = report.ending == Ending::Exited(127) && report.stdout.is_empty();
        let is_it = is_all && said.lines().count() == 1 && said.ends_with(&format!(" {name}:"));
        is_it.then(|| {
            format!(
                "there is no command `{name}` in the sandbox: it has the host's programs in /usr and /bin, and what `readable` names"
            )
        })
    }
}

/// Why the command did not end with the expected exit code. Neither time nor place is in it, so it is the same each time.
pub(super) fn complaint(
    report: &Report,
    expected: i32,
    limits: &Limits,
    timeout_secs: u64,
) -> Option<String> {
    let what = match report.ending {
        Ending::Exited(code) if code == expected => return None,
        Ending::Exited(code) => format!("exit code {code}, expected {expected}"),
        Ending::TimedOut => format!("stopped after {timeout_secs} s"),
        Ending::TooMuchOutput => format!("stopped after {} KiB of output", limits.output_kb),
        Ending::TooMuchMemory => format!("stopped at {} MiB of memory", limits.memory_mb),
    };
    let said = if report.stderr.trim().is_empty() { &report.stdout } else { &report.stderr };
    Some(format!("{what}\n{}", tail(said)).trim_end().to_owned())
}

/// The end of an output, where errors are.
pub(super) fn tail(text: &str) -> &str {
    const SHOWN: usize = 2000;
    let text = text.trim_end();
    let start = text.char_indices().rev().nth(SHOWN - 1).map_or(0, |(at, _)| at);
    &text[start..]
}
