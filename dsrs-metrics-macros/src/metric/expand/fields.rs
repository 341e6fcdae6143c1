//! The fields that the metric reads: their specs, and for each a trait that a row must fulfil, whose
//! error names metric, field and row.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::Lifetime;

use super::super::bind::{Binding, Side, option_of};
use super::super::model::{FieldParam, Param};
use super::super::rows::Row;
use super::super::types::Form;
use super::Context;
use crate::names::{as_written, upper_camel};

/// A field parameter with all that the expansion needs to know of it.
pub(super) struct FieldUse<'a> {
    pub(super) side: Side,
    pub(super) param: &'a Param,
    pub(super) field: &'a FieldParam,
    /// Its place among the parameters.
    pub(super) index: usize,
    /// Its place among the fields of its side.
    pub(super) position: usize,
    pub(super) form: Form<'a>,
    pub(super) is_option: bool,
}

impl FieldUse<'_> {
    /// Whether a row without the field can be scored.
    pub(super) fn is_optional(&self) -> bool {
        self.is_option || self.field.default.is_some()
    }

    /// The trait that a row of any type must fulfil.
    pub(super) fn trait_ident(&self, cx: &Context<'_>) -> Ident {
        let camel = upper_camel(&self.field.name);
        let name = format!("{}Reads{}", cx.ident, camel);
        match syn::parse_str::<Ident>(&name) {
            Ok(_) => format_ident!("{name}{}", self.index, span = cx.span),
            Err(_) => format_ident!("{}ReadsField{}", cx.ident, self.index, span = cx.span),
        }
    }

    /// `Get<'row, Name, Want>` or `GetOptional<..>`.
    pub(super) fn get_trait(&self, cx: &Context<'_>, row: &Lifetime) -> TokenStream {
        let Context { private, span, .. } = cx;
        let name = name_type(&self.field.name, cx);
        let want = self.form.want(private, row);
        let get = if self.is_optional() { "GetOptional" } else { "Get" };
        let get = format_ident!("{get}", span = *span);
        quote_spanned!(*span=> #private::#get<#row, #name, #want>)
    }

    /// The expression for the field's spec.
    pub(super) fn spec(&self, cx: &Context<'_>) -> TokenStream {
        let table = table(self.side, cx);
        let position = Literal::usize_unsuffixed(self.position);
        quote_spanned!(cx.span=> &#table[#position])
    }
}

/// The field parameters of one side.
pub(super) fn uses<'a>(cx: &'a Context<'_>, side: Side) -> Vec<FieldUse<'a>> {
    let fields =
        cx.model.params.iter().enumerate().filter_map(|(index, param)| match &param.binding {
            Binding::Field(bound, field) if *bound == side => Some((index, param, field)),
            _ => None,
        });
    fields
        .enumerate()
        .map(|(position, (index, param, field))| {
            let (form, is_option) = Form::of(&param.ty);
            FieldUse { side, param, field, index, position, form, is_option }
        })
        .collect()
}

/// A field's name as a type: a tuple of its characters.
fn name_type(name: &str, cx: &Context<'_>) -> TokenStream {
    crate::record::name_type(name, &cx.private, cx.span)
}

fn table(side: Side, cx: &Context<'_>) -> Ident {
    let name = match side {
        Side::Gold => "__GOLD_FIELDS",
        Side::Pred => "__PRED_FIELDS",
    };
    format_ident!("{name}", span = cx.span)
}

/// The two tables of field specs.
pub(super) fn specs(cx: &Context<'_>) -> TokenStream {
    Side::BOTH.into_iter().map(|side| spec_table(cx, side)).collect()
}

fn spec_table(cx: &Context<'_>, side: Side) -> TokenStream {
    let Context { span, runtime, .. } = cx;
    let table = table(side, cx);
    let rows = uses(cx, side);
    let count = Literal::usize_unsuffixed(rows.len());
    let specs = rows.iter().map(|field| {
        let name = &field.field.name;
        let ty = as_written(&field.param.ty);
        let required = !field.is_optional();
        quote_spanned!(*span=> #runtime::FieldSpec { name: #name, ty: #ty, required: #required })
    });
    quote_spanned!(*span=> const #table: [#runtime::FieldSpec<'static>; #count] = [#(#specs),*];)
}

/// The traits that rows of any type must fulfil.
pub(super) fn traits(cx: &Context<'_>) -> TokenStream {
    let open = cx.open_sides();
    open.flat_map(|side| uses(cx, side)).map(|field| field_trait(cx, &field)).collect()
}

fn field_trait(cx: &Context<'_>, field: &FieldUse<'_>) -> TokenStream {
    let Context { span, row, .. } = cx;
    let ident = field.trait_ident(cx);
    let get = field.get_trait(cx, row);
    let sentences = sentences(cx, field);
    let (_, ty_generics, where_clause) = cx.split();
    let params = trailing(&cx.generics);
    let vis = &cx.model.function.vis;
    let arguments = trait_arguments(&ty_generics, row);
    quote_spanned! {*span=>
        #sentences
        #vis trait #ident<#row, #params>: #get #where_clause {}
        #[diagnostic::do_not_recommend]
        impl<#row, #params __Row: #get + ?::core::marker::Sized> #ident<#arguments> for __Row #where_clause {}
    }
}

/// The parameters, each followed by a comma.
pub(super) fn trailing(generics: &syn::Generics) -> TokenStream {
    let params = generics.params.iter();
    quote!(#(#params,)*)
}

/// `'row, T, N` of the struct's `<T, N>`.
fn trait_arguments(ty_generics: &syn::TypeGenerics<'_>, row: &Lifetime) -> TokenStream {
    let inner: Vec<_> = quote!(#ty_generics).into_iter().collect();
    let inside = inner.get(1..inner.len().saturating_sub(1)).unwrap_or_default();
    quote!(#row, #(#inside)*)
}

fn sentences(cx: &Context<'_>, field: &FieldUse<'_>) -> TokenStream {
    let name = &field.field.name;
    let side = field.side.name();
    let ty = escaped(&as_written(&field.param.ty));
    let metric = &cx.model.names.metric;
    let message = format!(
        "`{{Self}}` has no field `{name}` that can be read as `{ty}`, which metric `{metric}` reads from its {side} row"
    );
    let label = format!("this row has no fitting `{name}`");
    let read_as = field_types(&field.form, option_of(&field.param.ty).is_some());
    let note = format!(
        "the row derives `Record` and has a field `{name}`{read_as}; or it is an `Example` or a `Prediction`"
    );
    quote_spanned!(cx.span=> #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)])
}

fn field_types(form: &Form<'_>, optional: bool) -> String {
    let types = match form {
        Form::Text => "`String` or another text".to_owned(),
        Form::Raw => "`serde_json::Value`".to_owned(),
        Form::Slice(ty) => format!("`Vec<{}>`", escaped(&as_written(ty))),
        Form::Ref(ty) | Form::Owned(ty) => format!("`{}`", escaped(&as_written(ty))),
    };
    if optional {
        format!(" of type {types}, or an `Option` of it")
    } else {
        format!(" of type {types}")
    }
}

/// Text in which the attribute's own braces do not count.
fn escaped(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

/// `G: Reads<'row, T> + ..` for each row of any type; with `for<'row>` where `any_lifetime`.
pub(super) fn bounds(cx: &Context<'_>, any_lifetime: bool) -> TokenStream {
    let Context { span, row, .. } = cx;
    let (_, ty_generics, _) = cx.split();
    let arguments = trait_arguments(&ty_generics, row);
    let for_any = any_lifetime.then(|| quote_spanned!(*span=> for<#row>));
    let bound = |side: Side| {
        let ty = cx.row_type(side);
        let traits = uses(cx, side).into_iter().map(|field| {
            let ident = field.trait_ident(cx);
            quote_spanned!(field.param.span=> #for_any #ident<#arguments>)
        });
        quote_spanned!(*span=> #ty: #(#traits +)* ::core::marker::Sync,)
    };
    cx.open_sides().map(bound).collect()
}

/// Whether the side's fields are looked up through `Get`.
pub(super) fn is_looked_up(cx: &Context<'_>, side: Side) -> bool {
    !matches!(cx.model.rows.get(side), Row::Typed(_))
}
