//! Composites where other things have their names, in functions, behind `cfg`, under strict lints.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications)]
#![allow(dead_code)]

/// Metrics of another module.
pub mod parts {
    use dsrs_metrics::prelude::*;

    /// Says something.
    #[metric(range = 0.0..=1.0)]
    pub fn first(#[pred] a: f64, #[param(default = 1.0)] most: f64) -> f64 {
        a.min(most)
    }

    /// Says something else.
    #[metric]
    pub fn r#match(#[pred] b: bool) -> bool {
        b
    }
}

mod shadows {
    struct Option;
    struct Some;
    struct None;
    struct Result;
    struct Ok;
    struct Err;
    struct Box;
    struct Vec;
    struct String;
    struct GoldRow;
    struct PredRow;

    /// The limit.
    const LIMIT: f64 = 0.25;

    #[dsrs_metrics::metric(weighted(super::parts::first = LIMIT, super::parts::r#match = 1.0 - LIMIT))]
    pub(crate) struct Shadowed;
}

/// Behind a feature that is not there.
#[dsrs_metrics::metric(all(parts::first >= 0.5))]
#[cfg(any())]
pub struct Absent;

/// In a tuple of types, of one part.
#[dsrs_metrics::metric(max(parts::First(most = 0.5,),), threshold = 0.25,)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Derives;

/// Runs the items above.
pub fn main() {
    use dsrs_metrics::prelude::*;

    #[metric(range = 0.0..=1.0)]
    fn inner(#[pred] c: f64) -> f64 {
        c
    }

    #[metric(min(inner, shadows::Shadowed, parts::first(most = 0.5) ))]
    struct Inside;

    let (gold, pred) = (example! {}, prediction! { "a" => 1.0, "b" => true, "c" => 0.75 });
    assert_eq!(Inside.score(&gold, &pred).unwrap().value, 0.5);
    assert_eq!(Derives::default().score(&gold, &pred).unwrap().value, 0.5);
    assert_eq!(Inside::SPEC.name, "inside");
}
