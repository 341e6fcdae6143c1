//! Translates the LaTeX of a string into symbols: each command becomes the symbol of its role.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use super::shape::DecimalMark;
use super::shape::{self, FRACTION, GROUP, GROUP_SPACE, OPAQUE, OTHER, TIMES};

/// The longest argument that is removed, in bytes.
const ARGUMENT: usize = 64;

/// Functions, constants and signs that are not evaluated. Unknown commands with an argument are treated like them.
const NOT_EVALUATED: &str = " sqrt binom dbinom tbinom choose log ln lg exp sin cos tan cot sec csc arcsin arccos \
    arctan sinh cosh tanh sum prod int lim max min gcd lcm det pi infty pm mp mod bmod pmod Gamma lfloor lceil over ";
/// Commands that only change how their argument, or what follows, is set. So do `\text..` and `\math..`.
const STYLES: &str = " boxed fbox mbox hbox underline emph ensuremath num numprint np SI qty left right big Big bigl \
    bigr Bigl Bigr displaystyle scriptstyle bf it rm negthinspace negmedspace negthickspace allowbreak nobreak limits ";
const SPACES: &str = " thinspace medspace thickspace enspace nobreakspace space ";
const WIDTHS: &str = " hspace mspace hskip mskip kern mkern ";
const FRACTIONS: &str = " frac dfrac tfrac cfrac sfrac nicefrac ";
const CURRENCIES: &str = " pounds euro yen texteuro textsterling textyen textdollar ";
/// Commands whose argument is not part of the text.
const REFERENCES: &str = " begin end tag label ref eqref cite color vspace ";

/// Returns the symbols of a string, which may contain LaTeX.
pub(super) fn symbols(text: &str, mark: DecimalMark) -> Cow<'_, [u8]> {
    let symbols = shape::symbols(text);
    match symbols
        .iter()
        .any(|byte| matches!(byte, b'\\' | b'~' | b'{'))
    {
        true => Cow::Owned(without_commands(&symbols, mark)),
        false => symbols,
    }
}

fn without_commands(text: &[u8], mark: DecimalMark) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    // Outside of LaTeX 5~100 is a range, but 5~000 is not.
    let dollars = text.iter().filter(|&&byte| byte == b'$').count();
    let is_latex = dollars > 1 || text.iter().any(|byte| matches!(byte, b'\\' | b'{'));
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'\\' => rest = command(rest, &mut out),
            b'~' if is_latex || rest.starts_with(b"0") => out.push(GROUP_SPACE),
            b'}' => close(&mut out, mark),
            _ => out.push(byte),
        }
    }
    out
}

/// Ends a group. Braces around nothing, a sign, a mark or a space only change the space around it.
fn close(out: &mut Vec<u8>, mark: DecimalMark) {
    let inner = match out.as_slice() {
        [.., b'{'] => None,
        [.., b'{', b','] if mark == DecimalMark::Point => Some(GROUP),
        [.., b'{', GROUP | GROUP_SPACE | b' '] => Some(GROUP),
        &[.., b'{', byte @ (b',' | b'.' | b'-' | b'+')] => Some(byte),
        _ => return out.push(b'}'),
    };
    out.truncate(out.len() - 1 - usize::from(inner.is_some()));
    out.extend(inner);
}

/// Reads the command after a backslash, and returns the rest.
fn command<'a>(mut rest: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
    // A backslash that was escaped once more, as in `\\frac`. Before anything else, two are a new line.
    if let Some(escaped) = rest.strip_prefix(b"\\") {
        match escaped.first() {
            Some(byte) if byte.is_ascii_alphabetic() || b",;:!%$".contains(byte) => rest = escaped,
            _ => {
                out.push(b'\n');
                return escaped;
            }
        }
    }
    let length = rest
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    if length == 0 {
        return character(rest, out);
    }
    let (name, rest) = rest.split_at(length);
    let name = String::from_utf8_lossy(name);
    let spaced = format!(" {name} ");
    let is_one_of = |names: &str| names.contains(&spaced);
    let trimmed = rest.trim_ascii_start();
    if is_one_of(SPACES) {
        return space(trimmed, out);
    }
    if is_one_of(WIDTHS) {
        return space(without_width(trimmed), out);
    }
    if is_one_of(REFERENCES) {
        let (argument, rest) = argument(trimmed);
        match (argument.ends_with(b"matrix"), &*name) {
            (true, "begin") => out.extend([OPAQUE, b'{']),
            (true, "end") => out.push(b'}'),
            _ => out.push(b' '),
        }
        return rest;
    }
    let before = out.trim_ascii_end();
    if name == "over" && before.last().is_some_and(u8::is_ascii_digit) {
        out.truncate(before.len());
        out.push(b'/');
        return trimmed;
    }
    let symbol = match &*name {
        "times" | "cdot" => TIMES,
        _ if is_one_of(FRACTIONS) => FRACTION,
        _ if is_one_of(CURRENCIES) => b'$',
        _ if is_one_of(NOT_EVALUATED) => {
            out.push(OPAQUE);
            return trimmed;
        }
        _ if is_one_of(STYLES) || name.starts_with("text") || name.starts_with("math") => {
            return trimmed;
        }
        _ if rest.starts_with(b"{") || rest.starts_with(b"[") => OPAQUE,
        _ => OTHER,
    };
    out.push(symbol);
    rest
}

/// Reads a one-character command: a space, an escaped sign, a math delimiter.
fn character<'a>(rest: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
    let Some((&byte, after)) = rest.split_first() else {
        out.push(b'\\');
        return rest;
    };
    match byte {
        b',' | b';' | b':' | b'>' | b' ' => return space(after, out),
        b'!' | b'-' | b'/' => {}
        b'(' | b')' | b'[' | b']' => out.push(b'$'),
        b'{' => out.push(b'('),
        b'}' => out.push(b')'),
        b'$' | b'%' | b'_' | b'#' | b'&' => out.push(byte),
        _ => {
            out.push(b'\\');
            return rest;
        }
    }
    after
}

/// Adds a math space, which absorbs the plain spaces around it. After a sign it means nothing.
fn space<'a>(rest: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
    if out.trim_ascii_end().last().is_some_and(u8::is_ascii_digit) {
        out.truncate(out.trim_ascii_end().len());
    }
    if !out.last().is_some_and(|byte| b"-+$(".contains(byte)) {
        out.push(GROUP);
    }
    rest.trim_ascii_start()
}

/// Splits off an argument in braces.
fn argument(rest: &[u8]) -> (&[u8], &[u8]) {
    let inner = rest.strip_prefix(b"{").unwrap_or_default();
    let end = inner.iter().take(ARGUMENT).position(|&byte| byte == b'}');
    end.map_or((&[], rest), |end| (&inner[..end], &inner[end + 1..]))
}

/// Removes a width, `{0.1em}` or `-0.1em`.
fn without_width(rest: &[u8]) -> &[u8] {
    if rest.starts_with(b"{") {
        return argument(rest).1;
    }
    let amount = rest
        .iter()
        .take_while(|byte| matches!(byte, b'-' | b'.' | b'0'..=b'9'))
        .count();
    let unit = rest[amount..]
        .iter()
        .take(2)
        .take_while(|byte| byte.is_ascii_lowercase())
        .count();
    rest[amount + unit..].trim_ascii_start()
}
