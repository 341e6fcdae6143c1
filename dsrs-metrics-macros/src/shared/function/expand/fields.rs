//! The fields that the metric reads: their specs, and for each field a trait that a generic row must implement. The
//! trait's error names metric, field and row.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::{Lifetime, Type};

use super::context::Context;
use super::field_use::FieldUse;
use crate::shared::field_name;
use crate::shared::function::param::{Binding, Param};
use crate::shared::function::rows::Row;
use crate::shared::function::side::Side;
use crate::shared::names::upper_camel;
use crate::shared::tokens::{as_written, is_ident};
use crate::shared::types::{Form, in_lifetime};

impl FieldUse<'_> {
    /// Returns `true` if a prediction without the field is counted.
    fn is_counted(&self, cx: &Context<'_>) -> bool {
        let is_scored = || cx.model.attrs.missing.is_some() && self.param.is_required(Side::Pred);
        self.field.is_counted || is_scored()
    }

    /// Returns the trait that a generic row must implement.
    pub(super) fn trait_ident(&self, cx: &Context<'_>) -> Ident {
        let name = |field: &str| format!("{}Reads{}", cx.ident, upper_camel(field));
        let own = name(&self.field.name);
        let same = |param: &Param| match &param.binding {
            Binding::Field(_, field) => name(&field.name) == own,
            _ => false,
        };
        let is_alone = cx.model.params.iter().filter(|param| same(param)).count() == 1;
        match (is_ident(&own), is_alone) {
            (true, true) => Ident::new(&own, cx.span),
            (true, false) => format_ident!("{own}{}", self.index, span = cx.span),
            (false, _) => format_ident!("{}ReadsField{}", cx.ident, self.index, span = cx.span),
        }
    }

    /// Returns the field's name and how it is read, as types.
    pub(super) fn name_and_form(&self, cx: &Context<'_>, row: &Lifetime) -> (&Ident, TokenStream) {
        let Context { private, span, .. } = cx;
        let mut form = match &self.alias {
            Some((alias, _)) => self
                .form
                .read_as(private, &quote_spanned!(*span=> #alias<#row>)),
            None => {
                let ty = self.form.read_type().map(|ty| in_lifetime(ty, row));
                self.form.read_as(private, &ty.to_token_stream())
            }
        };
        if self.is_optional() {
            form = quote_spanned!(*span=> #private::Optional<#form>);
        }
        (&self.name_alias, form)
    }

    /// Returns `ReadField<'row, Name, Form>`.
    fn get_trait(&self, cx: &Context<'_>, row: &Lifetime) -> TokenStream {
        let Context { private, span, .. } = cx;
        let (name, form) = self.name_and_form(cx, row);
        quote_spanned!(*span=> #private::ReadField<#row, #name, #form>)
    }

    /// Returns the expression for the field's spec.
    pub(super) fn spec(&self, cx: &Context<'_>) -> TokenStream {
        let side = Ident::new(self.side.name(), cx.span);
        let position = Literal::usize_unsuffixed(self.position);
        let spec = cx.spec();
        quote_spanned!(cx.span=> &#spec.#side[#position])
    }
}

/// Returns a field name as a type.
fn name_type(name: &str, cx: &Context<'_>) -> TokenStream {
    field_name::name_type(name, &cx.private, cx.span)
}

/// Returns the description of a type. A constant cannot name the metric's type parameters, so a generic metric's types
/// have none.
pub(super) fn help(cx: &Context<'_>, ty: &Type) -> TokenStream {
    let Context { span, private, .. } = cx;
    if !cx.generics.params.is_empty() {
        return quote_spanned!(*span=> #private::TypeHelp::NONE);
    }
    if matches!(Form::of(ty).0, Form::Text) {
        return quote_spanned!(*span=> #private::STRING);
    }
    let ty = in_lifetime(ty, &Lifetime::new("'static", *span));
    quote_spanned!(*span=> #private::MaybeValueType::<#ty>::HELP)
}

/// Returns the field specs for a side, as a slice.
pub(super) fn specs(cx: &Context<'_>, side: Side) -> TokenStream {
    let Context { span, private, .. } = cx;
    let fields = cx.fields.iter().filter(|field| field.side == side);
    let specs = fields.map(|field| {
        let name = &field.field.name;
        let ty = as_written(&field.param.ty);
        let is_counted = field.is_counted(cx);
        let required = !field.is_optional() || is_counted;
        let counted = is_counted.then(|| quote_spanned!(*span=> .or_missing()));
        let help = help(cx, &field.param.ty);
        quote_spanned!(*span=> #private::FieldSpec::new(#name, #ty, #required) #counted .with_help(#help))
    });
    quote_spanned!(*span=> &[#(#specs),*])
}

/// Emits the aliases of the field names and types, and of the row types.
pub(super) fn aliases(cx: &Context<'_>) -> TokenStream {
    let Context { span, row, .. } = cx;
    let aliases = cx.looked_up().map(|field| {
        let name = field.named_by().is_none().then(|| {
            let (ident, ty) = (&field.name_alias, name_type(&field.field.name, cx));
            quote_spanned!(*span=> type #ident = #ty;)
        });
        let alias = field.alias.as_ref();
        let alias = alias.map(|(ident, ty)| quote_spanned!(*span=> type #ident<#row> = #ty;));
        quote!(#name #alias)
    });
    let rows = Side::BOTH.into_iter().filter_map(|side| cx.row_alias(side));
    let rows = rows.map(|(ident, ty)| quote_spanned!(*span=> type #ident = #ty;));
    aliases.chain(rows).collect()
}

/// Emits the traits that generic rows must implement.
pub(super) fn traits(cx: &Context<'_>) -> TokenStream {
    with_traits(cx)
        .map(|field| field_trait(cx, field))
        .collect()
}

/// Returns the fields of generic rows, except those whose name is configured.
fn with_traits<'a>(cx: &'a Context<'_>) -> impl Iterator<Item = &'a FieldUse<'a>> {
    let is_open = |side: Side| matches!(cx.model.rows.get(side), Row::Any);
    let fields = cx.fields.iter();
    fields.filter(move |field| is_open(field.side) && field.named_by().is_none())
}

/// Returns `true` if the expansion contains `#[diagnostic::..]` attributes for fields. rustc does not resolve these in
/// a crate without a prelude, so nothing else may introduce the first one.
pub(super) fn has_diagnostics(cx: &Context<'_>) -> bool {
    with_traits(cx).next().is_some()
}

fn field_trait(cx: &Context<'_>, field: &FieldUse<'_>) -> TokenStream {
    let Context { span, row, .. } = cx;
    let ident = field.trait_ident(cx);
    let get = field.get_trait(cx, row);
    let diagnostics = diagnostics(cx, field);
    let (_, ty_generics, where_clause) = cx.split();
    let params = trailing(&cx.generics);
    let vis = &cx.model.function.vis;
    let arguments = trait_arguments(&ty_generics, row);
    quote_spanned! {*span=>
        #diagnostics
        #vis trait #ident<#row, #params>: #get #where_clause {}
        #[diagnostic::do_not_recommend]
        impl<#row, #params AnyRow_: #get + ?__p::Sized> #ident<#arguments> for AnyRow_ #where_clause {}
    }
}

/// Returns the parameters, each followed by a comma.
pub(super) fn trailing(generics: &syn::Generics) -> TokenStream {
    let params = generics.params.iter();
    quote!(#(#params,)*)
}

/// Returns `'row, T, N` for the struct's `<T, N>`.
fn trait_arguments(ty_generics: &syn::TypeGenerics<'_>, row: &Lifetime) -> TokenStream {
    let inside = inside(ty_generics);
    quote!(#row, #inside)
}

/// Returns `T, N,` for the struct's `<T, N>`.
pub(super) fn inside(ty_generics: &syn::TypeGenerics<'_>) -> TokenStream {
    let arguments: Vec<_> = quote!(#ty_generics).into_iter().collect();
    match arguments.get(1..arguments.len().saturating_sub(1)) {
        Some(inside) if !inside.is_empty() => quote!(#(#inside)*,),
        _ => TokenStream::new(),
    }
}

fn diagnostics(cx: &Context<'_>, field: &FieldUse<'_>) -> TokenStream {
    let name = escaped(&field.field.name);
    let side = field.side.name();
    let types = field_types(&field.form);
    let ty = match &field.form {
        Form::Owned(ty) if in_words(ty).is_some() => types.clone(),
        _ => format!("`{}`", escaped(&as_written(&field.param.ty))),
    };
    let metric = escaped(&cx.model.names.metric);
    let message = format!(
        "`{{Self}}` has no field `{name}` that can be read as {ty}, required by metric `{metric}` in its {side} row"
    );
    let label = format!("this row has no field `{name}` of a suitable type");
    let optional = if field.is_option {
        ", or an `Option` of it"
    } else {
        ""
    };
    let note = format!(
        "add `#[derive(Record)]` and a field `{name}` of type {types}{optional} to the row; `#[record(rename = \"{name}\")]` renames a field"
    );
    quote_spanned!(cx.span=> #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)])
}

fn field_types(form: &Form<'_>) -> String {
    match form {
        Form::Text => "`String` or another string type".to_owned(),
        Form::Raw => "`serde_json::Value`".to_owned(),
        Form::Slice(ty) => format!("`Vec<{}>`", escaped(&as_written(ty))),
        Form::Ref(ty) | Form::Owned(ty) => match in_words(ty) {
            Some(types) => types.to_owned(),
            None => format!("`{}`", escaped(&as_written(ty))),
        },
    }
}

/// Returns the types of row fields that can be read as one of the library's types. Rows themselves do not use those
/// types.
fn in_words(ty: &Type) -> Option<&'static str> {
    match as_written(ty).as_str() {
        "StrOrList<'_>" => Some("`String` or `Vec<String>`"),
        "StrOrNumber<'_>" => Some("`String` or a number"),
        "Label<'_>" => Some("`String`, `bool` or a number"),
        _ => None,
    }
}

/// Escapes the braces that the diagnostic attribute would interpret.
fn escaped(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

/// Returns `G: Reads<'row, T> + ..` for each generic row, with `for<'row>` if `any_lifetime`. A synchronous call for one
/// lifetime does not send its rows, so they may be behind an `Rc`.
pub(super) fn bounds(cx: &Context<'_>, any_lifetime: bool) -> TokenStream {
    bounds_of(cx, any_lifetime, any_lifetime || cx.model.is_async())
}

/// Like [`bounds`], with `Sync` if the rows are sent.
pub(super) fn bounds_of(cx: &Context<'_>, any_lifetime: bool, is_sent: bool) -> TokenStream {
    let Context { span, row, .. } = cx;
    let (_, ty_generics, _) = cx.split();
    let arguments = trait_arguments(&ty_generics, row);
    let for_any = any_lifetime.then(|| quote_spanned!(*span=> for<#row>));
    let sync = is_sent.then(|| quote_spanned!(*span=> __p::Sync));
    let bound = |side: Side| {
        let ty = cx.row_type(side);
        let fields = cx.fields.iter().filter(|field| field.side == side);
        let traits = fields.map(|field| {
            if field.named_by().is_some() {
                let runtime = &cx.runtime;
                return quote_spanned!(field.param.span.resolved_at(*span)=> #runtime::NamedFields);
            }
            let ident = field.trait_ident(cx);
            quote_spanned!(field.param.span=> #for_any #ident<#arguments>)
        });
        quote_spanned!(*span=> #ty: #(#traits +)* #sync,)
    };
    cx.open_sides().map(bound).collect()
}
