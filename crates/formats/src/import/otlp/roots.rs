//! Finds the spans of a trace below each of its root spans.

use std::collections::HashMap;

use indexmap::IndexMap;

use super::document::Span;
use crate::messages::escape;

/// A root and the spans below it, sorted by their start.
#[derive(Default)]
pub(super) struct Root {
    pub(super) spans: Vec<Span>,
    /// The parent of the root, if it is missing from the file.
    pub(super) missing_parent: Option<String>,
    pub(super) root: usize,
}

/// Returns the roots of a trace: the spans whose parent is not in the file.
///
/// # Errors
/// Returns an error if two different spans have the same id, or if a span is its own ancestor.
pub(super) fn roots(spans: Vec<Span>) -> Result<Vec<Root>, String> {
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    let mut is_repeated = vec![false; spans.len()];
    for (at, span) in spans.iter().enumerate() {
        match by_id.get(&*span.id) {
            // An exporter writes a span twice if it retries.
            Some(first) if spans[*first] == *span => is_repeated[at] = true,
            Some(_) => {
                return Err(format!(
                    "two different spans have the id {}; give each span its own id",
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

/// Describes a cycle of parents.
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
        "the parents of the spans {} form a cycle; add a span without a parent",
        escape::names(ids.into_iter().take(8).collect::<Vec<_>>().into_iter())
    )
}
