//! The row types of a composite's components, which must be compatible. rustc checks them in a function that the macro
//! emits.

use std::marker::PhantomData;

use crate::declared::{AnyRow, Declared, GoldRows, PredRows};
use crate::metric::Metric;

/// Selects the first row type that is not [`AnyRow`].
pub trait First<Other> {
    /// The selected row type.
    type Rows;
}

/// Marks a row type that is compatible with the row types of a composite's earlier components.
#[diagnostic::on_unimplemented(
    message = "the components read rows of different types: `{Self}` here, `{Before}` before",
    label = "reads a different row type than the components before it",
    note = "a row cannot have both types: remove a component, or let it read fields (`#[gold] name: T`, `#[pred] name: T`)\nof any row instead of whole rows of one type"
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

/// The row types that a component or composite accepts.
#[derive(Debug)]
pub struct Rows<G, P>(PhantomData<(G, P)>);

impl Rows<AnyRow, AnyRow> {
    /// Returns row types that accept any row.
    pub const fn any() -> Self {
        Self(PhantomData)
    }
}

impl<G, P> Rows<G, P> {
    /// Combines these row types with another component's row types.
    pub fn and<G2, P2>(&self, _: &Rows<G2, P2>) -> Rows<G::Rows, P::Rows>
    where
        G: First<G2>,
        P: First<P2>,
        G2: SameRows<G>,
        P2: SameRows<P>,
    {
        Rows(PhantomData)
    }

    /// Checks at compile time that a component can score these rows.
    ///
    /// The check applies only to components that accept rows of any type.
    pub fn suit<M, G2, P2>(&self, _: &Rows<G2, P2>, _: MaybeMetric<M>)
    where
        Self: ScoredBy<M, G2, P2>,
    {
    }
}

/// A component type that might not implement [`Declared`].
///
/// See `probe.rs` for how the implementation is found.
#[derive(Debug)]
pub struct MaybeMetric<M>(PhantomData<M>);

impl<M> MaybeMetric<M> {
    /// Creates a value for the component type `M`.
    pub const fn component() -> Self {
        Self(PhantomData)
    }
}

impl<M: Declared> MaybeMetric<M> {
    /// Returns the component's row types.
    pub const fn rows(&self) -> Rows<M::OverGold, M::OverPred> {
        Rows(PhantomData)
    }
}

/// Provides a fallback for [`MaybeMetric`] if a type is not a metric.
///
/// Another trait bound reports the error.
pub trait FallbackMetric {
    /// Returns row types that are compatible with all others.
    fn rows(&self) -> Rows<AnyRow, UnknownRows>;
}

/// An unchecked row type that is compatible with all others.
#[derive(Debug)]
pub enum UnknownRows {}

#[diagnostic::do_not_recommend]
impl<Before> SameRows<Before> for UnknownRows {}

impl<M> FallbackMetric for &MaybeMetric<M> {
    fn rows(&self) -> Rows<AnyRow, UnknownRows> {
        Rows(PhantomData)
    }
}

/// Marks row types that the component `M` can score.
///
/// The compiler checks only row types that are known where the composite is declared.
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
