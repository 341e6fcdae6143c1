//! Metrics called from SQL: one test binary, because each links DataFusion.

mod aggregates;
mod builtin;
mod corpus;
mod errors;
mod files;
mod identities;
mod judges;
mod qa;
mod scores;

use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::error::Result;
use datafusion::prelude::SessionContext;

/// Runs a query and returns the rows, with ` | ` between the columns.
async fn rows(ctx: &SessionContext, sql: &str) -> Result<Vec<String>> {
    let options = FormatOptions::default().with_null("NULL");
    let mut rows = Vec::new();
    for batch in ctx.sql(sql).await?.collect().await? {
        let columns = batch
            .columns()
            .iter()
            .map(|it| ArrayFormatter::try_new(it, &options));
        let columns = columns.collect::<std::result::Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            let cells: Vec<_> = columns.iter().map(|it| it.value(row).to_string()).collect();
            rows.push(cells.join(" | "));
        }
    }
    Ok(rows)
}

/// Returns the message of the error of a query.
async fn error(ctx: &SessionContext, sql: &str) -> String {
    match rows(ctx, sql).await {
        Ok(rows) => panic!("no error, but {rows:?}"),
        Err(error) => error.strip_backtrace(),
    }
}
