//! Composites, which combine several metrics into one.
//!
//! A composite is validated before the first row is scored.
//!
//! An [`Expression`] is checked against the components' specs and becomes a [`Composite`], which is a [`Metric`].
//! `check.rs` checks expressions built at run time, and `rules.rs` checks those in `#[metric]`; both use the properties
//! that `derived.rs` derives from the components. `row_types.rs` has the types of the components' rows. `node.rs` and
//! `run.rs` evaluate a checked expression on a row.
//!
//! The file is long because each combinator and each setting is documented with an example.

mod check;
mod derived;
mod fields;
mod node;
mod plan;
pub(crate) mod row_types;
mod rules;
mod run;
mod shape;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use smallvec::SmallVec;

#[doc(hidden)]
pub use self::shape::IsMissing;
pub use self::shape::OnMissing;

use self::plan::Plan;
use self::shape::{Operator, Shape};
use crate::declared::requirements::Requirement;
use crate::dedup::{Key, Sharing};
use crate::files::MetricFile;
use crate::metric::{AcceptanceTest, Answer, Metric, MetricCall};
use crate::rows::by_name::{intern, intern_fields};
use crate::rows::dynamic::{Example, Prediction};
use crate::score::{MetricScore, Result};
use crate::spec::{FieldSpec, MetricSpec, MetricTier, Side};

/// Items used by the code that `#[metric]` generates for a struct.
///
/// These items are not public API.
#[doc(hidden)]
pub mod compiled {
    pub use super::derived::{Derived, dearest, total_cost};
    pub use super::fields::{FieldList, configured, count, union};
    pub use super::plan::{Compiled, can_evaluate, list};
    pub use super::rules::*;
    pub use super::shape::{Decision, Leaf, Named, Operator, Reads, Shape};
    use crate::sentence::Sentence;

    /// Causes a compile-time error if the metric breaks one of the macros' rules.
    ///
    /// The compiler shows the rule's message.
    ///
    /// This function checks nothing if the attribute of a component is invalid.
    #[track_caller]
    pub const fn check(has_stub: bool, broken: Option<Sentence>) {
        if !has_stub {
            crate::sentence::check(broken);
        }
    }
    pub use crate::spec::combined_code;
}

/// A metric that combines several metrics at run time.
///
/// You can build one from a configuration file, or build many to try different weights.
///
/// ```
/// use dsrs_metrics::composite::{Composite, gate, component, weighted};
/// use dsrs_metrics::metrics::{Em, F1};
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let blend = weighted([(component(Em::default()), 0.25), (component(F1::default()), 0.75)]);
/// let blend = Composite::builder("blend", blend).threshold(0.8).build()?;
/// let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "in Paris" });
/// let scored = blend.answer(MetricCall::new(&gold, &pred)).ready().expect("all components are synchronous")?;
/// assert_eq!((scored.score.value, scored.passed), (0.5, Some(false)));
/// assert_eq!(scored.components().last().unwrap().outcome.value(), Some(2.0 / 3.0));
///
/// let typo = weighted([(component(Em::default()), 0.25), (component(F1::default()), 0.7)]);
/// let error = Composite::builder("blend", typo).build().unwrap_err();
/// assert_eq!(error.to_string(), "composite `blend`: the weights sum to 0.95; they must sum to 1: add 0.05");
/// # Ok(())
/// # }
/// ```
pub struct Composite<G = Example, P = Prediction> {
    spec: MetricSpec<'static>,
    /// The expression as text, used to compare it with another run's expression.
    expression: String,
    plan: Plan,
    leaves: Vec<Arc<dyn Metric<G, P>>>,
}

/// A builder for a [`Composite`].
///
/// ```
/// use dsrs_metrics::composite::{Composite, component, max};
/// use dsrs_metrics::metrics::{Em, F1};
/// use dsrs_metrics::prelude::*;
///
/// let best = max([component(Em::default()), component(F1::default())]);
/// let best = Composite::builder("best", best).threshold(0.5).build()?;
/// assert_eq!((best.name(), best.spec().threshold, best.spec().cost_msats), ("best", Some(0.5), 0));
/// # Ok::<(), dsrs_metrics::composite::CompositeError>(())
/// ```
#[must_use]
pub struct CompositeBuilder<G = Example, P = Prediction> {
    name: String,
    expression: Expression<G, P>,
    declared: check::Declaration,
    on_missing: OnMissing,
}

/// The error returned when a composite is invalid.
///
/// ```
/// use dsrs_metrics::composite::{Composite, component};
/// use dsrs_metrics::metrics::F1;
///
/// let error = Composite::builder("overlap", component(F1::default())).strict().build().unwrap_err();
/// assert_eq!(error.to_string(), "composite `overlap`: `strict` requires a threshold; set one");
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("composite `{composite}`: {message}")]
pub struct CompositeError {
    composite: String,
    message: String,
}

dsrs_metrics_values::debug_as_display!(CompositeError);

impl Composite {
    /// Creates a builder for a composite over dynamic rows.
    ///
    /// ```
    /// use dsrs_metrics::composite::{Composite, component};
    /// use dsrs_metrics::metrics::F1;
    ///
    /// let error = Composite::builder("Token overlap", component(F1::default())).build().unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "composite `Token overlap`: expected a metric name in ASCII snake case \
    ///      that starts with a letter"
    /// );
    /// ```
    pub fn builder(name: impl Into<String>, expression: Expression) -> CompositeBuilder {
        Self::typed(name, expression)
    }
}

impl<G: Sync, P: Sync> Composite<G, P> {
    /// Creates a builder for a composite over rows of any type.
    ///
    /// ```
    /// use dsrs_metrics::composite::{Composite, component, min};
    /// use dsrs_metrics::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let near = typed_metric_fn("near", |gold: &f64, pred: &f64| 1.0 - (gold - pred).abs());
    /// let same_sign = typed_metric_fn("same_sign", |gold: &f64, pred: &f64| gold * pred > 0.0);
    /// let both = min([component(near.with_range(0.0, 1.0)), component(same_sign)]);
    /// let both = Composite::typed("both", both).build()?;
    /// assert_eq!(both.evaluate(&0.25, &0.5).await?.value, 0.75);
    /// assert_eq!(both.evaluate(&0.25, &-0.5).await?.value, 0.0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn typed(name: impl Into<String>, expression: Expression<G, P>) -> CompositeBuilder<G, P> {
        CompositeBuilder {
            name: name.into(),
            expression,
            declared: check::Declaration::default(),
            on_missing: OnMissing::Fail,
        }
    }

    /// Returns an iterator over the components' names.
    ///
    /// The names are in the order of the expression, without duplicates.
    ///
    /// ```
    /// use dsrs_metrics::composite::{Composite, all, any, component};
    /// use dsrs_metrics::prelude::*;
    ///
    /// let has = |field: &'static str| {
    ///     component(metric_fn(field, move |_, pred| pred.get(field).is_some()))
    /// };
    /// let answer = has("answer");
    /// let complete = any([has("refusal"), all([answer.clone(), has("sources")]), answer]);
    /// let complete = Composite::builder("complete", complete).build()?;
    /// assert_eq!(complete.components().collect::<Vec<_>>(), ["refusal", "answer", "sources"]);
    /// # Ok::<(), dsrs_metrics::composite::CompositeError>(())
    /// ```
    pub fn components(&self) -> impl ExactSizeIterator<Item = &str> {
        self.plan.names.iter().copied()
    }
}

/// Returns the fields that the components read on one side, as `union` does for a composite checked at compile time.
fn fields(specs: &[MetricSpec<'_>], side: Side) -> &'static [FieldSpec<'static>] {
    let mut fields: Vec<FieldSpec<'static>> = Vec::new();
    let all = specs.iter().flat_map(MetricSpec::get_input_spec);
    for (_, field) in all.filter(|(of, _)| *of == side) {
        match fields.iter_mut().find(|known| known.name == field.name) {
            Some(known) => known.merge(&field),
            None => fields.push(FieldSpec {
                name: intern(field.name),
                ty: intern(field.ty),
                required: field.required,
                may_be_missing: field.may_be_missing,
                help: field.help,
            }),
        }
    }
    intern_fields(&fields)
}

impl<G: Sync, P: Sync> CompositeBuilder<G, P> {
    setters! {
        /// Sets the smallest score that passes.
        ///
        /// ```
        /// use dsrs_metrics::composite::{Composite, component, weighted};
        /// use dsrs_metrics::metrics::{Em, F1};
        /// use dsrs_metrics::prelude::*;
        ///
        /// let blend = weighted([(component(Em::default()), 0.25), (component(F1::default()), 0.75)]);
        /// let blend = Composite::builder("blend", blend).threshold(0.8).build()?;
        /// assert_eq!([0.5, 0.8].map(|value| blend.spec().is_success(value)), [Some(false), Some(true)]);
        /// # Ok::<(), dsrs_metrics::composite::CompositeError>(())
        /// ```
        pub fn threshold(threshold: f64) => declared.threshold = Some(threshold);

        /// Sets the composite's tier.
        ///
        /// The tier must not be below any component's tier. By default, the tier is derived from the components.
        ///
        /// ```
        /// use dsrs_metrics::composite::{Composite, component};
        /// use dsrs_metrics::prelude::*;
        ///
        /// let verified = metric_fn("verified", |_, pred| pred.get("verified").is_some());
        /// let verified = component(verified.with_tier(MetricTier::Truth));
        /// let error = Composite::builder("checked", verified).tier(MetricTier::Proxy).build().unwrap_err();
        /// assert_eq!(
        ///     error.to_string(),
        ///     "composite `checked`: the composite is declared as Proxy, but a component is Truth; \
        ///      declare Truth, or omit the tier"
        /// );
        /// ```
        pub fn tier(tier: MetricTier) => declared.tier = Some(tier);

        /// Sets the maximum cost of one call, in millisatoshis.
        ///
        /// ```
        /// use dsrs_metrics::composite::{Composite, all, component};
        /// use dsrs_metrics::judge::shipped::{AnswerRelevance, SemanticEquivalence};
        ///
        /// let relevant = component(AnswerRelevance::default());
        /// let judged = all([relevant, component(SemanticEquivalence::default())]);
        /// let error = Composite::builder("judged", judged).budget_msats(250).build().unwrap_err();
        /// // One call each, and one repair: 2 * 100 msat and 2 * 50 msat.
        /// assert_eq!(
        ///     error.to_string(),
        ///     "composite `judged`: the components cost up to 300 msat per row, but the budget is 250 msat; \
        ///      raise the budget or remove a component"
        /// );
        /// ```
        pub fn budget_msats(budget: u64) => declared.budget_msats = Some(budget);

        /// Sets what the composite does if a component has no score.
        ///
        /// ```
        /// use dsrs_metrics::composite::{Composite, OnMissing, component, weighted};
        /// use dsrs_metrics::prelude::*;
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// let rating = metric_fn("rating", |_, pred| pred.get("rating")?.as_f64()).with_range(0.0, 1.0);
        /// let named = metric_fn("named", |_, pred| pred.get("sources").is_some());
        /// let blend = weighted([(component(rating), 0.5), (component(named), 0.5)]);
        /// let (gold, pred) = (example! {}, prediction! { "sources" => ["h:louvre"] });
        /// let blend = Composite::builder("blend", blend).on_missing(OnMissing::Skip).build()?;
        /// assert_eq!(blend.evaluate(&gold, &pred).await?.value, 1.0, "`rating` is omitted");
        /// # Ok(())
        /// # }
        /// ```
        pub fn on_missing(on_missing: OnMissing) => on_missing = on_missing;

        /// Replaces the score with 1 if the composite passes, or 0 if it doesn't.
        ///
        /// ```
        /// use dsrs_metrics::composite::{Composite, component};
        /// use dsrs_metrics::metrics::F1;
        /// use dsrs_metrics::prelude::*;
        ///
        /// # #[tokio::main(flavor = "current_thread")]
        /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
        /// let overlap = Composite::builder("overlap", component(F1::default())).threshold(0.5).strict();
        /// let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "in Paris" });
        /// // F1 is 0.67.
        /// assert_eq!(overlap.build()?.evaluate(&gold, &pred).await?.value, 1.0);
        /// # Ok(())
        /// # }
        /// ```
        pub fn strict() => declared.strict = true;
    }

    /// Validates the expression and builds the composite.
    ///
    /// ```
    /// use dsrs_metrics::composite::{Composite, component};
    /// use dsrs_metrics::prelude::*;
    ///
    /// let errors = metric_fn("error_rate", |_, _| 0.25).with_range(0.0, 1.0).lower_is_better();
    /// let error = Composite::builder("accuracy", component(errors)).build().unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "composite `accuracy`: `error_rate` is lower-is-better, but a composite is higher-is-better; write `invert(error_rate)`"
    /// );
    /// ```
    ///
    /// # Errors
    /// Returns a [`CompositeError`] for the first broken rule.
    pub fn build(self) -> Result<Composite<G, P>, CompositeError> {
        let composite = self.name.clone();
        let checked = self.checked();
        checked.map_err(|message| CompositeError { composite, message })
    }

    fn checked(self) -> Result<Composite<G, P>, String> {
        check::name(&self.name)?;
        check::top_level(&self.expression.0)?;
        let expression = self.expression.0.shown(self.on_missing);
        let mut leaves = check::Leaves::new(self.on_missing);
        let node = leaves.resolve(self.expression.0)?;
        let leaves = leaves.all;
        // A judge's cost depends on its panel.
        let specs = leaves
            .iter()
            .map(|leaf| leaf.spec().with_cost_msats(leaf.cost_estimate()));
        let specs: Vec<_> = specs.collect();
        let name = intern(&self.name);
        let spec = self.declared.spec(name, &node.known, &specs)?;
        let names = leaves.iter().map(|leaf| intern(Metric::<G, P>::name(leaf)));
        let keys = leaves.iter().map(Metric::<G, P>::key).collect();
        let mut all = Vec::new();
        leaves.iter().for_each(|leaf| leaf.keys(&mut all));
        let plan = Plan {
            node,
            names: names.collect(),
            on_missing: self.on_missing,
            keys,
            sharing: Sharing::among(&all),
        };
        let (gold, pred) = (fields(&specs, Side::Gold), fields(&specs, Side::Pred));
        Ok(Composite {
            spec: spec.with_fields(gold, pred),
            expression,
            plan,
            leaves,
        })
    }
}

#[diagnostic::do_not_recommend]
#[async_trait]
impl<G: Sync, P: Sync> Metric<G, P> for Composite<G, P> {
    fn name(&self) -> &str {
        self.spec.name
    }

    fn tier(&self) -> MetricTier {
        self.spec.tier
    }

    fn cost_estimate(&self) -> u64 {
        self.spec.cost_msats
    }

    fn spec(&self) -> MetricSpec<'_> {
        self.spec
    }

    fn can_evaluate(&self, gold: &G, pred: &P) -> bool {
        self.leaves.iter().all(|leaf| leaf.can_evaluate(gold, pred))
    }

    async fn evaluate(&self, gold: &G, pred: &P) -> Result<MetricScore> {
        Ok(self.answer(MetricCall::new(gold, pred)).await?.into_score())
    }

    fn answer<'a>(&'a self, call: MetricCall<'a, G, P>) -> Answer<'a> {
        let leaves: SmallVec<[&dyn Metric<G, P>; 8]> =
            self.leaves.iter().map(|leaf| &**leaf).collect();
        self.plan.answer(&leaves, call, &self.spec)
    }

    fn parameters(&self, all: &mut Vec<(String, String)>) {
        all.push(("expression".to_owned(), self.expression.clone()));
        self.leaves.iter().for_each(|leaf| leaf.parameters(all));
    }

    fn keys(&self, all: &mut Vec<Key>) {
        self.leaves.iter().for_each(|leaf| leaf.keys(all));
    }

    fn files(&self, all: &mut Vec<MetricFile>) {
        self.leaves.iter().for_each(|leaf| leaf.files(all));
    }

    fn requirements(&self, all: &mut Vec<Requirement>) {
        self.leaves.iter().for_each(|leaf| leaf.requirements(all));
    }
}

#[diagnostic::do_not_recommend]
impl<G: Sync, P: Sync> AcceptanceTest<G, P> for Composite<G, P> {}

debug_fields!(Composite<G, P>: |it| "name" => it.spec.name, "plan" => it.plan);

debug_fields!(CompositeBuilder<G, P>: |builder| "name" => builder.name);

/// An expression that describes how a composite combines its components.
///
/// If an expression uses clones of the same component, the component is evaluated once per row.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use dsrs_metrics::composite::{Composite, all, any, component};
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let calls = Arc::new(AtomicU32::new(0));
/// let counted = Arc::clone(&calls);
/// let answered = component(metric_fn("answered", move |_, pred| {
///     counted.fetch_add(1, Ordering::Relaxed);
///     pred.get("answer").is_some()
/// }));
/// let both = all([any([answered.clone()]), answered]);
/// let both = Composite::builder("both", both).build()?;
/// assert_eq!(both.evaluate(&example! {}, &prediction! { "answer" => 4 }).await?.value, 1.0);
/// assert_eq!(calls.load(Ordering::Relaxed), 1);
/// # Ok(())
/// # }
/// ```
pub struct Expression<G = Example, P = Prediction>(pub(super) Shape<Arc<dyn Metric<G, P>>>);

/// Creates an expression from a single metric.
///
/// ```
/// use dsrs_metrics::composite::{Composite, component};
/// use dsrs_metrics::metrics::F1;
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let overlap = Composite::builder("overlap", component(F1::default())).build()?;
/// let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "in Paris" });
/// assert_eq!(overlap.evaluate(&gold, &pred).await?.value, 2.0 / 3.0);
/// # Ok(())
/// # }
/// ```
pub fn component<G, P, M>(metric: M) -> Expression<G, P>
where
    G: Sync,
    P: Sync,
    M: Metric<G, P> + 'static,
{
    combined(Operator::Leaf(Arc::new(metric)), [])
}

/// Creates an expression whose value is the weighted mean of its components.
///
/// The weights must sum to 1.
///
/// ```
/// use dsrs_metrics::composite::{Composite, component, weighted};
/// use dsrs_metrics::metrics::{Em, F1};
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let blend = weighted([(component(Em::default()), 0.25), (component(F1::default()), 0.75)]);
/// let blend = Composite::builder("blend", blend).build()?;
/// let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "in Paris" });
/// // 0.25 * 0 + 0.75 * 2 / 3
/// assert_eq!(blend.evaluate(&gold, &pred).await?.value, 0.5);
/// # Ok(())
/// # }
/// ```
pub fn weighted<G, P>(
    parts: impl IntoIterator<Item = (Expression<G, P>, f64)>,
) -> Expression<G, P> {
    let (parts, weights): (Vec<_>, _) = parts.into_iter().unzip();
    combined(Operator::Weighted(weights), parts)
}

/// Creates an expression that passes if every component passes.
///
/// By default, each component's own verdict decides whether it passes. You can set a different bound with
/// [`Expression::at_least`].
///
/// ```
/// use dsrs_metrics::composite::{Composite, all, component};
/// use dsrs_metrics::metrics::{Em, F1};
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let both = all([component(Em::default()), component(F1::default()).at_least(0.5)]);
/// let both = Composite::builder("both", both).build()?;
/// let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "in Paris" });
/// assert_eq!(both.evaluate(&gold, &pred).await?.value, 0.0, "the match is not exact");
/// # Ok(())
/// # }
/// ```
pub fn all<G, P>(parts: impl IntoIterator<Item = Expression<G, P>>) -> Expression<G, P> {
    combined(Operator::All, parts)
}

/// Creates an expression that passes if any component passes.
///
/// By default, each component's own verdict decides whether it passes. You can set a different bound with
/// [`Expression::at_least`].
///
/// ```
/// use dsrs_metrics::composite::{Composite, any, component};
/// use dsrs_metrics::metrics::{Em, F1};
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let either = any([component(Em::default()), component(F1::default()).at_least(0.5)]);
/// let either = Composite::builder("either", either).build()?;
/// let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "in Paris" });
/// assert_eq!(either.evaluate(&gold, &pred).await?.value, 1.0, "F1 is 0.67");
/// # Ok(())
/// # }
/// ```
pub fn any<G, P>(parts: impl IntoIterator<Item = Expression<G, P>>) -> Expression<G, P> {
    combined(Operator::Any, parts)
}

/// Creates an expression whose value is the minimum of its components.
///
/// ```
/// use dsrs_metrics::composite::{Composite, component, min};
/// use dsrs_metrics::metrics::{Em, F1};
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let worst = min([component(Em::default()), component(F1::default())]);
/// let worst = Composite::builder("worst", worst).build()?;
/// let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "in Paris" });
/// assert_eq!(worst.evaluate(&gold, &pred).await?.value, 0.0);
/// # Ok(())
/// # }
/// ```
pub fn min<G, P>(parts: impl IntoIterator<Item = Expression<G, P>>) -> Expression<G, P> {
    combined(Operator::Min, parts)
}

/// Creates an expression whose value is the maximum of its components.
///
/// ```
/// use dsrs_metrics::composite::{Composite, component, max};
/// use dsrs_metrics::metrics::{Em, F1};
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let best = max([component(Em::default()), component(F1::default())]);
/// let best = Composite::builder("best", best).build()?;
/// let (gold, pred) = (example! { "answer" => "Paris" }, prediction! { "answer" => "in Paris" });
/// assert_eq!(best.evaluate(&gold, &pred).await?.value, 2.0 / 3.0);
/// # Ok(())
/// # }
/// ```
pub fn max<G, P>(parts: impl IntoIterator<Item = Expression<G, P>>) -> Expression<G, P> {
    combined(Operator::Max, parts)
}

/// Creates an expression that evaluates expensive components only if cheap ones score high enough.
///
/// The cheap components are the proxies, and the expensive ones are the truths. If the mean of the proxies is at least
/// `at_least`, the value is the mean of the truths.
///
/// Otherwise, the row is gated. The truths are not evaluated, and the row has no score.
///
/// A gated row ranks below every row that passed the gate.
///
/// ```
/// use dsrs_metrics::composite::{Composite, component, gate};
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let answered = metric_fn("answered", |_, pred| pred.get("answer").is_some());
/// let correct = metric_fn("correct", |gold, pred| gold.get("answer") == pred.get("answer"));
/// let correct = component(correct.with_tier(MetricTier::Truth));
/// let checked = Composite::builder("checked", gate([component(answered)], 1.0, [correct])).build()?;
/// let gold = example! { "answer" => 4 };
/// let gated = checked.answer(MetricCall::new(&gold, &prediction! {})).await;
/// assert_eq!(Outcome::from(gated), Outcome::Gated { by: "answered".into() });
/// assert_eq!(checked.evaluate(&gold, &prediction! { "answer" => 5 }).await?.value, 0.0);
/// # Ok(())
/// # }
/// ```
pub fn gate<G, P>(
    proxies: impl IntoIterator<Item = Expression<G, P>>,
    at_least: f64,
    truths: impl IntoIterator<Item = Expression<G, P>>,
) -> Expression<G, P> {
    let mut parts: Vec<_> = proxies.into_iter().collect();
    let proxies = parts.len();
    parts.extend(truths);
    combined(Operator::Gate { proxies, at_least }, parts)
}

/// Creates an expression that inverts a component's value within its range.
///
/// For example, 2 in the range [0, 5] becomes 3. You can use this to combine lower-is-better and higher-is-better
/// components.
///
/// ```
/// use dsrs_metrics::composite::{Composite, component, invert};
/// use dsrs_metrics::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let errors = metric_fn("errors", |_, _| 2.0).with_range(0.0, 5.0).lower_is_better();
/// let without = Composite::builder("without_errors", invert(component(errors))).build()?;
/// assert_eq!(without.evaluate(&example! {}, &prediction! {}).await?.value, 3.0);
/// # Ok(())
/// # }
/// ```
pub fn invert<G, P>(part: Expression<G, P>) -> Expression<G, P> {
    combined(Operator::Invert, [part])
}

impl<G, P> Expression<G, P> {
    /// Sets the smallest passing value.
    ///
    /// This bound replaces the component's own threshold.
    ///
    /// ```
    /// use dsrs_metrics::composite::{Composite, all, component};
    /// use dsrs_metrics::metrics::{Em, F1};
    ///
    /// let parts = |f1| all([component(Em::default()), f1]);
    /// let error = Composite::builder("both", parts(component(F1::default()))).build().unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "composite `both`: `f1` has a score but no verdict; set a pass threshold with `at_least`"
    /// );
    /// Composite::builder("both", parts(component(F1::default()).at_least(0.5))).build()?;
    /// # Ok::<(), dsrs_metrics::composite::CompositeError>(())
    /// ```
    pub fn at_least(self, bound: f64) -> Self {
        combined(Operator::AtLeast(bound), [self])
    }
}

fn combined<G, P>(
    operator: Operator<Arc<dyn Metric<G, P>>>,
    parts: impl IntoIterator<Item = Expression<G, P>>,
) -> Expression<G, P> {
    let parts = parts.into_iter().map(|part| part.0);
    Expression(Shape::new(operator, parts))
}

impl<G, P> Clone for Expression<G, P> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<G: Sync, P: Sync> fmt::Debug for Expression<G, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Expression").field(&self.0.name()).finish()
    }
}
