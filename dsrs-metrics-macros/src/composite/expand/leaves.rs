//! The components: their types, their specs as configured, and the constants derived from each.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;

use super::context::Context;
use crate::composite::expression::Component;
use crate::shared::names;
use crate::shared::values::text;

/// Emits the types and specs of the components.
pub(super) fn components(cx: &Context<'_>) -> TokenStream {
    let Context {
        span,
        runtime,
        compiled,
        ..
    } = cx;
    let count = Literal::usize_unsuffixed(cx.leaves.len());
    let aliases = cx.leaves.iter().enumerate().map(|(index, leaf)| {
        let (alias, ty) = (cx.alias(index), &leaf.ty);
        quote_spanned!(leaf.span=> type #alias = #ty;)
    });
    let (tables, specs): (Vec<_>, Vec<_>) = cx
        .leaves
        .iter()
        .enumerate()
        .map(|(index, leaf)| leaf_spec(cx, index, leaf))
        .unzip();
    let derived = (0..cx.leaves.len()).map(|index| {
        let (derived, index) = (derived(cx, index), Literal::usize_unsuffixed(index));
        quote_spanned! {*span=>
            static #derived: #compiled::Derived = #compiled::Derived::of(&__SPECS[#index]);
        }
    });
    quote_spanned! {*span=>
        use #compiled as __rules;
        #(#aliases)*
        #(#tables)*
        static __SPECS: [#runtime::__private::MetricSpec<'static>; #count] = [#(#specs),*];
        const __STUB: __p::bool = #runtime::__private::MetricSpec::any_stub(&__SPECS);
        #(#derived)*
    }
}

/// Returns the tables and spec of a component as configured. An argument can name the field that the component reads;
/// the argument is then a string literal.
fn leaf_spec(cx: &Context<'_>, index: usize, leaf: &Component) -> (TokenStream, TokenStream) {
    let Context {
        span,
        runtime,
        compiled,
        ..
    } = cx;
    let alias = cx.alias(index);
    let spec = quote_spanned!(leaf.span=> <#alias as #runtime::Declared>::SPEC);
    let strings = leaf.args.iter().filter_map(|(key, value)| {
        let (key, value) = (key.unraw().to_string(), text(value)?);
        Some(quote_spanned!(*span=> (#key, #value)))
    });
    let strings: Vec<_> = strings.collect();
    if strings.is_empty() {
        return (TokenStream::new(), spec);
    }
    let given = format_ident!("__TEXTS{index}", span = *span);
    let [(gold_table, gold), (pred_table, pred)] = ["Gold", "Pred"].map(|side| {
        let table = format_ident!("__{}{index}", side.to_uppercase(), span = *span);
        let side = Ident::new(side, *span);
        let item = quote_spanned! {*span=>
            const #table: #compiled::FieldList<{ #compiled::count(&[#spec], #runtime::__private::Side::#side) }> =
                #compiled::configured(&#spec, #runtime::__private::Side::#side, #given);
        };
        (item, table)
    });
    let tables = quote_spanned! {*span=>
        const #given: &[(&__p::str, &__p::str)] = &[#(#strings),*];
        #gold_table
        #pred_table
    };
    let [gold, pred] = [gold, pred].map(|table| quote!(#compiled::FieldList::as_slice(&#table)));
    (
        tables,
        quote_spanned!(leaf.span=> #spec.with_fields(#gold, #pred)),
    )
}

/// Returns the constant derived from a component.
pub(super) fn derived(cx: &Context<'_>, index: usize) -> Ident {
    format_ident!("__LEAF{index}", span = cx.span)
}

/// Returns the bounds that the composite requires to be a metric over two rows.
pub(super) fn bounds(cx: &Context<'_>) -> TokenStream {
    let bounds = cx.leaves.iter().enumerate().map(|(index, leaf)| {
        let alias = cx.alias(index);
        let runtime = names::runtime_at(cx.attrs.krate.as_ref(), leaf.span, cx.span);
        quote_spanned!(leaf.span=> #alias: #runtime::Metric<GoldRow, PredRow>,)
    });
    quote!(#(#bounds)*)
}
