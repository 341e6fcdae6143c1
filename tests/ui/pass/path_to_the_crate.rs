pub mod reexported {
    pub use dsrs_metrics as metrics;
}

use reexported::metrics::prelude::*;

#[derive(Record)]
#[record(crate = crate::path_to_the_crate::reexported::metrics)]
struct Answer {
    answer: String,
}

#[metric(crate = crate::path_to_the_crate::reexported::metrics, range = 0.0..=100.0, threshold = 0.5)]
fn share(#[pred] answer: &str, #[param(default = 1.0)] weight: f64) -> f64 {
    weight * answer.len() as f64
}

#[metric(crate = crate::path_to_the_crate::reexported::metrics, gate(proxy(share) >= 0.5, truth(Judged)))]
struct Gated;

#[metric(crate = crate::path_to_the_crate::reexported::metrics, tier = truth)]
async fn judged(#[pred] answer: &str) -> bool {
    answer.is_empty()
}

#[metric(crate = ::dsrs_metrics)]
async fn absolute(#[pred] answer: &str) -> bool {
    answer.is_empty()
}

macro_rules! with_own_path {
    ($path:path) => {
        #[metric(crate = $path)]
        fn grouped(#[pred] answer: &str) -> bool {
            answer.is_empty()
        }
    };
}

with_own_path!(crate::path_to_the_crate::reexported::metrics);

/// Runs the items above.
pub fn main() {
    let answer = Answer { answer: "a".to_owned() };
    assert_eq!(Share::default().score(&example! {}, &answer).unwrap().value, 1.0);
    assert_eq!(Grouped.score(&example! {}, &answer).unwrap().value, 0.0);
    let _ = Absolute.evaluate(&example! {}, &answer);
}
