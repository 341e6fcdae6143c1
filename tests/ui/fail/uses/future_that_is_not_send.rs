use dsrs_metrics::prelude::*;

use std::rc::Rc;

#[metric]
async fn overlap(#[pred] share: f64) -> f64 {
    let shared = Rc::new(share);
    std::future::ready(()).await;
    *shared
}

fn main() {}
