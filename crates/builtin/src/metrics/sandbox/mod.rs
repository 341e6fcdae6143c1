//! Metrics that run predicted code.
//!
//! The metrics score a command's exit code, the results of tests, or the change in the number of passing tests.
//!
//! For how commands are isolated, see [`sandbox`](crate::sandbox).

use std::sync::Arc;

use indexmap::IndexMap;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use self::command::{Command, command_metric};
use crate::contract::{
    Check, Example, Explained, Prediction, Side, TypeHelp, Unscored, ValueType, within,
};
use crate::metric;
use crate::metrics::inputs as fields;
use crate::sandbox::{Bubblewrap, SandboxProvider, check_path};

pub use command::{CommandSettings, CommandSettingsSetters};
pub use test_results::{TestPass, VerificationDelta, test_pass, verification_delta};

mod command;
mod stages;
mod test_results;

/// The content of a file in the work directory.
///
/// A file is read-only unless its content includes a field of the prediction.
///
/// In JSON and on the command line, write a field as its name. `"program"` and `"pred.program"` are fields of the
/// prediction, and `"gold.test"` is a field of the gold row. Write constant content as `{"text": "..."}`, and a
/// concatenation as a list of its parts.
///
/// ```
/// use dsrs_metrics::metrics::FileSource;
///
/// let source: FileSource = serde_json::from_str(r#"["program", {"text": "\n"}, "gold.test"]"#)?;
/// let newline = FileSource::Text("\n".to_owned());
/// let parts = vec![FileSource::pred("program"), newline, FileSource::gold("test")];
/// assert_eq!(source, FileSource::Parts(parts));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(from = "JsonSource", into = "JsonSource")]
pub enum FileSource {
    /// A field of the gold row or the prediction.
    ///
    /// A string is written as is, `null` as an empty string, and any other value as JSON.
    Field(Side, String),
    /// Text that is the same for every row.
    Text(String),
    /// Several sources, joined without separators.
    Parts(Vec<FileSource>),
}

impl FileSource {
    /// Creates a source from a field of the prediction.
    pub fn pred(name: impl Into<String>) -> Self {
        Self::Field(Side::Pred, name.into())
    }

    /// Creates a source from a field of the gold row.
    pub fn gold(name: impl Into<String>) -> Self {
        Self::Field(Side::Gold, name.into())
    }

    /// Returns the first field of the prediction that the content contains.
    fn field_of_prediction(&self) -> Option<&str> {
        match self {
            Self::Field(Side::Pred, name) => Some(name),
            Self::Parts(parts) => parts.iter().find_map(Self::field_of_prediction),
            Self::Field(Side::Gold, _) | Self::Text(_) => None,
        }
    }

    fn content(&self, example: &Example, pred: &Prediction) -> Result<String, Unscored> {
        match self {
            Self::Text(text) => Ok(text.clone()),
            Self::Parts(parts) => parts.iter().map(|it| it.content(example, pred)).collect(),
            Self::Field(side, name) => {
                let row = match side {
                    Side::Gold => &example.data,
                    Side::Pred => &pred.data,
                };
                Ok(fields::written(fields::value(row, *side, name)?).into_owned())
            }
        }
    }
}

/// The JSON form of a [`FileSource`].
#[derive(Deserialize, Serialize)]
#[serde(
    untagged,
    expecting = "expected a field, an object with `text`, or a list of these"
)]
enum JsonSource {
    Field(String),
    Text { text: String },
    Parts(Vec<FileSource>),
}

conversions! {
    JsonSource => FileSource: |json| match json {
        JsonSource::Text { text } => Self::Text(text),
        JsonSource::Parts(parts) => Self::Parts(parts),
        JsonSource::Field(name) => match name.strip_prefix("gold.") {
            Some(name) => Self::gold(name),
            None => Self::pred(name.strip_prefix("pred.").unwrap_or(&name)),
        },
    };
    FileSource => JsonSource: |source| match source {
        FileSource::Text(text) => Self::Text { text },
        FileSource::Parts(parts) => Self::Parts(parts),
        FileSource::Field(side, name) => Self::Field(format!("{side}.{name}")),
    };
}

/// The files to create in the work directory, by relative path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SandboxFiles(IndexMap<String, FileSource>);

impl SandboxFiles {
    /// Adds a file, replacing any existing file with the same path.
    pub fn push(&mut self, path: impl Into<String>, source: FileSource) {
        self.0.insert(path.into(), source);
    }

    /// Returns `true` if there are no files.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the path of the first file that contains a field of the prediction, with the field's name.
    pub(super) fn field_of_prediction(&self) -> Option<(&str, &str)> {
        let mut files = self.0.iter();
        files.find_map(|(path, source)| Some((&**path, source.field_of_prediction()?)))
    }

    /// Returns one row's files, each with its path and content. Files that contain no field of the prediction are
    /// read-only and come first.
    pub(super) fn of_row(
        &self,
        example: &Example,
        pred: &Prediction,
    ) -> Result<(Contents, Contents), Unscored> {
        let (mut read_only, mut writable) = (Vec::new(), Vec::new());
        for (path, source) in &self.0 {
            let files = match source.field_of_prediction() {
                Some(_) => &mut writable,
                None => &mut read_only,
            };
            files.push((path.clone(), source.content(example, pred)?));
        }
        Ok((read_only, writable))
    }
}

/// The paths and contents of files.
type Contents = Vec<(String, String)>;

impl<P: Into<String>> FromIterator<(P, FileSource)> for SandboxFiles {
    fn from_iter<I: IntoIterator<Item = (P, FileSource)>>(files: I) -> Self {
        let files = files.into_iter();
        Self(files.map(|(path, source)| (path.into(), source)).collect())
    }
}

impl<'de> Deserialize<'de> for SandboxFiles {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let files = IndexMap::<String, FileSource>::deserialize(deserializer)?;
        for path in files.keys() {
            check_path(path).map_err(D::Error::custom)?;
        }
        Ok(Self(files))
    }
}

impl ValueType for SandboxFiles {
    const HELP: TypeHelp = TypeHelp::new("a JSON object that maps files to fields")
        .with_example(r#"'{"check.py": "program"}'"#);
}

/// The [`SandboxProvider`] that runs a metric's command.
///
/// The default is [`Bubblewrap`].
///
/// On the command line, `bubblewrap` is the only choice.
///
/// ```
/// use dsrs_metrics::metrics::{Isolation, Sandbox};
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics::sandbox::Bubblewrap;
///
/// let isolation = Isolation::with_provider(Bubblewrap::with_program("/opt/bubblewrap/bwrap"));
/// let metric = Sandbox::builder().command("true").isolation(isolation).build();
/// ```
#[derive(Debug, Clone)]
pub struct Isolation(Arc<dyn SandboxProvider>);

impl Isolation {
    /// Creates a setting that runs commands with the given provider.
    pub fn with_provider(provider: impl SandboxProvider + 'static) -> Self {
        Self(Arc::new(provider))
    }
}

impl Default for Isolation {
    fn default() -> Self {
        Self::with_provider(Bubblewrap::new())
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
            other => Err(D::Error::custom(format_args!(
                "expected the isolation `bubblewrap`, found `{other}`"
            ))),
        }
    }
}

impl ValueType for Isolation {
    const HELP: TypeHelp = TypeHelp::new("the name of an isolation");
}

/// Passes if a command exits with the expected code.
///
/// The metric creates files from the row, and runs the command isolated from the host.
///
/// The result is pass or fail. A command that exceeds a limit fails. The feedback ends with the last part of the
/// command's output.
///
/// Each entry in `files` becomes a file in the work directory, where `/bin/sh` runs the command. A file is read-only
/// unless it contains a field of the prediction.
///
/// The command has no network and none of the host's environment variables. The only host files that it can see are the
/// programs and libraries in `/usr`, and the installation of the command found in the host's `PATH`.
///
/// Time, memory, processes, files and output are limited. All processes are killed when the row ends. See
/// [`Bubblewrap`].
///
/// If this isolation is not available or the command does not exist, no row is scored. The error names the program to
/// install.
///
/// **One stage does not detect cheating.** Code that runs in the same process or sandbox as its checks can score 1
/// without passing them. It can exit with the expected code before the checks run, return objects that are equal to
/// everything, or replace the test framework.
///
/// If code might cheat, set `check`. The program then runs first, and all its processes are killed. The check runs in a
/// new sandbox that contains the files the program left. It must treat these files as data: compare or parse them, and
/// never execute, import or unpickle them.
///
/// ```no_run
/// use dsrs_metrics::metrics::{FileSource, Sandbox};
/// use dsrs_metrics::prelude::*;
///
/// # async fn run() -> dsrs_metrics::Result<()> {
/// let metric = Sandbox::builder()
///     .command("python3 check.py")
///     .file("check.py", FileSource::pred("program"))
///     .expected_exit_code(0)
///     .timeout_secs(10)
///     .build();
/// let pred = prediction! { "program" => "assert 1 + 1 == 2" };
/// assert_eq!(metric.evaluate(&example! {}, &pred).await?.value, 1.0);
/// # Ok(())
/// # }
/// ```
///
/// The following metric runs the program in two stages, and compares its output with a field of the gold row:
///
/// ```no_run
/// # use dsrs_metrics::metrics::{FileSource, Sandbox};
/// # use dsrs_metrics::prelude::*;
/// let metric = Sandbox::builder()
///     .command("python3 main.py")
///     .file("main.py", FileSource::pred("program"))
///     .check("cmp /program/stdout expected")
///     .check_file("expected", FileSource::gold("stdout"))
///     .build();
/// ```
///
/// On the command line, write `--param 'sandbox.command=python3 main.py' --param 'sandbox.files={"main.py":"program"}'
/// --param 'sandbox.check=cmp /program/stdout expected' --param 'sandbox.check_files={"expected":"gold.stdout"}'`.
#[metric(tier = truth, cost = "500 msat")]
pub async fn sandbox(
    example: &Example,
    pred: &Prediction,
    /// The command line to run with `/bin/sh`.
    #[param]
    command: &str,
    #[param(flatten)] settings: &CommandSettings,
    /// The exit code that passes. If there is a check stage, its exit code is compared.
    #[param(default = 0)]
    expected_exit_code: i32,
    /// The time limit for each stage, in wall-clock seconds. A command that takes longer is killed.
    #[param(default = 30)]
    timeout_secs: u64,
) -> Result<Explained<Check>, Unscored> {
    let command = Command {
        command,
        timeout_secs,
        settings,
    };
    let results = command.run(example, pred).await?;
    let score = Check::unless(command.failure(&results, expected_exit_code));
    let passed = || format!("exit code {expected_exit_code}\n{}", results.output());
    let details = score.passed.then(|| passed().trim_end().to_owned());
    Ok(Explained { score, details })
}

command_metric!(Sandbox, SandboxBuilder<C>, |metric| {
    within("expected_exit_code", metric.expected_exit_code, [0, 255])
});
