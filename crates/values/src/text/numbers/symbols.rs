//! Translates Unicode and LaTeX into the symbols of the grammar: ASCII, and one character for each role that ASCII lacks.
//!
//! | symbol | role |
//! | --- | --- |
//! | `é` | a letter with case, which forms a word with the digits after it |
//! | `■` | a letter without case, from a script with spaces; digits after it are a number, and a hyphen between them joins |
//! | `×` | a multiplication sign |
//! | `⁄` | a fraction, followed by its numerator and denominator |
//! | `√` | a function, constant or sign that is not evaluated, such as a root |
//! | `□` | a character without a role in numbers |
//! | [`GROUP_SPACE`] | a space that does not end a number: no-break, thin, figure |
//! | [`GROUP`] | a space or comma of LaTeX that separates only the groups of one number: `10\,000`, `10{,}000` |

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization as _;

use super::DecimalMark;
use crate::text::regex;
use crate::text::unicode::{
    digit_value, is_invisible, is_mark, is_space, is_superscript, is_vulgar_fraction,
    written_without_spaces,
};

pub(super) const GROUP_SPACE: char = '\u{a0}';
pub(super) const GROUP: char = '\u{2009}';

/// Returns the symbols of a string, which may contain LaTeX.
pub(super) fn symbols(text: &str, mark: DecimalMark) -> Cow<'_, str> {
    let symbols = without_unicode(text);
    match symbols.contains(['\\', '~', '{']) {
        true => Cow::Owned(without_latex(&symbols, mark)),
        false => symbols,
    }
}

fn without_unicode(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut is_raised = false;
    for c in text.chars() {
        if is_superscript(c) != is_raised {
            is_raised = !is_raised;
            out.push_str(if is_raised { "^{" } else { "}" });
        }
        if is_mark(c) {
            // A mark has the role of the letter before it.
            out.push(match out.chars().next_back() {
                Some('a'..='z' | 'A'..='Z' | 'é') => 'é',
                Some('■') => '■',
                _ => '□',
            });
        } else if is_vulgar_fraction(c) {
            // Compatibility forms of ½ and ² are 1⁄2 and 2.
            let parts: String = c.nfkd().collect();
            let (over, under) = parts.split_once('\u{2044}').unwrap_or_default();
            out.push_str(&format!("⁄{{{over}}}{{{under}}}"));
        } else if is_raised {
            out.extend(c.nfkd().map(symbol));
        } else if c.is_ascii() || !is_invisible(c) {
            out.push(symbol(c));
        }
    }
    if is_raised {
        out.push('}');
    }
    Cow::Owned(out)
}

fn symbol(c: char) -> char {
    if let Some(digit) = digit_value(c) {
        return char::from(b'0' + digit);
    }
    match c {
        _ if c.is_ascii() => c,
        '\u{a0}' | '\u{2007}' | '\u{2009}' | '\u{202f}' => GROUP_SPACE,
        '\u{2010}'..='\u{2013}' | '\u{2212}' | '\u{fe63}' | '\u{ff0d}' => '-',
        '\u{ff0b}' => '+',
        '\u{ff0e}' | '\u{66b}' => '.',
        '\u{ff0c}' | '\u{66c}' => ',',
        '\u{2018}' | '\u{2019}' | '\u{ff07}' => '\'',
        '\u{2044}' | '\u{2215}' | '\u{ff0f}' => '/',
        '\u{ff05}' | '\u{66a}' | '\u{fe6a}' => '%',
        '√' | '∛' | '∜' | 'π' | '∞' | '±' | '∓' => '√',
        '×' | '·' | '⋅' | '\u{2217}' => '×',
        _ if get_general_category(c) == GeneralCategory::CurrencySymbol => '$',
        _ if is_space(c) => ' ',
        _ if c.is_lowercase() || c.is_uppercase() => 'é',
        _ if c.is_alphabetic() && !written_without_spaces(c) => '■',
        _ => '□',
    }
}

/// Commands that consist of more than a name, and doubly escaped backslashes, each with its replacement.
static FORMS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let forms = [
        (r"\\\\([A-Za-z,;:!%$])", r"\$1"),
        (r"\\\\", "\n"),
        (r"\\begin\s*\{[^{}]*matrix\}", "√{"),
        (r"\\end\s*\{[^{}]*matrix\}", "}"),
        // Their argument is not part of the text.
        (
            r"\\(?:begin|end|tag|label|ref|eqref|cite|color|vspace)\s*\{[^{}]*\}",
            " ",
        ),
        // Widths: `{0.1em}` or `-0.1em`.
        (
            r"\\(?:[hm]space|[hm]skip|m?kern)\s*(?:\{[^{}]*\}|[-.0-9]+[a-z]{0,2})",
            r"\,",
        ),
    ];
    forms
        .map(|(form, replacement)| (regex(form), replacement))
        .into()
});

/// A command, with the digit before it and the space around it.
static COMMAND: LazyLock<Regex> =
    LazyLock::new(|| regex(r"([0-9]? *)\\([A-Za-z]+|[-,;:> !/()\[\]{}$%_#&])(\s*)"));
/// Braces around nothing, a mark, a sign or a space only change the space around it.
static BRACES: LazyLock<Regex> = LazyLock::new(|| regex(r"\{([-+., \u{a0}\u{2009}]?)\}"));
/// A thin space after a sign, which means nothing in a formula.
static SIGN_SPACE: LazyLock<Regex> = LazyLock::new(|| regex(r"([-+$(])\u{2009}"));

fn without_latex(text: &str, mark: DecimalMark) -> String {
    // Outside of LaTeX, 5~100 is a range, but 5~000 is not.
    let is_latex = text.contains(['\\', '{']) || text.matches('$').count() > 1;
    let mut text = match is_latex {
        true => text.replace('~', "\u{a0}"),
        false => text.replace("~0", "\u{a0}0"),
    };
    for (form, replacement) in &*FORMS {
        text = form.replace_all(&text, *replacement).into_owned();
    }
    let after = |command: &Captures<'_>| &text[command.get_match().end()..];
    let text = COMMAND.replace_all(&text, |command: &Captures<'_>| {
        without_command(command, after(command).starts_with(['{', '[']))
    });
    let text = SIGN_SPACE.replace_all(&text, "$1");
    let text = BRACES.replace_all(&text, |braces: &Captures<'_>| match &braces[1] {
        "," if mark == DecimalMark::Point => GROUP.to_string(),
        " " | "\u{a0}" => GROUP.to_string(),
        inner => inner.to_owned(),
    });
    text.into_owned()
}

/// Functions, constants and signs that are not evaluated. Unknown commands with an argument are treated like them.
const NOT_EVALUATED: &str = " sqrt binom dbinom tbinom choose log ln lg exp sin cos tan cot sec csc arcsin arccos \
    arctan sinh cosh tanh sum prod int lim max min gcd lcm det pi infty pm mp mod bmod pmod Gamma lfloor lceil over ";
/// Commands that only change how their argument, or what follows, is typeset. So do `\text..` and `\math..`.
const STYLES: &str = " boxed fbox mbox hbox underline emph ensuremath num numprint np SI qty left right big Big bigl \
    bigr Bigl Bigr displaystyle scriptstyle bf it rm negthinspace negmedspace negthickspace allowbreak nobreak limits ";

/// Returns the symbols of a command, the digit before it and the space around it.
fn without_command(command: &Captures<'_>, has_argument: bool) -> String {
    let (before, name, after) = (&command[1], &command[2], &command[3]);
    let is_one_of = |names: &str| names.contains(&format!(" {name} "));
    let (symbol, after) = match name {
        "," | ";" | ":" | ">" | " " | "thinspace" | "medspace" | "thickspace" | "enspace"
        | "nobreakspace" | "space" => return format!("{}{GROUP}", before.trim_end()),
        "over" if before.starts_with(|c: char| c.is_ascii_digit()) => {
            return format!("{}/", before.trim_end());
        }
        "!" | "-" | "/" => ("", after),
        "(" | ")" | "[" | "]" => ("$", after),
        "{" => ("(", after),
        "}" => (")", after),
        "$" | "%" | "_" | "#" | "&" => (name, after),
        "times" | "cdot" => ("×", after),
        "frac" | "dfrac" | "tfrac" | "cfrac" | "sfrac" | "nicefrac" => ("⁄", after),
        "pounds" | "euro" | "yen" | "texteuro" | "textsterling" | "textyen" | "textdollar" => {
            ("$", after)
        }
        _ if is_one_of(NOT_EVALUATED) => ("√", ""),
        _ if is_one_of(STYLES) || name.starts_with("text") || name.starts_with("math") => ("", ""),
        _ if after.is_empty() && has_argument => ("√", after),
        _ => ("□", after),
    };
    format!("{before}{symbol}{after}")
}
