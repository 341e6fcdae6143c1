//! Structs of parameters: constant and computed defaults, several of them, required parameters beside them, composites.

use dsrs_metrics::prelude::*;
use dsrs_metrics::Declared as _;

mod shared {
    use dsrs_metrics::ParamGroup;

    /// Constants.
    #[derive(Debug, Clone, Copy, PartialEq, ParamGroup)]
    pub(crate) struct Limits {
        /// The least.
        #[param(default = 0.25)]
        pub(crate) least: f64,
        pub(crate) most: Option<f64>,
    }

    /// Computed.
    #[derive(Debug, Clone, ParamGroup)]
    pub(crate) struct Words {
        #[param(default = "en")]
        pub(crate) r#type: String,
        #[param(default)]
        pub(crate) ignored: Vec<String>,
        #[param(default = 3, into)]
        pub(crate) count: u64,
    }
}

use shared::{Limits, LimitsSetters as _, Words, WordsSetters as _};

#[metric]
fn within(#[pred] given: f64, #[param(flatten)] limits: &Limits) -> bool {
    given >= limits.least && limits.most.is_none_or(|most| given <= most)
}

/// A constant of its own, and a struct whose default is not one.
#[metric]
fn counted(
    #[pred] given: f64,
    #[param(flatten)] words: &Words,
    #[param(flatten)] limits: &Limits,
    #[param(default = true)] strict: bool,
) -> bool {
    strict && given >= limits.least && words.count == 3
}

#[metric]
fn both(
    #[pred] given: f64,
    #[param(flatten)] words: Words,
    #[param(default = true)] strict: bool,
    #[param(flatten)] limits: &Limits,
    #[param] name: &str,
) -> bool {
    strict && given >= limits.least && words.r#type == name
}

#[metric]
fn ordered<T: PartialOrd + serde::de::DeserializeOwned + Send + Sync>(
    #[gold] value: T,
    #[pred("value")] given: T,
    #[param(flatten)] limits: &Limits,
    #[param(default = 2)] times: u8,
) -> bool {
    value > given && limits.least > 0.0 && times > 1
}

#[metric(all(within(least = 0.5, most = 0.75), within))]
struct Twice;

fn names<M: dsrs_metrics::contract::Configure>() -> Vec<&'static str> {
    M::SPEC.params.iter().map(|param| param.name).collect()
}

pub fn main() {
    let default: Within = Within();
    assert_eq!(default.limits, Limits::default());
    let score = |metric: Within, given: f64| {
        metric.score(&example! {}, &prediction! { "given" => given }).unwrap().value
    };
    assert_eq!(score(Within(), 0.25), 1.0);
    assert_eq!(score(Within::builder().least(0.5).build(), 0.25), 0.0);
    assert_eq!(score(Within::builder().most(0.2).least(0.1).build(), 0.25), 0.0);
    assert_eq!(score(Within::builder().limits(Limits { least: 0.5, most: None }).build(), 0.25), 0.0);
    assert_eq!(names::<Within>(), ["least", "most"]);
    assert_eq!(Limits::PARAMS[0].doc, "The least.");

    let metric = Both::builder().r#type("en").ignored(["the"]).name("en").strict(true).least(0.5).count(4_u8).build();
    assert_eq!((&*metric.words.r#type, metric.words.count, metric.limits.least), ("en", 4, 0.5));
    assert_eq!(names::<Both>(), ["type", "ignored", "count", "strict", "least", "most", "name"]);
    let texts = <Both as dsrs_metrics::contract::Configure>::param_texts();
    let texts: Vec<_> = texts.iter().map(Option::as_deref).collect();
    assert_eq!(texts, [Some("en"), Some("[]"), Some("3"), Some("true"), Some("0.25"), Some("null"), None]);

    let score = |metric: Counted| metric.score(&example! {}, &prediction! { "given" => 0.25 });
    assert_eq!(score(Counted()).unwrap().value, 1.0);
    assert_eq!(score(Counted::builder().count(4_u8).build()).unwrap().value, 0.0);

    let ordered = Ordered::<f64>::builder().least(0.5).times(3).build();
    assert_eq!((ordered.limits.least, ordered.times), (0.5, 3));
    assert_eq!(Ordered::<f64>::start().build().limits, Limits::default());

    let gold = example! {};
    assert_eq!(Twice.score(&gold, &prediction! { "given" => 0.6 }).unwrap().value, 1.0);
    assert_eq!(Twice.score(&gold, &prediction! { "given" => 0.3 }).unwrap().value, 0.0);
}
