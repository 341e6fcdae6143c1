//! Logs of inspect_ai: an archive with a header, a member for each sample, and the samples' summaries.
//!
//! `header.rs` writes the evaluation and its results, and `sample.rs` writes the samples.

use std::io::{self, Write};

use rawzip::{CompressionMethod, ZipArchiveWriter};
use serde::{Serialize, Serializer};
use serde_json::ser::Formatter;

use crate::error::FormatError;
use crate::export::run::ExportedRun;
use crate::results::ResultRow;

mod header;
mod sample;

/// The version of the format.
const VERSION: u32 = 2;

/// The number of bytes of the longest name of a member.
const MAX_NAME: usize = 65_535;

pub(super) fn write(
    run: &ExportedRun<'_>,
    out: &mut impl Write,
) -> Result<Vec<String>, FormatError> {
    let mut archive = ZipArchiveWriter::new(out);
    let header = header::header(run);
    let start = header.start();
    member(&mut archive, "_journal/start.json", |out| {
        write_json(out, &start)
    })?;
    run.each_row(|row| {
        let sample = run.sample(row)?;
        member(&mut archive, &member_name(row)?, |out| {
            write_json(out, &sample)
        })
    })?;
    member(&mut archive, "summaries.json", |out| {
        let mut separator = b"[";
        run.each_row(|row| {
            out.write_all(separator)?;
            separator = b",";
            write_json(out, &run.summary(row)?)
        })?;
        out.write_all(if separator == b"[" { b"[]" } else { b"]" })?;
        Ok(())
    })?;
    member(&mut archive, "header.json", |out| write_json(out, &header))?;
    archive.finish().map_err(zip_error)?;
    Ok(Vec::new())
}

/// Returns the name of the member of a sample, which contains its id.
fn member_name(row: &ResultRow) -> Result<String, FormatError> {
    let name = format!("samples/{}_epoch_1.json", row.id);
    let is_plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    if name.len() <= MAX_NAME && !name.contains(['\\', ':', '\0']) && name.split('/').all(is_plain)
    {
        return Ok(name);
    }
    let reason = "invalid id for an inspect_ai log, which uses ids as file names: expected a relative path; change the id";
    Err(FormatError::new(format_args!("{}: {reason}", row.at())))
}

/// Writes a member, compressed by Zstandard as inspect_ai does.
fn member<W: Write>(
    archive: &mut ZipArchiveWriter<W>,
    name: &str,
    write: impl FnOnce(&mut dyn Write) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let file = archive
        .new_file(name)
        .compression_method(CompressionMethod::ZSTD);
    let (mut entry, config) = file.start().map_err(zip_error)?;
    let mut encoder = zstd::Encoder::new(&mut entry, 0)?;
    let mut content = config.wrap(&mut encoder);
    write(&mut content)?;
    let (_, descriptor) = content.finish().map_err(zip_error)?;
    encoder.finish()?;
    entry.finish(descriptor).map_err(zip_error)?;
    Ok(())
}

fn zip_error(error: rawzip::Error) -> FormatError {
    io::Error::other(error).into()
}

/// The value of a score.
#[derive(Clone, Copy)]
pub(super) enum ScoreValue {
    Verdict(bool),
    Number(f64),
    NotScored,
}

impl Serialize for ScoreValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Verdict(passed) => serializer.serialize_str(if *passed { "C" } else { "I" }),
            Self::Number(number) => serializer.serialize_f64(*number),
            // JSON has no NaN. No other value has 128 bits.
            Self::NotScored => serializer.serialize_u128(0),
        }
    }
}

/// Writes the only integer of 128 bits as `NaN`.
struct WithNaN;

impl Formatter for WithNaN {
    fn write_u128<W: ?Sized + Write>(&mut self, writer: &mut W, _: u128) -> io::Result<()> {
        writer.write_all(b"NaN")
    }
}

fn write_json(out: &mut dyn Write, value: &impl Serialize) -> Result<(), FormatError> {
    let mut serializer = serde_json::Serializer::with_formatter(out, WithNaN);
    value
        .serialize(&mut serializer)
        .map_err(|error| std::io::Error::from(error).into())
}
