//! The value of a cell, with the type of its column.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Date32Type, Decimal128Type, Decimal256Type, Float16Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, Time32MillisecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use serde_json::{Map, Number, Value};

use super::super::row::NOT_FINITE;
use crate::json::read::{UniqueKeys, inexact_number};
use crate::json::{MAX_VALUES, is_too_large};

/// Converts a cell, and adds its size in bytes.
pub(super) fn value(
    column: &ArrayRef,
    row: usize,
    size: &mut usize,
) -> Result<Value, &'static str> {
    *size += size_of::<Value>();
    if column.is_null(row) {
        return Ok(Value::Null);
    }
    Ok(match column.data_type() {
        DataType::Null => Value::Null,
        DataType::Boolean => column.as_boolean().value(row).into(),
        DataType::Int8 => column.as_primitive::<Int8Type>().value(row).into(),
        DataType::Int16 => column.as_primitive::<Int16Type>().value(row).into(),
        DataType::Int32 => column.as_primitive::<Int32Type>().value(row).into(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into(),
        DataType::UInt8 => column.as_primitive::<UInt8Type>().value(row).into(),
        DataType::UInt16 => column.as_primitive::<UInt16Type>().value(row).into(),
        DataType::UInt32 => column.as_primitive::<UInt32Type>().value(row).into(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).into(),
        DataType::Float16 => float(column.as_primitive::<Float16Type>().value(row).into()),
        DataType::Float32 => {
            let value = column.as_primitive::<Float32Type>().value(row);
            // The shortest decimal number: 0.1, not 0.10000000149.
            float(value.to_string().parse().unwrap_or(f64::NAN))
        }
        DataType::Float64 => float(column.as_primitive::<Float64Type>().value(row)),
        DataType::Utf8View => text(column.as_string_view().value(row).as_bytes(), size)?,
        DataType::BinaryView => text(column.as_binary_view().value(row), size)?,
        DataType::FixedSizeBinary(_) => text(column.as_fixed_size_binary().value(row), size)?,
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
            let items = (0..items.len()).map(|item| value(&items, item, size));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        DataType::Struct(_) => {
            let fields = column.as_struct();
            let mut object = Map::new();
            for (name, field) in fields.column_names().into_iter().zip(fields.columns()) {
                object.insert(name.to_owned(), value(field, row, size)?);
            }
            Value::Object(object)
        }
        DataType::Map(..) => map(column, row, size)?,
        _ => time(column, row)?.into(),
    })
}

fn text(bytes: &[u8], size: &mut usize) -> Result<Value, &'static str> {
    *size += bytes.len();
    let text = str::from_utf8(bytes).map_err(|_| "the bytes are not UTF-8")?;
    Ok(text.into())
}

fn float(value: f64) -> Value {
    Number::from_f64(value).map_or_else(|| NOT_FINITE.into(), Value::Number)
}

fn map(column: &ArrayRef, row: usize, size: &mut usize) -> Result<Value, &'static str> {
    let entries = column.as_map().value(row);
    let [keys, values] = entries.columns() else {
        return Err("a map without keys and values");
    };
    let mut object = Map::new();
    for entry in 0..entries.len() {
        let key = match value(keys, entry, size)? {
            Value::String(key) => key,
            other => other.to_string(),
        };
        if object.insert(key, value(values, entry, size)?).is_some() {
            return Err("a map has a duplicate key; remove one");
        }
    }
    Ok(Value::Object(object))
}

/// Returns a date or time as a string. A point in time has an offset if its column is in UTC.
fn time(column: &ArrayRef, row: usize) -> Result<String, &'static str> {
    let text = match column.data_type() {
        DataType::Date32 => {
            let date = column.as_primitive::<Date32Type>().value_as_date(row);
            date.map(|it| it.to_string())
        }
        DataType::Time32(TimeUnit::Millisecond) => {
            let time = column.as_primitive::<Time32MillisecondType>();
            let time = time.value_as_time(row);
            time.map(|it| it.format("%T%.3f").to_string())
        }
        DataType::Time64(TimeUnit::Microsecond) => {
            let time = column.as_primitive::<Time64MicrosecondType>();
            let time = time.value_as_time(row);
            time.map(|it| it.format("%T%.6f").to_string())
        }
        DataType::Time64(TimeUnit::Nanosecond) => {
            let time = column.as_primitive::<Time64NanosecondType>();
            let time = time.value_as_time(row);
            time.map(|it| it.format("%T%.9f").to_string())
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            let time = column.as_primitive::<TimestampMillisecondType>();
            let time = time.value_as_datetime(row);
            time.map(|it| it.format("%F %T%.3f").to_string())
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            let time = column.as_primitive::<TimestampMicrosecondType>();
            let time = time.value_as_datetime(row);
            time.map(|it| it.format("%F %T%.6f").to_string())
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            let time = column.as_primitive::<TimestampNanosecondType>();
            let time = time.value_as_datetime(row);
            time.map(|it| it.format("%F %T%.9f").to_string())
        }
        _ => return Err("the column's type has no JSON equivalent; write the column as strings"),
    };
    let is_utc = matches!(column.data_type(), DataType::Timestamp(_, Some(_)));
    let offset = if is_utc { " +00:00" } else { "" };
    text.map(|text| text + offset)
        .ok_or("the date is out of range")
}

/// Parses a cell of a JSON column, which result files have for lists.
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

    use super::value;

    #[test]
    fn a_date_out_of_range_is_an_error() {
        let read = |column: ArrayRef| value(&column, 0, &mut 0);
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
