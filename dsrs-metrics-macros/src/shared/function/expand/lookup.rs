//! The statements and expressions that read a call's arguments: fields, rows, traces and `#[param]`s.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use super::context::Context;
use super::definition::{copied, owned_default};
use super::field_use::FieldUse;
use super::spec::panel_field as panel;
use crate::shared::function::param::{Binding, FieldParam, Param};
use crate::shared::function::role::DefaultValue;
use crate::shared::function::side::Side;
use crate::shared::names;
use crate::shared::tokens::ends;
use crate::shared::types::{Form, in_lifetime};

/// Returns the statement that returns a result. A judge returns an answer.
fn return_early(cx: &Context<'_>, result: &TokenStream) -> TokenStream {
    let Context { span, private, .. } = cx;
    match cx.model.judged {
        Some(_) => quote_spanned!(*span=> return #private::Answer::Ready(#result)),
        None => quote_spanned!(*span=> return #result),
    }
}

/// Returns the statements that read fields through lookups.
pub(super) fn readings(cx: &Context<'_>) -> TokenStream {
    cx.looked_up().map(|field| reading(cx, field)).collect()
}

/// Returns the statement that binds `__spec`, which is used to validate the score. An instance with its own settings
/// passes its spec in the call; a judge stores its settings in its panel.
pub(super) fn spec_of_call(cx: &Context<'_>) -> TokenStream {
    let Context { span, .. } = cx;
    let spec = quote_spanned!(*span=> __call.spec_of::<Self>());
    let Some(panel) = panel(cx) else {
        return quote_spanned!(*span=> let __spec = #spec;);
    };
    let invalid = return_early(cx, &quote_spanned!(*span=> __p::Err(error)));
    quote_spanned! {*span=>
        let __spec = &match self.#panel.spec(#spec) {
            __p::Ok(spec) => spec,
            __p::Err(error) => #invalid,
        };
    }
}

/// Returns the statement that binds `__absent`, which collects counted fields that are missing.
pub(super) fn absent(cx: &Context<'_>) -> TokenStream {
    let Context { span, private, .. } = cx;
    let is_counted = cx.fields.iter().any(|field| field.field.is_counted);
    match is_counted {
        true => {
            quote_spanned!(*span=> let mut __absent = <#private::Absent as ::core::default::Default>::default();)
        }
        false => TokenStream::new(),
    }
}

/// Returns the variable for a field read through a lookup.
fn local(field: &FieldUse<'_>, cx: &Context<'_>) -> Ident {
    format_ident!("__field_{}", field.index, span = cx.span)
}

fn side_ident(side: Side, cx: &Context<'_>) -> Ident {
    Ident::new(side.name(), cx.span)
}

/// Returns `let __field_0 = ..;` for a field read through a lookup.
fn reading(cx: &Context<'_>, field: &FieldUse<'_>) -> TokenStream {
    let Context { span, private, .. } = cx;
    let (ident, side) = (local(field, cx), side_ident(field.side, cx));
    let read = match field.field.is_counted {
        true => read_or_note,
        false => read,
    };
    let value = read(cx, field, &quote_spanned!(*span=> __call.#side));
    let side = cx.side(field.side);
    let answer = quote_spanned!(*span=> #private::unreadable_field(error, __spec, #side));
    let unreadable = return_early(cx, &answer);
    quote_spanned! {*span=>
        let #ident = match #value {
            __p::Ok(value) => value,
            __p::Err(error) => #unreadable,
        };
    }
}

/// Returns the expression that reads a field of `row`, which is an expression too.
pub(super) fn read(cx: &Context<'_>, field: &FieldUse<'_>, row: &TokenStream) -> TokenStream {
    let Context {
        span,
        runtime,
        private,
        ..
    } = cx;
    if let Some(name) = field.named_by() {
        return quote_spanned!(*span=> #runtime::NamedFields::text_of(#row, &self.#name));
    }
    let (name, form) = field.name_and_form(cx, &syn::Lifetime::new("'_", *span));
    let spec = field.spec(cx);
    quote_spanned!(*span=> #private::read::<#name, #form, _>(#row, #spec))
}

/// Returns the expression that reads a field of `row`, and adds the field to `__absent` if the row lacks it.
fn read_or_note(cx: &Context<'_>, field: &FieldUse<'_>, row: &TokenStream) -> TokenStream {
    let Context { span, private, .. } = cx;
    let (name, form) = field.name_and_form(cx, &syn::Lifetime::new("'_", *span));
    let (spec, is_visible) = (field.spec(cx), field.is_option);
    quote_spanned! {*span=>
        #private::read_or_note::<#name, #form, _, _>(#row, #spec, &mut __absent, #is_visible)
    }
}

/// Returns the arguments of the user's function.
pub(super) fn arguments(cx: &Context<'_>) -> impl Iterator<Item = TokenStream> {
    let params = cx.model.params.iter().enumerate();
    params.map(|(index, param)| argument(cx, index, param))
}

fn argument(cx: &Context<'_>, index: usize, param: &Param) -> TokenStream {
    let span = cx.span;
    match &param.binding {
        Binding::Row(side) => {
            let (start, end) = ends(&param.ty);
            let side = Ident::new(side.name(), end);
            let call = Ident::new("__call", start.resolved_at(cx.span));
            quote_spanned!(start=> #call.#side)
        }
        Binding::Trace => quote_spanned!(span=> __call.trace),
        Binding::Steps { is_required: false } => quote_spanned!(span=> __call.program_trace()),
        Binding::Steps { is_required: true } => required_trace(cx),
        Binding::Run => quote_spanned!(span=> __call.run),
        Binding::PredName => quote_spanned!(span=> __call.pred_name),
        Binding::PredTrace => quote_spanned!(span=> __call.pred_trace),
        Binding::Config(_) => config(cx, param),
        Binding::Field(side, _) => {
            let field = cx.fields.iter().find(|field| field.index == index);
            let value = if cx.is_looked_up(*side) {
                from_lookup
            } else {
                from_typed_row
            };
            field.map(|field| value(cx, field)).unwrap_or_default()
        }
        Binding::Nothing => TokenStream::new(),
    }
}

/// Returns the expression for the program's steps, which fails if there are none.
fn required_trace(cx: &Context<'_>) -> TokenStream {
    let Context { span, private, .. } = cx;
    let missing = return_early(cx, &quote_spanned!(*span=> #private::missing_trace(__spec)));
    quote_spanned! {*span=>
        match __call.program_trace() {
            __p::Some(trace) => trace,
            __p::None => #missing,
        }
    }
}

/// Converts a field from a lookup to the parameter's type.
fn from_lookup(cx: &Context<'_>, field: &FieldUse<'_>) -> TokenStream {
    let span = cx.span;
    let ident = local(field, cx);
    if field.named_by().is_some() {
        return quote_spanned!(span=> &*#ident);
    }
    // The variable of a `&str` or `&Value` already has this type. For any other borrowed type, the variable may own the
    // value.
    let borrowed = matches!(field.form, Form::Slice(_) | Form::Ref(_));
    match (&field.field.default, field.is_option, borrowed) {
        (Some(default), false, true) => {
            let default = default_of(cx, field, default);
            quote_spanned! {span=>
                match &#ident {
                    __p::Some(value) => &**value,
                    __p::None => #default,
                }
            }
        }
        (Some(default), false, false) => {
            let default = default_of(cx, field, default);
            quote_spanned! {span=>
                match #ident {
                    __p::Some(value) => value,
                    __p::None => #default,
                }
            }
        }
        (_, true, true) => quote_spanned!(span=> #ident.as_deref()),
        (_, false, true) => quote_spanned!(span=> &*#ident),
        (_, _, false) => quote_spanned!(span=> #ident),
    }
}

fn default_of(cx: &Context<'_>, field: &FieldUse<'_>, default: &DefaultValue) -> TokenStream {
    let ty = in_lifetime(&field.param.ty, &syn::Lifetime::new("'_", cx.span));
    match &default.expr {
        None => quote_spanned!(default.span=> <#ty as ::core::default::Default>::default()),
        Some(expr) => {
            let value = owned_default(cx, field.param, expr);
            quote_spanned!(cx.span=> { let default: #ty = #value; default })
        }
    }
}

/// Reads a field of a typed row as the parameter's type. Its name has the parameter's span, so rustc reports a missing
/// field there.
fn from_typed_row(cx: &Context<'_>, field: &FieldUse<'_>) -> TokenStream {
    let span = field.param.span.resolved_at(cx.span);
    let side = side_ident(field.side, cx);
    let FieldParam {
        name, name_span, ..
    } = field.field;
    let name = match syn::parse_str::<Ident>(name) {
        Ok(_) => Ident::new(name, *name_span),
        Err(_) => Ident::new_raw(name, *name_span),
    };
    let place = quote_spanned!(span=> (*__call.#side).#name);
    let optional = || {
        let ty = in_inference(&field.param.ty);
        quote_spanned!(span=> { let field: &#ty = &#place; field })
    };
    match (&field.form, field.is_option) {
        (Form::Owned(ty), false) => {
            let ty = in_lifetime(ty, &syn::Lifetime::new("'_", cx.span));
            let field = typed_field(cx, span, &quote!(#ty), &place);
            quote_spanned!(span=> __p::Clone::clone(#field))
        }
        (Form::Text, false) => typed_field(cx, span, &quote_spanned!(span=> __p::str), &place),
        (Form::Owned(_), true) => quote_spanned!(span=> __p::Clone::clone(&#place)),
        (Form::Text | Form::Slice(_), true) => {
            let field = optional();
            quote_spanned!(span=> #field.as_deref())
        }
        (_, true) => {
            let field = optional();
            quote_spanned!(span=> #field.as_ref())
        }
        (_, false) => quote_spanned!(span=> &#place),
    }
}

/// Returns the expression that borrows a field of a typed row as `&ty`. rustc reports a field of another type at the
/// parameter.
fn typed_field(cx: &Context<'_>, span: Span, ty: &TokenStream, place: &TokenStream) -> TokenStream {
    let runtime = names::runtime_at(cx.model.attrs.krate.as_ref(), span, cx.span);
    quote_spanned!(span=> #runtime::TypedField::<#ty, _>::typed_field(&#place))
}

/// Returns `Option<_>` with the span of the parameter's type.
fn in_inference(ty: &syn::Type) -> TokenStream {
    let (start, end) = ends(ty);
    let option = quote_spanned!(start=> __p::Option);
    let arguments = quote_spanned!(end=> <_>);
    quote!(#option #arguments)
}

/// Returns the expression that reads a `#[param]` from the metric's struct.
fn config(cx: &Context<'_>, param: &Param) -> TokenStream {
    let Some(name) = &param.ident else {
        return TokenStream::new();
    };
    let span = cx.span;
    match Form::of(&param.ty) {
        (Form::Owned(_), _) => copied(cx, name, param),
        (Form::Text | Form::Slice(_), true) => quote_spanned!(span=> self.#name.as_deref()),
        (_, true) => quote_spanned!(span=> self.#name.as_ref()),
        (_, false) => quote_spanned!(span=> &self.#name),
    }
}
