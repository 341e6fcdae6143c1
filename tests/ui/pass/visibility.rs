use dsrs_metrics::prelude::*;

mod outer {
    pub mod inner {
        use dsrs_metrics::prelude::*;

        #[metric]
        pub(super) fn to_parent(#[pred] a: bool) -> bool {
            a
        }

        #[metric]
        pub(crate) fn to_crate(#[pred] a: bool, #[param(default = true)] b: bool) -> bool {
            a && b
        }

        #[metric]
        pub(in crate::visibility::outer) fn to_outer(#[pred] a: bool, #[param] b: Option<bool>) -> bool {
            a && b.is_none()
        }

        #[metric(threshold = 0.5)]
        pub async fn to_all(#[pred] a: f64) -> f64 {
            a
        }
    }

    pub fn scores() -> f64 {
        use dsrs_metrics::prelude::*;
        let (gold, pred) = (example! {}, prediction! { "a" => true });
        let outer = inner::ToOuter::default();
        inner::ToParent.score(&gold, &pred).unwrap().value
            + outer.score(&gold, &pred).unwrap().value
    }
}

/// Runs the items above.
pub fn main() {
    let (gold, pred) = (example! {}, prediction! { "a" => true });
    let metric = outer::inner::ToCrate::builder().b(false).build();
    assert!(!metric.b);
    assert_eq!(metric.score(&gold, &pred).unwrap().value + outer::scores(), 2.0);
    let _: &dyn AcceptanceTest = &outer::inner::ToAll;
}
