#![deny(warnings)]

use dsrs_metrics::prelude::*;

#[metric(all(2 <= first, second()), threshold = "high", strict)]
struct Unreadable;

fn main() {}
