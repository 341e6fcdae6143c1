//! Suggestions for misspelt names of metrics, parameters and providers.

/// Returns the candidate that `name` is most likely a misspelling of.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let likeness = |candidate: &'a str| (strsim::jaro(name, candidate), candidate);
    let best = candidates.into_iter().map(likeness).max_by(|a, b| a.0.total_cmp(&b.0))?;
    // The threshold that clap uses for misspelt options.
    (best.0 > 0.7).then_some(best.1)
}
