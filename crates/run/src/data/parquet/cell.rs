//! The value of a cell, with the type of its column.

use parquet::basic::{LogicalType, TimeUnit};
use parquet::record::{Field, Row};
use parquet::schema::types::Type;
use serde_json::{Map, Number, Value};

use crate::json::numbers::inexact_number;
use crate::json::size::{MAX_VALUES, is_too_large};
use crate::json::unique_keys::UniqueKeys;

/// The most days between a date and 1970. `Field` panics when it formats a date of more than 262,000 years.
const MAX_DAYS: u64 = 260_000 * 365;

/// A cell of a row.
pub(super) enum Cell {
    Field(Field),
    List(Vec<Field>),
}

impl Cell {
    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Field(Field::Null))
    }

    /// As [`value`].
    pub(super) fn into_value(self, kind: &Type, size: &mut usize) -> Result<Value, &'static str> {
        match self {
            Self::Field(cell) => value(cell, Some(kind), size),
            Self::List(cells) => {
                *size += size_of::<Value>();
                list(cells.into_iter(), size)
            }
        }
    }
}

fn list(cells: impl Iterator<Item = Field>, size: &mut usize) -> Result<Value, &'static str> {
    cells
        .map(|cell| value(cell, None, size))
        .collect::<Result<_, _>>()
        .map(Value::Array)
}

/// Converts a cell, and adds its size in bytes. `kind` is the type of a column, or of a field of a struct.
pub(super) fn value(
    cell: Field,
    kind: Option<&Type>,
    size: &mut usize,
) -> Result<Value, &'static str> {
    *size += size_of::<Value>();
    Ok(match cell {
        Field::Null => Value::Null,
        Field::Bool(value) => value.into(),
        Field::Byte(value) => value.into(),
        Field::Short(value) => value.into(),
        Field::Int(value) => value.into(),
        Field::Long(value) => long(value, kind),
        Field::UByte(value) => value.into(),
        Field::UShort(value) => value.into(),
        Field::UInt(value) => value.into(),
        Field::ULong(value) => value.into(),
        Field::Float16(value) => float(f64::from(value))?,
        // The shortest decimal number: 0.1 is not 0.10000000149.
        Field::Float(value) => float(value.to_string().parse().unwrap_or(f64::NAN))?,
        Field::Double(value) => float(value)?,
        Field::Str(text) => {
            *size += text.len();
            text.into()
        }
        Field::Bytes(bytes) => {
            *size += bytes.len();
            let text = bytes.as_utf8().map_err(|_| "the bytes are not UTF-8")?;
            text.to_owned().into()
        }
        Field::Group(row) => group(row, kind, size)?,
        Field::ListInternal(cells) => list(cells.elements().iter().cloned(), size)?,
        Field::MapInternal(map) => {
            let mut object = Map::new();
            for (key, cell) in map.entries().iter().cloned() {
                let key = match value(key, None, size)? {
                    Value::String(key) => key,
                    other => other.to_string(),
                };
                if object.insert(key, value(cell, None, size)?).is_some() {
                    return Err("a map has a duplicate key; remove one");
                }
            }
            Value::Object(object)
        }
        Field::Date(_) | Field::TimestampMillis(_) | Field::TimestampMicros(_)
            if days(&cell).is_some_and(|days| days > MAX_DAYS) =>
        {
            return Err("the date is out of range");
        }
        Field::TimestampMillis(_) | Field::TimestampMicros(_) => timestamp(&cell, kind).into(),
        // Decimals, dates and times.
        other => other.to_string().into(),
    })
}

/// The days between a date or point in time and 1970, if the cell is one.
fn days(cell: &Field) -> Option<u64> {
    const SECONDS: u64 = 86_400;
    match cell {
        Field::Date(days) => Some(u64::from(days.unsigned_abs())),
        Field::TimestampMillis(time) => Some(time.unsigned_abs() / (1_000 * SECONDS)),
        Field::TimestampMicros(time) => Some(time.unsigned_abs() / (1_000_000 * SECONDS)),
        _ => None,
    }
}

/// Structs have a value for each of their fields, in order.
fn group(row: Row, kind: Option<&Type>, size: &mut usize) -> Result<Value, &'static str> {
    let kinds = kind
        .filter(|kind| kind.is_group())
        .map_or(&[][..], Type::get_fields);
    let mut kinds = kinds.iter();
    let fields = row.into_columns().into_iter().map(|(name, cell)| {
        let kind = kinds.next().filter(|kind| kind.name() == name);
        value(cell, kind.map(|kind| &**kind), size).map(|value| (name, value))
    });
    Ok(Value::Object(fields.collect::<Result<_, _>>()?))
}

fn float(value: f64) -> Result<Value, &'static str> {
    Number::from_f64(value)
        .map(Value::Number)
        .ok_or("the number is not finite")
}

/// The value of a column of JSON, which a result file has for lists.
pub(super) fn json(text: &str) -> Result<Value, &'static str> {
    if is_too_large(text, MAX_VALUES) {
        return Err("more JSON values than the limit for one row");
    }
    let UniqueKeys(value) = serde_json::from_str(text).map_err(
        |_| "invalid JSON in a column of JSON; correct it, or write the column as strings",
    )?;
    match inexact_number(text) {
        Some(_) => Err("a number in JSON is out of range, or an integer of more than 64 bits"),
        None => Ok(value),
    }
}

/// An integer, or the nanoseconds of a time.
fn long(value: i64, kind: Option<&Type>) -> Value {
    let logical = kind.and_then(|kind| kind.get_basic_info().logical_type_ref());
    let (micros, nanos) = (value.div_euclid(1000), value.rem_euclid(1000));
    match logical {
        Some(LogicalType::Timestamp(time)) if time.unit == TimeUnit::NANOS => {
            let text = timestamp(&Field::TimestampMicros(micros), kind);
            let (time, zone) = text.split_once(" +").unwrap_or((&text, ""));
            let zone = if zone.is_empty() {
                String::new()
            } else {
                format!(" +{zone}")
            };
            format!("{time}{nanos:03}{zone}").into()
        }
        Some(LogicalType::Time(time)) if time.unit == TimeUnit::NANOS => {
            format!("{}{nanos:03}", Field::TimeMicros(micros)).into()
        }
        _ => value.into(),
    }
}

/// A point in time with its offset, or a local time without one.
fn timestamp(cell: &Field, kind: Option<&Type>) -> String {
    let logical = kind.and_then(|kind| kind.get_basic_info().logical_type_ref());
    let text = cell.to_string();
    match logical {
        Some(LogicalType::Timestamp(time)) if !time.is_adjusted_to_u_t_c => {
            text.strip_suffix(" +00:00").unwrap_or(&text).to_owned()
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use parquet::record::Field;
    use serde_json::json;

    use super::value;

    #[test]
    fn a_date_out_of_range_is_an_error() {
        let read = |cell| value(cell, None, &mut 0);
        assert_eq!(read(Field::Date(0)), Ok(json!("1970-01-01")));
        assert_eq!(
            read(Field::TimestampMillis(-1)),
            Ok(json!("1969-12-31 23:59:59.999 +00:00"))
        );
        let dates = [i32::MIN, i32::MAX].map(Field::Date);
        let millis = [i64::MIN, i64::MAX].map(Field::TimestampMillis);
        let micros = [i64::MIN, i64::MAX].map(Field::TimestampMicros);
        for cell in [dates, millis, micros].into_iter().flatten() {
            assert_eq!(read(cell), Err("the date is out of range"));
        }
        let last = i32::try_from(super::MAX_DAYS).unwrap();
        assert_eq!(read(Field::Date(last)), Ok(json!("+261797-05-17")));
        assert_eq!(read(Field::Date(-last)), Ok(json!("-257858-08-17")));
        let millis = |days| Field::TimestampMillis(i64::from(days) * 86_400_000);
        assert_eq!(
            read(millis(last)),
            Ok(json!("+261797-05-17 00:00:00.000 +00:00"))
        );
        assert_eq!(
            read(millis(-last)),
            Ok(json!("-257858-08-17 00:00:00.000 +00:00"))
        );
    }
}
