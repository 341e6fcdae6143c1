//! Exports result files to other programs' formats.
//!
//! `run.rs` reads the scores and rows from a result file. Each format has its own folder or file. `lines.rs` writes the
//! formats that have one JSON document per line.

mod every_eval_ever;
#[cfg(feature = "inspect")]
mod inspect;
mod lines;
mod run;

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::FormatError;
#[cfg(not(feature = "inspect"))]
use crate::NO_INSPECT;
use run::{ExportedRun, Settings};

/// A format that result files can be converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ExportFormat {
    /// An inspect_ai log, with the extension `.eval`.
    ///
    /// This format requires the `inspect` feature.
    Inspect,
    /// A folder in the *Every Eval Ever* format, schema 0.3.0.
    ///
    /// The folder contains a JSON file for the run and a JSONL file with the rows.
    EveryEvalEver,
    /// OpenTelemetry spans with OpenInference attributes.
    ///
    /// The spans are written as OTLP JSON, with one document per line.
    OpenInference,
    /// Scores for Langfuse.
    ///
    /// Each line is the body of a `POST /api/public/scores` request.
    Langfuse,
    /// Assessments for MLflow.
    ///
    /// Each line is the body of a `POST /api/3.0/mlflow/traces/TRACE/assessments` request.
    Mlflow,
}

impl ExportFormat {
    /// All formats, each with its command-line name and a description.
    #[doc(hidden)]
    pub const ALL: [(Self, &str, &str); 5] = [
        (
            Self::Inspect,
            "inspect",
            "An inspect_ai log, as an .eval file (feature `inspect`)",
        ),
        (Self::EveryEvalEver, "eee", "Every Eval Ever, a folder"),
        (
            Self::OpenInference,
            "openinference",
            "OpenInference spans, as OTLP in JSON Lines",
        ),
        (Self::Langfuse, "langfuse", "Langfuse scores, as JSON Lines"),
        (Self::Mlflow, "mlflow", "MLflow assessments, as JSON Lines"),
    ];
}

/// Converts result files to another program's format.
///
/// ```
/// use dsrs_metrics::runs::formats::{Export, ExportFormat};
///
/// # let folder = std::env::temp_dir().join(format!("dsrs-metrics-export-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let run = folder.join("run.jsonl");
/// std::fs::write(&run, r#"{"id": "q1", "attributes": {"trace_id": "tr-7"}, "scores": {"f1": {"outcome": "scored", "value": 0.8}}}"#)?;
///
/// let mut scores = Vec::new();
/// let notes = Export::to(ExportFormat::Langfuse).write(&run, &mut scores)?;
/// assert!(notes.is_empty());
/// let score: serde_json::Value = serde_json::from_slice(&scores)?;
/// assert_eq!((score["traceId"].as_str(), score["value"].as_f64()), (Some("tr-7"), Some(0.8)));
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Export {
    format: ExportFormat,
    settings: Settings,
}

impl Export {
    /// Creates an export to the given format.
    ///
    /// ```
    /// # use dsrs_metrics::runs::formats::{Export, ExportFormat};
    /// let export = Export::to(ExportFormat::Mlflow);
    /// ```
    pub fn to(format: ExportFormat) -> Self {
        Self {
            format,
            settings: Settings::default(),
        }
    }

    /// Sets a tag, such as `model` or `organization`.
    ///
    /// A tag adds information that the result file lacks, or replaces what the file says. The guide's `formats` page
    /// lists the tags of each format.
    ///
    /// ```
    /// # use dsrs_metrics::runs::formats::{Export, ExportFormat};
    /// let export = Export::to(ExportFormat::EveryEvalEver).tag("model", "acme/small").tag("organization", "Acme");
    /// ```
    pub fn tag(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.tags.insert(name.into(), value.into());
        self
    }

    setters! {
        /// Sets the field that contains the program's input.
        ///
        /// The field is an attribute, `gold.FIELD` or `pred.FIELD`. The default is `gold.input` or, if a row lacks it,
        /// `gold.question`. If a row has neither, the whole gold row is exported as JSON.
        ///
        /// ```
        /// # use dsrs_metrics::runs::formats::{Export, ExportFormat};
        /// let export = Export::to(ExportFormat::OpenInference).input("gold.query");
        /// ```
        pub fn input(field: impl Into<String>) => settings.input = Some(field.into());

        /// Sets the field that contains the expected answer.
        ///
        /// The default is `gold.target` or, if a row lacks it, `gold.answer`. If a row has neither, it is exported without
        /// an expected answer.
        ///
        /// ```
        /// # use dsrs_metrics::runs::formats::{Export, ExportFormat};
        /// let export = Export::to(ExportFormat::OpenInference).target("gold.label");
        /// ```
        pub fn target(field: impl Into<String>) => settings.target = Some(field.into());

        /// Sets the field that contains the program's answer.
        ///
        /// The default is `pred.answer`. If a row lacks it, the whole prediction is exported as JSON.
        ///
        /// ```
        /// # use dsrs_metrics::runs::formats::{Export, ExportFormat};
        /// let export = Export::to(ExportFormat::OpenInference).output("pred.summary");
        /// ```
        pub fn output(field: impl Into<String>) => settings.output = Some(field.into());
    }

    /// Converts a result file to a format that consists of a single file.
    ///
    /// Returns notes about anything that the output leaves out.
    ///
    /// The result file is read several times, so it does not have to fit in memory.
    ///
    /// # Errors
    /// If the conversion fails, returns a [`FormatError`] with the file and the row. This method also fails if the
    /// format consists of several files. For such a format, use [`write_folder`](Self::write_folder) instead.
    pub fn write(&self, run: &Path, out: &mut dyn Write) -> Result<Vec<String>, FormatError> {
        if self.format == ExportFormat::EveryEvalEver {
            return Err(FormatError::new(
                "expected a single-file format, found a folder format; use `Export::write_folder`",
            ));
        }
        let run = ExportedRun::read(run, &self.settings)?;
        let mut out = BufWriter::with_capacity(1 << 16, out);
        let notes = match self.format {
            #[cfg(feature = "inspect")]
            ExportFormat::Inspect => inspect::write(&run, &mut out)?,
            #[cfg(not(feature = "inspect"))]
            ExportFormat::Inspect => {
                return Err(FormatError::new(format_args!("--to inspect: {NO_INSPECT}")));
            }
            ExportFormat::Langfuse => lines::write(&run, &mut out, lines::langfuse)?,
            ExportFormat::Mlflow => lines::write(&run, &mut out, lines::mlflow)?,
            _ => lines::write(&run, &mut out, lines::spans)?,
        };
        out.flush()?;
        Ok(notes)
    }

    /// Converts a result file to a format that consists of several files.
    ///
    /// This method writes the files to a folder. It returns their paths, and notes about anything that the files leave
    /// out.
    ///
    /// ```
    /// use dsrs_metrics::runs::formats::{Export, ExportFormat};
    ///
    /// # let folder = std::env::temp_dir().join(format!("dsrs-metrics-export-eee-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # let run = folder.join("run.jsonl");
    /// std::fs::write(&run, r#"{"id": "q1", "scores": {"f1": {"outcome": "scored", "value": 0.8}}}"#)?;
    ///
    /// let export = Export::to(ExportFormat::EveryEvalEver).tag("model", "acme/small").tag("organization", "Acme");
    /// let (files, notes) = export.tag("dataset", "capitals").write_folder(&run, &folder)?;
    /// assert!(files[0].starts_with(folder.join("data/capitals/acme/small")));
    /// assert!(notes[0].contains("no gold rows"));
    /// # std::fs::remove_dir_all(folder)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the conversion fails, returns a [`FormatError`] with the file and the row.
    pub fn write_folder(
        &self,
        run: &Path,
        folder: &Path,
    ) -> Result<(Vec<PathBuf>, Vec<String>), FormatError> {
        if self.format != ExportFormat::EveryEvalEver {
            return Err(FormatError::new(
                "expected a folder format, found a single-file format; use `Export::write`",
            ));
        }
        let run = ExportedRun::read(run, &self.settings)?;
        every_eval_ever::write(&run, folder)
    }
}
