//! Compile-time declarations of the types that `#[metric]` generates, from which the compiler checks
//! composites: the spec as a `const`, whether the metric has a verdict, whether it is asynchronous, which
//! row types it reads, and how it is built.

use std::marker::PhantomData;

use crate::dedup::key::Key;
use crate::files::MetricFile;
use crate::metric::Metric;
use crate::requirements::Requirement;
use crate::spec::MetricSpec;

/// A metric whose declaration is known at compile time. `#[metric]` implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a metric that the compiler knows",
    label = "not a metric, or one written by hand",
    note = "components are named after functions with `#[metric]`, or after structs with it; the judge\nof `struct Polite` is `polite_judge`; a metric written by hand goes into `Composite::builder(..)`"
)]
pub trait Declared: Sized {
    /// [`Decided`](crate::return_types::Decided) or [`Undecided`](crate::return_types::Undecided).
    type Verdict;
    /// [`AnyRow`] or [`GoldRows`].
    type OverGold;
    /// [`AnyRow`] or [`PredRows`].
    type OverPred;
    /// The builder, before the parameters without a default are set.
    type Start;

    /// The spec that all values of the type have by default.
    const SPEC: MetricSpec<'static>;

    /// Returns the metric's builder.
    fn start() -> Self::Start;

    /// Returns the spec of this value, which may be configured to read other fields; see [`Metric::spec`].
    fn spec(&self) -> MetricSpec<'static> {
        Self::SPEC
    }

    /// Returns the metric's identity, or `None` if it cannot be compared with other metrics.
    fn key(&self) -> Option<Key> {
        None
    }

    /// Adds the keys of the metric and of all its components.
    fn keys(&self, all: &mut Vec<Key>) {
        all.extend(self.key());
    }

    /// Adds the metric's requirements; see [`Metric::requirements`].
    fn requirements(&self, all: &mut Vec<Requirement>) {
        let _ = all;
    }

    /// Adds the files that the metric reads; see [`Metric::files`].
    fn files(&self, all: &mut Vec<MetricFile>) {
        let _ = all;
    }

    /// Returns the largest expected cost of one call of this value, in millisatoshis; see [`Metric::cost_estimate`].
    fn max_cost(&self) -> u64 {
        self.max_cost_of(Declared::spec(self).cost_msats)
    }

    /// Returns the largest expected cost of one call of this value, if `declared_msats` is the declared cost.
    fn max_cost_of(&self, declared_msats: u64) -> u64 {
        declared_msats
    }
}

/// [`Declared`] as a trait object, independent of the row types.
#[doc(hidden)]
pub trait Declaration {
    fn spec(&self) -> MetricSpec<'_>;
    fn key(&self) -> Option<Key>;
    fn keys(&self, all: &mut Vec<Key>);
    fn requirements(&self, all: &mut Vec<Requirement>);
    fn files(&self, all: &mut Vec<MetricFile>);
    fn max_cost(&self) -> u64;
    fn max_cost_of(&self, declared_msats: u64) -> u64;
}

#[diagnostic::do_not_recommend]
impl<M: Declared> Declaration for M {
    fn spec(&self) -> MetricSpec<'_> {
        Declared::spec(self)
    }

    fn key(&self) -> Option<Key> {
        Declared::key(self)
    }

    fn keys(&self, all: &mut Vec<Key>) {
        Declared::keys(self, all);
    }

    fn requirements(&self, all: &mut Vec<Requirement>) {
        Declared::requirements(self, all);
    }

    fn files(&self, all: &mut Vec<MetricFile>) {
        Declared::files(self, all);
    }

    fn max_cost(&self) -> u64 {
        Declared::max_cost(self)
    }

    fn max_cost_of(&self, declared_msats: u64) -> u64 {
        Declared::max_cost_of(self, declared_msats)
    }
}

/// The builder of a metric without parameters.
#[derive(Debug)]
pub struct WithoutParameters<M>(pub fn() -> M);

impl<M: Default> WithoutParameters<M> {
    /// Creates the builder of a metric that implements `Default`.
    #[must_use]
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

/// [`Declared`] as a bound that rustc accepts in a `where` clause even if it is trivially false, so that the
/// error is reported only where the metric is named. `N` is the metric's position in the composite, so that a
/// metric used in two positions can have its associated types bound in each.
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

/// Rows of any type that has the required fields.
#[derive(Debug)]
pub enum AnyRow {}

/// Gold rows of one type.
#[derive(Debug)]
pub struct GoldRows<T>(PhantomData<T>);

/// Predictions of one type.
#[derive(Debug)]
pub struct PredRows<T>(PhantomData<T>);

/// Combines the row types of several components: the first one that is not [`AnyRow`].
pub trait First<Other> {
    /// The combined row type.
    type Rows;
}

/// A component's row type that is compatible with the row type of the components before it.
#[diagnostic::on_unimplemented(
    message = "the components are over different rows: `{Self}` here, `{Before}` before",
    label = "over other rows than the components before it",
    note = "no row is of both types: take a component away, or let it read fields (`#[gold] name: T`, `#[pred] name: T`)\nof any row instead of whole rows of one type"
)]
pub trait SameRows<Before> {}

impl<Other> First<Other> for AnyRow {
    type Rows = Other;
}
#[diagnostic::do_not_recommend]
impl<Before> SameRows<Before> for AnyRow {}

impl<T, Other> First<Other> for GoldRows<T> {
    type Rows = Self;
}
#[diagnostic::do_not_recommend]
impl<T> SameRows<Self> for GoldRows<T> {}
#[diagnostic::do_not_recommend]
impl<T> SameRows<AnyRow> for GoldRows<T> {}

impl<T, Other> First<Other> for PredRows<T> {
    type Rows = Self;
}
#[diagnostic::do_not_recommend]
impl<T> SameRows<Self> for PredRows<T> {}
#[diagnostic::do_not_recommend]
impl<T> SameRows<AnyRow> for PredRows<T> {}

/// The row types of a component, or the combined row types of a composite's components.
#[derive(Debug)]
pub struct Rows<G, P>(PhantomData<(G, P)>);

impl Rows<AnyRow, AnyRow> {
    /// Returns the row types before any component is added.
    #[must_use]
    pub const fn any() -> Self {
        Self(PhantomData)
    }
}

impl<G, P> Rows<G, P> {
    /// Combines these row types with those of another component.
    #[must_use]
    pub fn and<G2, P2>(&self, _: &Rows<G2, P2>) -> Rows<G::Rows, P::Rows>
    where
        G: First<G2>,
        P: First<P2>,
        G2: SameRows<G>,
        P2: SameRows<P>,
    {
        Rows(PhantomData)
    }

    /// Requires that a component which reads fields of any row type finds them in these rows.
    pub fn suit<M, G2, P2>(&self, _: &Rows<G2, P2>, _: Of<M>)
    where
        Self: ScoredBy<M, G2, P2>,
    {
    }
}

/// A component's type as a value.
#[derive(Debug)]
pub struct Of<M>(PhantomData<M>);

impl<M> Of<M> {
    /// Creates the value.
    #[must_use]
    pub const fn component() -> Self {
        Self(PhantomData)
    }
}

impl<M: Declared> Of<M> {
    /// Returns the component's row types.
    #[must_use]
    pub const fn rows(&self) -> Rows<M::OverGold, M::OverPred> {
        Rows(PhantomData)
    }
}

/// The fallback for a component that is not a metric. Another bound reports that error.
pub trait OfNoMetric {
    /// Returns row types that are compatible with all others.
    fn rows(&self) -> Rows<AnyRow, UnknownRows>;
}

/// A row type that is compatible with all others and is not checked.
#[derive(Debug)]
pub enum UnknownRows {}

#[diagnostic::do_not_recommend]
impl<Before> SameRows<Before> for UnknownRows {}

impl<M> OfNoMetric for &Of<M> {
    fn rows(&self) -> Rows<AnyRow, UnknownRows> {
        Rows(PhantomData)
    }
}

/// Row types, as far as they are known where a composite is declared, that the component `M` can score.
pub trait ScoredBy<M, G2, P2> {}

impl<M, G: Sync, P: Sync> ScoredBy<M, AnyRow, AnyRow> for Rows<GoldRows<G>, PredRows<P>> where
    M: Metric<G, P>
{
}
#[diagnostic::do_not_recommend]
impl<M, P> ScoredBy<M, AnyRow, AnyRow> for Rows<AnyRow, P> {}
#[diagnostic::do_not_recommend]
impl<M, G> ScoredBy<M, AnyRow, AnyRow> for Rows<GoldRows<G>, AnyRow> {}
#[diagnostic::do_not_recommend]
impl<M, G> ScoredBy<M, AnyRow, AnyRow> for Rows<GoldRows<G>, UnknownRows> {}
#[diagnostic::do_not_recommend]
impl<M, G, P, P2> ScoredBy<M, AnyRow, PredRows<P2>> for Rows<G, P> {}
#[diagnostic::do_not_recommend]
impl<M, G, P> ScoredBy<M, AnyRow, UnknownRows> for Rows<G, P> {}
#[diagnostic::do_not_recommend]
impl<M, G, P, G2, P2> ScoredBy<M, GoldRows<G2>, P2> for Rows<G, P> {}

impl<Other> First<Other> for UnknownRows {
    type Rows = Other;
}
