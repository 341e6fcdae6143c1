//! A validating scanner of JSON text that skips values without building them.
//!
//! It accepts less than `serde_json`: no control characters even between values, no escapes in keys, no exponents, no
//! long numbers, no deep nesting, no objects with very many keys. Whatever it accepts, `serde_json` reads exactly as it is
//! written; anything else is `None`, and the caller parses the text with `serde_json`.

use std::str::FromStr;

use memchr::memchr2;
use serde::Deserialize;
use serde_json::{Map, Value};
use smallvec::SmallVec;

/// Deeper text is left to `serde_json`, which reads 127 levels.
const MAX_DEPTH: usize = 64;

/// The most keys of one object, since each is compared with all before it.
const MAX_KEYS: usize = 64;

/// The most digits of an integer: any such integer fits into 64 bits.
const MAX_DIGITS: usize = 18;

/// The most bytes of a number: without an exponent, it is neither too large nor too small for a float.
const MAX_NUMBER: usize = 40;

/// A position in JSON text.
#[derive(Clone)]
pub struct Scanner<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    /// The keys so far of the objects around the position.
    keys: SmallVec<[&'t str; 16]>,
}

impl<'t> Scanner<'t> {
    /// Starts at the first byte of the text; `None` if the text has control characters.
    pub fn new(text: &'t str) -> Option<Self> {
        // Without an early return, the loop is vectorized.
        let has_control = text
            .bytes()
            .fold(false, |found, byte| found | (byte < b' '));
        (!has_control).then(|| Self {
            text,
            at: 0,
            depth: 0,
            keys: SmallVec::new(),
        })
    }

    /// Returns `true` if only spaces follow.
    pub fn is_at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Skips spaces and returns the byte after them.
    pub fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    /// The number of bytes before the position.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The text from an earlier position to this one.
    pub fn text_from(&self, start: usize) -> &'t str {
        &self.text[start..self.at]
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Reads an object. `member` reads or skips the value of each key.
    pub fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, &'t str) -> Option<()>,
    ) -> Option<()> {
        self.expect(b'{')?;
        self.enter()?;
        let first = self.keys.len();
        if self.peek()? == b'}' {
            self.at += 1;
        } else {
            loop {
                let key = self.plain_string()?;
                let others = &self.keys[first..];
                if others.len() == MAX_KEYS || others.contains(&key) {
                    return None;
                }
                self.keys.push(key);
                self.expect(b':')?;
                member(self, key)?;
                if self.ends_with(b'}')? {
                    break;
                }
            }
        }
        self.keys.truncate(first);
        self.depth -= 1;
        Some(())
    }

    fn array(&mut self, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.expect(b'[')?;
        self.enter()?;
        if self.peek()? == b']' {
            self.at += 1;
        } else {
            loop {
                item(self)?;
                if self.ends_with(b']')? {
                    break;
                }
            }
        }
        self.depth -= 1;
        Some(())
    }

    fn enter(&mut self) -> Option<()> {
        self.depth += 1;
        (self.depth <= MAX_DEPTH).then_some(())
    }

    /// Consumes the byte after a member or item: `end`, or a comma.
    fn ends_with(&mut self, end: u8) -> Option<bool> {
        let byte = self.peek()?;
        self.at += 1;
        match byte {
            b',' => Some(false),
            byte if byte == end => Some(true),
            _ => None,
        }
    }

    /// Reads a value. Strings without escapes are copied once; others, and numbers, are parsed by `serde_json`.
    pub fn value(&mut self) -> Option<Value> {
        let mut value = Value::Null;
        self.value_into(&mut value)?;
        Some(value)
    }

    /// As [`value`](Self::value), in the memory of another value.
    pub fn value_into(&mut self, value: &mut Value) -> Option<()> {
        match self.peek()? {
            b'"' => match value {
                Value::String(text) => self.string_into(text)?,
                _ => *value = Value::String(self.string()?),
            },
            b'[' => {
                let mut items = match value {
                    Value::Array(items) => std::mem::take(items),
                    _ => Vec::new(),
                };
                let mut len = 0;
                self.array(|scanner| {
                    if len == items.len() {
                        items.push(Value::Null);
                    }
                    len += 1;
                    scanner.value_into(&mut items[len - 1])
                })?;
                items.truncate(len);
                *value = Value::Array(items);
            }
            b'{' => {
                let mut fields = Map::new();
                self.object(|scanner, key| {
                    fields.insert(key.to_owned(), scanner.value()?);
                    Some(())
                })?;
                *value = Value::Object(fields);
            }
            b't' | b'f' | b'n' => *value = self.boolean()?.into(),
            _ => {
                let start = self.at;
                self.skip_number()?;
                *value = serde_json::from_str(&self.text[start..self.at]).ok()?;
            }
        }
        Some(())
    }

    /// Reads a number or null.
    pub fn number<T: FromStr>(&mut self) -> Option<Option<T>> {
        if self.peek()? == b'n' {
            return self.literal("null").map(|()| None);
        }
        let start = self.at;
        self.skip_number()?;
        self.text[start..self.at].parse().ok().map(Some)
    }

    /// Reads a boolean or null.
    pub fn boolean(&mut self) -> Option<Option<bool>> {
        match self.peek()? {
            b't' => self.literal("true").map(|()| Some(true)),
            b'f' => self.literal("false").map(|()| Some(false)),
            _ => self.literal("null").map(|()| None),
        }
    }

    /// Reads a value with `serde_json`.
    pub fn typed<T: Deserialize<'t>>(&mut self) -> Option<T> {
        self.peek()?;
        let start = self.at;
        self.skip()?;
        serde_json::from_str(&self.text[start..self.at]).ok()
    }

    /// Skips a value.
    pub fn skip(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => self.skip_string().map(|_| ()),
            b'{' => self.object(|scanner, _| scanner.skip()),
            b'[' => self.array(Self::skip),
            b't' => self.literal("true"),
            b'f' => self.literal("false"),
            b'n' => self.literal("null"),
            _ => self.skip_number(),
        }
    }

    /// Skips this text.
    pub fn literal(&mut self, literal: &str) -> Option<()> {
        let rest = &self.text.as_bytes()[self.at..];
        rest.starts_with(literal.as_bytes())
            .then(|| self.at += literal.len())
    }

    fn string(&mut self) -> Option<String> {
        let mut text = String::new();
        self.string_into(&mut text)?;
        Some(text)
    }

    /// Reads a string without escapes in the memory of another one.
    pub fn string_into(&mut self, text: &mut String) -> Option<()> {
        let start = self.at;
        match self.skip_string()? {
            true => {
                text.clear();
                text.push_str(&self.text[start + 1..self.at - 1]);
            }
            false => *text = serde_json::from_str(&self.text[start..self.at]).ok()?,
        }
        Some(())
    }

    /// Reads a string without escapes.
    pub fn plain_string(&mut self) -> Option<&'t str> {
        self.peek()?;
        let start = self.at + 1;
        self.skip_string()?.then(|| &self.text[start..self.at - 1])
    }

    /// Skips a string and returns whether it has no escapes.
    fn skip_string(&mut self) -> Option<bool> {
        let bytes = self.text.as_bytes();
        if bytes[self.at] != b'"' {
            return None;
        }
        self.at += 1;
        let mut is_plain = true;
        loop {
            self.at += find_quote_or_backslash(&bytes[self.at..])?;
            if bytes[self.at] == b'"' {
                self.at += 1;
                return Some(is_plain);
            }
            is_plain = false;
            self.skip_escape()?;
        }
    }

    fn skip_escape(&mut self) -> Option<()> {
        match self.text.as_bytes().get(self.at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 2,
            b'u' => {
                // A high surrogate is followed by a low one.
                let is_character = match self.unicode_escape()? {
                    0xd800..=0xdbff => matches!(self.unicode_escape()?, 0xdc00..=0xdfff),
                    code => !matches!(code, 0xdc00..=0xdfff),
                };
                return is_character.then_some(());
            }
            _ => return None,
        }
        Some(())
    }

    /// Reads `\uXXXX`.
    fn unicode_escape(&mut self) -> Option<u32> {
        let escape = self
            .text
            .as_bytes()
            .get(self.at..self.at + 6)?
            .strip_prefix(b"\\u")?;
        self.at += 6;
        let mut digits = escape.iter().map(|digit| char::from(*digit).to_digit(16));
        digits.try_fold(0, |code, digit| Some(16 * code + digit?))
    }

    fn skip_number(&mut self) -> Option<()> {
        let start = self.at;
        let digits = |scanner: &mut Self| {
            let rest = &scanner.text.as_bytes()[scanner.at..];
            let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            scanner.at += count;
            count
        };
        let bytes = self.text.as_bytes();
        self.at += usize::from(bytes[self.at] == b'-');
        let has_leading_zero = bytes.get(self.at) == Some(&b'0');
        let count = digits(self);
        if count == 0 || count > MAX_DIGITS || has_leading_zero && count > 1 {
            return None;
        }
        if bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            if digits(self) == 0 {
                return None;
            }
        }
        let has_exponent = matches!(bytes.get(self.at), Some(b'e' | b'E'));
        (!has_exponent && self.at - start <= MAX_NUMBER).then_some(())
    }
}

/// Returns the position of the first quote or backslash. Most strings end within a few bytes.
#[inline]
pub fn find_quote_or_backslash(bytes: &[u8]) -> Option<usize> {
    const WORDS: usize = 4;
    let mut at = 0;
    for word in bytes.chunks_exact(8).take(WORDS) {
        let word = u64::from_le_bytes(word.try_into().ok()?);
        let found = first_equal(word, b'"') | first_equal(word, b'\\');
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
        at += 8;
    }
    memchr2(b'"', b'\\', &bytes[at..]).map(|end| at + end)
}

/// Sets the highest bit of the first byte of the word that is equal to `byte`, and maybe of later ones.
#[inline]
fn first_equal(word: u64, byte: u8) -> u64 {
    const ONES: u64 = u64::MAX / 255;
    let zero_if_equal = word ^ (ONES * u64::from(byte));
    zero_if_equal.wrapping_sub(ONES) & !zero_if_equal & (ONES << 7)
}

#[cfg(test)]
mod tests;
