use dsrs_metrics::prelude::*;

#[metric]
fn same<T: PartialEq + Send + Sync>(#[gold] value: T, #[pred("value")] given: T) -> bool {
    value == given
}

fn main() {}
