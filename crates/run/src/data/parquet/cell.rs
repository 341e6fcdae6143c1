//! Converts a cell to a value with the type of its column.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    ArrowTemporalType, Date32Type, Decimal128Type, Decimal256Type, Float16Type, Float32Type,
    Float64Type, Time32MillisecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
};
use arrow_array::{Array, ArrayRef, downcast_integer_array};
use arrow_schema::DataType;
use arrow_schema::TimeUnit::{Microsecond, Millisecond, Nanosecond};
use serde_json::{Map, Number, Value};

use super::super::row::NOT_FINITE;
use crate::json::read::{UniqueKeys, inexact_number};
use crate::json::{MAX_VALUES, is_too_large};

/// The totals over a row's converted cells.
#[derive(Default)]
pub(super) struct Cells {
    /// The size of the cells in bytes.
    pub(super) size: usize,
    /// `true` if any cell is NaN or an infinity.
    pub(super) has_nan: bool,
}

impl Cells {
    /// Converts a cell.
    pub(super) fn value(&mut self, column: &ArrayRef, row: usize) -> Result<Value, &'static str> {
        self.size += size_of::<Value>();
        if column.is_null(row) {
            return Ok(Value::Null);
        }
        Ok(match column.data_type() {
            DataType::Null => Value::Null,
            DataType::Boolean => column.as_boolean().value(row).into(),
            integer if integer.is_integer() => downcast_integer_array!(
                column => column.value(row).into(),
                _ => Value::Null
            ),
            DataType::Float16 => self.float(column.as_primitive::<Float16Type>().value(row).into()),
            DataType::Float32 => {
                let value = column.as_primitive::<Float32Type>().value(row);
                // The shortest decimal number: 0.1, not 0.10000000149.
                self.float(value.to_string().parse().unwrap_or(f64::NAN))
            }
            DataType::Float64 => self.float(column.as_primitive::<Float64Type>().value(row)),
            DataType::Utf8View => self.text(column.as_string_view().value(row).as_bytes())?,
            DataType::BinaryView => self.text(column.as_binary_view().value(row))?,
            DataType::FixedSizeBinary(_) => self.text(column.as_fixed_size_binary().value(row))?,
            DataType::Decimal128(..) => {
                let decimals = column.as_primitive::<Decimal128Type>();
                decimals.value_as_string(row).into()
            }
            DataType::Decimal256(..) => {
                let decimals = column.as_primitive::<Decimal256Type>();
                decimals.value_as_string(row).into()
            }
            DataType::List(_) => {
                let items = column.as_list::<i32>().value(row);
                let items = (0..items.len()).map(|item| self.value(&items, item));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            DataType::Struct(_) => {
                let fields = column.as_struct();
                let mut object = Map::new();
                for (name, field) in fields.column_names().into_iter().zip(fields.columns()) {
                    object.insert(name.to_owned(), self.value(field, row)?);
                }
                Value::Object(object)
            }
            DataType::Map(..) => self.map(column, row)?,
            _ => time(column, row)?.into(),
        })
    }

    fn text(&mut self, bytes: &[u8]) -> Result<Value, &'static str> {
        self.size += bytes.len();
        let text = str::from_utf8(bytes).map_err(|_| "the bytes are not UTF-8")?;
        Ok(text.into())
    }

    fn float(&mut self, value: f64) -> Value {
        let number = Number::from_f64(value);
        self.has_nan |= number.is_none();
        number.map_or_else(|| NOT_FINITE.into(), Value::Number)
    }

    fn map(&mut self, column: &ArrayRef, row: usize) -> Result<Value, &'static str> {
        let entries = column.as_map().value(row);
        let [keys, values] = entries.columns() else {
            return Err("a map without keys and values");
        };
        let mut object = Map::new();
        for entry in 0..entries.len() {
            let key = match self.value(keys, entry)? {
                Value::String(key) => key,
                other => other.to_string(),
            };
            if object.insert(key, self.value(values, entry)?).is_some() {
                return Err("a map has a duplicate key; remove one");
            }
        }
        Ok(Value::Object(object))
    }
}

/// Returns a date or time as a string. A point in time has an offset if its column is in UTC.
fn time(column: &ArrayRef, row: usize) -> Result<String, &'static str> {
    let at = (column, row);
    let text = match column.data_type() {
        DataType::Date32 => formatted::<Date32Type>(at, "%F"),
        DataType::Time32(Millisecond) => formatted::<Time32MillisecondType>(at, "%T%.3f"),
        DataType::Time64(Microsecond) => formatted::<Time64MicrosecondType>(at, "%T%.6f"),
        DataType::Time64(Nanosecond) => formatted::<Time64NanosecondType>(at, "%T%.9f"),
        DataType::Timestamp(Millisecond, _) => {
            formatted::<TimestampMillisecondType>(at, "%F %T%.3f")
        }
        DataType::Timestamp(Microsecond, _) => {
            formatted::<TimestampMicrosecondType>(at, "%F %T%.6f")
        }
        DataType::Timestamp(Nanosecond, _) => formatted::<TimestampNanosecondType>(at, "%F %T%.9f"),
        _ => return Err("the column's type has no JSON equivalent; write the column as strings"),
    };
    let is_utc = matches!(column.data_type(), DataType::Timestamp(_, Some(_)));
    let offset = if is_utc { " +00:00" } else { "" };
    text.map(|text| text + offset)
        .ok_or("the date is out of range")
}

fn formatted<T: ArrowTemporalType>(
    (column, row): (&ArrayRef, usize),
    format: &str,
) -> Option<String>
where
    i64: From<T::Native>,
{
    let values = column.as_primitive::<T>();
    let time = match T::DATA_TYPE {
        DataType::Time32(_) | DataType::Time64(_) => values.value_as_time(row)?.format(format),
        _ => values.value_as_datetime(row)?.format(format),
    };
    Some(time.to_string())
}

/// Parses a cell of a JSON column, which result files use for lists.
pub(super) fn json(text: &str) -> Result<Value, &'static str> {
    if is_too_large(text, MAX_VALUES) {
        return Err("more JSON values than the limit for one row");
    }
    let UniqueKeys(value) = serde_json::from_str(text)
        .map_err(|_| "invalid JSON in a JSON column; correct it, or write the column as strings")?;
    match inexact_number(text) {
        Some(_) => Err("a JSON number is out of range, or an integer of more than 64 bits"),
        None => Ok(value),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{
        ArrayRef, Date32Array, TimestampMicrosecondArray, TimestampMillisecondArray,
    };
    use serde_json::json;

    use super::Cells;

    #[test]
    fn a_date_out_of_range_is_an_error() {
        let read = |column: ArrayRef| Cells::default().value(&column, 0);
        let date = |days: i32| read(Arc::new(Date32Array::from(vec![days])));
        let millis = |time: i64| {
            let column = TimestampMillisecondArray::from(vec![time]);
            read(Arc::new(column.with_timezone_utc()))
        };
        let micros = |time: i64| read(Arc::new(TimestampMicrosecondArray::from(vec![time])));
        assert_eq!(date(0), Ok(json!("1970-01-01")));
        assert_eq!(millis(-1), Ok(json!("1969-12-31 23:59:59.999 +00:00")));
        for out_of_range in [
            date(i32::MIN),
            date(i32::MAX),
            millis(i64::MIN),
            millis(i64::MAX),
            micros(i64::MIN),
            micros(i64::MAX),
        ] {
            assert_eq!(out_of_range, Err("the date is out of range"));
        }
        let last = 260_000 * 365;
        assert_eq!(date(last), Ok(json!("+261797-05-17")));
        assert_eq!(date(-last), Ok(json!("-257858-08-17")));
        let at = |days| millis(i64::from(days) * 86_400_000);
        assert_eq!(at(last), Ok(json!("+261797-05-17 00:00:00.000 +00:00")));
        assert_eq!(at(-last), Ok(json!("-257858-08-17 00:00:00.000 +00:00")));
    }
}
