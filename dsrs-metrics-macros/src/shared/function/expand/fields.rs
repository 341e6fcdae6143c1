//! The fields that the metric reads: their specs, and for each field a trait that a generic row
//! must implement. The error of the trait names metric, field and row.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::{Lifetime, Type};

use super::context::Context;
use crate::shared::field_name;
use crate::shared::function::param::{Binding, FieldParam, Param};
use crate::shared::function::rows::Row;
use crate::shared::function::side::Side;
use crate::shared::names::upper_camel;
use crate::shared::tokens::{self, as_written, is_ident};
use crate::shared::types::{Form, in_lifetime};

/// A field parameter and what the expansion needs of it.
pub(super) struct FieldUse<'a> {
    pub(super) side: Side,
    pub(super) param: &'a Param,
    pub(super) field: &'a FieldParam,
    /// The index among the parameters.
    pub(super) index: usize,
    /// The index among the fields of the side.
    pub(super) position: usize,
    pub(super) form: Form<'a>,
    pub(super) is_option: bool,
}

impl FieldUse<'_> {
    /// Whether the field may be absent.
    pub(super) fn is_optional(&self) -> bool {
        self.is_option || self.field.default.is_some()
    }

    /// Whether a prediction without the field is counted.
    fn is_counted(&self, cx: &Context<'_>) -> bool {
        let is_scored = || cx.model.attrs.missing.is_some() && self.param.is_required(Side::Pred);
        self.field.is_counted || is_scored()
    }

    /// Returns the `#[param]` whose value is the name of the field, if the name is configurable.
    pub(super) fn named_by(&self) -> Option<&Ident> {
        self.field.named_by.as_ref()
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

    /// Returns an alias for the type that is deserialized. Without it, rustc would report an
    /// unknown type inside `<..>` a second time with the suggestion of a type parameter. A type
    /// that uses type parameters has no alias.
    fn alias(&self, cx: &Context<'_>) -> Option<(Ident, Type)> {
        let ty = in_lifetime(self.form.read_type()?, &cx.row);
        let params = cx.generics.params.iter().map(|param| match param {
            syn::GenericParam::Type(param) => param.ident.to_string(),
            syn::GenericParam::Const(param) => param.ident.to_string(),
            syn::GenericParam::Lifetime(_) => String::new(),
        });
        let mut words = Vec::new();
        tokens::words(ty.to_token_stream(), &mut words);
        let is_generic = params.into_iter().any(|param| words.contains(&param));
        let ident = format_ident!("__Field{}", self.index, span = cx.span);
        (!is_generic).then_some((ident, ty))
    }

    /// Returns the alias of the field's name as a type.
    fn name_alias(&self, cx: &Context<'_>) -> Ident {
        format_ident!("__Name{}", self.index, span = cx.span)
    }

    /// Returns the field's name and the form in which it is read, as types.
    pub(super) fn name_and_form(&self, cx: &Context<'_>, row: &Lifetime) -> (Ident, TokenStream) {
        let Context { private, span, .. } = cx;
        let mut form = match self.alias(cx) {
            Some((alias, _)) => self.form.read_as(private, &quote_spanned!(*span=> #alias<#row>)),
            None => {
                let ty = self.form.read_type().map(|ty| in_lifetime(ty, row));
                self.form.read_as(private, &ty.to_token_stream())
            }
        };
        if self.is_optional() {
            form = quote_spanned!(*span=> #private::Optional<#form>);
        }
        (self.name_alias(cx), form)
    }

    /// Returns `ReadField<'row, Name, Form>`.
    fn get_trait(&self, cx: &Context<'_>, row: &Lifetime) -> TokenStream {
        let Context { private, span, .. } = cx;
        let (name, form) = self.name_and_form(cx, row);
        quote_spanned!(*span=> #private::ReadField<#row, #name, #form>)
    }

    /// Returns the expression for the field's spec.
    pub(super) fn spec(&self, cx: &Context<'_>) -> TokenStream {
        let table = table(self.side, cx);
        let position = Literal::usize_unsuffixed(self.position);
        quote_spanned!(cx.span=> &#table[#position])
    }
}

/// Returns the field parameters of one side.
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

/// Returns a field name as a type.
fn name_type(name: &str, cx: &Context<'_>) -> TokenStream {
    field_name::name_type(name, &cx.private, cx.span)
}

fn table(side: Side, cx: &Context<'_>) -> Ident {
    let name = match side {
        Side::Gold => "__GOLD_FIELDS",
        Side::Pred => "__PRED_FIELDS",
    };
    format_ident!("{name}", span = cx.span)
}

/// Emits the tables of field specs of both sides.
pub(super) fn specs(cx: &Context<'_>) -> TokenStream {
    Side::BOTH.into_iter().map(|side| spec_table(cx, side)).collect()
}

/// Returns the description of a type. A constant cannot name the metric's type parameters, so the types of a generic
/// metric have none.
pub(super) fn help(cx: &Context<'_>, ty: &Type) -> TokenStream {
    let Context { span, runtime, private, .. } = cx;
    if !cx.generics.params.is_empty() {
        return quote_spanned!(*span=> #runtime::TypeHelp::NONE);
    }
    let ty = in_lifetime(ty, &Lifetime::new("'static", *span));
    quote_spanned!(*span=> {
        use #private::FallbackValueType as _;
        #private::MaybeValueType::<#ty>::HELP
    })
}

fn spec_table(cx: &Context<'_>, side: Side) -> TokenStream {
    let Context { span, runtime, .. } = cx;
    let table = table(side, cx);
    let rows = uses(cx, side);
    let specs = rows.iter().map(|field| {
        let name = &field.field.name;
        let ty = as_written(&field.param.ty);
        let is_counted = field.is_counted(cx);
        let required = !field.is_optional() || is_counted;
        let counted = is_counted.then(|| quote_spanned!(*span=> .or_missing()));
        let help = help(cx, &field.param.ty);
        quote_spanned!(*span=> #runtime::FieldSpec::new(#name, #ty, #required) #counted .with_help(#help))
    });
    quote_spanned!(*span=> const #table: &[#runtime::FieldSpec<'static>] = &[#(#specs),*];)
}

/// Emits the aliases of the field names and types, and of the row types.
pub(super) fn aliases(cx: &Context<'_>) -> TokenStream {
    let Context { span, row, .. } = cx;
    let sides = Side::BOTH.into_iter().filter(|side| is_looked_up(cx, *side));
    let aliases = sides.flat_map(|side| uses(cx, side)).map(|field| {
        let name = field.named_by().is_none().then(|| {
            let (ident, ty) = (field.name_alias(cx), name_type(&field.field.name, cx));
            quote_spanned!(*span=> type #ident = #ty;)
        });
        let alias =
            field.alias(cx).map(|(ident, ty)| quote_spanned!(*span=> type #ident<#row> = #ty;));
        quote!(#name #alias)
    });
    let rows = Side::BOTH.into_iter().filter_map(|side| cx.row_alias(side));
    let rows = rows.map(|(ident, ty)| quote_spanned!(*span=> type #ident = #ty;));
    aliases.chain(rows).collect()
}

/// Emits the traits that generic rows must implement.
pub(super) fn traits(cx: &Context<'_>) -> TokenStream {
    let open = cx.open_sides();
    let fields = open.flat_map(|side| uses(cx, side)).filter(|field| field.named_by().is_none());
    fields.map(|field| field_trait(cx, &field)).collect()
}

/// Whether the expansion contains `#[diagnostic::..]` attributes for fields. rustc does not resolve
/// these attributes in a crate without a prelude, so nothing else may introduce the first one.
pub(super) fn has_diagnostics(cx: &Context<'_>) -> bool {
    cx.open_sides().flat_map(|side| uses(cx, side)).any(|field| field.named_by().is_none())
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
        impl<#row, #params AnyRow_: #get + ?::core::marker::Sized> #ident<#arguments> for AnyRow_ #where_clause {}
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
    let optional = if field.is_option { ", or an `Option` of it" } else { "" };
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

/// Returns the types of a row's field that can be read as a type of the library, which a row itself does not use.
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

/// As [`bounds`], with `Sync` if the rows are sent.
pub(super) fn bounds_of(cx: &Context<'_>, any_lifetime: bool, is_sent: bool) -> TokenStream {
    let Context { span, row, .. } = cx;
    let (_, ty_generics, _) = cx.split();
    let arguments = trait_arguments(&ty_generics, row);
    let for_any = any_lifetime.then(|| quote_spanned!(*span=> for<#row>));
    let sync = is_sent.then(|| quote_spanned!(*span=> ::core::marker::Sync));
    let bound = |side: Side| {
        let ty = cx.row_type(side);
        let traits = uses(cx, side).into_iter().map(|field| {
            if field.named_by().is_some() {
                let runtime = cx.runtime;
                return quote_spanned!(field.param.span.resolved_at(*span)=> #runtime::NamedFields);
            }
            let ident = field.trait_ident(cx);
            quote_spanned!(field.param.span=> #for_any #ident<#arguments>)
        });
        quote_spanned!(*span=> #ty: #(#traits +)* #sync,)
    };
    cx.open_sides().map(bound).collect()
}

/// Whether the fields of a side are read through `ReadField`.
pub(super) fn is_looked_up(cx: &Context<'_>, side: Side) -> bool {
    !matches!(cx.model.rows.get(side), Row::Typed(_))
}
