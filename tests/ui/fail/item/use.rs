use dsrs_metrics::prelude::*;

#[metric]
use std::collections::BTreeMap;

fn main() {}
