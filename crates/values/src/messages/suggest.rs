//! Suggestions for misspelt names of metrics, parameters and providers.

/// The longest name, in bytes, that is compared. Comparing takes quadratic time, and names may come from files.
const MAX_NAME: usize = 256;

/// Returns the candidate that `name` most likely misspells. Case only decides between equally similar candidates.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_NAME {
        return None;
    }
    let candidates = candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= MAX_NAME);
    let lower = name.to_lowercase();
    let likeness = |candidate: &'a str| {
        let with_case = strsim::jaro(name, candidate);
        (
            strsim::jaro(&lower, &candidate.to_lowercase()),
            with_case,
            candidate,
        )
    };
    let best = candidates.map(likeness);
    let best = best.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)))?;
    // The threshold that clap uses for misspelt options.
    (best.0 > 0.7).then_some(best.2)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn another_case_is_a_misspelling() {
        assert_eq!(nearest("EM", ["f1", "em", "bleu"]), Some("em"));
        assert_eq!(nearest("Rouge_L", ["rouge_1", "rouge_l"]), Some("rouge_l"));
        // Names that differ only in case are different fields.
        assert_eq!(
            nearest("Answr", ["answer", "Answer", "ANSWER"]),
            Some("Answer")
        );
        assert_eq!(
            nearest("ANSWR", ["answer", "Answer", "ANSWER"]),
            Some("ANSWER")
        );
        assert_eq!(nearest("X", ["f1", "em"]), None);
    }

    #[test]
    fn long_names_are_not_compared() {
        assert_eq!(
            nearest("acuracy", ["f1", "accuracy", "em"]),
            Some("accuracy")
        );
        // Quadratic work would take hours.
        let (a, b) = ("ab".repeat(2_000_000), "ba".repeat(2_000_000));
        assert_eq!(nearest(&a, [&*b, &a]), None);
        assert_eq!(nearest("accuracy", [&*b, "acuracy"]), Some("acuracy"));
    }
}
