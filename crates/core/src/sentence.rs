//! Formats messages in `const` functions, because compile errors contain numbers known only during const evaluation.
//! The rules in `composite/rules.rs`, `gate_rules.rs` and `metric/param_group.rs` use it.

use crate::spec::ScoreRange;

/// Joins strings and, in brackets, values: `sentence!("the weight " [decimal weight] " of " [name part])`. With
/// `begin:`, the message starts with another sentence.
macro_rules! sentence {
    (@ $sentence:expr;) => { $sentence };
    (@ $sentence:expr; $text:literal $($rest:tt)*) => {
        sentence!(@ $sentence.text($text); $($rest)*)
    };
    (@ $sentence:expr; [$kind:ident $value:expr] $($rest:tt)*) => {
        sentence!(@ $sentence.$kind($value); $($rest)*)
    };
    (begin: $sentence:expr; $($part:tt)*) => { sentence!(@ $sentence; $($part)*) };
    ($($part:tt)*) => { sentence!(@ $crate::sentence::Sentence::new(); $($part)*) };
}

/// Returns a rule's message if the rule is broken: `unless!(a < b; "a message")`.
macro_rules! unless {
    ($is_kept:expr; $($part:tt)*) => {
        if $is_kept { None } else { Some(sentence!($($part)*)) }
    };
}

pub(crate) use {sentence, unless};

/// The capacity of a message in bytes. A string that does not fit is omitted.
const CAPACITY: usize = 1024;

/// A message built in a `const` context.
#[derive(Debug, Clone, Copy)]
pub struct Sentence {
    bytes: [u8; CAPACITY],
    len: usize,
}

/// Causes a compile-time error if the metric breaks one of the macros' rules.
///
/// The compiler shows the rule's message.
#[track_caller]
pub const fn check(broken: Option<Sentence>) {
    if let Some(broken) = broken {
        panic!("{}", broken.as_str());
    }
}

/// Checks that some scores pass a bound and others fail.
///
/// `what` names the bound, and `of` says whose scores these are.
pub(crate) const fn bound_fits(
    what: &str,
    of: &str,
    range: Option<ScoreRange>,
    is_at_least: bool,
    bound: f64,
) -> Option<Sentence> {
    let found = sentence!("the " [text what] " " [decimal bound]);
    if !bound.is_finite() {
        return Some(found.text(" is not finite; write a finite number"));
    }
    let Some(range) = range else {
        return None;
    };
    if !range.contains(bound) {
        return Some(
            sentence!(begin: found; " is outside the range " [text of] ", " [range range]
            "; write a " [text what] " within it"),
        );
    }
    let (worst, other) = match is_at_least {
        true => (range.min, "larger"),
        false => (range.max, "smaller"),
    };
    unless!(bound != worst; [text found.as_str()] " never fails: every score " [text of] " is in " [range range]
        "; write a " [text other] " one")
}

impl Sentence {
    pub(crate) const fn new() -> Self {
        Self {
            bytes: [0; CAPACITY],
            len: 0,
        }
    }

    /// Returns the message.
    pub const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => "",
        }
    }

    pub(crate) const fn text(mut self, text: &str) -> Self {
        let text = text.as_bytes();
        if self.len + text.len() > CAPACITY {
            return self;
        }
        let mut index = 0;
        while index < text.len() {
            self.bytes[self.len] = text[index];
            self.len += 1;
            index += 1;
        }
        self
    }

    /// Appends a name in backquotes.
    pub(crate) const fn name(self, name: &str) -> Self {
        self.text("`").text(name).text("`")
    }

    pub(crate) const fn range(self, range: ScoreRange) -> Self {
        self.decimal(range.min).text("..=").decimal(range.max)
    }

    pub(crate) const fn whole(self, number: u128) -> Self {
        let mut digits = [0; 40];
        let mut start = digits.len();
        let mut rest = number;
        loop {
            start -= 1;
            digits[start] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        match core::str::from_utf8(digits.split_at(start).1) {
            Ok(digits) => self.text(digits),
            Err(_) => self,
        }
    }

    /// Appends a number with up to twelve decimals, which hides rounding errors, such as in 0.1 + 0.2 + 0.65.
    pub(crate) const fn decimal(self, number: f64) -> Self {
        if number.is_nan() {
            return self.text("NaN");
        }
        let text = if number < 0.0 { self.text("-") } else { self };
        let size = number.abs();
        if size.is_infinite() {
            return text.text("inf");
        }
        let mut whole = size as u128;
        let mut part = ((size - whole as f64) * 1e12 + 0.5) as u128;
        if part >= 1_000_000_000_000 {
            whole += 1;
            part -= 1_000_000_000_000;
        }
        text.whole(whole).text(".").decimals(part)
    }

    /// Appends twelve decimals without trailing zeros.
    const fn decimals(mut self, part: u128) -> Self {
        let mut rest = part;
        let mut unit = 100_000_000_000;
        loop {
            self = self.whole(rest / unit);
            rest %= unit;
            unit /= 10;
            if rest == 0 || unit == 0 {
                return self;
            }
        }
    }
}

/// Returns `true` if two names are equal.
pub(crate) const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut index = 0;
    while index < a.len() {
        if a[index] != b[index] {
            return false;
        }
        index += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::Sentence;

    #[test]
    fn numbers_are_written_without_rounding_errors() {
        let written = |number| Sentence::new().decimal(number).as_str().to_owned();
        for (number, expected) in [
            (0.1 + 0.2 + 0.65, "0.95"),
            (1.0, "1.0"),
            (0.0, "0.0"),
            (-2.5, "-2.5"),
            (80.0, "80.0"),
            (0.000_001, "0.000001"),
            (0.999_999_999_999_9, "1.0"),
            (1.05, "1.05"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(written(number), expected);
        }
        let sentence = Sentence::new()
            .name("wer")
            .text(" costs ")
            .whole(18_446_744_073_709_551_615);
        assert_eq!(sentence.as_str(), "`wer` costs 18446744073709551615");
    }

    #[test]
    fn a_string_that_does_not_fit_is_omitted() {
        let long = "x".repeat(600);
        let sentence = Sentence::new().text(&long).text(&long).text(".");
        assert_eq!(sentence.as_str().len(), 601);
    }
}
