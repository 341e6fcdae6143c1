//! Applies the advice in every recorded message to the source that the message is about, and expands the result. The
//! advice is right if the error disappears and no new one appears. `tests/advice.expected` has the lines that the
//! advice turns the mistakes into. They show what was meant, and a change to them is reviewed like a change to a
//! message.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use proc_macro2::LineColumn;

use super::expansion::{self, Found};
use super::{folder, has_extension, is_recording, paths, rendering};

/// The words before advice in backticks.
const WORDS: [&str; 5] = ["write `", "did you mean `", "add `", "remove `", "move `"];

#[test]
fn advice_removes_the_error_that_it_is_given_for() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/advice.expected");
    let found = every_advice();
    if is_recording() {
        return fs::write(file, found).expect("the file is written");
    }
    let expected = fs::read_to_string(file).unwrap_or_default();
    assert!(found == expected, "{}", rendering::diff(&expected, &found));
}

/// Returns a paragraph for each message with advice: the message, and the line after the advice is applied.
fn every_advice() -> String {
    let mut text = String::new();
    let (mut applied, mut count) = (0, 0);
    for topic in paths(&folder()) {
        for case in paths(&topic)
            .iter()
            .filter(|case| has_extension(case, "rs"))
        {
            let source = fs::read_to_string(case).expect("a case");
            let errors = expansion::errors(&source).expect("tokens");
            let name = case.strip_prefix(folder()).expect("in the folder");
            let mut seen = BTreeSet::new();
            for error in errors
                .iter()
                .filter(|error| seen.insert(error.message.clone()))
            {
                let Some(advice) = Advice::of(&error.message) else {
                    continue;
                };
                count += 1;
                let line = advice.applied(&source, error, &errors);
                applied += usize::from(line.is_some());
                let line = line.unwrap_or_else(|| "not applied by itself".to_owned());
                text += &format!("{}: {}\n    {line}\n", name.display(), error.message);
            }
        }
    }
    format!(
        "{applied} of {count} messages: the first advice, applied as it is written, removes the error\n\n{text}"
    )
}

/// What a message says to write.
enum Advice {
    Write(String),
    Remove,
}

impl Advice {
    fn of(message: &str) -> Option<Self> {
        if message.contains("remove it") && !message.contains("; write `") {
            return Some(Self::Remove);
        }
        let starts = WORDS.iter().filter_map(|word| {
            let at = message.find(word)?;
            Some((at, at + word.len(), *word))
        });
        let (_, start, word) = starts.min()?;
        // Advice may have a backtick in it only if it is one of ours.
        let quoted = message[start..].split('`').next()?.to_owned();
        match word {
            "remove `" => Some(Self::Remove),
            "move `" => None,
            _ => Some(Self::Write(quoted)),
        }
    }

    /// Returns the changed line if one way to apply the advice removes the error.
    fn applied(&self, source: &str, error: &Found, errors: &[Found]) -> Option<String> {
        let chars: Vec<char> = source.chars().collect();
        let (start, end) = (offset(&chars, error.start), offset(&chars, error.end));
        let edits = match self {
            Self::Write(text) => edits(&chars, (start, end), text),
            Self::Remove => enclosing(&chars, start, end)
                .into_iter()
                .flat_map(|(from, to)| without(&chars, from, to))
                .collect(),
        };
        let before: BTreeSet<&str> = errors.iter().map(|error| &*error.message).collect();
        edits.into_iter().find_map(|Edit { from, to, text }| {
            let changed: String = [
                &chars[..from],
                &text.chars().collect::<Vec<_>>(),
                &chars[to..],
            ]
            .concat()
            .into_iter()
            .collect();
            if uses(&changed) < uses(source) || !is_syntax(&changed) {
                return None;
            }
            let left = expansion::errors(&changed).ok()?;
            let is_gone =
                left.len() < errors.len() && left.iter().all(|it| it.message != error.message);
            let has_others = left.iter().any(|it| !before.contains(&*it.message));
            (is_gone && !has_others).then(|| changed_line(source, &changed))
        })
    }
}

/// A replacement of the characters between two offsets.
struct Edit {
    from: usize,
    to: usize,
    text: String,
}

/// Returns the ways to write a text at an error: instead of the tokens, instead of the item around them, or before them.
fn edits(chars: &[char], (start, end): (usize, usize), text: &str) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut edit = |from, to, text: &str| {
        edits.push(Edit {
            from,
            to,
            text: text.to_owned(),
        });
    };
    edit(start, end, text);
    let around = enclosing(chars, start, end);
    for (from, to) in &around {
        edit(*from, *to, text);
    }
    for (from, to) in attributes(chars)
        .into_iter()
        .filter(|(from, to)| *from <= start && end <= *to)
    {
        edit(from, to, text);
    }
    edit(start, start, &format!("{text} "));
    edit(end, end, &format!(", {text}"));
    edit(end, end, text);
    edit(start, start, text);
    for (from, to) in &around {
        edit(*from, *from, &format!("{text}, "));
        edit(*from, *from, &format!("{text} "));
        edit(*to, *to, &format!(", {text}"));
    }
    // Inside the item's attribute.
    for (from, to) in attributes(chars) {
        let inside = &chars[from..to];
        let name: String = inside
            .iter()
            .take_while(|c| **c != '(' && **c != ']')
            .collect();
        match inside.contains(&'(') {
            true => edit(to - 2, to - 2, &format!(", {text}")),
            false => edit(to - 1, to - 1, &format!("({text})")),
        }
        edit(from, to, &format!("{name}({text})]"));
        // In place of an attribute with its name.
        if text.starts_with(&name) {
            edit(from, to, text);
        }
    }
    let line = chars[..start]
        .iter()
        .rposition(|c| *c == '\n')
        .map_or(0, |at| at + 1);
    edit(line, line, &format!("{text}\n"));
    edits
}

/// Returns the ways to remove the characters, together with an adjacent comma.
fn without(chars: &[char], from: usize, to: usize) -> Vec<Edit> {
    let remove = |from, to| Edit {
        from,
        to,
        text: String::new(),
    };
    let comma_after = chars[to..].iter().take_while(|c| c.is_whitespace()).count() + to;
    let comma_before = from
        - chars[..from]
            .iter()
            .rev()
            .take_while(|c| c.is_whitespace())
            .count();
    let mut all = vec![remove(from, to)];
    if chars.get(comma_after) == Some(&',') {
        all.push(remove(from, comma_after + 1));
    }
    if comma_before > 0 && chars[comma_before - 1] == ',' {
        all.push(remove(comma_before - 1, to));
    }
    all
}

/// Returns the ranges of the tokens and of the items around them, from the inside out.
fn enclosing(chars: &[char], start: usize, end: usize) -> Vec<(usize, usize)> {
    let mut ranges = vec![(start, end)];
    let (mut from, mut to) = (start, end);
    for _ in 0..4 {
        (from, to) = (edge(chars, from, -1), edge(chars, to, 1));
        let trimmed = from
            + chars[from..to]
                .iter()
                .take_while(|c| c.is_whitespace())
                .count();
        ranges.push((trimmed, to));
        // Out of the delimiters.
        let (open, close) = (from.checked_sub(1), chars.get(to));
        if open.is_some_and(|at| chars[at] == ',') || close == Some(&',') {
            ranges.push((trimmed, to));
        }
        let (outer_from, outer_to) = outside(chars, from, to);
        if (outer_from, outer_to) == (from, to) {
            break;
        }
        (from, to) = (outer_from, outer_to);
    }
    ranges.dedup();
    ranges
}

/// Returns where the item that contains an offset begins (-1) or ends (1).
fn edge(chars: &[char], mut at: usize, step: isize) -> usize {
    let mut depth = 0;
    loop {
        let next = if step < 0 {
            at.checked_sub(1)
        } else {
            Some(at)
        };
        let Some(c) = next.and_then(|at| chars.get(at)) else {
            return at;
        };
        let (opens, closes) = match step < 0 {
            true => (")]}", "([{"),
            false => ("([{", ")]}"),
        };
        if depth == 0 && (closes.contains(*c) || *c == ',') {
            return at;
        }
        depth += i32::from(opens.contains(*c)) - i32::from(closes.contains(*c));
        at = at.wrapping_add_signed(step);
    }
}

/// Returns the range of the delimiters around a range.
fn outside(chars: &[char], mut from: usize, mut to: usize) -> (usize, usize) {
    let whole = (from, to);
    while from > 0 && chars[from - 1] == ',' {
        from = edge(chars, from - 1, -1);
    }
    while chars.get(to) == Some(&',') {
        to = edge(chars, to + 1, 1);
    }
    match (from.checked_sub(1), chars.get(to)) {
        (Some(open), Some(_)) => (open, to + 1),
        _ => whole,
    }
}

/// Returns the ranges of the attributes.
fn attributes(chars: &[char]) -> Vec<(usize, usize)> {
    let starts =
        (0..chars.len().saturating_sub(1)).filter(|at| chars[*at] == '#' && chars[at + 1] == '[');
    let ranges = starts.map(|at| (at, edge(chars, at + 2, 1) + 1));
    let whole =
        |(from, to): &(usize, usize)| *to <= chars.len() && chars[to - 1] == ']' && to > from;
    ranges.filter(whole).collect()
}

fn offset(chars: &[char], at: LineColumn) -> usize {
    let mut lines = chars.split_inclusive(|c| *c == '\n');
    let before: usize = lines.by_ref().take(at.line - 1).map(<[char]>::len).sum();
    (before + at.column).min(chars.len())
}

/// Returns how many times a source uses this crate's macros. No advice removes a use.
fn uses(source: &str) -> usize {
    let names = [
        "#[metric",
        "#[judge",
        "#[eval",
        "#[judge_output",
        "Record)",
        "ParamGroup)",
    ];
    names.iter().map(|name| source.matches(name).count()).sum()
}

fn is_syntax(source: &str) -> bool {
    syn::parse_file(source).is_ok()
}

/// Returns the first line that differs, without indentation.
fn changed_line(old: &str, new: &str) -> String {
    let same = old
        .lines()
        .zip(new.lines())
        .take_while(|(old, new)| old == new)
        .count();
    new.lines().nth(same).unwrap_or_default().trim().to_owned()
}
