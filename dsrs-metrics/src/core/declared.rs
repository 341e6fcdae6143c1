//! What the types that `#[metric]` writes say of themselves, so that the compiler can put metrics
//! together: the spec as a `const`, whether there is a verdict, whether they must be awaited, which rows
//! they are over, how they are built.

use std::marker::PhantomData;

use crate::core::dedup::key::Key;
use crate::core::metric::Metric;
use crate::core::requirements::Requirement;
use crate::core::spec::MetricSpec;

/// A metric of which the compiler knows all that can be known before it runs; written by `#[metric]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a metric that the compiler knows",
    label = "not a metric, or one written by hand",
    note = "components are named after functions with `#[metric]`, or after structs with it; the judge\nof `struct Polite` is `polite_judge`; a metric written by hand goes into `Composite::builder(..)`"
)]
pub trait Declared: Sized {
    /// [`Decided`](crate::core::return_types::Decided) or [`Undecided`](crate::core::return_types::Undecided).
    type Verdict;
    /// [`AnyRow`] or [`GoldRows`].
    type OverGold;
    /// [`AnyRow`] or [`PredRows`].
    type OverPred;
    /// What makes it, once parameters without a default are given.
    type Start;

    /// All that is known of the metric before it runs.
    const SPEC: MetricSpec<'static>;

    /// Starts to build the metric.
    fn start() -> Self::Start;

    /// As [`Metric::spec`]: of a value, which may be configured to read other fields.
    fn spec(&self) -> MetricSpec<'static> {
        Self::SPEC
    }

    /// The metric's identity, if it can be compared with others.
    fn key(&self) -> Option<Key> {
        None
    }

    /// Adds the keys of the metric and of all its components.
    fn keys(&self, all: &mut Vec<Key>) {
        all.extend(self.key());
    }

    /// As [`Metric::requirements`].
    fn requirements(&self, all: &mut Vec<Requirement>) {
        let _ = all;
    }
}

/// What a metric of a declared type is, whatever rows it scores.
#[doc(hidden)]
pub trait Declaration {
    fn spec(&self) -> MetricSpec<'_>;
    fn key(&self) -> Option<Key>;
    fn keys(&self, all: &mut Vec<Key>);
    fn requirements(&self, all: &mut Vec<Requirement>);
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
}

/// The builder of a metric that takes no parameters.
#[derive(Debug)]
pub struct WithoutParameters<M>(pub fn() -> M);

impl<M> WithoutParameters<M> {
    /// The metric.
    pub fn build(self) -> M {
        (self.0)()
    }
}

/// [`Declared`], in a form in which rustc takes it as a condition although it can be seen not to hold, so
/// that it is reported where the metric is named and nowhere else; and once for each place `N` at which a
/// metric stands, so that what it says there can be bound even if it stands in two.
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

/// Rows of any type that has the fields.
#[derive(Debug)]
pub enum AnyRow {}

/// Gold rows of one type.
#[derive(Debug)]
pub struct GoldRows<T>(PhantomData<T>);

/// Predictions of one type.
#[derive(Debug)]
pub struct PredRows<T>(PhantomData<T>);

/// The rows of several components: those of the first that is over rows of one type.
pub trait First<Other> {
    /// The rows of both.
    type Rows;
}

/// Whether a component's rows can be those of the components before it.
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

/// The rows of a component, or what is left of them in a composite.
#[derive(Debug)]
pub struct Rows<G, P>(PhantomData<(G, P)>);

impl Rows<AnyRow, AnyRow> {
    /// Of no component yet.
    #[must_use]
    pub const fn any() -> Self {
        Self(PhantomData)
    }
}

impl<G, P> Rows<G, P> {
    /// These rows and those of a further component.
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

    /// Asks that a component which reads fields of any row finds them in these.
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
    /// The value.
    #[must_use]
    pub const fn component() -> Self {
        Self(PhantomData)
    }
}

impl<M: Declared> Of<M> {
    /// The component's rows.
    #[must_use]
    pub const fn rows(&self) -> Rows<M::OverGold, M::OverPred> {
        Rows(PhantomData)
    }
}

/// Rows of a component that is no metric, which is said elsewhere.
pub trait OfNoMetric {
    /// Any.
    fn rows(&self) -> Rows<AnyRow, UnknownRows>;
}

/// Rows of which nothing is asked.
#[derive(Debug)]
pub enum UnknownRows {}

#[diagnostic::do_not_recommend]
impl<Before> SameRows<Before> for UnknownRows {}

impl<M> OfNoMetric for &Of<M> {
    fn rows(&self) -> Rows<AnyRow, UnknownRows> {
        Rows(PhantomData)
    }
}

/// Rows, as far as they are known where a composite is declared, that a component can score.
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
