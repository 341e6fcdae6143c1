//! Clusters of real processes on loopback: one scheduler, executors, and clients in the tests.

mod errors;
mod faults;
mod judges;
mod processes;
mod program;
mod results;

#[path = "../../../../tests/lm/fault_table.rs"]
mod fault_table;
#[path = "../../../../tests/lm/server.rs"]
#[expect(dead_code, reason = "what other tests use")]
mod server;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::error::Result;
use datafusion::prelude::SessionContext;

/// The rows of a query, with all digits, in the order of their texts.
async fn rows(ctx: &SessionContext, sql: &str) -> Result<Vec<String>> {
    let batches = ctx.sql(sql).await?.collect().await?;
    let mut all = batches
        .iter()
        .map(texts)
        .collect::<Result<Vec<_>>>()?
        .concat();
    all.sort();
    Ok(all)
}

fn texts(batch: &RecordBatch) -> Result<Vec<String>> {
    let options = FormatOptions::default().with_null("NULL");
    let columns = batch
        .columns()
        .iter()
        .map(|column| ArrayFormatter::try_new(column, &options));
    let columns = columns.collect::<Result<Vec<_>, _>>()?;
    let cell = |column: &ArrayFormatter<'_>, row| column.value(row).to_string();
    let row = |row| {
        columns
            .iter()
            .map(|column| cell(column, row))
            .collect::<Vec<_>>()
            .join(" | ")
    };
    Ok((0..batch.num_rows()).map(row).collect())
}

/// The error of a query, without a backtrace.
async fn error(ctx: &SessionContext, sql: &str) -> String {
    match rows(ctx, sql).await {
        Ok(found) => panic!("expected an error, found {found:?}"),
        Err(error) => error.strip_backtrace(),
    }
}
