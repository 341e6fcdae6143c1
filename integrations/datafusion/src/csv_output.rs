//! Results of queries as CSV.

use std::io::{ErrorKind, Write};

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Fields};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::common::{DataFusionError, Result};
use datafusion::prelude::DataFrame;
use futures::StreamExt;

/// Writes the rows of a query as CSV with a header, batch by batch. NULL is an empty cell. Each field of a struct is a column,
/// `ci95.low`; lists are written as `[a, b]`. Numbers have all their digits.
///
/// # Errors
/// Those of the query, and those of the output.
pub async fn write_csv(rows: DataFrame, output: &mut (dyn Write + Send)) -> Result<()> {
    let header = names("", rows.schema().as_arrow().fields());
    writeln!(
        output,
        "{}",
        header
            .iter()
            .map(|name| cell(name))
            .collect::<Vec<_>>()
            .join(",")
    )?;
    let mut batches = rows.execute_stream().await?;
    while let Some(batch) = batches.next().await {
        write_batch(&batch?, output)?;
    }
    output.flush()?;
    Ok(())
}

/// Returns `true` if [`write_csv`] failed because the reader of the output ended, as `head` does. Programs don't
/// report that.
///
/// ```
/// use std::io::{Error, ErrorKind};
///
/// use dsrs_metrics_datafusion::is_broken_pipe;
///
/// assert!(is_broken_pipe(&Error::from(ErrorKind::BrokenPipe).into()));
/// assert!(!is_broken_pipe(&Error::from(ErrorKind::StorageFull).into()));
/// ```
#[must_use]
pub fn is_broken_pipe(error: &DataFusionError) -> bool {
    let DataFusionError::IoError(error) = error.find_root() else {
        return false;
    };
    error.kind() == ErrorKind::BrokenPipe
}

fn names(prefix: &str, fields: &Fields) -> Vec<String> {
    let of_field = |(name, ty): (String, &DataType)| match ty {
        DataType::Struct(fields) => names(&format!("{name}."), fields),
        _ => vec![name],
    };
    let named = fields
        .iter()
        .map(|field| (format!("{prefix}{}", field.name()), field.data_type()));
    named.flat_map(of_field).collect()
}

fn write_batch(batch: &RecordBatch, output: &mut (dyn Write + Send)) -> Result<()> {
    let mut columns = Vec::new();
    batch
        .columns()
        .iter()
        .for_each(|column| flatten(column, &mut columns));
    let options = FormatOptions::default();
    let cells = columns
        .iter()
        .map(|column| ArrayFormatter::try_new(column, &options));
    let cells = cells.collect::<std::result::Result<Vec<_>, _>>()?;
    for row in 0..batch.num_rows() {
        for (position, column) in cells.iter().enumerate() {
            let comma = if position == 0 { "" } else { "," };
            write!(
                output,
                "{comma}{}",
                cell(&column.value(row).try_to_string()?)
            )?;
        }
        writeln!(output)?;
    }
    Ok(())
}

/// Adds a column, or those of a struct, which are NULL where it is.
fn flatten(column: &ArrayRef, all: &mut Vec<ArrayRef>) {
    let Some(fields) = column.as_struct_opt() else {
        return all.push(ArrayRef::clone(column));
    };
    let (_, columns, nulls) = fields.clone().into_parts();
    for column in columns {
        let nulls = datafusion::arrow::buffer::NullBuffer::union(nulls.as_ref(), column.nulls());
        let data = column.to_data().into_builder().nulls(nulls);
        match data.build() {
            Ok(data) => flatten(&datafusion::arrow::array::make_array(data), all),
            // The type has no NULLs of its own, such as a union.
            Err(_) => all.push(column),
        }
    }
}

/// Quotes a cell if it must be.
fn cell(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}
