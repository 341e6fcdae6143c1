//! The spans of a file, joined by trace in a temporary file, and the spans of a trace below each of its roots.

use std::collections::HashMap;
use std::fs;
use std::fs::File;
use std::io::{BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use indexmap::IndexMap;

use super::document::Span;
use crate::error::{FormatError, Input};
use crate::import::places::Places;
use crate::import::text::ROW_LIMIT;
use crate::messages::escape;

/// A temporary file of spans, which is removed with this value.
pub(super) struct Spool<'a> {
    input: Input<'a>,
    path: PathBuf,
    file: BufWriter<File>,
    end: u64,
    spans: Places<(u64, u32)>,
}

impl<'a> Spool<'a> {
    pub(super) fn create(input: Input<'a>, path: &Path) -> Result<Self, FormatError> {
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

    pub(super) fn add(&mut self, span: &Span) -> Result<(), FormatError> {
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
        mut each: impl FnMut(&str, Vec<Span>) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        let unreadable = |error| self.input.unreadable(error);
        self.file.flush().map_err(unreadable)?;
        self.spans.sort();
        let mut line = Vec::new();
        for parts in self.spans.rows() {
            let trace = &parts[0].id;
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

/// A root and the spans below it, in the order in which they started.
#[derive(Default)]
pub(super) struct Root {
    pub(super) spans: Vec<Span>,
    /// The parent of the root, if the file does not have it.
    pub(super) missing_parent: Option<String>,
    pub(super) root: usize,
}

/// Returns the roots of a trace: spans without a parent in the file.
///
/// # Errors
/// Two different spans have one id, or spans are their own ancestors.
pub(super) fn roots(spans: Vec<Span>) -> Result<Vec<Root>, String> {
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    let mut is_repeated = vec![false; spans.len()];
    for (at, span) in spans.iter().enumerate() {
        match by_id.get(&*span.id) {
            // An exporter that retries writes a span again.
            Some(first) if spans[*first] == *span => is_repeated[at] = true,
            Some(_) => {
                return Err(format!(
                    "two different spans have the id {}; write each span once",
                    escape::name(&span.id)
                ));
            }
            None => drop(by_id.insert(&span.id, at)),
        }
    }
    let parent = |at: usize| by_id.get(spans[at].parent.as_deref()?).copied();
    let mut root_of: Vec<Option<usize>> = vec![None; spans.len()];
    for start in (0..spans.len()).filter(|at| !is_repeated[*at]) {
        let (mut path, mut at) = (Vec::new(), start);
        let root = loop {
            if let Some(root) = root_of[at] {
                break root;
            }
            path.push(at);
            match parent(at) {
                None => break at,
                Some(above) if path.len() > spans.len() => {
                    return Err(cycle(&spans, above, parent));
                }
                Some(above) => at = above,
            }
        };
        path.into_iter().for_each(|at| root_of[at] = Some(root));
    }
    let mut roots: IndexMap<usize, Root> = IndexMap::new();
    let missing: Vec<bool> = (0..spans.len()).map(|at| parent(at).is_none()).collect();
    drop(by_id);
    for (at, span) in spans.into_iter().enumerate() {
        let Some(root) = root_of[at] else { continue };
        let entry = roots.entry(root).or_default();
        if at == root {
            entry.missing_parent = span.parent.clone().filter(|_| missing[at]);
            entry.root = entry.spans.len();
        }
        entry.spans.push(span);
    }
    let mut roots: Vec<Root> = roots.into_values().collect();
    for root in &mut roots {
        let id = root.spans[root.root].id.clone();
        root.spans.sort_by_key(|span| (span.start, span.id != id));
        root.root = root
            .spans
            .iter()
            .position(|span| span.id == id)
            .unwrap_or(0);
    }
    roots.sort_by_key(|root| root.spans[root.root].start);
    Ok(roots)
}

/// Describes the cycle in which a span is.
fn cycle(spans: &[Span], start: usize, parent: impl Fn(usize) -> Option<usize>) -> String {
    let (mut ids, mut at) = (Vec::new(), start);
    loop {
        ids.push(&*spans[at].id);
        match parent(at) {
            Some(above) if above != start && ids.len() <= spans.len() => at = above,
            _ => break,
        }
    }
    format!(
        "the spans {} are in a cycle of parents; write a span without parent",
        escape::names(ids.into_iter().take(8).collect::<Vec<_>>().into_iter())
    )
}
