//! The cells of Arrow arrays as JSON values. A cell is written over the value of the row before, whose memory it uses.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Float32Array, Float64Array, GenericListArray,
    GenericListViewArray, Int64Array, LargeStringArray, MapArray, OffsetSizeTrait, StringArray,
    StringViewArray, StructArray, UInt64Array,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{
    DataType, Field, FieldRef, Fields, Float32Type, Float64Type, Int64Type, UInt64Type,
};
use datafusion::common::{Result, internal_datafusion_err};
use serde_json::{Map, Number, Value};

/// A cell that is not a JSON value: NaN or an infinity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NotFinite(pub(crate) f64);

/// An array whose cells can be read one by one.
#[derive(Debug)]
pub(crate) enum Cells {
    Null,
    Bool(BooleanArray),
    Int(Int64Array),
    UInt(UInt64Array),
    Float32(Float32Array),
    Float64(Float64Array),
    Utf8(StringArray),
    LargeUtf8(LargeStringArray),
    Utf8View(StringViewArray),
    List(GenericListArray<i32>, Box<Cells>),
    LargeList(GenericListArray<i64>, Box<Cells>),
    ListView(GenericListViewArray<i32>, Box<Cells>),
    LargeListView(GenericListViewArray<i64>, Box<Cells>),
    Struct(StructArray, Vec<(String, Cells)>),
    Map(MapArray, Box<Cells>, Box<Cells>),
}

/// Returns the type, among those that [`Cells`] reads, to which arguments of a type are cast; `None` if there is none.
pub(crate) fn readable(ty: &DataType) -> Option<DataType> {
    let field = |field: &FieldRef| -> Option<FieldRef> {
        let ty = readable(field.data_type())?;
        Some(Arc::new(Field::new(field.name(), ty, field.is_nullable())))
    };
    Some(match ty {
        DataType::Int8 | DataType::Int16 | DataType::Int32 => DataType::Int64,
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 => DataType::UInt64,
        DataType::Float16
        | DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => DataType::Float64,
        DataType::Dictionary(_, values) => readable(values)?,
        DataType::List(item) | DataType::FixedSizeList(item, _) => DataType::List(field(item)?),
        DataType::LargeList(item) => DataType::LargeList(field(item)?),
        DataType::ListView(item) => DataType::ListView(field(item)?),
        DataType::LargeListView(item) => DataType::LargeListView(field(item)?),
        DataType::Struct(fields) => {
            DataType::Struct(fields.iter().map(field).collect::<Option<Fields>>()?)
        }
        DataType::Map(entries, _) => readable_map(ty, entries)?,
        DataType::Null
        | DataType::Boolean
        | DataType::Int64
        | DataType::UInt64
        | DataType::Float32
        | DataType::Float64
        | DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View => ty.clone(),
        _ => return None,
    })
}

/// A map is not cast, so its keys must be strings and its values of a type that is read as it is.
fn readable_map(map: &DataType, entries: &FieldRef) -> Option<DataType> {
    let DataType::Struct(fields) = entries.data_type() else {
        return None;
    };
    let [keys, values] = &**fields else {
        return None;
    };
    let is_read = readable(values.data_type()).as_ref() == Some(values.data_type());
    (keys.data_type().is_string() && is_read).then(|| map.clone())
}

impl Cells {
    /// Creates the cells of an array, which is cast to a type that [`readable`] returns if it has another one.
    pub(crate) fn new(array: &ArrayRef) -> Result<Self> {
        match readable(array.data_type()) {
            Some(ty) if ty != *array.data_type() => Self::of_readable(&cast(array, &ty)?),
            _ => Self::of_readable(array),
        }
    }

    fn of_readable(array: &ArrayRef) -> Result<Self> {
        let items = |items: &ArrayRef| Self::of_readable(items).map(Box::new);
        Ok(match array.data_type() {
            DataType::Null => Self::Null,
            DataType::Boolean => Self::Bool(array.as_boolean().clone()),
            DataType::Int64 => Self::Int(array.as_primitive::<Int64Type>().clone()),
            DataType::UInt64 => Self::UInt(array.as_primitive::<UInt64Type>().clone()),
            DataType::Float32 => Self::Float32(array.as_primitive::<Float32Type>().clone()),
            DataType::Float64 => Self::Float64(array.as_primitive::<Float64Type>().clone()),
            DataType::Utf8 => Self::Utf8(array.as_string::<i32>().clone()),
            DataType::LargeUtf8 => Self::LargeUtf8(array.as_string::<i64>().clone()),
            DataType::Utf8View => Self::Utf8View(array.as_string_view().clone()),
            DataType::List(_) => {
                let list = array.as_list::<i32>();
                Self::List(list.clone(), items(list.values())?)
            }
            DataType::LargeList(_) => {
                let list = array.as_list::<i64>();
                Self::LargeList(list.clone(), items(list.values())?)
            }
            DataType::ListView(_) => {
                let list = array.as_list_view::<i32>();
                Self::ListView(list.clone(), items(list.values())?)
            }
            DataType::LargeListView(_) => {
                let list = array.as_list_view::<i64>();
                Self::LargeListView(list.clone(), items(list.values())?)
            }
            DataType::Struct(fields) => {
                let fields = fields.iter().zip(array.as_struct().columns());
                let cells = |(field, column): (&FieldRef, &ArrayRef)| {
                    Ok((field.name().clone(), Self::of_readable(column)?))
                };
                let fields = fields.map(cells).collect::<Result<_>>()?;
                Self::Struct(array.as_struct().clone(), fields)
            }
            DataType::Map(..) => {
                let map = array.as_map();
                Self::Map(map.clone(), items(map.keys())?, items(map.values())?)
            }
            other => return Err(internal_datafusion_err!("metrics do not read {other}")),
        })
    }

    fn is_null(&self, row: usize) -> bool {
        match self {
            Self::Null => true,
            Self::Bool(array) => array.is_null(row),
            Self::Int(array) => array.is_null(row),
            Self::UInt(array) => array.is_null(row),
            Self::Float32(array) => array.is_null(row),
            Self::Float64(array) => array.is_null(row),
            Self::Utf8(array) => array.is_null(row),
            Self::LargeUtf8(array) => array.is_null(row),
            Self::Utf8View(array) => array.is_null(row),
            Self::List(array, _) => array.is_null(row),
            Self::LargeList(array, _) => array.is_null(row),
            Self::ListView(array, _) => array.is_null(row),
            Self::LargeListView(array, _) => array.is_null(row),
            Self::Struct(array, _) => array.is_null(row),
            Self::Map(array, ..) => array.is_null(row),
        }
    }

    /// Writes the cell of a row over a value.
    ///
    /// # Errors
    /// A number in the cell is not finite.
    pub(crate) fn write(&self, row: usize, into: &mut Value) -> Result<(), NotFinite> {
        if self.is_null(row) {
            *into = Value::Null;
            return Ok(());
        }
        match self {
            Self::Null => *into = Value::Null,
            Self::Bool(array) => *into = Value::Bool(array.value(row)),
            Self::Int(array) => *into = Value::from(array.value(row)),
            Self::UInt(array) => *into = Value::from(array.value(row)),
            Self::Float32(array) => *into = number(shortest(array.value(row)))?,
            Self::Float64(array) => *into = number(array.value(row))?,
            Self::Utf8(array) => write_string(array.value(row), into),
            Self::LargeUtf8(array) => write_string(array.value(row), into),
            Self::Utf8View(array) => write_string(array.value(row), into),
            Self::List(array, items) => items.write_items(items_of(array, row), into)?,
            Self::LargeList(array, items) => items.write_items(items_of(array, row), into)?,
            Self::ListView(array, items) => items.write_items(viewed_items(array, row), into)?,
            Self::LargeListView(array, items) => {
                items.write_items(viewed_items(array, row), into)?;
            }
            Self::Struct(_, fields) => write_fields(fields, row, into)?,
            Self::Map(array, keys, values) => {
                let offsets = array.value_offsets();
                let entries = offsets[row] as usize..offsets[row + 1] as usize;
                write_entries((keys, values), entries, into)?;
            }
        }
        Ok(())
    }

    fn write_items(&self, items: Range<usize>, into: &mut Value) -> Result<(), NotFinite> {
        if !into.is_array() {
            *into = Value::Array(Vec::new());
        }
        let Some(list) = into.as_array_mut() else {
            return Ok(());
        };
        list.resize(items.len(), Value::Null);
        list.iter_mut()
            .zip(items)
            .try_for_each(|(value, item)| self.write(item, value))
    }
}

fn items_of<O: OffsetSizeTrait>(array: &GenericListArray<O>, row: usize) -> Range<usize> {
    let offsets = array.value_offsets();
    offsets[row].as_usize()..offsets[row + 1].as_usize()
}

fn viewed_items<O: OffsetSizeTrait>(array: &GenericListViewArray<O>, row: usize) -> Range<usize> {
    let start = array.value_offset(row).as_usize();
    start..start + array.value_size(row).as_usize()
}

fn write_string(text: &str, into: &mut Value) {
    match into {
        Value::String(before) => {
            before.clear();
            before.push_str(text);
        }
        other => *other = Value::String(text.to_owned()),
    }
}

fn write_fields(fields: &[(String, Cells)], row: usize, into: &mut Value) -> Result<(), NotFinite> {
    if into
        .as_object()
        .is_none_or(|object| object.len() != fields.len())
    {
        let empty = fields.iter().map(|(name, _)| (name.clone(), Value::Null));
        *into = Value::Object(empty.collect());
    }
    let Some(object) = into.as_object_mut() else {
        return Ok(());
    };
    for (name, cells) in fields {
        match object.get_mut(name) {
            Some(value) => cells.write(row, value)?,
            None => {
                let mut value = Value::Null;
                cells.write(row, &mut value)?;
                object.insert(name.clone(), value);
            }
        }
    }
    Ok(())
}

fn write_entries(
    (keys, values): (&Cells, &Cells),
    entries: Range<usize>,
    into: &mut Value,
) -> Result<(), NotFinite> {
    let mut object = Map::new();
    for entry in entries {
        let (mut key, mut value) = (Value::Null, Value::Null);
        keys.write(entry, &mut key)?;
        values.write(entry, &mut value)?;
        if let Value::String(key) = key {
            object.insert(key, value);
        }
    }
    *into = Value::Object(object);
    Ok(())
}

/// The number with the shortest decimal form: 0.1 as `f32` is 0.1, not 0.10000000149.
fn shortest(value: f32) -> f64 {
    value.to_string().parse().unwrap_or(f64::NAN)
}

fn number(value: f64) -> Result<Value, NotFinite> {
    Number::from_f64(value)
        .map(Value::Number)
        .ok_or(NotFinite(value))
}
