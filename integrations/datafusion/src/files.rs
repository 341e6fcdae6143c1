//! Files as tables: JSONL, JSON, CSV and Parquet.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{
    DataFusionError, Result, exec_datafusion_err, plan_datafusion_err, plan_err,
};
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::file_format::json::JsonFormat;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::prelude::SessionContext;

/// The formats of files, by their extension.
const FORMATS: [&str; 5] = ["jsonl", "ndjson", "json", "csv", "parquet"];

/// Registers files as one table: JSONL, a list in a JSON file, CSV, or Parquet, all of the same format. A folder is its files,
/// and folders in it that are named `COLUMN=VALUE` are a column.
///
/// The columns of JSON are those of all rows. The cells of CSV are strings, as for `dsrs-metrics score`: write `CAST(year AS
/// BIGINT)` for numbers.
///
/// ```
/// use datafusion::prelude::SessionContext;
/// use dsrs_metrics_datafusion::{register_files, write_csv};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let file = folder.path().join("rows.csv");
/// std::fs::write(&file, "id,answer\n007,\"Paris, France\"\n")?;
/// let ctx = SessionContext::new();
/// register_files(&ctx, "rows", &[file]).await?;
/// let mut csv = Vec::new();
/// write_csv(ctx.sql("SELECT answer, id FROM rows").await?, &mut csv).await?;
/// assert_eq!(String::from_utf8(csv)?, "answer,id\n\"Paris, France\",007\n");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// A file does not exist, has an unknown extension, or has no rows of its format; or a table of that name exists.
pub async fn register_files(ctx: &SessionContext, name: &str, files: &[PathBuf]) -> Result<()> {
    let [first, ..] = files else {
        return plan_err!("table `{name}`: expected a file, found none");
    };
    let extension = extension(first)?;
    let options = ListingOptions::new(format(&extension, first)?);
    let mut options = options.with_file_extension(format!(".{extension}"));
    let state = ctx.state();
    let mut urls = Vec::new();
    for file in files {
        if self::extension(file)? != extension {
            let file = file.display();
            return plan_err!(
                "table `{name}`: expected .{extension} files, found `{file}`; write two tables"
            );
        }
        urls.push(ListingTableUrl::parse(file.to_string_lossy())?);
    }
    // The columns that the names of folders have.
    let columns = options.infer_partitions(&state, &urls[0]).await?;
    let columns = columns
        .into_iter()
        .map(|column| (column, DataType::Utf8))
        .collect();
    options = options.with_table_partition_cols(columns);
    let config = ListingTableConfig::new_with_multi_paths(urls).with_listing_options(options);
    let table = ListingTable::try_new(config.infer_schema(&state).await?)?;
    if ctx.table_exist(name)? {
        return plan_err!("table `{name}` is already registered; write another name");
    }
    ctx.register_table(name, Arc::new(table))?;
    Ok(())
}

/// Returns the tables that arguments of a command line name, `NAME=FILE`, each with its files in their order.
///
/// ```
/// use dsrs_metrics_datafusion::tables;
///
/// let arguments = ["qa=a.jsonl", "models=m.csv", "qa=b.jsonl"].map(str::to_owned);
/// let tables = tables(arguments).unwrap();
/// assert_eq!(tables[0], ("qa".to_owned(), vec!["a.jsonl".into(), "b.jsonl".into()]));
/// assert_eq!(tables[1], ("models".to_owned(), vec!["m.csv".into()]));
/// ```
///
/// # Errors
/// An argument is not of this form.
pub fn tables(
    arguments: impl IntoIterator<Item = String>,
) -> Result<Vec<(String, Vec<PathBuf>)>, String> {
    let mut tables: Vec<(String, Vec<PathBuf>)> = Vec::new();
    for argument in arguments {
        let (name, file) = argument
            .split_once('=')
            .filter(|(name, file)| !name.is_empty() && !file.is_empty())
            .ok_or_else(|| format!("expected NAME=FILE, found `{argument}`"))?;
        match tables.iter_mut().find(|(other, _)| other == name) {
            Some((_, files)) => files.push(file.into()),
            None => tables.push((name.to_owned(), vec![file.into()])),
        }
    }
    Ok(tables)
}

fn format(extension: &str, file: &Path) -> Result<Arc<dyn FileFormat>> {
    let json = JsonFormat::default().with_schema_infer_max_rec(usize::MAX);
    Ok(match extension {
        "jsonl" | "ndjson" => Arc::new(json),
        "json" => Arc::new(json.with_newline_delimited(false)),
        // Without types, 007 stays 007.
        "csv" => {
            let csv = CsvFormat::default()
                .with_has_header(true)
                .with_schema_infer_max_rec(0);
            Arc::new(csv.with_newlines_in_values(true))
        }
        "parquet" => Arc::new(ParquetFormat::default()),
        _ => return Err(unknown_format(file)),
    })
}

fn unknown_format(file: &Path) -> DataFusionError {
    let [others @ .., last] = FORMATS;
    let (others, file) = (others.join(", "), file.display());
    plan_datafusion_err!("expected a {others} or {last} file, found `{file}`")
}

/// Returns the extension of a file, or of the files in a folder.
///
/// # Errors
/// The path cannot be read, or the files of a folder have several formats.
fn extension(path: &Path) -> Result<String> {
    let mut found = Vec::new();
    add_extensions(path, &mut found)
        .map_err(|error| exec_datafusion_err!("cannot read `{}`: {error}", path.display()))?;
    match &found[..] {
        [] => Err(unknown_format(path)),
        [extension] => Ok(extension.clone()),
        [one, other, ..] => plan_err!(
            "expected files of one format in `{}`, found .{one} and .{other}; write one NAME=FILE for each file",
            path.display()
        ),
    }
}

/// Adds the extension of a file, or those of the files in a folder that have a format; hidden ones aside.
fn add_extensions(path: &Path, found: &mut Vec<String>) -> std::io::Result<()> {
    if std::fs::metadata(path)?.is_dir() {
        for entry in std::fs::read_dir(path)? {
            let entry = entry?;
            let is_hidden = entry.file_name().to_string_lossy().starts_with(['.', '_']);
            let path = entry.path();
            let extension = path.extension();
            let has_format = FORMATS
                .iter()
                .any(|format| extension.is_some_and(|it| it == *format));
            if !is_hidden && (has_format || path.is_dir()) {
                add_extensions(&path, found)?;
            }
        }
    } else if let Some(extension) = path.extension() {
        let extension = extension.to_string_lossy().into_owned();
        if !found.contains(&extension) {
            found.push(extension);
            found.sort();
        }
    }
    Ok(())
}
