//! What the types that `#[metric]` writes say of themselves, so that the compiler can put metrics
//! together: the spec as a `const`, whether there is a verdict, whether they must be awaited, which rows
//! they are over, how they are built.

use std::marker::PhantomData;

use crate::metric::Metric;
use crate::spec::MetricSpec;

/// A metric of which the compiler knows all that can be known before it runs; written by `#[metric]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a metric that the compiler knows",
    label = "not a metric, or one written by hand",
    note = "components are named after functions with `#[metric]`, or after structs with it;\na metric written by hand goes into `Composite::builder(..)`"
)]
pub trait Declared: Sized {
    /// [`Decided`](crate::returns::Decided) or [`Undecided`](crate::returns::Undecided).
    type Verdict;
    /// [`AtOnce`] or [`Awaited`].
    type Asked;
    /// [`AnyRow`] or [`Gold`].
    type Gold;
    /// [`AnyRow`] or [`Pred`].
    type Pred;
    /// What makes it, once parameters without a default are given.
    type Start;

    /// All that is known of the metric before it runs.
    const SPEC: MetricSpec<'static>;

    /// Starts to build the metric.
    fn start() -> Self::Start;
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

/// A metric that can be scored without being awaited.
#[derive(Debug)]
pub enum AtOnce {}

/// A metric that must be awaited.
#[derive(Debug)]
pub enum Awaited {}

/// A composite can be scored at once if all its components can.
pub trait And<Other> {
    /// [`AtOnce`] or [`Awaited`].
    type Both;
}

impl<Other> And<Other> for AtOnce {
    type Both = Other;
}

impl<Other> And<Other> for Awaited {
    type Both = Awaited;
}

/// A composite that need not be awaited; `G` only keeps rustc from asking before it is called.
#[diagnostic::on_unimplemented(
    message = "the composite has an asynchronous component, so it cannot be scored at once",
    label = "must be awaited",
    note = "write `.evaluate(&gold, &pred).await` instead of `.score(&gold, &pred)`"
)]
pub trait NeedNotBeAwaited<G> {}

impl<G> NeedNotBeAwaited<G> for AtOnce {}

/// Rows of any type that has the fields.
#[derive(Debug)]
pub enum AnyRow {}

/// Gold rows of one type.
#[derive(Debug)]
pub struct Gold<T>(PhantomData<T>);

/// Predictions of one type.
#[derive(Debug)]
pub struct Pred<T>(PhantomData<T>);

/// What two components' rows have in common.
#[diagnostic::on_unimplemented(
    message = "the components are over different rows: `{Other}` here, `{Self}` before",
    label = "over other rows than the components before it",
    note = "no row is of both types: take a component away, or let it read fields (`#[gold] name: T`, `#[pred] name: T`)\nof any row instead of whole rows of one type"
)]
pub trait SameRows<Other> {
    /// The rows of both.
    type Rows;
}

impl SameRows<AnyRow> for AnyRow {
    type Rows = AnyRow;
}

macro_rules! typed_rows {
    ($($half:ident),*) => {$(
        impl<T> SameRows<AnyRow> for $half<T> {
            type Rows = Self;
        }
        impl<T> SameRows<$half<T>> for AnyRow {
            type Rows = $half<T>;
        }
        impl<T> SameRows<Self> for $half<T> {
            type Rows = Self;
        }
    )*};
}
typed_rows!(Gold, Pred);

/// Rows, as far as they are known where a composite is declared, that a component can score.
pub trait ScoredBy<M> {
    /// Asks whether it holds.
    const HOLDS: () = ();
}

impl<M> ScoredBy<M> for (AnyRow, AnyRow) {}
impl<M, G> ScoredBy<M> for (Gold<G>, AnyRow) {}
impl<M, P> ScoredBy<M> for (AnyRow, Pred<P>) {}
impl<M, G: Sync, P: Sync> ScoredBy<M> for (Gold<G>, Pred<P>) where M: Metric<G, P> {}
