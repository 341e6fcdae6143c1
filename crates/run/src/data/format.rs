//! The formats of row files, and which extension names which.

use std::path::Path;

/// A format of row files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// One JSON object per line.
    Jsonl,
    /// One JSON array of objects.
    Json,
    /// A header of column names, then one record per row.
    #[cfg(feature = "csv")]
    Csv,
    /// Typed columns, with the names of CSV columns.
    #[cfg(feature = "parquet")]
    Parquet,
}

impl Format {
    /// The extensions of this build's formats, for messages.
    #[doc(hidden)]
    pub const EXTENSIONS: &'static str = match (cfg!(feature = "csv"), cfg!(feature = "parquet")) {
        (_, true) => ".jsonl, .json, .csv or .parquet",
        (true, false) => ".jsonl, .json or .csv",
        (false, false) => ".jsonl or .json",
    };

    /// The compression that a file's extension names.
    pub(super) fn compression_of(file: &Path) -> Option<&'static str> {
        let extension = file.extension()?.to_str()?.to_ascii_lowercase();
        [".gz", ".zst", ".xz", ".bz2", ".zip"]
            .into_iter()
            .find(|name| name[1..] == extension)
    }

    /// Returns the format that a file's extension names: `jsonl` or `ndjson`, `json`, `csv`, and with the feature
    /// `parquet` also `parquet`.
    ///
    /// ```
    /// use dsrs_metrics::data::Format;
    ///
    /// assert_eq!(Format::of("runs/answers.JSONL".as_ref()), Some(Format::Jsonl));
    /// assert_eq!(Format::of("answers.txt".as_ref()), None);
    /// ```
    pub fn of(file: &Path) -> Option<Self> {
        let extension = file.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "jsonl" | "ndjson" => Some(Self::Jsonl),
            "json" => Some(Self::Json),
            #[cfg(feature = "csv")]
            "csv" => Some(Self::Csv),
            #[cfg(feature = "parquet")]
            "parquet" => Some(Self::Parquet),
            _ => None,
        }
    }
}
