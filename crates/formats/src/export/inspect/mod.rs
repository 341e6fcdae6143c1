//! Logs of inspect_ai: an archive with a header, a member for each sample, and the samples' summaries.
//!
//! `header.rs` writes the evaluation and its results, and `sample.rs` writes the samples.

use std::io::{self, Write};

use rawzip::{CompressionMethod, ZipArchiveWriter};
use serde_json::{Value, json};

use crate::error::FormatError;
use crate::export::run::ExportedRun;
use crate::results::ResultRow;

mod header;
mod sample;

/// The version of the format.
const VERSION: u32 = 2;

/// The number of bytes of the longest name of a member.
const MAX_NAME: usize = 65_535;

/// Stands for `NaN`, which JSON does not have, as the value of a metric without a score. Unicode excludes its character.
const NOT_SCORED: &str = "\u{10FFFF}NaN";

pub(super) fn write(
    run: &ExportedRun<'_>,
    out: &mut impl Write,
) -> Result<Vec<String>, FormatError> {
    let mut archive = ZipArchiveWriter::new(out);
    let header = header::header(run);
    let start = json!({ "version": VERSION, "eval": header["eval"], "plan": header["plan"] });
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

fn write_json(out: &mut dyn Write, value: &Value) -> Result<(), FormatError> {
    let json = value
        .to_string()
        .replace(&format!("\"{NOT_SCORED}\""), "NaN");
    Ok(out.write_all(json.as_bytes())?)
}
