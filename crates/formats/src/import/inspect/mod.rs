//! Imports logs from inspect_ai.
//!
//! A log is a ZIP archive (`.eval`) with a member for each epoch of a sample, or a JSON file (`.json`).
//!
//! The logs are written by <https://github.com/UKGovernmentBEIS/inspect_ai/tree/main/src/inspect_ai/log>. `archive.rs`
//! finds the members of an archive, `header.rs` reads what was evaluated, `sample.rs` reads a sample with its scores,
//! and `messages.rs` converts its messages. A member's name is never used as a path.

mod archive;
mod header;
mod messages;
mod sample;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use indexmap::IndexMap;
use rawzip::{RECOMMENDED_BUFFER_SIZE, ZipArchive};
use serde_json::value::RawValue;

use super::table::{Epochs, Table, by_id};
use super::text::{Unique, as_text, with_finite_numbers};
use crate::messages::escape;
use crate::{FormatError, Input};
use header::Header;
use sample::Sample;

/// The maximum size of an archive member, of a JSON log, and of the fields kept from all members, in bytes.
const MAX_MEMBER: u64 = 2 << 30;

/// A log's samples by id and epoch. If a sample was evaluated again, the last evaluation counts, as in inspect_ai.
type Samples = IndexMap<String, BTreeMap<u32, Sample>>;

/// A log's samples, with the parts of its header.
struct Log {
    header: Header,
    samples: Samples,
    /// The first member in the samples folder that isn't named like a sample.
    unread: Option<String>,
}

pub(super) fn import(file: &Path, epochs: Epochs) -> Result<Table, FormatError> {
    let input = Input { file };
    if input.start(2)? == b"PK" {
        let unreadable = |error| input.whole(error);
        let opened = File::open(file).map_err(unreadable)?;
        let size = opened.metadata().map_err(unreadable)?.len();
        let archive = ZipArchive::from_file(opened, &mut vec![0; RECOMMENDED_BUFFER_SIZE]);
        let archive = archive.map_err(|error| archive::damaged(input, &error))?;
        return convert(input, archive::read(input, &archive, size)?, epochs);
    }
    let bytes = input.read(MAX_MEMBER)?;
    let text = as_text(&bytes).map_err(|reason| input.whole(reason))?;
    convert(input, json_log(input, &with_finite_numbers(text))?, epochs)
}

/// Turns samples into rows: one row for each sample with all its epochs, or one row for each epoch.
fn convert(input: Input<'_>, log: Log, epochs: Epochs) -> Result<Table, FormatError> {
    let (header, mut samples) = (log.header, log.samples);
    let status = &*header.status;
    if samples.is_empty() {
        let reason = format_args!("the log has no samples; its status is `{status}`");
        return Err(input.whole(reason));
    }
    samples.sort_by(|a, _, b, _| by_id(a, b));
    let found = samples.values().map(BTreeMap::len).sum();
    let is_repeats = epochs == Epochs::Repeats;
    let mut table = Table::default();
    (table.has_repeats, table.is_complete) = (is_repeats, is_repeats);
    let (mut failed, mut invalidated, mut repeats) = (0, 0, 1);
    for of_sample in samples.into_values() {
        let is_several = of_sample.len() > 1;
        let is_numbered = is_several || header.epochs() > 1 && !is_repeats;
        repeats = repeats.max(of_sample.len());
        for (place, (epoch, sample)) in of_sample.into_iter().enumerate() {
            failed += u64::from(sample.is_failed());
            invalidated += u64::from(sample.is_invalidated());
            let mut row = sample.row((epoch, is_numbered), epochs, header.model());
            if is_repeats && place > 0 {
                row.attributes.remove("metadata");
            }
            table.add(input, row)?;
        }
    }
    if table.metrics().is_empty() {
        for scorer in header.scorers() {
            table.declare(&scorer, None);
        }
    }
    if status != "success" {
        table.notes.push(format!(
            "the log's status is `{}`, so samples may be missing",
            escape::name(status)
        ));
    }
    if table.metrics().is_empty() {
        table.notes.push("no sample has a score".to_owned());
    }
    if !is_repeats && failed > 0 {
        table.notes.push(format!(
            "{failed} samples failed and have no answer; metrics that need one end the run, unless --max-errors counts them as failed rows"
        ));
    }
    if invalidated > 0 {
        table.notes.push(format!(
            "{invalidated} samples were invalidated but are still scored; see the attribute `invalidated_epochs`"
        ));
    }
    table.run.label = Some(header.model().to_owned());
    table.run.tags = header.tags();
    if is_repeats && repeats > 1 {
        let repeats = u32::try_from(repeats).unwrap_or(u32::MAX);
        table.run.repeats = Some(repeats.max(header.epochs()));
    }
    table.identify(|scorer, element| header.identity(scorer, element));
    let is_missing = status == "success" && table.check("samples", header.total(), found);
    table.run.is_partial = status != "success" || is_missing;
    if is_repeats && !is_missing {
        header.check_means(&mut table);
    }
    table.notes.extend(log.unread.map(|name| {
        format!(
            "the member `{}` is skipped, because its name is not a sample's name",
            escape::name(&name)
        )
    }));
    Ok(table)
}

/// Reads the samples and the header from a JSON log.
fn json_log(input: Input<'_>, text: &str) -> Result<Log, FormatError> {
    let of_log = fields(text).map_err(|reason| input.whole(reason).or_other())?;
    let header = kept(&of_log, Header::FIELDS)
        .and_then(|header| Header::parse(&header))
        .map_err(|reason| input.whole(reason).or_other())?;
    let written: Vec<&RawValue> = match of_log.0.get("samples") {
        Some(samples) => serde_json::from_str(samples.get()).unwrap_or_default(),
        None => Vec::new(),
    };
    let mut samples = Samples::new();
    for (number, written) in (1..).zip(written) {
        let sample = fields(written.get()).and_then(|fields| {
            let kept = kept(&fields, sample::FIELDS)?;
            Sample::parse(&kept)
        });
        let invalid = |reason| input.invalid(format_args!("sample {number}"), reason);
        let sample = sample.map_err(invalid)?;
        let epochs = samples.entry(sample.id.clone()).or_default();
        epochs.insert(sample.epoch, sample);
    }
    Ok(Log {
        header,
        samples,
        unread: None,
    })
}

/// The maximum size of the fields kept from one member, in bytes.
const MAX_KEPT: usize = 64 << 20;

/// An object's fields before they are parsed.
type Fields<'t> = Unique<&'t RawValue>;

/// Splits the text of an object into its fields.
fn fields(text: &str) -> Result<Fields<'_>, String> {
    serde_json::from_str(text).map_err(|error| match error.is_eof() {
        true => format!("the object does not end; {} bytes were read", text.len()),
        false => error.to_string(),
    })
}

/// Returns the text of an object with only these fields.
fn kept(fields: &Fields<'_>, keep: &str) -> Result<String, String> {
    let field = |name| Some(format!("\"{name}\":{}", fields.0.get(name)?.get()));
    let kept: Vec<String> = keep.split(' ').filter_map(field).collect();
    let kept = format!("{{{}}}", kept.join(","));
    match kept.len() > MAX_KEPT {
        true => Err(format!("longer than {MAX_KEPT} bytes without its events")),
        false => Ok(kept),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, keep: &str) -> Result<String, String> {
        kept(&fields(text)?, keep)
    }

    #[test]
    fn only_the_named_fields_of_the_object_are_kept() {
        let text = r#" {"id": 7, "events": [{"id": [1, {}]}], "score\u0073": {"a": "}"}, "x": "\"id\": 8"} "#;
        assert_eq!(
            of(text, "id scores").unwrap(),
            r#"{"id":7,"scores":{"a": "}"}}"#
        );
        assert_eq!(of("{}", "id").unwrap(), "{}");
        let deep = format!(
            "{{\"id\":1,\"e\":{}1{}}}",
            "[".repeat(200_000),
            "]".repeat(200_000)
        );
        assert_eq!(of(&deep, "id").unwrap(), r#"{"id":1}"#);
    }

    #[test]
    fn what_is_not_one_object_is_an_error() {
        for (text, expected) in [
            ("", "the object does not end; 0 bytes were read"),
            (
                "[1]",
                "invalid type: sequence, expected an object at line 1 column 0",
            ),
            (r#"{"a": 1"#, "the object does not end; 7 bytes were read"),
            ("{} {}", "trailing characters at line 1 column 4"),
        ] {
            assert_eq!(of(text, "a").unwrap_err(), expected, "{text}");
        }
    }
}
