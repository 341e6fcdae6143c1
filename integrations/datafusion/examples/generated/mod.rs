//! Generated rows in partitioned Parquet.

use datafusion::dataframe::DataFrameWriteOptions;
use datafusion::error::Result;
use datafusion::prelude::SessionContext;

/// Writes this many rows with the columns `model`, `answer` and `prediction`.
pub(crate) async fn write(rows: u64, folder: String) -> Result<()> {
    let ctx = SessionContext::new();
    let sql = format!(
        "SELECT 'model-' || (value % 4) AS model, 'The Tower ' || value || ' of Paris, France' AS answer, \
         CASE value % 5 WHEN 0 THEN 'the tower ' || value || ' of paris, france.' \
         WHEN 1 THEN 'Tower ' || value || ' of Paris France' WHEN 2 THEN 'in Paris' \
         WHEN 3 THEN 'It is the Tower ' || value ELSE 'Lyon' END AS prediction \
         FROM generate_series(0, {})",
        rows - 1
    );
    let options = DataFrameWriteOptions::new().with_partition_by(vec!["model".to_owned()]);
    ctx.sql(&sql)
        .await?
        .write_parquet(&folder, options, None)
        .await?;
    Ok(())
}
