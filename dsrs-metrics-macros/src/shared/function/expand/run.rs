//! The call itself: each parameter is read from its row, the function is called, and what it returns
//! is validated against the spec.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use super::context::Context;
use super::definition::{copied, owned_default};
use super::explain;
use super::fields::{FieldUse, bounds, is_looked_up, uses};
use super::spec::{self, panel_field as panel};
use crate::shared::function::model::{Judged, Model};
use crate::shared::function::param::{Binding, FieldParam, Param};
use crate::shared::function::role::DefaultValue;
use crate::shared::function::side::Side;
use crate::shared::names;
use crate::shared::tokens::ends;
use crate::shared::types::{Form, in_lifetime};

/// `__run`, which reads the fields, calls the function and validates the score. A judge does this in `answer`.
pub(super) fn run(cx: &Context<'_>) -> TokenStream {
    let Context { model, span, runtime, row, .. } = cx;
    if model.judged.is_some() {
        return TokenStream::new();
    }
    let row_params = cx.row_params();
    let (gold, pred) = (cx.row_type(Side::Gold), cx.row_type(Side::Pred));
    let bounds = bounds(cx, false);
    let body = body(cx);
    let (keyword, lifetime) = match model.is_async() {
        true => (quote_spanned!(*span=> async), quote_spanned!(*span=> #row)),
        false => (quote_spanned!(*span=> #[inline]), TokenStream::new()),
    };
    quote_spanned! {*span=>
        #keyword fn __run<#row, #row_params>(
            &#lifetime self,
            __call: #runtime::__private::MetricCall<#row, #gold, #pred>,
        ) -> #runtime::Result<#runtime::__private::RowAnswer>
        where
            #bounds
        {
            #body
        }
    }
}

/// Returns the statements that score `__call`.
fn body(cx: &Context<'_>) -> TokenStream {
    let Context { model, span, .. } = cx;
    let (readings, spec, absent) = (readings(cx), spec_of_call(cx), absent(cx));
    let mut scored = scored(cx);
    if !absent.is_empty() && model.judged.is_none() {
        scored = quote_spanned!(*span=> let __scored = { #scored }; __absent.mark(__scored));
    }
    quote_spanned!(*span=> #spec #absent #readings #scored)
}

/// Returns the body of `answer`, whose argument is `call`.
pub(super) fn answer(cx: &Context<'_>) -> TokenStream {
    let Context { model, span, runtime, .. } = cx;
    if model.judged.is_some() {
        let body = body(cx);
        return quote_spanned!(*span=> let __call = call; #body);
    }
    match model.is_async() {
        true => quote_spanned!(*span=> #runtime::__private::Answer::pending(self.__run(call))),
        false => quote_spanned!(*span=> #runtime::__private::Answer::Ready(self.__run(call))),
    }
}

/// Returns the statement that returns a result. A judge returns an answer.
fn return_early(cx: &Context<'_>, result: &TokenStream) -> TokenStream {
    let Context { span, runtime, .. } = cx;
    match cx.model.judged {
        Some(_) => quote_spanned!(*span=> return #runtime::__private::Answer::Ready(#result)),
        None => quote_spanned!(*span=> return #result),
    }
}

/// The call of the function, or of the judge, and the score of what it returns.
fn scored(cx: &Context<'_>) -> TokenStream {
    let Context { span, runtime, private, .. } = cx;
    let Some(Judged { input, kind }) = &cx.model.judged else {
        let into_scored = spec::returns(cx, "into_scored", &syn::Lifetime::new("'_", *span));
        let call = call(cx);
        return explain::if_read(cx, &quote_spanned!(*span=> #into_scored(#call, __spec)));
    };
    let params = cx.model.params.iter().zip(arguments(cx));
    let fields = params.filter_map(|(param, argument)| {
        let name = param.ident.as_ref()?;
        let value = match param.binding {
            Binding::Config(_) => return None,
            Binding::Steps { is_required: true } => {
                quote_spanned!(*span=> ::core::clone::Clone::clone(#argument))
            }
            Binding::Steps { is_required: false } => quote_spanned!(*span=> #argument.cloned()),
            _ => argument,
        };
        Some(quote_spanned!(*span=> #name: #runtime::judge::Untrusted::new(#value)))
    });
    let absent = match absent(cx).is_empty() {
        true => quote_spanned!(*span=> <#private::Absent as ::core::default::Default>::default()),
        false => quote_spanned!(*span=> __absent),
    };
    quote_spanned! {*span=>
        #private::judged::<Self, #kind>(self, #input { #(#fields,)* }, *__spec, #absent)
    }
}

/// Returns the statements that read the fields that are looked up.
pub(super) fn readings(cx: &Context<'_>) -> TokenStream {
    let fields = Side::BOTH.into_iter().flat_map(|side| uses(cx, side));
    fields.map(|field| reading(cx, &field)).collect()
}

/// Returns the statement that binds `__spec`, which the score is validated against. An instance with settings of its own
/// passes its spec in the call; a judge stores its settings in its panel.
pub(super) fn spec_of_call(cx: &Context<'_>) -> TokenStream {
    let Context { span, .. } = cx;
    let spec = cx.spec_ref();
    let spec = quote_spanned!(*span=> __call.spec(#spec));
    let Some(panel) = panel(cx) else { return quote_spanned!(*span=> let __spec = #spec;) };
    let invalid = return_early(cx, &quote_spanned!(*span=> ::core::result::Result::Err(error)));
    quote_spanned! {*span=>
        let __spec = &match self.#panel.spec(#spec) {
            ::core::result::Result::Ok(spec) => spec,
            ::core::result::Result::Err(error) => #invalid,
        };
    }
}

/// Returns the statement that binds `__absent`, which collects missing fields that are counted.
pub(super) fn absent(cx: &Context<'_>) -> TokenStream {
    let Context { span, private, .. } = cx;
    let is_counted = uses(cx, Side::Pred).iter().any(|field| field.field.is_counted);
    match is_counted {
        true => {
            quote_spanned!(*span=> let mut __absent = <#private::Absent as ::core::default::Default>::default();)
        }
        false => TokenStream::new(),
    }
}

fn held(field: &FieldUse<'_>, cx: &Context<'_>) -> Ident {
    format_ident!("__held_{}", field.index, span = cx.span)
}

fn side_ident(side: Side, cx: &Context<'_>) -> Ident {
    Ident::new(side.name(), cx.span)
}

/// `let __held_0 = ..;` for a field that is looked up.
fn reading(cx: &Context<'_>, field: &FieldUse<'_>) -> TokenStream {
    if !is_looked_up(cx, field.side) {
        return TokenStream::new();
    }
    let Context { span, .. } = cx;
    let row = side_ident(field.side, cx);
    let row = quote_spanned!(*span=> __call.#row);
    let got = if field.field.is_counted { noted(cx, field, &row) } else { got(cx, field, &row) };
    let held = held(field, cx);
    let (side, private) = (side_variant(cx, field.side), &cx.private);
    let unreadable = quote_spanned!(*span=> #private::unreadable_field(error, __spec, #side));
    let unreadable = return_early(cx, &unreadable);
    quote_spanned! {*span=>
        let #held = match #got {
            ::core::result::Result::Ok(held) => held,
            ::core::result::Result::Err(error) => #unreadable,
        };
    }
}

pub(super) fn side_variant(cx: &Context<'_>, side: Side) -> TokenStream {
    let runtime = cx.runtime;
    match side {
        Side::Gold => quote_spanned!(cx.span=> #runtime::__private::Side::Gold),
        Side::Pred => quote_spanned!(cx.span=> #runtime::__private::Side::Pred),
    }
}

/// The look-up of a field in `row`, an expression.
pub(super) fn got(cx: &Context<'_>, field: &FieldUse<'_>, row: &TokenStream) -> TokenStream {
    let Context { span, runtime, .. } = cx;
    if let Some(name) = field.named_by() {
        return quote_spanned!(*span=> #runtime::NamedFields::text_of(#row, &self.#name));
    }
    looked_up(cx, field, row, "read")
}

/// Whether the look-up of a field in `row` succeeds.
pub(super) fn can_get(cx: &Context<'_>, field: &FieldUse<'_>, row: &TokenStream) -> TokenStream {
    if field.named_by().is_some() {
        let got = got(cx, field, row);
        return quote_spanned!(cx.span=> #got.is_ok());
    }
    looked_up(cx, field, row, "can_read")
}

/// The call of a function of the runtime crate that looks up a field in `row`.
fn looked_up(
    cx: &Context<'_>,
    field: &FieldUse<'_>,
    row: &TokenStream,
    function: &str,
) -> TokenStream {
    let Context { span, private, .. } = cx;
    let function = Ident::new(function, *span);
    let (name, form) = field.name_and_form(cx, &syn::Lifetime::new("'_", *span));
    let spec = field.spec(cx);
    quote_spanned!(*span=> #private::#function::<#name, #form, _>(#row, #spec))
}

/// The look-up of a field in `row` that is added to `__absent` if the row does not have it.
fn noted(cx: &Context<'_>, field: &FieldUse<'_>, row: &TokenStream) -> TokenStream {
    let Context { span, private, .. } = cx;
    let (name, form) = field.name_and_form(cx, &syn::Lifetime::new("'_", *span));
    let (spec, is_visible) = (field.spec(cx), field.is_option);
    quote_spanned! {*span=>
        #private::read_or_note::<#name, #form, _, _>(#row, #spec, &mut __absent, #is_visible)
    }
}

/// The call of the user's function.
fn call(cx: &Context<'_>) -> TokenStream {
    let Context { model, .. } = cx;
    let function = &model.function.sig.ident;
    let turbofish = turbofish(model);
    let arguments = arguments(cx);
    let call = quote_spanned!(cx.span=> #function #turbofish(#(#arguments),*));
    if model.is_async() { quote_spanned!(cx.span=> #call.await) } else { call }
}

fn turbofish(model: &Model) -> TokenStream {
    let params = model.generics.params.iter().filter_map(|param| match param {
        syn::GenericParam::Type(param) => Some(&param.ident),
        syn::GenericParam::Const(param) => Some(&param.ident),
        syn::GenericParam::Lifetime(_) => None,
    });
    let params: Vec<_> = params.collect();
    if params.is_empty() { TokenStream::new() } else { quote!(::<#(#params),*>) }
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
            let uses = uses(cx, *side);
            let Some(field) = uses.iter().find(|field| field.index == index) else {
                return TokenStream::new();
            };
            if is_looked_up(cx, *side) { lent(cx, field) } else { direct(cx, field) }
        }
        Binding::Nothing => TokenStream::new(),
    }
}

/// The steps of the program for a parameter that requires them, or an error if there are none.
fn required_trace(cx: &Context<'_>) -> TokenStream {
    let Context { span, private, .. } = cx;
    let missing = return_early(cx, &quote_spanned!(*span=> #private::missing_trace(__spec)));
    quote_spanned! {*span=>
        match __call.program_trace() {
            ::core::option::Option::Some(trace) => trace,
            ::core::option::Option::None => #missing,
        }
    }
}

/// A field that was looked up, as the parameter wants it.
fn lent(cx: &Context<'_>, field: &FieldUse<'_>) -> TokenStream {
    let span = cx.span;
    let held = held(field, cx);
    if field.named_by().is_some() {
        return quote_spanned!(span=> &*#held);
    }
    // `&str` and `&Value` are held as themselves; what else is borrowed may be owned while it is held.
    let borrowed = matches!(field.form, Form::Slice(_) | Form::Ref(_));
    match (&field.field.default, field.is_option, borrowed) {
        (Some(default), false, true) => {
            let default = default_of(cx, field, default);
            quote_spanned! {span=>
                match &#held {
                    ::core::option::Option::Some(held) => &**held,
                    ::core::option::Option::None => #default,
                }
            }
        }
        (Some(default), false, false) => {
            let default = default_of(cx, field, default);
            quote_spanned! {span=>
                match #held {
                    ::core::option::Option::Some(held) => held,
                    ::core::option::Option::None => #default,
                }
            }
        }
        (_, true, true) => quote_spanned!(span=> #held.as_deref()),
        (_, false, true) => quote_spanned!(span=> &*#held),
        (_, _, false) => quote_spanned!(span=> #held),
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

/// A field of a typed row, as the parameter wants it. The name stands at the parameter, so that rustc
/// says there that the row has no such field.
fn direct(cx: &Context<'_>, field: &FieldUse<'_>) -> TokenStream {
    let span = field.param.span.resolved_at(cx.span);
    let side = side_ident(field.side, cx);
    let FieldParam { name, name_span, .. } = field.field;
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
            quote_spanned!(span=> ::core::clone::Clone::clone(#field))
        }
        (Form::Text, false) => {
            typed_field(cx, span, &quote_spanned!(span=> ::core::primitive::str), &place)
        }
        (Form::Owned(_), true) => quote_spanned!(span=> ::core::clone::Clone::clone(&#place)),
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

/// A field of a typed row, lent as `ty`, or as `&ty`. Rustc reports a field of another type at the parameter.
fn typed_field(cx: &Context<'_>, span: Span, ty: &TokenStream, place: &TokenStream) -> TokenStream {
    let runtime = names::runtime_at(cx.model.attrs.krate.as_ref(), span, cx.span);
    quote_spanned!(span=> #runtime::TypedField::<#ty, _>::typed_field(&#place))
}

/// `Option<_>` at the place of the parameter's type.
fn in_inference(ty: &syn::Type) -> TokenStream {
    let (start, end) = ends(ty);
    let option = quote_spanned!(start=> ::core::option::Option);
    let arguments = quote_spanned!(end=> <_>);
    quote!(#option #arguments)
}

/// A `#[param]`, lent from the metric's struct.
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
