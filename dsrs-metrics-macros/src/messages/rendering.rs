//! Renders errors as strings, similar to rustc's, and shows the difference between two such strings.

use std::fmt::Write as _;

use super::expansion::Found;

/// Returns all errors, separated by empty lines.
pub(super) fn render(source: &str, errors: &[Found]) -> String {
    let lines: Vec<&str> = source.lines().collect();
    errors
        .iter()
        .map(|error| render_one(&lines, error))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns `error: MESSAGE`, its location, the lines of the source, and carets under the tokens.
fn render_one(lines: &[&str], error: &Found) -> String {
    let Found {
        message,
        start,
        end,
    } = error;
    let width = end.line.to_string().len();
    let bar = format!("{:width$} |", "");
    // Further lines of a message are aligned with its first.
    let message = message.replace('\n', "\n       ");
    let mut text = format!("error: {message}\n");
    let _ = writeln!(text, "{:width$}--> {}:{}", "", start.line, start.column + 1);
    let _ = writeln!(text, "{bar}");
    for number in start.line..=end.line {
        let line = lines.get(number - 1).copied().unwrap_or_default();
        let from = if number == start.line {
            start.column
        } else {
            indent(line)
        };
        let to = if number == end.line {
            end.column
        } else {
            line.chars().count()
        };
        let _ = writeln!(text, "{}", format!("{number:width$} | {line}").trim_end());
        let carets = "^".repeat(to.saturating_sub(from).max(1));
        let _ = writeln!(text, "{bar} {:from$}{carets}", "");
    }
    text
}

fn indent(line: &str) -> usize {
    line.chars().take_while(|c| c.is_whitespace()).count()
}

/// Returns the lines of both strings, with `-` before those only in the first and `+` before those only in the second.
pub(super) fn diff(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let lengths = common_lengths(&old, &new);
    let (mut at, mut text) = ((0, 0), String::new());
    while at.0 < old.len() || at.1 < new.len() {
        let (a, b) = (old.get(at.0), new.get(at.1));
        let (sign, line) = match (a, b) {
            (Some(a), Some(b)) if a == b => (' ', *a),
            (Some(a), _) if b.is_none() || lengths[at.0 + 1][at.1] >= lengths[at.0][at.1 + 1] => {
                ('-', *a)
            }
            (_, Some(b)) => ('+', *b),
            (Some(a), None) => ('-', *a),
            (None, None) => break,
        };
        at.0 += usize::from(sign != '+');
        at.1 += usize::from(sign != '-');
        let _ = writeln!(text, "{}", format!("{sign} {line}").trim_end());
    }
    text
}

/// Returns, for each pair of positions, the number of common lines after them.
fn common_lengths(old: &[&str], new: &[&str]) -> Vec<Vec<usize>> {
    let mut lengths = vec![vec![0; new.len() + 1]; old.len() + 1];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            lengths[a][b] = if old[a] == new[b] {
                lengths[a + 1][b + 1] + 1
            } else {
                lengths[a + 1][b].max(lengths[a][b + 1])
            };
        }
    }
    lengths
}

#[test]
fn differences_are_marked_line_by_line() {
    assert_eq!(
        diff("a\nb\nc\n", "a\nx\nc\nd\n"),
        "  a\n- b\n+ x\n  c\n+ d\n"
    );
    assert_eq!(diff("", "a\n"), "+ a\n");
    assert_eq!(diff("a\n", ""), "- a\n");
}

#[test]
fn places_are_counted_in_characters() {
    let at = |line, column| proc_macro2::LineColumn { line, column };
    let error = Found {
        message: "one\ntwo".to_owned(),
        start: at(1, 4),
        end: at(2, 3),
    };
    assert_eq!(
        render("é = \u{e9}(\n  )\nend", &[error]),
        "error: one\n       two\n --> 1:5\n  |\n1 | é = é(\n  |     ^^\n2 |   )\n  |   ^\n"
    );
}
