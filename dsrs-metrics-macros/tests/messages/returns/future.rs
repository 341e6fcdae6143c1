use std::future::Future;
use std::pin::Pin;

use dsrs_metrics::prelude::*;

#[metric]
fn overlap(#[pred] share: f64) -> Pin<Box<dyn Future<Output = f64> + Send>> {
    Box::pin(async move { share })
}

fn main() {}
