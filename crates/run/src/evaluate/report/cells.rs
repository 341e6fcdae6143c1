//! The cells of a line: where its values are in the text, without a copy of them.
//!
//! Lines are written by `line.rs`, so they are valid JSON. Most lines of a run have one of a few shapes: the same keys in the same
//! order. The text between the values of a line is compared with an earlier line as a whole, and what depends on the names of
//! columns is computed once for a shape and not for a row.

use std::borrow::Cow;

use serde_json::Value;

use crate::data::{GOLD_HASH, POSITIONAL, PRED_HASH};
use crate::evaluate::manifest::REFERENCE_KEY;
use crate::json::scanner::find_quote_or_backslash;

/// The most shapes that are kept.
const MAX_SHAPES: usize = 8;

/// The column of a cell. Keys are as in the text, without quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place<'l> {
    /// `id` and the last groups: a group of one column.
    Whole(&'static str),
    /// A gold row or prediction that has no fields.
    Side(&'static str),
    /// A field of `gold`, `pred` or `attributes`.
    Field(&'static str, &'l str),
    /// What a program returned about its run.
    Run(&'static str),
    /// The value of a metric.
    Value(&'l str),
    /// Another key of the score of a metric.
    Score(&'l str, &'l str),
}

/// The groups that each row has, some of them before and some of them after the scores.
pub(super) const FIRST_GROUPS: [&str; 5] = ["", "gold", "pred", "run", "attributes"];
pub(super) const LAST_GROUPS: [&str; 6] = [
    "repeats",
    GOLD_HASH,
    PRED_HASH,
    POSITIONAL,
    REFERENCE_KEY,
    "traceback",
];

impl<'l> Place<'l> {
    /// Returns the name of the group, which differs from all names of other groups.
    pub(super) fn group(self) -> Cow<'l, str> {
        match self {
            Self::Whole("id") => "".into(),
            Self::Whole(name) | Self::Side(name) | Self::Field(name, _) => name.into(),
            Self::Run(_) => "run".into(),
            Self::Value(metric) | Self::Score(metric, _) => {
                format!("score of {}", unescaped(metric)).into()
            }
        }
    }

    /// Returns the name of the column.
    pub(super) fn column(self) -> String {
        match self {
            Self::Whole(name) | Self::Side(name) | Self::Run(name) => name.to_owned(),
            Self::Field(group, field) => format!("{group}.{}", unescaped(field)),
            Self::Value(metric) => unescaped(metric),
            Self::Score(metric, key) => format!("{}.{}", unescaped(metric), unescaped(key)),
        }
    }

    /// Returns the name of the field within its group; of any other cell, that of its column.
    pub(super) fn field(self) -> String {
        match self {
            Self::Field(_, field) => unescaped(field),
            other => other.column(),
        }
    }
}

/// The shapes of the latest lines, each with what a caller has computed for it.
pub(super) struct Shapes<'l, T> {
    /// The latest one is the first.
    shapes: Vec<(Shape<'l>, T)>,
    values: Vec<&'l str>,
}

impl<'l, T> Shapes<'l, T> {
    pub(super) fn new() -> Self {
        Self {
            shapes: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Returns the values of a line, as JSON, in the order of the cells for which `new` computes something. `None` if the line is
    /// not a row.
    pub(super) fn read(
        &mut self,
        line: &'l str,
        new: impl FnOnce(&[Place<'l>]) -> T,
    ) -> Option<(&T, &[&'l str])> {
        let Self { shapes, values } = self;
        match shapes
            .iter()
            .position(|(shape, _)| shape.values(line, values).is_some())
        {
            Some(found) => shapes[..=found].rotate_right(1),
            None => {
                let shape = Shape::of(line)?;
                shape.values(line, values)?;
                let computed = new(&shape.places);
                shapes.truncate(MAX_SHAPES - 1);
                shapes.insert(0, (shape, computed));
            }
        }
        shapes.first().map(|(_, computed)| (computed, &**values))
    }
}

/// The keys of a line and the order in which they are written.
struct Shape<'l> {
    /// The cells. The value of a metric comes before its other cells.
    places: Vec<Place<'l>>,
    /// The cells in the order of the text. A score without a value has none.
    slots: Vec<Slot<'l>>,
    /// The text after the last value.
    end: &'l str,
}

struct Slot<'l> {
    /// The text between the value and the one before it.
    before: &'l str,
    cell: usize,
    /// A value that begins with one of these bytes is not a cell, or more than one.
    excluded: &'static [u8],
}

impl<'l> Shape<'l> {
    /// Returns the shape of a line; `None` if the line is not a row.
    fn of(line: &'l str) -> Option<Self> {
        let mut reader = ShapeReader {
            line,
            at: 0,
            end: 0,
            places: Vec::new(),
            slots: Vec::new(),
        };
        reader.members(ShapeReader::member)?;
        let ShapeReader {
            end, places, slots, ..
        } = reader;
        Some(Self {
            places,
            slots,
            end: line.get(end..)?,
        })
    }

    /// Replaces values by those of a line of this shape, in the order of the cells; `None` of any other line.
    fn values(&self, line: &'l str, values: &mut Vec<&'l str>) -> Option<()> {
        values.clear();
        values.resize(self.places.len(), "null");
        let mut rest = line;
        for slot in &self.slots {
            rest = rest.strip_prefix(slot.before)?;
            if slot.excluded.contains(rest.as_bytes().first()?) {
                return None;
            }
            (values[slot.cell], rest) = rest.split_at_checked(value_end(rest.as_bytes())?)?;
        }
        (rest == self.end).then_some(())
    }
}

/// Reads the shape of a line.
struct ShapeReader<'l> {
    line: &'l str,
    at: usize,
    /// The end of the last value of a cell.
    end: usize,
    places: Vec<Place<'l>>,
    slots: Vec<Slot<'l>>,
}

impl<'l> ShapeReader<'l> {
    fn member(&mut self, key: &'l str) -> Option<()> {
        const RUN: [&str; 4] = ["latency_s", "input_tokens", "output_tokens", "cost_msats"];
        let known = |names: &[&'static str]| names.iter().find(|name| **name == key).copied();
        match key {
            "id" => return self.add(Place::Whole("id"), b""),
            "gold" => return self.side("gold"),
            "pred" => return self.side("pred"),
            "attributes" => return self.fields("attributes"),
            "scores" => return self.members(Self::score),
            _ => {}
        }
        let place = known(&LAST_GROUPS)
            .map(Place::Whole)
            .or(known(&RUN).map(Place::Run));
        match place {
            Some(place) if self.next()? != b'n' => self.add(place, b"n"),
            _ => self.skip(),
        }
    }

    /// A gold row or prediction: one with fields has a column for each, any other has one column.
    fn side(&mut self, name: &'static str) -> Option<()> {
        match self.next()? {
            b'{' => self.fields(name),
            b'n' => self.skip(),
            _ => self.add(Place::Side(name), b"{n"),
        }
    }

    fn fields(&mut self, group: &'static str) -> Option<()> {
        self.members(|reader, field| reader.add(Place::Field(group, field), b""))
    }

    /// The value comes first.
    fn score(&mut self, metric: &'l str) -> Option<()> {
        let first = self.places.len();
        self.places.push(Place::Value(metric));
        self.members(|reader, key| match key {
            "value" => reader.add_slot(first, b""),
            _ => reader.add(Place::Score(metric, key), b""),
        })
    }

    /// Adds a cell, and skips its value.
    fn add(&mut self, place: Place<'l>, excluded: &'static [u8]) -> Option<()> {
        self.places.push(place);
        self.add_slot(self.places.len() - 1, excluded)
    }

    fn add_slot(&mut self, cell: usize, excluded: &'static [u8]) -> Option<()> {
        self.slots.push(Slot {
            before: self.line.get(self.end..self.at)?,
            cell,
            excluded,
        });
        self.skip()?;
        self.end = self.at;
        Some(())
    }

    /// Calls a function with each key of an object, which skips the value.
    fn members(&mut self, each: impl Fn(&mut Self, &'l str) -> Option<()>) -> Option<()> {
        self.expect(b'{')?;
        while self.next()? != b'}' {
            let start = self.at + 1;
            self.skip()?;
            let key = self.line.get(start..self.at.checked_sub(1)?)?;
            self.expect(b':')?;
            self.next()?;
            each(self, key)?;
            if self.next()? == b',' {
                self.at += 1;
            }
        }
        self.at += 1;
        Some(())
    }

    /// Skips a value.
    fn skip(&mut self) -> Option<()> {
        self.at += value_end(self.line.as_bytes().get(self.at..)?)?;
        Some(())
    }

    /// Skips spaces and returns the byte after them.
    fn next(&mut self) -> Option<u8> {
        let rest = self.line.as_bytes().get(self.at..)?;
        self.at += rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        self.line.as_bytes().get(self.at).copied()
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then(|| self.at += 1)
    }
}

/// Returns the text of a string of JSON; `None` of any other value.
pub(super) fn text(value: &str) -> Option<Cow<'_, str>> {
    let text = value.strip_prefix('"')?.strip_suffix('"')?;
    let parsed = || serde_json::from_str(value).map_or(text.into(), Cow::Owned);
    Some(if text.contains('\\') {
        parsed()
    } else {
        text.into()
    })
}

/// Returns a value as a [`Value`] is written, which may sort the keys of an object. An integer of many digits is a float then.
pub(super) fn json(value: &str) -> Cow<'_, str> {
    let is_nested = value.starts_with(['[', '{']);
    let is_long_integer = value.len() > 18 && !value.contains(['.', 'e', '"']);
    if !is_nested && !is_long_integer {
        return value.into();
    }
    serde_json::from_str::<Value>(value).map_or(value.into(), |parsed| parsed.to_string().into())
}

/// Returns a key without its escapes.
fn unescaped(key: &str) -> String {
    text(&format!("\"{key}\"")).unwrap_or_default().into_owned()
}

/// Returns the length of the value at the beginning.
fn value_end(text: &[u8]) -> Option<usize> {
    match text.first()? {
        b'"' => string_end(text),
        b'n' | b't' => Some(4),
        b'{' | b'[' => {
            let (mut at, mut depth) = (0, 0_usize);
            loop {
                match text.get(at)? {
                    b'"' => at += string_end(&text[at..])? - 1,
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' if depth == 1 => return Some(at + 1),
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                at += 1;
            }
        }
        _ => text
            .iter()
            .position(|byte| matches!(byte, b',' | b'}' | b']' | b' ' | b'\n')),
    }
}

/// Returns the length of the string at the beginning, with its quotes.
fn string_end(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += find_quote_or_backslash(text.get(at..)?)?;
        if text[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

#[cfg(test)]
mod tests;
