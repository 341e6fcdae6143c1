//! The grammar of numbers, over the symbols that `symbols` defines.
//!
//! A chain is a sequence of numbers and opaque parts, separated only by operators, brackets and spaces. If a chain has
//! an opaque part, its value is not computed, and none of its numbers counts.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::DecimalMark;
use super::symbols::{GROUP, GROUP_SPACE};
use crate::text::regex;

/// The characters that separate the digits of one number.
const SEPARATORS: [char; 6] = ['.', ',', '\'', '_', GROUP_SPACE, GROUP];
/// The maximum number of digits in an exponent. If there are more, the value is unknown.
const EXPONENT_DIGITS: usize = 4;
/// The maximum number of digits in a numerator or denominator. If there are more, the text is not a fraction.
const FRACTION_DIGITS: usize = 18;
/// The maximum length of a number. A longer number is opaque, because computing a value takes quadratic time.
const NUMBER_LENGTH: usize = 10_000;

/// A number, or a part of the text that must not be read as one.
static TOKEN: LazyLock<Regex> = LazyLock::new(|| {
    let run = r"[0-9]+(?:[.,'_\u{a0}\u{2009}][0-9]+)*";
    let group = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}";
    let script = format!(r"(?:{group}|[-+]?[0-9]+|.)");
    let argument =
        |name| format!(r"\ *(?:(?<{name}_digit>[0-9])|\{{\ *(?<{name}>[-+]?\ *{run})\ *\}})");
    let (over, under) = (argument("over"), argument("under"));
    regex(&format!(
        r"(?x)
        # A hexadecimal number, an exponent or subscript of a word, the digits that end a word.
        (?<skipped> 0[xX][0-9a-fA-F][0-9A-Za-z]* | \^\{{?[-+]?{run} | _{group} )
        | (?<word> [A-Za-z_é] {run} )
        | (?<number>
            (?<run> \.?{run} )
            (?:
                [eE](?<e>[-+]?[0-9]+)(?-u:\b)
                | (?<times> \ *[xX*×]\ *10 )? \^ (?: \{{(?<braced>[-+]?[0-9]+)\}} | (?<power>[-+]?[0-9]+(?<places>\.[0-9])?) )
                | /(?<slash>[0-9]+)
            )?
            | ⁄{over}{under}
          )
          # Digits that belong to neither argument: \frac123.
          (?<more>{run})?
          # The superscript of a unit (45^\circ) or an ordinal (20^{{th}}) is not an exponent.
          (?: [)\]}}]* (?: \^[{{\ ]*(?:(?:st|nd|rd|th|o)(?-u:\b)|[□*']) | (?<script> \^{script}? | _\{{ ) ) )?
        | (?<opaque> [⁄√] (?: \ *{group} | \([^()]*\) | \[[^\[\]]*\] | \ *[_^]{script}\ * )* )"
    ))
});

/// The position of a number in the text, and its parts in plain digits with a decimal point.
#[derive(Clone, Debug, Default)]
pub(super) struct Numeral {
    /// Where the number begins, without its sign.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) negative: bool,
    /// The whole part of a mixed number such as 6 1/2.
    pub(super) whole: String,
    pub(super) over: String,
    pub(super) under: Option<String>,
    pub(super) exponent: i32,
    /// `true` if a percent sign follows the number.
    pub(super) is_percent: bool,
}

enum Step {
    Found(Numeral),
    /// A part without a known value ends at this position.
    Opaque(usize),
    /// There is no number here; continue at this position.
    Skip(usize),
}

pub(super) struct Scanner<'a> {
    pub(super) text: &'a str,
    pub(super) mark: DecimalMark,
}

impl Scanner<'_> {
    /// Returns all numerals, in order. A whole part is not a separate numeral: `6 1/2` is one.
    pub(super) fn all(&self) -> Vec<Numeral> {
        let mut found: Vec<Numeral> = Vec::new();
        // The first numeral of the chain, its end, and whether it has an opaque part.
        let (mut chain, mut end, mut is_opaque) = (0, 0, false);
        let mut at = 0;
        while let Some(token) = TOKEN.find_at(self.text, at) {
            let is_short = token.len() <= NUMBER_LENGTH;
            let parts = is_short.then(|| TOKEN.captures_at(self.text, at)).flatten();
            let step = match parts {
                Some(parts) => self.step(&parts, found.last()),
                None => Step::Opaque(token.end()),
            };
            let start = match &step {
                Step::Skip(next) => {
                    at = *next;
                    continue;
                }
                Step::Found(numeral) => numeral.start,
                Step::Opaque(_) => token.start(),
            };
            if start >= end && !is_joined(&self.text[end..start]) {
                found.truncate(if is_opaque { chain } else { found.len() });
                (chain, is_opaque) = (found.len(), false);
            }
            match step {
                Step::Found(numeral) => {
                    at = numeral.end;
                    found.truncate(found.len() - usize::from(start < end));
                    found.push(numeral);
                }
                Step::Opaque(next) | Step::Skip(next) => (at, is_opaque) = (next, true),
            }
            end = at;
        }
        found.truncate(if is_opaque { chain } else { found.len() });
        found
    }

    fn step(&self, token: &Captures<'_>, last: Option<&Numeral>) -> Step {
        let (start, end) = (token.get_match().start(), token.get_match().end());
        let part = |name| token.name(name).map(|part| part.as_str());
        if let Some(word) = part("word") {
            // The x of 5x3 is not a word.
            let is_product = word.starts_with(['x', 'X']) && self.text[..start].ends_with(is_digit);
            return Step::Skip(if is_product { start + 1 } else { end });
        }
        let Some(number) = token.name("number") else {
            return match part("skipped") {
                Some(_) => Step::Skip(end),
                None => Step::Opaque(end),
            };
        };
        let numeral = match part("run") {
            Some(run) => match self.decimal(start, run) {
                Some(numeral) => self.with_exponent(numeral, token, last),
                None => return Step::Skip(start + run.len()),
            },
            None => self.fraction(token, last),
        };
        match numeral {
            Some(numeral) if part("script").is_none() || numeral.end < number.end() => {
                let rest = &self.text[numeral.end..];
                let rest = rest.strip_prefix([' ', GROUP]).unwrap_or(rest);
                let is_percent = rest.starts_with('%');
                Step::Found(Numeral {
                    is_percent,
                    ..numeral
                })
            }
            _ => Step::Opaque(end),
        }
    }

    /// Reads digits and separators. In a list, reads the last item.
    fn decimal(&self, start: usize, run: &str) -> Option<Numeral> {
        let end = start + run.len();
        let (over, skipped) = match run.strip_prefix('.') {
            // `.5`, but neither `x.5` nor `...5`.
            Some(places) if self.mark == DecimalMark::Point && !self.is_inside(start) => {
                (places.chars().all(is_digit).then(|| run.to_owned())?, 0)
            }
            Some(rest) => return self.decimal(start + 1, rest),
            None => last_of_run(run, self.mark)?,
        };
        let start = start + skipped;
        Some(Numeral {
            start,
            end,
            negative: skipped == 0 && self.is_negative(start),
            over,
            ..Numeral::default()
        })
    }

    fn is_inside(&self, point: usize) -> bool {
        self.text[..point].ends_with(|c| is_word(c) || matches!(c, '.' | ')' | ']'))
    }

    /// Adds the exponent or denominator that follows a numeral. Returns `None` if the numeral is the base of a power
    /// whose value is unknown.
    fn with_exponent(
        &self,
        mut numeral: Numeral,
        token: &Captures<'_>,
        last: Option<&Numeral>,
    ) -> Option<Numeral> {
        let part = |name| token.name(name);
        let power = part("braced").or_else(|| part("power"));
        if let Some(exponent) = part("e").or(power) {
            // A power is a number only if its value is known: 10^5, but neither 2^10 nor 10^n.
            if power.is_some() && part("times").is_none() {
                if numeral.over != "10" {
                    return None;
                }
                numeral.over.truncate(1);
            }
            let digits = exponent.as_str().trim_start_matches(['-', '+']);
            if digits.len() > EXPONENT_DIGITS || part("places").is_some() {
                return None;
            }
            numeral.exponent = exponent.as_str().parse().ok()?;
            numeral.end = part("number")?.end();
        } else if let Some(under) = part("slash") {
            let (before, after) = (&self.text[..numeral.start], &self.text[under.end()..]);
            // Not a part of a chain such as 12/25/2020.
            let is_chained = before.ends_with('/')
                || after
                    .strip_prefix(SEPARATORS)
                    .or(after.strip_prefix('/'))
                    .is_some_and(|it| it.starts_with(is_digit));
            let is_over = is_plain(&self.text[numeral.start..numeral.end]);
            if is_over && !is_chained && is_denominator(under.as_str()) {
                numeral.under = Some(under.as_str().to_owned());
                numeral.end = under.end();
                let last =
                    last.filter(|last| before.len() == last.end + 1 && before.ends_with(' '));
                if let Some(last) = last.filter(|last| is_plain(&self.text[last.start..last.end])) {
                    mix(&mut numeral, last);
                }
            }
        }
        Some(numeral)
    }

    /// Reads `\frac{1}{2}`, `\frac12` and `½`, with the whole part before it.
    fn fraction(&self, token: &Captures<'_>, last: Option<&Numeral>) -> Option<Numeral> {
        let argument = |digit, number| {
            let written = token.name(digit).or_else(|| token.name(number))?.as_str();
            let run = written.trim_start_matches(['-', '+', ' ']);
            let (number, skipped) = last_of_run(run, self.mark)?;
            let is_read = skipped == 0 && number.len() <= FRACTION_DIGITS;
            is_read.then_some((number, written.starts_with('-')))
        };
        let (over, over_negative) = argument("over_digit", "over")?;
        let (under, under_negative) = argument("under_digit", "under")?;
        if token.name("more").is_some() || !is_denominator(&under) {
            return None;
        }
        let start = token.get_match().start();
        let mut numeral = Numeral {
            start,
            end: token.name("number")?.end(),
            negative: self.is_negative(start) != (over_negative != under_negative),
            over,
            under: Some(under),
            ..Numeral::default()
        };
        let before = self.text[..start].trim_end_matches([' ', GROUP]).len();
        match last.filter(|last| last.end == before) {
            Some(whole) => mix(&mut numeral, whole).then_some(numeral),
            None => Some(numeral),
        }
    }

    /// Returns `true` if a minus directly precedes the number, its currency sign or its bracket. A hyphen that joins
    /// (10-12, COVID-19, $10$-$12$) or is half of a dash is not a minus.
    fn is_negative(&self, start: usize) -> bool {
        let before = self.text[..start].trim_end_matches(['$', '{', '(']);
        // In formulas, a space may follow a sign: `x = - 5`, `$- 5$`.
        if let Some(equation) = before.strip_suffix("- ") {
            return equation.trim_ascii_end().ends_with(['=', '$', '{', '(']);
        }
        let Some(before) = before.strip_suffix('-') else {
            return false;
        };
        let joins = |c| is_word(c) || matches!(c, '■' | ')' | ']' | '}' | '%' | '-');
        let closed = before.strip_suffix('$').unwrap_or_default();
        !before.ends_with(joins) && !closed.ends_with(|c| is_digit(c) || c == '}')
    }
}

/// Adds the integer before a proper fraction as its whole part. Returns `false` if they are not a mixed number.
fn mix(fraction: &mut Numeral, whole: &Numeral) -> bool {
    let is_integer = whole.under.is_none() && whole.exponent == 0 && !whole.over.contains('.');
    let under = fraction.under.as_deref().unwrap_or_default();
    let is_proper = match (fraction.over.parse::<u64>(), under.parse::<u64>()) {
        (Ok(over), Ok(under)) => over < under,
        _ => false,
    };
    let is_mixed = is_integer && is_proper && !fraction.negative;
    if is_mixed {
        fraction.start = whole.start;
        fraction.negative = whole.negative;
        fraction.whole.clone_from(&whole.over);
    }
    is_mixed
}

/// Returns `true` if only spaces, operators and brackets separate two parts of a chain. A bracket after a space is a
/// remark: `2^10 (1024)`.
fn is_joined(gap: &str) -> bool {
    let is_operator = |c| matches!(c, '+' | '-' | '/' | '^' | '×');
    let joins = |c| is_operator(c) || matches!(c, ' ' | GROUP | '(' | ')' | '[' | ']' | '{' | '}');
    let is_remark = gap.starts_with(" (") && !gap.contains(is_operator);
    gap == "." || (gap.chars().all(joins) && !is_remark)
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit()
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | 'é')
}

/// Returns `true` for a plain integer that may be a numerator, a denominator or a whole part.
fn is_plain(text: &str) -> bool {
    text.len() <= FRACTION_DIGITS && text.chars().all(is_digit)
}

fn is_denominator(number: &str) -> bool {
    number.len() <= FRACTION_DIGITS && !number.trim_matches(['0', '.']).is_empty()
}

/// Returns the number that a run of digits and separators represents, and the length of what precedes the number. If
/// the run is a list, this is its last number. A chain of points (a version, an address) is not a number, and neither
/// are groups that are not thousands (`10{,}00`).
fn last_of_run(run: &str, mark: DecimalMark) -> Option<(String, usize)> {
    if let Some(number) = whole_number(run, mark) {
        return Some((number, 0));
    }
    if run.contains([GROUP, '_']) {
        return None;
    }
    let ends_item = |c| SEPARATORS.contains(&c) && c != mark.char();
    let item = run.rsplit(ends_item).next()?;
    Some((whole_number(item, mark)?, run.len() - item.len()))
}

/// Returns the digits of a run that is one number, with a decimal point.
fn whole_number(run: &str, mark: DecimalMark) -> Option<String> {
    let Some(last) = run.rfind(SEPARATORS) else {
        return Some(run.to_owned());
    };
    let (head, mut places) = run.split_at(last);
    let separator = places.chars().next()?;
    places = &places[separator.len_utf8()..];
    let decimal = mark.char();
    let is_one = head.chars().all(is_digit);
    // 3.14 and 1,234.5, but also 1.234.567, where several points can only group.
    let is_decimal = separator == decimal && !head.contains(decimal);
    let digits = head.replace(SEPARATORS, "");
    if !is_decimal && grouped(run) {
        return Some(digits + places);
    }
    let is_mark = match separator {
        '.' | ',' if separator != decimal && head.contains(decimal) => true,
        // If the comma is the decimal mark, a point that cannot group is a decimal mark too. The reverse is a list.
        '.' => is_decimal || (is_one && decimal == ','),
        _ => is_decimal,
    };
    (is_mark && (is_one || grouped(head))).then(|| format!("{digits}.{places}"))
}

/// Returns `true` if the separators group thousands, 1,234,567 or the Indian 12,34,567: one kind of separator, a last
/// group of three digits.
pub(in crate::text) fn grouped(run: &str) -> bool {
    let Some(separator) = run.matches(SEPARATORS).next() else {
        return false;
    };
    let groups: Vec<&str> = run.split(separator).collect();
    let [first, between @ .., last] = &*groups else {
        return false;
    };
    let all = |length| between.iter().all(|group| group.len() == length);
    let is_indian = first.len() <= 2 && all(2) && [",", "\u{2009}"].contains(&separator);
    groups.iter().all(|group| group.chars().all(is_digit))
        && !first.starts_with('0')
        && last.len() == 3
        && ((first.len() <= 3 && all(3)) || is_indian)
}
