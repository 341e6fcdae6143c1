//! Which Arrow types a field may be read from: a typical value of the type is compared with the kinds of values that the
//! field's type declares.

use datafusion::arrow::datatypes::DataType;
use dsrs_metrics::rows::{TypeHelp, ValueType as _};
use serde_json::{Value, json};

/// Returns `true` if the field's type can be read from a column of this type. A field type that declares no kinds can be
/// read from any column.
pub(crate) fn may_be_read(help: &TypeHelp, ty: &DataType) -> bool {
    sample(ty).is_none_or(|value| help.may_be(&value))
}

/// Returns what to write if it is not.
pub(crate) fn advice(help: &TypeHelp, found: &DataType) -> String {
    let is_list = matches!(sample(found), Some(Value::Array(_) | Value::Object(_)));
    if help.may_be(&json!("x")) && !is_list {
        return "write CAST(.. AS VARCHAR)".to_owned();
    }
    if found.is_string() || found.is_numeric() {
        for (kind, ty) in [
            (f64::HELP, "DOUBLE"),
            (i64::HELP, "BIGINT"),
            (bool::HELP, "BOOLEAN"),
        ] {
            if *help == kind || (ty == "BIGINT" && help.may_be(&json!(1))) {
                return format!("write CAST(.. AS {ty})");
            }
        }
    }
    match help.may_be(&json!(["x"])) || help.may_be(&json!([1])) {
        true => "write make_array(..)".to_owned(),
        false => "pass another column".to_owned(),
    }
}

/// Returns a typical value of a type; `None` for a column without values.
fn sample(ty: &DataType) -> Option<Value> {
    Some(match ty {
        DataType::Boolean => json!(true),
        DataType::Int64 | DataType::UInt64 => json!(1),
        DataType::Float32 | DataType::Float64 => json!(0.5),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => json!("x"),
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item) => {
            Value::Array(sample(item.data_type()).into_iter().collect())
        }
        DataType::Struct(_) | DataType::Map(..) => json!({}),
        _ => return None,
    })
}
