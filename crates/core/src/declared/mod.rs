//! Declarations of the metrics that `#[metric]` generates.
//!
//! The compiler checks composites with these declarations.
//!
//! A declaration contains the metric's spec as a `const`, the metric's row types and a way to build the metric. It also
//! says whether the metric has a verdict and whether it is asynchronous.
//!
//! Requirements are in `requirements.rs`.

pub mod requirements;

pub use self::requirements::{Requirement, Requires};

use std::marker::PhantomData;

use crate::dedup::Key;
use crate::files::MetricFile;
use crate::spec::MetricSpec;

/// A metric declared at compile time.
///
/// `#[metric]` implements this trait.
#[diagnostic::on_unimplemented(
    message = "expected a metric known at compile time, found `{Self}`",
    label = "not a metric, or one written by hand",
    note = "refer to a component by its `#[metric]` function or struct; the judge of `struct Polite`\nis `polite_judge`; add a metric written by hand with `Composite::builder(..)`"
)]
pub trait Declared: Sized {
    /// Specifies whether the metric has a verdict.
    ///
    /// The type is [`Decided`](crate::score::return_types::Decided) or
    /// [`Undecided`](crate::score::return_types::Undecided).
    type Verdict;
    /// The type of the gold rows that the metric reads.
    ///
    /// The type is [`AnyRow`] or [`GoldRows`].
    type OverGold;
    /// The type of the predictions that the metric reads.
    ///
    /// The type is [`AnyRow`] or [`PredRows`].
    type OverPred;
    /// The type of the builder before the required parameters are set.
    type Start;

    /// The metric's spec with default settings.
    const SPEC: MetricSpec<'static>;

    /// Creates the metric's builder.
    fn start() -> Self::Start;

    /// Returns this metric's spec.
    ///
    /// A metric's parameters can change the fields that it reads; see [`Metric::spec`](crate::Metric::spec).
    fn spec(&self) -> MetricSpec<'static> {
        Self::SPEC
    }

    /// Returns the key that identifies the metric.
    ///
    /// Returns `None` if the metric cannot be compared with other metrics.
    fn key(&self) -> Option<Key> {
        None
    }

    /// Returns the metric as a component of a composite.
    #[doc(hidden)]
    fn component(&self) -> &(dyn Declaration + Sync)
    where
        Self: Sync,
    {
        self
    }

    /// Returns the metric if it implements [`Requires`].
    fn requires(&self) -> Option<&dyn Requires> {
        None
    }

    /// Adds the metric's requirements to `all`.
    ///
    /// See [`Metric::requirements`](crate::Metric::requirements).
    fn requirements(&self, all: &mut Vec<Requirement>) {
        if let Some(requires) = self.requires() {
            requires.requirements(all);
        }
    }

    /// Adds the files that the metric reads to `all`.
    ///
    /// See [`Metric::files`](crate::Metric::files).
    fn files(&self, all: &mut Vec<MetricFile>) {
        if let Some(requires) = self.requires() {
            requires.files(all);
        }
    }
}

/// A dyn-compatible version of [`Declared`].
///
/// This trait does not depend on the row types.
#[doc(hidden)]
pub trait Declaration {
    fn spec(&self) -> MetricSpec<'_>;

    fn key(&self) -> Option<Key>;

    /// Adds the keys of the metric and all its components to `all`.
    fn keys(&self, all: &mut Vec<Key>) {
        all.extend(self.key());
    }

    fn requirements(&self, all: &mut Vec<Requirement>);

    fn files(&self, all: &mut Vec<MetricFile>);

    /// Returns the maximum expected cost of one call, in millisatoshis.
    ///
    /// See [`Metric::cost_estimate`](crate::Metric::cost_estimate).
    fn max_cost(&self) -> u64 {
        self.max_cost_of(self.spec().cost_msats)
    }

    /// Returns the maximum expected cost of one call, given the declared cost.
    fn max_cost_of(&self, declared_msats: u64) -> u64 {
        declared_msats
    }
}

#[diagnostic::do_not_recommend]
impl<M: Declared> Declaration for M {
    fn spec(&self) -> MetricSpec<'_> {
        Declared::spec(self)
    }

    fn key(&self) -> Option<Key> {
        Declared::key(self)
    }

    fn requirements(&self, all: &mut Vec<Requirement>) {
        Declared::requirements(self, all);
    }

    fn files(&self, all: &mut Vec<MetricFile>) {
        Declared::files(self, all);
    }

    fn max_cost_of(&self, declared_msats: u64) -> u64 {
        self.requires()
            .map_or(declared_msats, |requires| requires.max_cost(declared_msats))
    }
}

/// A builder for a metric without parameters.
#[derive(Debug)]
pub struct WithoutParameters<M>(pub fn() -> M);

impl<M: Default> WithoutParameters<M> {
    /// Creates a builder for a metric that implements `Default`.
    pub const fn of_default() -> Self {
        Self(M::default)
    }
}

impl<M> WithoutParameters<M> {
    /// Builds the metric.
    pub fn build(self) -> M {
        (self.0)()
    }
}

/// A bound equivalent to [`Declared`] that delays the compile error.
///
/// rustc accepts this bound in a `where` clause even if it is trivially false. The error then appears only where the
/// metric is named.
///
/// `N` is the metric's position in the composite. If a metric occurs twice, each position has its own bounds.
#[doc(hidden)]
pub trait DeclaredIn<'a, const N: usize> {
    type Verdict;
    type OverGold;
    type OverPred;
}

impl<M: Declared, const N: usize> DeclaredIn<'_, N> for M {
    type Verdict = M::Verdict;
    type OverGold = M::OverGold;
    type OverPred = M::OverPred;
}

/// Marks rows of any type that has the required fields.
#[derive(Debug)]
pub enum AnyRow {}

/// Marks gold rows of the type `T`.
#[derive(Debug)]
pub struct GoldRows<T>(PhantomData<T>);

/// Marks predictions of the type `T`.
#[derive(Debug)]
pub struct PredRows<T>(PhantomData<T>);
