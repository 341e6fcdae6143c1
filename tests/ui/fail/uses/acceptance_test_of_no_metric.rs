use dsrs_metrics::prelude::*;

struct Overlap;

fn bootstrap(_: impl AcceptanceTest) {}

fn main() {
    bootstrap(Overlap);
}
