//! Suggestions for misspelt names of metrics, parameters and providers.

/// The longest name, in bytes, that is compared: the comparison takes quadratic time, and names may come from files.
const MAX_NAME: usize = 256;

/// Returns the candidate that `name` is most likely a misspelling of.
pub(crate) fn nearest<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    if name.len() > MAX_NAME {
        return None;
    }
    let candidates = candidates.into_iter().filter(|candidate| candidate.len() <= MAX_NAME);
    let likeness = |candidate: &'a str| (strsim::jaro(name, candidate), candidate);
    let best = candidates.map(likeness).max_by(|a, b| a.0.total_cmp(&b.0))?;
    // The threshold that clap uses for misspelt options.
    (best.0 > 0.7).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn long_names_are_not_compared() {
        assert_eq!(nearest("acuracy", ["f1", "accuracy", "em"]), Some("accuracy"));
        // Quadratic work takes hours.
        let (a, b) = ("ab".repeat(2_000_000), "ba".repeat(2_000_000));
        assert_eq!(nearest(&a, [&*b, &a]), None);
        assert_eq!(nearest("accuracy", [&*b, "acuracy"]), Some("acuracy"));
    }
}
