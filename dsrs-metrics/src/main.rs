//! The command line over the built-in metrics.

fn main() {}
