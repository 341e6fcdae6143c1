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
    let_underscore_drop,
    unnameable_types,
    redundant_lifetimes,
    explicit_outlives_requirements,
    elided_lifetimes_in_paths,
    clippy::all,
    clippy::pedantic
)]

/// Judges that everybody sees.
pub mod judges {
    use dsrs_metrics::judge::Preference;
    use dsrs_metrics::prelude::*;

    /// Compare a response to the truth.
    #[judge(score = harmonic_mean(precision, recall), threshold = 0.66, cost = "100 msat", panel(models = ["a:b", default]))]
    pub struct Compare {
        #[input(gold, desc = "what is right")]
        truth: String,
        /// What was said.
        #[input(pred = "response")]
        response: String,
        /// How strict.
        #[param(default = 2)]
        strictness: u8,
        #[output(range = 0.0..=1.0)]
        precision: f64,
        /// Of the truth.
        #[output(range = 0.0..=1.0)]
        recall: f64,
    }

    /// Prefer one.
    #[judge(pairwise(one, other))]
    pub(crate) struct Prefer {
        #[input(pred)]
        one: String,
        #[input(gold)]
        other: String,
        #[output]
        preferred: Preference,
    }

    /// Say yes.
    #[judge(reasoning = false)]
    struct Private {
        #[input(pred)]
        one: String,
        #[output]
        yes: bool,
    }

    /// The number of judges.
    #[must_use]
    pub fn judges() -> usize {
        PreferJudge::default().num_judges() + PrivateJudge::default().num_judges()
    }
}

/// Runs the items above.
///
/// # Panics
/// If a value is another one.
pub fn main() {
    let judge = judges::CompareJudge::builder().strictness(3).build();
    assert_eq!(judge.num_judges() + judges::judges(), 4);
}
