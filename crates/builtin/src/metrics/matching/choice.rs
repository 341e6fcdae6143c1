//! The answer to a multiple-choice question.

use crate::json::describe::shown;
use crate::metric;
use crate::metrics::answers::StrOrList;
use crate::metrics::explained::matching as explained;
use crate::text::selected_choices;

/// Whether the output selects the right choices of a multiple-choice question, and no others.
///
/// inspect's `choice`. Choices have the letters A, B and so on, or numbers. The output is read as
/// described at [`choice_labels`](crate::text::choice_labels): the last `ANSWER: B`, or "B", "(B) Paris",
/// "A and C". `gold.answer` has the letters (`"B"`, `"A,C"`, `["A", "C"]`). With the strings in
/// `gold.choices`, answers may also be the text of a choice, as described at
/// [`selected_choices`](crate::text::selected_choices): with the choices 3, 1, 4 and 2, "3" is choice A.
/// Letters beyond the last one are errors in `gold.answer` and wrong in the output.
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
    Ok(selected_choices(prediction, choices) == expected)
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
        let selected = selected_choices(answer, choices);
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
