//! Suggestions for misspelt names of metrics, parameters and providers.

use super::escape;

/// The longest name, in bytes, that is compared. Comparing takes quadratic time, and names may come from files.
const MAX_NAME: usize = 256;

/// Returns the candidate that is most similar to a misspelt name.
///
/// Returns `None` if no candidate is similar enough. Case matters only if two candidates are equally similar.
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

/// Returns a suggestion to append to a message about an unknown name.
///
/// The suggestion is the known name that was probably meant. Returns `None` if no known name is similar.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let nearest = nearest(name, known).filter(|nearest| *nearest != name)?;
    Some(format!("; did you mean `{}`?", escape::name(nearest)))
}

/// Returns a suggestion or a list of names to append to a message about an unknown name.
///
/// The suggestion is the known name that was probably meant. If none is similar, the message lists all known names.
pub fn known_names<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    did_you_mean(name, known.iter().copied()).unwrap_or_else(|| match &*known {
        [] => String::new(),
        known => format!(", only {}", escape::names(known.iter().copied())),
    })
}

/// Returns a suggestion or a list of fields to append to a message about a missing field.
///
/// The suggestion is the field that was probably meant. If none is similar, the message lists all fields.
///
/// `row` is what the message calls the row.
pub fn known_fields<'a>(
    row: &str,
    name: &str,
    fields: impl IntoIterator<Item = &'a str>,
) -> String {
    let fields: Vec<&str> = fields.into_iter().collect();
    did_you_mean(name, fields.iter().copied()).unwrap_or_else(|| match &*fields {
        [] => format!("; {row} has no fields"),
        fields => format!("; {row} has {}", escape::names(fields.iter().copied())),
    })
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
