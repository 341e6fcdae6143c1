use dsrs_metrics::prelude::*;

use std::future::Future;

#[metric]
fn overlap(#[pred] share: f64) -> std::pin::Pin<Box<dyn Future<Output = f64> + Send>> {
    Box::pin(async move { share })
}

fn main() {}
