//! The choices that an output selects in a multiple-choice question.

use std::collections::BTreeSet;

/// Returns the labels of the choices that an output selects, in capitals: `B`, or `A` and `C`. Empty
/// if it selects none.
///
/// The labels are read from the string after the last `ANSWER:`, in any case, or from the whole output if
/// it has none. There may be several (`A,C`, `A and C`, `AC`), in brackets, quotes or Markdown
/// (`(B)`, `**B**`, `\boxed{B}`), before the text of the choice if it is set apart (`B) Paris`, `B.
/// Paris`, `**B** Paris`). `count` is the number of choices: the labels are then `A` to `Z`, and 1,
/// 2 and so on for those after 26, or the positions 1 to `count` of choices with numbers. With 0
/// every letter and number is a label.
///
/// ```
/// # use dsrs_metrics::text::choice_labels;
/// assert_eq!(choice_labels("Not ANSWER: A. So, ANSWER: (b)", 4), ["B"]);
/// assert_eq!(choice_labels("A, C and D.", 4), ["A", "C", "D"]);
/// assert_eq!(choice_labels("B) Paris", 4), ["B"]);
/// assert!(choice_labels("A good question", 4).is_empty());
/// ```
#[must_use]
pub fn choice_labels(output: &str, count: usize) -> Vec<String> {
    let answer = after_last_marker(output).unwrap_or(output);
    let answer = answer.trim_start();
    // Without a marker the output itself is the answer, on one line or more.
    let line = answer.lines().next().unwrap_or_default();
    labels(line, count).unwrap_or_default().into_iter().collect()
}

/// Returns the string after the last `ANSWER:`.
fn after_last_marker(output: &str) -> Option<&str> {
    const MARKER: &str = "answer";
    // Lower case of ASCII has the same positions.
    let lower = output.to_ascii_lowercase();
    let mut end = lower.len();
    while let Some(at) = lower[..end].rfind(MARKER) {
        let rest = output[at + MARKER.len()..].trim_start_matches([' ', '\t', '*', '_']);
        if let Some(answer) = rest.strip_prefix([':', '：']) {
            return Some(answer.trim_start_matches(['*', '_']));
        }
        end = at;
    }
    None
}

const OPENING: [char; 13] = ['(', '[', '{', '<', '*', '_', '$', '"', '\'', '`', '“', '‘', '「'];
const CLOSING: [char; 13] = [')', ']', '}', '>', '*', '_', '$', '"', '\'', '`', '”', '’', '」'];

/// Reads a list of labels. `None` if something else is between or after them.
fn labels(line: &str, count: usize) -> Option<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let mut rest = line;
    loop {
        let (inner, depth) = opened(rest);
        let word = &inner[..inner.find(|c: char| !c.is_alphanumeric()).unwrap_or(inner.len())];
        let read = read_labels(word, count);
        let is_conjunction = word.eq_ignore_ascii_case("and");
        match read {
            Some(labels) => found.extend(labels),
            None if is_conjunction && !found.is_empty() => {}
            None => return word.is_empty().then_some(found),
        }
        let after = &inner[word.len()..];
        let closed = after.trim_start_matches(CLOSING);
        // A bracket that was not opened, or a mark, ends the labels: the text of the choice follows.
        let is_set_apart = depth > 0 && closed.len() < after.len();
        if depth == 0 && closed.len() < after.len() && !is_conjunction {
            return Some(found);
        }
        let next = closed.trim_start_matches([' ', '\t', ',', ';', '/', '+', '&', '、', '，']);
        let ends = next.is_empty() || next.starts_with(['.', ':', '。', '-', '–', '—', '\\']);
        if ends || next.len() == closed.len() {
            return (ends || is_set_apart).then_some(found);
        }
        if is_set_apart && next_word_is_text(next, count) {
            return Some(found);
        }
        rest = next;
    }
}

/// Skips opening brackets, quotes and Markdown, and LaTeX commands such as `\boxed{`. Returns the
/// rest, and how many were skipped.
fn opened(text: &str) -> (&str, usize) {
    let (mut rest, mut depth) = (text.trim_start(), 0);
    loop {
        let command = rest.strip_prefix('\\').map(|name| {
            let argument = name.trim_start_matches(|c: char| c.is_ascii_alphabetic());
            name.strip_prefix(['(', '[']).unwrap_or(argument)
        });
        let inner = match command {
            Some(argument) => Some(argument),
            None => rest.strip_prefix(OPENING),
        };
        match inner {
            Some(inner) => (rest, depth) = (inner.trim_start(), depth + 1),
            None => return (rest, depth),
        }
    }
}

fn next_word_is_text(text: &str, count: usize) -> bool {
    let (inner, _) = opened(text);
    let word = &inner[..inner.find(|c: char| !c.is_alphanumeric()).unwrap_or(inner.len())];
    read_labels(word, count).is_none() && !word.eq_ignore_ascii_case("and")
}

/// Returns the labels of one word: a letter, a number, or several letters.
fn read_labels(word: &str, count: usize) -> Option<Vec<String>> {
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
    if word.len() > 26 {
        return None;
    }
    if is_number {
        let number: usize = word.parse().ok()?;
        let is_label = number > 0 && (count == 0 || number <= count);
        return is_label.then(|| vec![number.to_string()]);
    }
    let upper = word.to_ascii_uppercase();
    let is_letter =
        |byte: u8| byte.is_ascii_uppercase() && (count == 0 || usize::from(byte - b'A') < count);
    // Without the number of choices, a word in lower case is a word.
    let is_list = word.len() == 1 || count > 0 || word == upper;
    let is_label = is_list && upper.bytes().all(is_letter);
    is_label.then(|| upper.chars().map(String::from).collect())
}

#[cfg(test)]
mod tests {
    use super::choice_labels;

    #[test]
    fn labels_are_read_in_many_forms_and_words_are_not_labels() {
        for (output, labels) in [
            ("B", "B"),
            ("b", "B"),
            ("(B)", "B"),
            ("B.", "B"),
            ("B: Paris", "B"),
            ("B - Paris", "B"),
            ("**B** Paris", "B"),
            ("**B) Paris**", "B"),
            ("Reasons.\nANSWER: C", "C"),
            ("**Answer:** C", "C"),
            ("answer : $\\boxed{C}$", "C"),
            ("ANSWER: \\text{C}", "C"),
            ("ANSWER: A\nANSWER: D", "D"),
            ("ANSWER: AC", "A C"),
            ("ANSWER: A, C", "A C"),
            ("ANSWER: (A), (C)", "A C"),
            ("ANSWER: A, B, and C.", "A B C"),
            ("ANSWER: 2", "2"),
            ("ANSWER: 7", ""),
            ("ANSWER: E", ""),
            ("ANSWER: A dog", ""),
            ("ANSWER: none of them", ""),
            ("The answer is A", ""),
            ("A good question", ""),
            ("Paris", ""),
            ("", ""),
            ("\\(B\\)", "B"),
            ("\\[\\boxed{B}\\]", "B"),
            ("A and C", "A C"),
            ("and C", ""),
            ("A and) dog", ""),
            ("(B Paris", ""),
            ("A \\text{dog}", "A"),
            ("A=4", ""),
            ("É", ""),
            ("ANSWER: 0", ""),
            ("ANSWER: ac", "A C"),
            ("ANSWER: A, …", "A"),
            ("ANSWER:", ""),
        ] {
            assert_eq!(choice_labels(output, 4).join(" "), labels, "{output:?}");
        }
        assert_eq!(choice_labels("dab", 0).join(" "), "");
        assert_eq!(choice_labels("d", 0).join(" "), "D");
        assert_eq!(choice_labels("DAB", 0).join(" "), "A B D");
        assert_eq!(choice_labels("ANSWER: z", 30).join(" "), "Z");
        assert_eq!(choice_labels("ANSWER: 0", 0).join(" "), "");
        assert_eq!(choice_labels("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 26).len(), 26);
        assert_eq!(choice_labels(&"A".repeat(27), 26).join(" "), "");
    }
}
