//! The answer to a multiple-choice question.

use crate::json::describe::shown;
use crate::metric;
use crate::metrics::answers::StrOrList;
use crate::metrics::explained::matching as explained;
use crate::text::{Searchable, choice_labels, trim_punctuation};

/// Whether the output selects the right choices of a multiple-choice question, and no others.
///
/// inspect's `choice`. Choices have the letters A, B and so on, or numbers. The output is read as
/// described at [`choice_labels`](crate::text::choice_labels): the last `ANSWER: B`, or "B", "(B) Paris",
/// "A and C". `gold.answer` has the letters (`"B"`, `"A,C"`, `["A", "C"]`). With the strings in
/// `gold.choices`, answers may also be the text of a choice, and letters beyond the last one are errors in
/// `gold.answer` and wrong in the output.
///
/// ```
/// use dsrs_metrics::metrics::Choice;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let gold = example! { "choices" => ["Rome", "Paris"], "answer" => "B" };
/// let score = |answer: &str| Choice.score(&gold, &prediction! { "answer" => answer });
/// assert_eq!((score("Well ...\nANSWER: B")?.value, score("Paris")?.value), (1.0, 1.0));
/// assert_eq!((score("A")?.value, score("ANSWER: A, B")?.value), (0.0, 0.0));
/// # Ok(())
/// # }
/// ```
#[metric(missing = false, explain = explained::choice)]
pub fn choice(
    #[gold] answer: StrOrList<'_>,
    #[gold(default = &[])] choices: &[String],
    #[pred("answer")] prediction: &str,
) -> Result<bool, String> {
    let expected = expected_labels(&answer, choices)?;
    Ok(selected_labels(prediction, choices) == expected)
}

/// The labels of the right choices, sorted.
///
/// # Errors
/// A gold answer that is not a choice.
pub(in crate::metrics) fn expected_labels(
    answer: &StrOrList<'_>,
    choices: &[String],
) -> Result<Vec<String>, String> {
    let mut labels = Vec::new();
    for answer in answer.iter() {
        let selected = selected_labels(answer, choices);
        if selected.is_empty() {
            let known = match choices.len() {
                0 => String::new(),
                count => format!(" of the {count} in `gold.choices`"),
            };
            return Err(format!(
                "expected a choice{known}, such as `B`, in `gold.answer`, found {}",
                shown(answer)
            ));
        }
        labels.extend(selected);
    }
    labels.sort();
    labels.dedup();
    match labels.is_empty() {
        true => Err("expected a choice, such as `B`, in `gold.answer`, found none".to_owned()),
        false => Ok(labels),
    }
}

/// Returns the labels that a string selects, sorted: the labels that it contains, or the label of the choice with this
/// text.
pub(in crate::metrics) fn selected_labels(text: &str, choices: &[String]) -> Vec<String> {
    let labels = choice_labels(text, choices.len());
    if !labels.is_empty() {
        return labels;
    }
    let whole = Searchable::new(trim_punctuation(text), false, false);
    let mut same = choices.iter().enumerate();
    let same = same.find(|(_, choice)| whole.equals(trim_punctuation(choice)));
    same.map(|(at, _)| label(at)).into_iter().collect()
}

/// The label of a choice by its position: A to Z, then 1, 2 and so on.
fn label(at: usize) -> String {
    match u8::try_from(at) {
        Ok(letter @ 0..26) => char::from(b'A' + letter).to_string(),
        _ => (at - 25).to_string(),
    }
}
