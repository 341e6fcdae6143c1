use dsrs_metrics::Evaluate;

fn main() {
    let _ = Evaluate::builder().files(|files| files.parquet("rows.parquet"));
}
