//! Functions that search for a reference answer in an output.
//!
//! The output can begin or end with the answer, contain it anywhere, or be equal to it. This module also finds the
//! choices that an output selects.
//!
//! The file is long because each function is documented with its rules and an example.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use serde::{Deserialize, Serialize};

use super::numbers::{Number, NumericOptions};
use super::regex;
use super::unicode::{is_punctuation, is_space};
use super::words::Searchable;

/// Where the reference answer must appear in an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Location {
    /// The output begins with the reference answer.
    Begin,
    /// The output ends with the reference answer.
    #[default]
    End,
    /// The output contains the reference answer anywhere.
    Any,
    /// The output is equal to the reference answer.
    Exact,
}

/// Options for matching an output against a reference answer.
///
/// The output and the reference are trimmed with [`trim_punctuation`] and normalized to NFC. Unless `case_sensitive` is
/// set, they are also case folded.
///
/// ```
/// # use dsrs_metrics::text::{Location, MatchOptions};
/// let end = MatchOptions::default();
/// assert!(end.matches("The answer is **25**.", "25"));
/// assert!(!end.matches("The answer is 25.", "5"));
/// assert!(MatchOptions { whole_words: false, ..end }.matches("The answer is 25.", "5"));
///
/// let exact = MatchOptions { location: Location::Exact, ..end };
/// assert!(exact.matches("Hello world!", "hello world"));
/// assert!(!exact.matches("world hello", "hello world"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchOptions {
    /// Where the reference answer must appear in the output.
    pub location: Location,
    /// `true` if the comparison is case-sensitive.
    pub case_sensitive: bool,
    /// `true` to match the reference only as whole words or numbers.
    pub whole_words: bool,
    /// `true` to compare numbers by value.
    ///
    /// If the reference is a number, it is compared with the numbers in the output.
    pub numeric: bool,
}

/// Matches whole words at the end of the output, ignoring case.
impl Default for MatchOptions {
    fn default() -> Self {
        Self {
            location: Location::End,
            case_sensitive: false,
            whole_words: true,
            numeric: false,
        }
    }
}

impl MatchOptions {
    /// Returns `true` if the output contains the reference at the required location.
    ///
    /// If `numeric` is set, a reference that [is a number](NumericOptions::only_number) is compared with the numbers in
    /// the output:
    ///
    /// - `begin`: the first number must be equal.
    /// - `end`: the last number must be equal.
    /// - `any`: at least one number must be equal.
    /// - `exact`: the whole output must be this number.
    pub fn matches(&self, output: &str, reference: &str) -> bool {
        let options = NumericOptions::default();
        // A brace at the end of a string may belong to a fraction.
        let only_number = |text| {
            let number = options.only_number(text);
            number.or_else(|| options.only_number(trim_punctuation(text)))
        };
        if let Some(number) = self.numeric.then(|| only_number(reference)).flatten() {
            return match self.location {
                Location::Begin => options.numbers(output).first() == Some(&number),
                Location::End => options.last_number(output) == Some(number),
                Location::Any => options.numbers(output).contains(&number),
                Location::Exact => only_number(output) == Some(number),
            };
        }
        let (output, reference) = (trim_punctuation(output), trim_punctuation(reference));
        let output = Searchable::new(output, self.case_sensitive, self.whole_words);
        match self.location {
            Location::Begin => output.starts_with(reference),
            Location::End => output.ends_with(reference),
            Location::Any => output.contains(reference),
            Location::Exact => output.equals(reference),
        }
    }
}

/// Removes whitespace, brackets, quotes and other punctuation from both ends of a string.
///
/// Sentence punctuation and Markdown punctuation are removed.
///
/// Characters that carry meaning are kept: signs and symbols (`-5`, `$5`, `C++`, `C#`, `5%`), and a point before a
/// number or name (`.5`, `.NET`). If a string consists only of punctuation, only its whitespace is removed.
///
/// ```
/// # use dsrs_metrics::text::trim_punctuation;
/// assert_eq!(trim_punctuation(" (**“Paris”**)."), "Paris");
/// assert_eq!([trim_punctuation("- -5."), trim_punctuation("C++!"), trim_punctuation(" ?! ")], ["-5", "C++", "?!"]);
/// ```
pub fn trim_punctuation(text: &str) -> &str {
    let plain = text.trim_matches(is_space);
    let end = plain.trim_end_matches(|c| is_space(c) || is_enclosing(c));
    let mut rest = end;
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        let begins_word = after.chars().next().is_some_and(char::is_alphanumeric);
        let is_apart = after.chars().next().is_none_or(is_space);
        let is_trimmed = match first {
            // The last of several points ends an ellipsis.
            '.' => !begins_word || end[..end.len() - rest.len()].ends_with('.'),
            '-' | '–' | '—' => is_apart,
            _ => is_space(first) || is_enclosing(first),
        };
        if !is_trimmed {
            return rest;
        }
        rest = after;
    }
    plain
}

/// Returns `true` for punctuation around a word or at the end of a sentence, which is not part of the word.
fn is_enclosing(c: char) -> bool {
    match c {
        '$' | '+' | '<' | '=' | '>' | '^' | '|' | '~' => false,
        '#' | '%' | '&' | '@' | '/' | '\\' | '-' | '‰' | '–' | '—' => false,
        _ => is_punctuation(c),
    }
}

/// Returns the labels of the choices that an output selects.
///
/// `choices` contains the texts of the choices. The result is empty if the output does not select any choice.
///
/// Labels are the same as in [`choice_labels`], but if there are up to 26 choices, a position is converted to a letter.
///
/// The first rule that applies selects the choices:
/// 1. A capital letter on its own is a label, even if it is also the text of another choice.
/// 2. If the output is the text of a choice, it selects that choice. Numbers are compared by value (`1.0` equals `1`,
///    `1/2` equals `\frac12`), including their units. A number without a unit selects the choice with this number if
///    there is only one.
/// 3. Otherwise, [`choice_labels`] reads the output. A number in the output is a position only if no choice is a
///    number.
///
/// ```
/// # use dsrs_metrics::text::selected_choices;
/// let numbers = ["3", "1", "4", "2"].map(String::from);
/// assert_eq!(selected_choices("ANSWER: 3", &numbers), ["A"]);
/// assert_eq!(selected_choices("B) 1", &numbers), ["B"]);
/// let letters = ["B", "A"].map(String::from);
/// assert_eq!(selected_choices("A", &letters), ["A"]);
/// ```
pub fn selected_choices(output: &str, choices: &[String]) -> Vec<String> {
    let answer = after_last_marker(output).unwrap_or(output).trim();
    let line = answer.lines().next().unwrap_or_default();
    let inner = trim_punctuation(opened(line).0);
    let labels = choice_labels(output, choices.len());
    let is_letter =
        inner.len() == 1 && labels == [inner.to_ascii_uppercase()] && number(inner).is_none();
    let is_text =
        inner == inner.to_ascii_lowercase() && choices.iter().any(|choice| choice == inner);
    if choices.is_empty() || (is_letter && !is_text) {
        return labels;
    }
    let inner_text = number(inner).is_none().then_some(inner);
    let mut texts = [answer, line].into_iter().chain(inner_text);
    if let Some(at) = texts.find_map(|text| same_choice(text, choices)) {
        return vec![label(at)];
    }
    let has_numbers = choices.iter().any(|choice| number(choice).is_some());
    let is_position = inner.bytes().all(|byte| byte.is_ascii_digit());
    if number(line).is_some_and(|(_, unit)| unit.is_empty()) && (has_numbers || !is_position) {
        return Vec::new();
    }
    // `1) 30`: the number of a line, and the text of a choice.
    let text = line.split_once([')', '.', ':']);
    let text = text.map_or("", |(_, text)| text);
    let is_number = |label: &String| label.parse::<u32>().is_ok();
    if has_numbers
        && matches!(&labels[..], [only] if is_number(only))
        && let Some(at) = same_choice(text, choices)
    {
        return vec![label(at)];
    }
    let resolve = |found: String| match found.parse::<usize>() {
        Ok(_) if has_numbers => same_choice(&found, choices).map(label),
        Ok(position) if choices.len() <= 26 => Some(label(position - 1)),
        _ => Some(found),
    };
    let resolved: Option<BTreeSet<String>> = labels.into_iter().map(resolve).collect();
    resolved.unwrap_or_default().into_iter().collect()
}

/// Returns the position of the choice with the same meaning.
fn same_choice(text: &str, choices: &[String]) -> Option<usize> {
    let whole = Searchable::new(trim_punctuation(text), false, false);
    let is_same = |choice: &String| whole.equals(trim_punctuation(choice));
    let exact = choices.iter().position(|it| it.trim() == text.trim());
    if let Some(at) = exact.or_else(|| choices.iter().position(is_same)) {
        return Some(at);
    }
    let (value, unit) = number(text)?;
    let numbers: Vec<_> = choices.iter().map(|choice| number(choice)).collect();
    let only = |is_same: &dyn Fn(&str) -> bool| {
        let same = |of: &&Option<(Number, String)>| match of {
            Some((other, unit)) => *other == value && is_same(unit),
            None => false,
        };
        let is_only = numbers.iter().filter(same).count() == 1;
        is_only.then(|| numbers.iter().position(|of| same(&of)))?
    };
    let is_short = text.split_whitespace().count() <= 2;
    let lacks_unit = |other: &str| unit.is_empty() || (other.is_empty() && is_short);
    only(&|other| other == unit).or_else(|| only(&lacks_unit))
}

/// Returns the number that a string begins with, and its unit.
fn number(text: &str) -> Option<(Number, String)> {
    let is_mark = |c| matches!(c, '*' | '_' | '`' | '"' | '\'' | ' ');
    let text = text.trim_start_matches(is_mark);
    let text =
        text.trim_end_matches(|c| is_mark(c) || matches!(c, '.' | ',' | ';' | ':' | '!' | '?'));
    NumericOptions::default().number_with_unit(text)
}

/// Returns the label of the choice at a position: A to Z, then 1, 2 and so on.
fn label(at: usize) -> String {
    match u8::try_from(at) {
        Ok(letter @ 0..26) => char::from(b'A' + letter).to_string(),
        _ => (at - 25).to_string(),
    }
}

/// Returns the labels, such as `B`, of the choices that an output selects.
///
/// Labels are in upper case. There can be several, such as `A` and `C`. The list is empty if the output does not select
/// any choice.
///
/// The labels are read from the text after the last `ANSWER:`, ignoring case. If the output has no `ANSWER:`, they are
/// read from its start. Only one line is read. A line can contain:
///
/// - Several labels: `A,C`, `A and C`, `AC`.
/// - Labels in brackets, quotes or Markdown: `(B)`, `**B**`, `\boxed{B}`.
/// - The text of the choice after the label, if it is set apart: `B) Paris`, `B. Paris`, `**B** Paris`.
///
/// `count` is the number of choices. The labels are `A` to `Z`. From the 27th choice on, they are 1, 2 and so on.
///
/// If the choices are numbered, the labels are the positions 1 to `count` instead. If `count` is 0, every letter and
/// number is a label.
///
/// ```
/// # use dsrs_metrics::text::choice_labels;
/// assert_eq!(choice_labels("Not ANSWER: A. So, ANSWER: (b)", 4), ["B"]);
/// assert_eq!(choice_labels("A, C and D.", 4), ["A", "C", "D"]);
/// assert_eq!(choice_labels("B) Paris", 4), ["B"]);
/// assert!(choice_labels("A good question", 4).is_empty());
/// ```
pub fn choice_labels(output: &str, count: usize) -> Vec<String> {
    let answer = after_last_marker(output).unwrap_or(output);
    let answer = answer.trim_start();
    // Without a marker, the whole output, of one line or more, is the answer.
    let line = answer.lines().next().unwrap_or_default();
    let labels = labels(line, count).unwrap_or_default();
    labels.into_iter().collect()
}

/// The marker of an answer, with the Markdown around it.
static MARKER: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i-u:answer)[ \t*_]*[:：][*_]*"));

/// Returns the string after the last `ANSWER:`.
fn after_last_marker(output: &str) -> Option<&str> {
    let marker = MARKER.find_iter(output).last()?;
    Some(&output[marker.end()..])
}

const CLOSING: [char; 13] = [
    ')', ']', '}', '>', '*', '_', '$', '"', '\'', '`', '”', '’', '」',
];

/// Reads a list of labels. Returns `None` if anything else is between or after them.
fn labels(line: &str, count: usize) -> Option<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let mut rest = line;
    loop {
        let (inner, depth) = opened(rest);
        let word = first_word(inner);
        let read = read_labels(word, count);
        let is_conjunction = word.eq_ignore_ascii_case("and");
        match read {
            Some(labels) => found.extend(labels),
            None if is_conjunction && !found.is_empty() => {}
            None => return word.is_empty().then_some(found),
        }
        let after = &inner[word.len()..];
        let closed = after.trim_start_matches(CLOSING);
        // An unopened bracket or a mark ends the labels; the text of the choice follows.
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

/// An opening bracket or quote, Markdown, or a LaTeX command that only changes how its argument is typeset.
static OPENING: LazyLock<Regex> = LazyLock::new(|| {
    regex(r#"^\s*(?:\\(?:[(\[]|(?:boxed|text|math|fbox|mbox|left)[A-Za-z]*)|[(\[{<*_$"'`“‘「])"#)
});

/// Skips opening brackets, quotes and Markdown, and LaTeX commands such as `\boxed{`. Returns the remaining text, and
/// the number of items skipped.
fn opened(text: &str) -> (&str, usize) {
    let (mut rest, mut depth) = (text, 0);
    while let Some(opening) = OPENING.find(rest) {
        (rest, depth) = (&rest[opening.end()..], depth + 1);
    }
    (rest.trim_start(), depth)
}

fn next_word_is_text(text: &str, count: usize) -> bool {
    let (inner, _) = opened(text);
    let word = first_word(inner);
    read_labels(word, count).is_none() && !word.eq_ignore_ascii_case("and")
}

fn first_word(text: &str) -> &str {
    text.split(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or(text)
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
    // If the number of choices is unknown, a lower-case word is not a list of labels.
    let is_list = word.len() == 1 || count > 0 || word == upper;
    let is_label = is_list && upper.bytes().all(is_letter);
    is_label.then(|| upper.chars().map(String::from).collect())
}

#[cfg(test)]
mod tests {
    use super::trim_punctuation;

    #[test]
    fn punctuation_around_a_string_is_removed_and_its_meaning_kept() {
        for (text, trimmed) in [
            ("Paris", "Paris"),
            ("  «Paris»,\n", "Paris"),
            ("。東京！", "東京"),
            (".5.", ".5"),
            ("...so", "so"),
            ("!. .5", ".5"),
            (".NET", ".NET"),
            ("`code`", "code"),
            ("A-", "A-"),
            ("— Paris", "Paris"),
            ("-$5", "-$5"),
            ("5%", "5%"),
            ("()", "()"),
            ("", ""),
            ("...", "..."),
        ] {
            assert_eq!(trim_punctuation(text), trimmed, "{text:?}");
        }
    }
}

#[cfg(test)]
mod choice_tests {
    use super::{choice_labels, selected_choices};

    #[test]
    fn what_a_choice_says_comes_before_labels_but_not_before_a_capital_letter() {
        for (choices, output, label) in [
            ("1|2|3|4", "3", "C"),
            ("1|2|3|4", "ANSWER: $3$", "C"),
            ("1|2|3|4", "\\boxed{3.0}", "C"),
            ("1|2|3|4", "C", "C"),
            ("1|2|3|4", "1, 3", "A C"),
            ("3|1|4|2", "3", "A"),
            ("3|1|4|2", "B) 1", "B"),
            ("3|1|4|2", "3. 4", "C"),
            ("30|1", "1) 30", "A"),
            ("10|20|30|40", "3", ""),
            ("1|2|3", "2.5", ""),
            ("1|2|3", "1/2", ""),
            ("1|2|3", "\\sqrt{2}", ""),
            ("12|3", "\\frac12", ""),
            ("1/4|\\frac12|0.75", "0.5", "B"),
            ("1/4|\\frac12|0.75", "3/4.", "C"),
            ("-1|1", "1", "B"),
            ("-1|1", "-1.0", "A"),
            ("1|1.0|2", "1.00", ""),
            ("1|1.0|2", "1.0", "B"),
            ("5 km|5 m|6 km", "5km", "A"),
            ("5 km|5 m|6 km", "6", "C"),
            ("5 km|5 m|6 km", "5", ""),
            ("5|6", "6 apples", "B"),
            ("5|6", "6 is not right", ""),
            ("50%|50", "50", "B"),
            ("50%|50", "50\\%", "A"),
            ("B|A", "A", "A"),
            ("B|A", "(A)", "A"),
            ("B|A", "B) A", "B"),
            ("x|b|a", "a", "C"),
            ("x|y|z", "b", "B"),
            ("bad|cab|dab|fad", "dab", "C"),
            ("I|II|III|IV", "II", "B"),
            ("I|II|III|IV", "i", "A"),
            ("Paris|Paris, France|not Paris", "Paris, France", "B"),
            ("Paris|Rome", "\\boxed{Rome}", "B"),
            ("Paris|Rome", "2", "B"),
            ("Paris|Rome", "2) Rome", "B"),
            ("Paris|Rome", "A, B", "A B"),
        ] {
            let choices: Vec<String> = choices.split('|').map(String::from).collect();
            assert_eq!(
                selected_choices(output, &choices).join(" "),
                label,
                "{choices:?}: {output}"
            );
        }
    }

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
