//! JSON with `NaN`, which inspect_ai writes for a sample without a score.

use std::io::{self, Write};

use serde::{Serialize, Serializer};
use serde_json::ser::Formatter;

use super::FormatError;

/// The value of a score.
#[derive(Clone, Copy)]
pub(super) enum ScoreValue {
    Verdict(bool),
    Number(f64),
    NotScored,
}

impl Serialize for ScoreValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Verdict(passed) => serializer.serialize_str(if *passed { "C" } else { "I" }),
            Self::Number(number) => serializer.serialize_f64(*number),
            // JSON has no NaN. No other value has 128 bits.
            Self::NotScored => serializer.serialize_u128(0),
        }
    }
}

/// Writes the only integer of 128 bits as `NaN`.
struct WithNaN;

impl Formatter for WithNaN {
    fn write_u128<W: ?Sized + Write>(&mut self, writer: &mut W, _: u128) -> io::Result<()> {
        writer.write_all(b"NaN")
    }
}

pub(super) fn write(out: &mut dyn Write, value: &impl Serialize) -> Result<(), FormatError> {
    let mut serializer = serde_json::Serializer::with_formatter(out, WithNaN);
    value
        .serialize(&mut serializer)
        .map_err(|error| std::io::Error::from(error).into())
}
