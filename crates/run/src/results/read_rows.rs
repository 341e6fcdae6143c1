//! Reads the rows of a result file, decoding them on all threads.

use std::path::Path;

use super::error::ResultsError;
use super::parse::checked;
use crate::contract::Origin;
#[cfg(feature = "parquet")]
use crate::data::embedded_manifest;
use crate::data::{DataError, Format, NamedFile, ObjectRows, column_strings, read_objects};
use crate::evaluate::manifest::{
    self, MANIFEST_SUFFIX, Manifest, ManifestError, REFERENCE_KEY, manifest_path,
};
use crate::evaluate::report::ResultRow;
use crate::json::numbers::inexact_number;
use crate::json::size::MAX_VALUES;

/// Returns an error if the file is a manifest, or if only its manifest exists.
fn check_is_no_manifest(file: &Path) -> Result<(), ResultsError> {
    let manifest = manifest_path(file);
    if !file.exists() && manifest.exists() {
        return Err(ResultsError::read(format!(
            "{}: no such file, only its manifest {}; restore the result file, or score again",
            file.display(),
            manifest.display()
        )));
    }
    match file
        .to_str()
        .and_then(|path| path.strip_suffix(MANIFEST_SUFFIX))
    {
        Some(results) => {
            let manifest = file.display();
            Err(ResultsError::read(format!(
                "{manifest}: expected a result file, found its manifest; write {results}"
            )))
        }
        None => Ok(()),
    }
}

/// Reads the rows of a file in order and calls a function with each row. The function's second argument is `true` if
/// the row has an id of its own; otherwise, the id is the row's number. Returns the manifest references found in the
/// rows.
#[doc(hidden)]
pub fn read_rows<'f, E: From<ResultsError>>(
    file: impl Into<NamedFile<'f>>,
    each: impl FnMut(ResultRow, bool) -> Result<(), E>,
) -> Result<Vec<String>, E> {
    read_lines(file.into(), |_| true, each)
}

/// Like [`read_rows`], but reads only the lines for which `is_read` returns `true`.
pub(super) fn read_lines<E: From<ResultsError>>(
    file: NamedFile<'_>,
    is_read: impl Fn(u64) -> bool + Sync,
    mut each: impl FnMut(ResultRow, bool) -> Result<(), E>,
) -> Result<Vec<String>, E> {
    check_is_no_manifest(file.path)?;
    manifest::check_version_of(file.path).map_err(ResultsError::from)?;
    let (mut complete, mut references) = (0, Vec::new());
    read_objects(
        file,
        is_read,
        |text, at| Some((of_line(text, at)?, true)),
        |row| {
            let has_id = row.has_id;
            let row = checked(row).map_err(Failure::Results)?;
            Ok((row, has_id))
        },
        |row| {
            let (mut row, has_id) = row.map_err(|error| match error {
                Failure::Data(error) => ResultsError::of_row(error, complete),
                Failure::Results(error) => error,
            })?;
            references.extend(row.manifest.take());
            complete += 1;
            each(row, has_id)
        },
    )?;
    Ok(references)
}

/// Reads a line that has only the keys of a row, each at most once. Returns `None` for any other line; `parse.rs` reads
/// it and says what is wrong with it.
fn of_line(text: &str, at: &dyn Fn() -> Origin) -> Option<ResultRow> {
    // More bytes than this may be more values than the limit.
    if text.len() > 2 * MAX_VALUES {
        return None;
    }
    let row = ResultRow::of_json(text).ok()?;
    let origin = Some(at());
    inexact_number(text)
        .is_none()
        .then_some(ResultRow { origin, ..row })
}

/// Why a row cannot be read.
enum Failure {
    Data(DataError),
    Results(ResultsError),
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        Self::Data(error)
    }
}

/// Returns a result file's manifest, or why the file has none. `references` are the manifest references in the file's
/// rows.
#[doc(hidden)]
pub fn read_manifest(
    file: &Path,
    references: &[String],
) -> Result<Result<Box<Manifest>, String>, ManifestError> {
    if file.as_os_str() == "-" {
        return Ok(Err("standard input has no manifest".to_owned()));
    }
    #[cfg(feature = "parquet")]
    let embedded = match Format::of(file) {
        Some(Format::Parquet) => embedded_manifest(file),
        _ => None,
    };
    #[cfg(not(feature = "parquet"))]
    let embedded = None;
    manifest::find(file, references, embedded)
}

/// Returns a result file's manifest, or why the file has none. Returns `None` if the file is not a result file. The
/// search ends at the first row that cannot be read.
///
/// # Errors
/// Returns a [`ManifestError`] if the file does not match its manifest.
#[doc(hidden)]
pub fn manifest_of(
    file: &Path,
    format: Option<Format>,
) -> Result<Option<Result<Box<Manifest>, String>>, ManifestError> {
    manifest::check_version_of(file)?;
    let first = ObjectRows::open(file, format)
        .ok()
        .and_then(|mut rows| rows.next()?.ok());
    if !first.is_some_and(|row| row.is_result) && !manifest_path(file).is_file() {
        return Ok(None);
    }
    // The last row of each run contains the reference to its manifest.
    let mut references = column_strings(file, format, REFERENCE_KEY);
    references.retain(|reference| !reference.is_empty());
    read_manifest(file, &references).map(Some)
}

#[cfg(test)]
mod tests {
    //! Lines that serde reads give the same row as the general parser, and lines that the parser rejects are not read.

    use std::path::Path;

    use super::*;
    use crate::data::ObjectRow;
    use crate::results::ResultsError;

    const LINES: [&str; 6] = [
        r#"{"id":"q1","scores":{"em":{"outcome":"scored","value":1.0,"passed":true,"confidence":1.0,"details":"a \"b\" é","feedback":null,"cost_msats":0}}}"#,
        r#"{"id":"7","gold":{"answer":"x","n":[1,2.5]},"pred":{},"latency_s":0.25,"input_tokens":10,"output_tokens":2,"cost_msats":5,"scores":{"f1":{"outcome":"scored","value":0.5,"passed":null,"parts":{"precision":0.25,"corpus":1}}},"attributes":{"topic":"a","empty":null}}"#,
        r#"{"id":"a","gold":null,"pred":{"answer":"y"},"scores":{"judge":{"outcome":"scored","value":1,"passed":false,"metadata":{"judge":"offline","judges":[{"judge":"m","replied_by":[]}]},"missing":["answer"],"components":{"c":{"outcome":"gated","value":null,"passed":null}}}},"manifest":"1-abc"}"#,
        r#"{"id":"b","scores":{"em":{"outcome":"metric_failed","value":null,"passed":null,"error":"no answer"},"f1":{"outcome":"gated","gated_by":"em","budget_msats":3}},"repeats":[{"scores":{"em":{"value":1,"passed":true}}}],"traceback":"at"}"#,
        r#"{"id":"c","scores":{"rouge":{"outcome":"counted","value":null,"corpus":{"formula":"edit_rate","counts":[1,4]}},"a.b":{"outcome":"skipped"}},"gold_hash":"00000000000000a1"}"#,
        r#"{ "id" : "d" , "scores" : { "em" : { "value" : 2 , "outcome" : "abstained" } } }"#,
    ];

    fn at() -> Origin {
        Origin {
            file: Path::new("run.jsonl").into(),
            line: 1,
        }
    }

    fn parsed(line: &str) -> Result<ResultRow, ResultsError> {
        checked(ObjectRow::parse(line, &at())?)
    }

    /// Returns `true` if a line is read with the same result as by the general parser.
    fn is_read(line: &str) -> bool {
        let row = of_line(line, &at);
        if let Some(row) = &row {
            let expected = parsed(line).unwrap_or_else(|error| panic!("{line}\n{error}"));
            assert_eq!(*row, expected, "{line}");
        }
        row.is_some()
    }

    #[test]
    fn lines_of_a_run_are_read() {
        assert_eq!(LINES.map(is_read), [true; 6]);
    }

    #[test]
    fn changed_lines_are_read_as_by_the_parser() {
        let changes = [
            "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "-", "e", " ", "n", "\u{1}",
        ];
        let additions = [
            "\"",
            "0",
            ",",
            "\"id\":1,",
            "\"value\":3,",
            "null",
            "\\ud800",
            "1e400",
        ];
        let (mut read, mut others) = (0, 0);
        for line in LINES {
            for place in (0..line.len()).filter(|place| line.is_char_boundary(*place)) {
                let (start, end) = line.split_at(place);
                let rest = end
                    .chars()
                    .next()
                    .map_or("", |first| &end[first.len_utf8()..]);
                let changed = changes.iter().map(|with| format!("{start}{with}{rest}"));
                let added = additions.iter().map(|with| format!("{start}{with}{end}"));
                let cut = [start.to_owned(), format!("{start}{rest}")];
                for line in changed.chain(added).chain(cut) {
                    if is_read(&line) {
                        read += 1;
                    } else {
                        others += 1;
                    }
                }
            }
        }
        assert!(read > 3_000 && others > 10_000, "{read} {others}");
    }
}
