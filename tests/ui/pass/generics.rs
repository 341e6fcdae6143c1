use dsrs_metrics::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A bound in angle brackets, one in a where clause, a constant, a lifetime.
#[metric(threshold = 0.5)]
fn all<'a, T: PartialEq + Send + Sync + DeserializeOwned, U, const N: usize>(
    #[gold] value: T,
    #[gold] text: &'a str,
    #[pred("value")] given: Option<T>,
    #[pred] other: Vec<U>,
    #[param(default = N)] least: usize,
) -> f64
where
    U: for<'de> Deserialize<'de> + Send + Sync,
    T: Clone,
    Vec<U>: Clone,
    'a: 'a,
{
    assert_eq!((text, other.len()), ("x", least));
    f64::from(u8::from(given == Some(value)))
}

#[metric]
fn applied<F>(#[pred] value: f64, #[param] function: F) -> f64
where
    F: Fn(f64) -> f64 + Clone + std::fmt::Debug + Send + Sync,
{
    function(value)
}

#[metric]
fn only_constant<const LEAST: usize>(#[pred] text: &str) -> bool {
    text.len() >= LEAST
}

#[metric]
async fn later<T: DeserializeOwned + PartialEq + Send + Sync>(#[gold] a: T, #[pred] b: T) -> bool {
    std::future::ready(()).await;
    a == b
}

struct Gold<T> {
    value: T,
}

#[metric(gold = Gold<T>)]
fn typed<T: Clone + PartialEq + Send + Sync + 'static>(#[gold] value: T, gold: &Gold<T>) -> bool {
    gold.value == value
}

/// Runs the items above.
pub fn main() {
    let gold = example! { "value" => 1, "text" => "x" };
    let pred = prediction! { "value" => 1, "other" => ["a", "b"] };
    let metric = All::<u8, String, 2>::default();
    assert_eq!(metric.score(&gold, &pred).unwrap().value, 1.0);
    let twice = Applied::builder().function(f64::sqrt as fn(f64) -> f64).build();
    assert_eq!(twice.score(&gold, &prediction! { "value" => 4.0 }).unwrap().value, 2.0);
    let least = OnlyConstant::<3>::default();
    assert_eq!(least.score(&gold, &prediction! { "text" => "abc" }).unwrap().value, 1.0);
    let _: Box<dyn Metric> = Box::new(Later::<String>::default());
    let typed = Typed::<u8>::default();
    assert_eq!(typed.score(&Gold { value: 1 }, &prediction! {}).unwrap().value, 1.0);
}
