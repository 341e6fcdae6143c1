//! Guesses from names which column of a file has a field, for messages.

use crate::messages::escape;

/// Words of columns with labels, even beside a word of [`PREDICTED`].
const LABELLED: &str = "gold golden ground truth reference ref expected target correct ideal true solution example label human";

/// Words of columns with predictions.
const PREDICTED: &str = "pred prediction predicted actual generated generation completion hypothesis hyp candidate retrieved model llm guess output response reply out result";

/// Words for the same thing.
const ALIKE: [&str; 4] = [
    "answer text response output completion prediction reply value",
    "question query input prompt instruction problem",
    "context document doc passage source chunk evidence",
    "label class category intent target",
];

/// Last words of columns with ids.
const IDS: &str = "id ids qid uid guid uuid";

/// Suggests mappings for fields such as `gold.answer` and for the id, each ready to paste. Skips fields without a
/// similar column.
#[doc(hidden)]
pub fn guess_mappings<'a>(
    fields: impl IntoIterator<Item = &'a str>,
    columns: impl IntoIterator<Item = &'a str>,
) -> Vec<String> {
    let fields: Vec<&str> = fields.into_iter().collect();
    let columns: Vec<&str> = columns.into_iter().collect();
    let mut free: Vec<(u8, &str, &str)> = Vec::new();
    for field in &fields {
        let scored = columns.iter().filter(|column| !is_id(column));
        free.extend(scored.map(|column| (similarity(field, column), *field, *column)));
    }
    free.retain(|(score, ..)| *score > 0);
    // The best pair first; of equal pairs the first in the file.
    free.sort_by_key(|(score, ..)| std::cmp::Reverse(*score));
    let mut chosen = Vec::new();
    while !free.is_empty() {
        let (_, field, column) = free.remove(0);
        free.retain(|(_, other, same)| *other != field && *same != column);
        chosen.push((field, column));
    }
    chosen.sort_by_key(|(field, _)| fields.iter().position(|other| other == field));
    let id = columns.iter().find(|column| is_id(column));
    let id = id.filter(|_| !columns.contains(&"id") && !chosen.is_empty());
    chosen.extend(id.map(|column| ("id", *column)));
    chosen
        .into_iter()
        .map(|(field, column)| mapping(field, column))
        .collect()
}

/// Returns the columns that are named like ids.
pub(super) fn id_columns<'a>(
    columns: impl Iterator<Item = &'a str>,
) -> impl Iterator<Item = &'a str> {
    columns.filter(|column| is_id(column))
}

/// Returns the option to paste, in quotes if a shell would split or change it.
fn mapping(field: &str, column: &str) -> String {
    let column = escape::name(column);
    let is_plain = |found: char| found.is_alphanumeric() || "_-./:@".contains(found);
    match column.chars().all(is_plain) {
        true => format!("--map {field}={column}"),
        false => format!("--map '{field}={column}'"),
    }
}

/// Returns `true` if a list, with spaces between its words, has the word.
fn is_in(word: &str, list: &str) -> bool {
    list.split(' ').any(|other| other == word)
}

fn is_id(column: &str) -> bool {
    let words = words(column);
    words.last().is_some_and(|last| is_in(last, IDS))
}

/// Returns how well a column fits a field; 0 if it does not.
fn similarity(field: &str, column: &str) -> u8 {
    let (side, name) = field.split_once('.').unwrap_or(("", field));
    let (names, words) = (words(name), words(column));
    let of_side = match side_of(&words) {
        Some(other) if other != side => return 0,
        Some(_) => 5,
        // A column `answer` beside one with predictions is the label.
        None => u8::from(side == "gold"),
    };
    let group = |word: &String| ALIKE.iter().position(|group| is_in(word, group));
    let alike = names.iter().find_map(group);
    let of_name = if words == names {
        4
    } else if names.iter().any(|name| words.contains(name)) {
        3
    } else if alike.is_some() && words.iter().any(|word| group(word) == alike) {
        2
    } else {
        // `ground_truth` says no more than that it is the label.
        let is_side = |word: &String| side_of(std::slice::from_ref(word)).is_some();
        u8::from(alike == Some(0) && words.iter().all(is_side))
    };
    match of_name {
        0 => 0,
        of_name => of_name + of_side,
    }
}

fn side_of(words: &[String]) -> Option<&'static str> {
    let has = |list| words.iter().any(|word| is_in(word, list));
    if has(LABELLED) {
        return Some("gold");
    }
    has(PREDICTED).then_some("pred")
}

/// Returns the words of a name in lower case, in the singular: `retrievedContexts` has `retrieved` and `context`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for found in name.chars() {
        let starts_word = was_lower && found.is_uppercase();
        if starts_word || !found.is_alphanumeric() {
            words.push(String::new());
        }
        was_lower = found.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| found.is_alphanumeric()) {
            word.extend(found.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    for word in &mut words {
        if word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && !word.ends_with("is") {
            word.pop();
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::guess_mappings;

    #[test]
    fn columns_of_known_programs_are_found() {
        let answer = ["gold.answer", "pred.answer"];
        let context = ["gold.context", "pred.context"];
        for (fields, columns, expected) in [
            (answer, "question answer prediction", "answer prediction"),
            (
                answer,
                "example_answer pred_answer",
                "example_answer pred_answer",
            ),
            (
                answer,
                "input actual_output expected_output",
                "expected_output actual_output",
            ),
            (
                answer,
                "user_input response reference",
                "reference response",
            ),
            (
                answer,
                "question ground_truth answer contexts",
                "ground_truth answer",
            ),
            (answer, "prompt completion ideal", "ideal completion"),
            (
                answer,
                "Question GroundTruth ModelAnswer",
                "GroundTruth ModelAnswer",
            ),
            (
                context,
                "reference_contexts retrieved_contexts",
                "reference_contexts retrieved_contexts",
            ),
        ] {
            let expected: Vec<_> = fields
                .iter()
                .zip(expected.split(' '))
                .map(|(field, column)| format!("--map {field}={column}"))
                .collect();
            assert_eq!(
                guess_mappings(fields, columns.split(' ')),
                expected,
                "{columns}"
            );
        }
    }

    #[test]
    fn an_id_is_found_and_a_name_with_spaces_is_quoted() {
        assert_eq!(
            guess_mappings(
                ["gold.answer", "pred.answer"],
                ["task_id", "Gold answer", "Output"]
            ),
            [
                "--map 'gold.answer=Gold answer'",
                "--map pred.answer=Output",
                "--map id=task_id"
            ]
        );
        assert!(guess_mappings(["gold.answer"], ["user_id", "n", "year"]).is_empty());
    }
}
