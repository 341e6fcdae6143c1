//! The files of the work directory, assembled from the fields of a row.

use indexmap::IndexMap;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::core::rows::dynamic::{Example, Prediction};
use crate::core::score::check::Unscored;
use crate::core::spec::Side;
use crate::core::value_type::{TypeHelp, ValueType};
use crate::metrics::field as fields;
use crate::sandbox::check_path;

/// The content of a file in the work directory. A file without a field of the prediction is
/// read-only.
///
/// In JSON, and so on the command line, a field is its name (`"program"` or `"pred.program"` for
/// the prediction, `"gold.test"` for the gold row), constant content is `{"text": "..."}`, and a
/// list is the concatenation of its items.
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
    /// A field of the gold row or of the prediction. A string is written as it is, `null` as
    /// nothing, any other value as JSON.
    Field(Side, String),
    /// The same content for every row.
    Text(String),
    /// The concatenation of several sources, without separators.
    Parts(Vec<FileSource>),
}

impl FileSource {
    /// A field of the prediction.
    pub fn pred(name: impl Into<String>) -> Self {
        Self::Field(Side::Pred, name.into())
    }

    /// A field of the gold row.
    pub fn gold(name: impl Into<String>) -> Self {
        Self::Field(Side::Gold, name.into())
    }

    /// The first field of the prediction that the content contains.
    fn field_of_prediction(&self) -> Option<&str> {
        match self {
            Self::Field(Side::Pred, name) => Some(name),
            Self::Parts(parts) => parts.iter().find_map(Self::field_of_prediction),
            Self::Field(Side::Gold, _) | Self::Text(_) => None,
        }
    }

    fn append_to(
        &self,
        content: &mut String,
        example: &Example,
        pred: &Prediction,
    ) -> Result<(), Unscored> {
        match self {
            Self::Text(text) => content.push_str(text),
            Self::Parts(parts) => {
                for part in parts {
                    part.append_to(content, example, pred)?;
                }
            }
            Self::Field(side, name) => {
                let row = if *side == Side::Gold {
                    &example.data
                } else {
                    &pred.data
                };
                content.push_str(&fields::written(fields::value(row, *side, name)?));
            }
        }
        Ok(())
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

impl From<JsonSource> for FileSource {
    fn from(json: JsonSource) -> Self {
        match json {
            JsonSource::Text { text } => Self::Text(text),
            JsonSource::Parts(parts) => Self::Parts(parts),
            JsonSource::Field(name) => {
                match (name.strip_prefix("gold."), name.strip_prefix("pred.")) {
                    (Some(name), _) => Self::gold(name),
                    (_, Some(name)) => Self::pred(name),
                    _ => Self::pred(name),
                }
            }
        }
    }
}

impl From<FileSource> for JsonSource {
    fn from(source: FileSource) -> Self {
        match source {
            FileSource::Text(text) => Self::Text { text },
            FileSource::Parts(parts) => Self::Parts(parts),
            FileSource::Field(side, name) => Self::Field(format!("{side}.{name}")),
        }
    }
}

/// The files of the work directory: a relative path and the content of each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SandboxFiles(IndexMap<String, FileSource>);

impl SandboxFiles {
    /// Adds a file, or replaces the file at its path.
    pub fn push(&mut self, path: impl Into<String>, source: FileSource) {
        self.0.insert(path.into(), source);
    }

    /// Returns whether the list of files is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first file with a field of the prediction, as path and field.
    pub(super) fn field_of_prediction(&self) -> Option<(&str, &str)> {
        self.0
            .iter()
            .find_map(|(path, source)| Some((&**path, source.field_of_prediction()?)))
    }

    /// The files of one row, as path and content: first those that are read-only, since they
    /// contain no field of the prediction, then all others.
    pub(super) fn of_row(
        &self,
        example: &Example,
        pred: &Prediction,
    ) -> Result<(Contents, Contents), Unscored> {
        let (mut read_only, mut writable) = (Vec::new(), Vec::new());
        for (path, source) in &self.0 {
            let mut content = String::new();
            source.append_to(&mut content, example, pred)?;
            let is_writable = source.field_of_prediction().is_some();
            let files = if is_writable {
                &mut writable
            } else {
                &mut read_only
            };
            files.push((path.clone(), content));
        }
        Ok((read_only, writable))
    }
}

/// Paths and contents of files.
type Contents = Vec<(String, String)>;

impl<P: Into<String>> FromIterator<(P, FileSource)> for SandboxFiles {
    fn from_iter<I: IntoIterator<Item = (P, FileSource)>>(files: I) -> Self {
        Self(
            files
                .into_iter()
                .map(|(path, source)| (path.into(), source))
                .collect(),
        )
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
    const HELP: TypeHelp = TypeHelp::new("a JSON object from file to field")
        .with_example(r#"'{"check.py": "program"}'"#);
}
