//! The row types of a metric: generic, dynamic, or one type.

use syn::spanned::Spanned as _;
use syn::{Lifetime, Type};

use super::param::{Binding, Param};
use super::side::Side;
use crate::shared::settings::Settings;
use crate::shared::types::{in_lifetime, last_segment_is, ungrouped};

/// The row type of one side.
pub(crate) enum Row {
    /// Any type that has the fields.
    Any,
    /// A dynamic row: `Example` or `Prediction`.
    Dynamic,
    /// One of the user's types.
    Typed(Box<Type>),
}

/// The row types of both sides.
pub(crate) struct Rows {
    pub(crate) gold: Row,
    pub(crate) pred: Row,
}

impl Rows {
    pub(crate) fn of(params: &[Param], attrs: &Settings) -> Self {
        let row = |side: Side| row(side, params, attrs);
        Self {
            gold: row(Side::Gold),
            pred: row(Side::Pred),
        }
    }

    pub(crate) fn get(&self, side: Side) -> &Row {
        match side {
            Side::Gold => &self.gold,
            Side::Pred => &self.pred,
        }
    }
}

fn row(side: Side, params: &[Param], attrs: &Settings) -> Row {
    let whole = params.iter().find_map(|param| match param.binding {
        Binding::Row(bound) if bound == side => whole_row(param),
        _ => None,
    });
    match side.declared(attrs).or(whole) {
        None => Row::Any,
        Some(ty) if last_segment_is(ty, side.dynamic()) => Row::Dynamic,
        Some(ty) => {
            let elided = Lifetime::new("'_", ty.span());
            Row::Typed(Box::new(in_lifetime(ty, &elided)))
        }
    }
}

/// Returns `T` from a parameter `gold: &T`.
pub(crate) fn whole_row(param: &Param) -> Option<&Type> {
    match &param.ty {
        Type::Reference(reference) => Some(ungrouped(&reference.elem)),
        _ => None,
    }
}
