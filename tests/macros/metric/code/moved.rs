//! The function in another file.

#[dsrs_metrics::metric]
pub(super) fn tidy(#[pred] answer: &str) -> bool {
    let longest = 100;
    answer.len() < longest && !answer.starts_with("Sorry")
}
