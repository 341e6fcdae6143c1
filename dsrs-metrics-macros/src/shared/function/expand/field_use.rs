//! The fields that the metric reads, each with values that several parts of the expansion use: its position, its form,
//! and the aliases of its name and type.

use proc_macro2::{Ident, Span};
use quote::{ToTokens as _, format_ident};
use syn::{GenericParam, Generics, Lifetime, Type};

use crate::shared::function::model::Model;
use crate::shared::function::param::{Binding, FieldParam, Param};
use crate::shared::function::side::Side;
use crate::shared::tokens;
use crate::shared::types::{Form, in_lifetime};

/// A parameter that reads a field.
pub(crate) struct FieldUse<'a> {
    pub(super) side: Side,
    pub(super) param: &'a Param,
    pub(super) field: &'a FieldParam,
    /// The index among the parameters.
    pub(super) index: usize,
    /// The index among the fields of the side.
    pub(super) position: usize,
    pub(super) form: Form<'a>,
    pub(super) is_option: bool,
    /// The alias of the field's name as a type.
    pub(super) name_alias: Ident,
    /// The alias of the type that is deserialized. Without it, rustc would report an unknown type inside `<..>` a
    /// second time and suggest a type parameter. A type that uses type parameters has no alias.
    pub(super) alias: Option<(Ident, Type)>,
}

impl<'a> FieldUse<'a> {
    /// Returns the fields of both sides, gold first. `row` is the lifetime of the rows.
    pub(super) fn all(model: &'a Model, row: &Lifetime, span: Span) -> Vec<Self> {
        let names = names(&model.generics);
        let fields = |side: Side| {
            let params = model.params.iter().enumerate();
            let fields = params.filter_map(move |(index, param)| match &param.binding {
                Binding::Field(bound, field) if *bound == side => Some((index, param, field)),
                _ => None,
            });
            fields
                .enumerate()
                .map(move |(position, bound)| (side, position, bound))
        };
        let fields = Side::BOTH.into_iter().flat_map(fields);
        fields
            .map(|(side, position, (index, param, field))| {
                let (form, is_option) = Form::of(&param.ty);
                let name_alias = format_ident!("__Name{index}", span = span);
                let alias = form
                    .read_type()
                    .map(|ty| in_lifetime(ty, row))
                    .filter(|ty| !uses_any(ty, &names))
                    .map(|ty| (format_ident!("__Field{index}", span = span), ty));
                Self {
                    side,
                    param,
                    field,
                    index,
                    position,
                    form,
                    is_option,
                    name_alias,
                    alias,
                }
            })
            .collect()
    }

    /// Returns `true` if the field may be absent.
    pub(super) fn is_optional(&self) -> bool {
        self.is_option || self.field.default.is_some()
    }

    /// Returns the `#[param]` whose value is the name of the field, if the name is configurable.
    pub(super) fn named_by(&self) -> Option<&Ident> {
        self.field.named_by.as_ref()
    }
}

/// Returns the names of the type parameters and constants.
fn names(generics: &Generics) -> Vec<String> {
    let names = generics.params.iter().filter_map(|param| match param {
        GenericParam::Type(param) => Some(param.ident.to_string()),
        GenericParam::Const(param) => Some(param.ident.to_string()),
        GenericParam::Lifetime(_) => None,
    });
    names.collect()
}

fn uses_any(ty: &Type, names: &[String]) -> bool {
    let mut words = Vec::new();
    if !names.is_empty() {
        tokens::words(ty.to_token_stream(), &mut words);
    }
    names.iter().any(|name| words.contains(name))
}
