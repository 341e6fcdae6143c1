//! A crate that forbids or denies as many lints as possible.
#![forbid(unsafe_code)]
#![deny(
    warnings,
    missing_docs,
    unused,
    unused_qualifications,
    unused_lifetimes,
    unused_results,
    unreachable_pub,
    rust_2018_idioms,
    missing_debug_implementations,
    missing_copy_implementations,
    trivial_casts,
    trivial_numeric_casts,
    single_use_lifetimes,
    variant_size_differences,
    let_underscore_drop,
    unnameable_types,
    redundant_lifetimes,
    explicit_outlives_requirements,
    elided_lifetimes_in_paths,
    clippy::all,
    clippy::pedantic
)]
#![allow(
    clippy::must_use_candidate,
    clippy::needless_pass_by_value,
    reason = "metrics take and return what the cases are about"
)]
#![allow(clippy::option_option, reason = "the builder has one for an optional parameter")]

/// Metrics that everybody sees.
pub mod metrics {
    use dsrs_metrics::prelude::*;

    /// A row.
    #[derive(Debug, Clone, Record, serde::Deserialize)]
    pub struct Answer {
        /// The text.
        pub answer: String,
        /// Its length.
        pub length: Option<usize>,
    }

    /// Equal strings.
    #[metric]
    pub fn same(#[gold] answer: &str, #[pred("answer")] given: &str) -> bool {
        answer == given
    }

    /// Words that are known.
    #[metric(threshold = 0.5, range = 0.0..=1.0, tier = proxy, cost = "1 msat", strict)]
    pub fn known(
        #[pred] answer: &str,
        /// The words.
        #[param]
        words: &[String],
        #[param(default = 1)] least: usize,
        #[param] most: Option<usize>,
    ) -> f64 {
        let found = words.iter().filter(|word| *word == answer).count();
        f64::from(u8::from(found >= least && most.is_none_or(|most| found <= most)))
    }

    /// Any type.
    #[metric]
    pub fn same_value<T>(#[gold] value: T, #[pred] given: T) -> bool
    where
        T: serde::de::DeserializeOwned + PartialEq + Send + Sync,
    {
        value == given
    }

    /// Awaited, on typed rows.
    #[metric(gold = Answer)]
    pub async fn later(#[gold] length: Option<usize>, pred: &Prediction) -> Option<bool> {
        std::future::ready(()).await;
        length.map(|length| length == pred.keys().len())
    }
}

/// Runs the items above.
///
/// # Panics
/// If a value is another one.
pub fn main() {
    use dsrs_metrics::prelude::*;

    let gold = metrics::Answer { answer: "a".to_owned(), length: None };
    let score = metrics::Same.score(&gold, &prediction! { "answer" => "a" }).unwrap();
    assert!((score.value - 1.0).abs() < 1e-9);
}
