use dsrs_metrics::metrics::{Accuracy, Em};
use dsrs_metrics::prelude::*;

#[metric(weighted(em = 0.5, accuracy = 0.5))]
struct Both;

#[metric(invert(accuracy))]
struct Errors;

#[metric(all(em, accuracy))]
struct Perfect;

fn main() {}
