//! The spans of a file, joined by trace in a temporary file.

use std::fs::{self, File};
use std::io::{BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::document::Span;
use crate::import::error::{ImportError, Input};
use crate::import::places::Places;
use crate::import::text::ROW_LIMIT;

/// A temporary file of spans, which is removed with this value.
pub(super) struct Spool<'a> {
    input: Input<'a>,
    path: PathBuf,
    file: BufWriter<File>,
    end: u64,
    spans: Places<(u64, u32)>,
}

impl<'a> Spool<'a> {
    pub(super) fn create(input: Input<'a>, path: &Path) -> Result<Self, ImportError> {
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path);
        let file = BufWriter::new(file.map_err(|error| input.unreadable(error))?);
        Ok(Self {
            input,
            path: path.to_owned(),
            file,
            end: 0,
            spans: Places::new(),
        })
    }

    pub(super) fn add(&mut self, span: &Span) -> Result<(), ImportError> {
        let line = serde_json::to_vec(span).unwrap_or_default();
        self.file
            .write_all(&line)
            .map_err(|error| self.input.unreadable(error))?;
        // A document, and so a span, has fewer bytes than 4 GiB.
        self.spans
            .push(&span.trace, 0, (self.end, line.len() as u32));
        self.end += line.len() as u64;
        Ok(())
    }

    /// Calls a function with the spans of each trace, in the order of the file.
    pub(super) fn each_trace(
        &mut self,
        mut each: impl FnMut(&str, Vec<Span>) -> Result<(), ImportError>,
    ) -> Result<(), ImportError> {
        let unreadable = |error| self.input.unreadable(error);
        self.file.flush().map_err(unreadable)?;
        self.spans.sort();
        let mut line = Vec::new();
        for parts in self.spans.rows() {
            let trace = self.spans.id(&parts[0]);
            let bytes: u64 = parts.iter().map(|part| u64::from(part.place.1)).sum();
            if bytes > ROW_LIMIT as u64 {
                return Err(self.input.invalid(
                    format_args!("trace {trace}"),
                    format_args!("its spans have {bytes} bytes; expected at most {ROW_LIMIT}"),
                ));
            }
            let mut spans = Vec::with_capacity(parts.len());
            for part in parts {
                let (offset, length) = part.place;
                let mut file = self.file.get_ref();
                line.resize(length as usize, 0);
                file.seek(SeekFrom::Start(offset)).map_err(unreadable)?;
                file.read_exact(&mut line).map_err(unreadable)?;
                let span = serde_json::from_slice(&line).map_err(std::io::Error::from);
                spans.push(span.map_err(unreadable)?);
            }
            each(trace, spans)?;
        }
        Ok(())
    }
}

impl Drop for Spool<'_> {
    fn drop(&mut self) {
        // The folder is removed too.
        let _ = fs::remove_file(&self.path);
    }
}
