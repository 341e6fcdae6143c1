use dsrs_metrics::judge::shipped::SemanticF1;
use dsrs_metrics::prelude::*;

#[metric(min(SemanticF1(threshold = 0.5)))]
struct Lenient;

fn main() {}
