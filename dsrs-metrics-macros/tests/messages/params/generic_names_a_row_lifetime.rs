use dsrs_metrics::prelude::*;

#[metric]
fn same<'a, T: serde::Deserialize<'a> + PartialEq>(#[gold] value: T, #[pred] given: T) -> bool {
    value == given
}

fn main() {}
