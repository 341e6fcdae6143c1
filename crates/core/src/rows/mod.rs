//! Rows, and how metrics read their fields.

pub mod by_name;
pub mod dynamic;
pub mod field_error;
pub mod field_types;
pub mod fields;
pub mod named_values;
pub mod provide;
pub(crate) mod text_cell;

pub use self::by_name::{Given, NamedFields};
pub use self::dynamic::{Example, InputError, Prediction, Trace, TraceStep};
pub use self::field_error::{Absent, FieldError, MissingFields};
pub use self::fields::{
    FieldType, MaybeOwned, Optional, Owned, Raw, ReadAs, ReadField, Record, Ref, RowType, Slice,
    Text,
};
pub use self::named_values::{Fields, FromSerializeError};
pub use self::provide::Provide;
pub(crate) use self::text_cell::{Cell, read_fields};

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use crate::program_run::ProgramRun;

/// A gold row and its prediction.
///
/// A pair also has an id, attributes and an origin.
///
/// ```
/// use dsrs_metrics::{example, prediction, rows::Pair};
///
/// let mut pair = Pair::new("q1", example! { "answer" => "Paris" }, prediction! { "answer" => "Rome" });
/// pair.attributes.insert("language", "en");
/// assert_eq!(pair.attributes.get("language").unwrap(), "en");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Pair<G = Example, P = Prediction> {
    /// The row's id, which is unique within a run.
    pub id: String,
    /// `true` if the row has no id of its own.
    ///
    /// In that case, `id` is the row's position, and a comparison pairs such rows by position.
    pub is_positional: bool,
    /// The labelled example.
    pub gold: G,
    /// The program's prediction.
    pub pred: P,
    /// Additional fields of the row, used for grouping and as labels.
    pub attributes: Fields,
    /// The row's position in its file, if the row was read from a file.
    pub origin: Option<Origin>,
    /// The program run that made the prediction, if known.
    ///
    /// The run contains the latency, tokens and cost. Metrics can read these values, and result files contain them.
    pub run: Option<Box<ProgramRun>>,
}

impl<G, P> Pair<G, P> {
    /// Creates a pair without attributes.
    ///
    /// ```
    /// use dsrs_metrics::rows::Pair;
    ///
    /// let pair = Pair::new("sensor-7", 0.5, 0.25); // rows of any type
    /// assert_eq!((&*pair.id, pair.gold, pair.pred, pair.origin), ("sensor-7", 0.5, 0.25, None));
    /// ```
    pub fn new(id: impl Into<String>, gold: G, pred: P) -> Self {
        Self {
            id: id.into(),
            is_positional: false,
            gold,
            pred,
            attributes: Fields::default(),
            origin: None,
            run: None,
        }
    }
}

/// A row's position in a file.
///
/// ```
/// use std::path::Path;
/// use dsrs_metrics::rows::Origin;
///
/// let origin = Origin { file: Path::new("dev.jsonl").into(), line: 12 };
/// assert_eq!(origin.to_string(), "dev.jsonl:12");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The file's path.
    pub file: Arc<Path>,
    /// The row's line number in the file, starting at 1.
    pub line: u64,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}
