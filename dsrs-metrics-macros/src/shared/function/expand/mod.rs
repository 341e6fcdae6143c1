//! Expands a metric function that has been checked.
//!
//! The expansion contains the function as written, the metric's struct, and one hidden block of impls. Generated tokens
//! have the span of the function's name, so rustc never points at the attribute.

mod assert;
mod builder;
mod configure;
pub(crate) mod context;
mod declared;
mod definition;
mod entry_point;
mod explain;
mod field_use;
mod fields;
pub(crate) mod group;
mod lookup;
mod rows;
mod run;
mod spec;
mod spec_line;

use context::{Context, hidden};
use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};

use super::model::Model;

/// Returns the type parameters of the metric's builder.
pub(crate) fn builder_params(model: &Model) -> Vec<Ident> {
    builder::params(&Context::new(model))
}

pub(crate) fn expand(model: &Model) -> TokenStream {
    let function = model.function.stripped();
    let metric = metric(model, &TokenStream::new());
    quote!(#function #metric)
}

/// Like [`expand`], but without the function and with additional `items` inside the hidden block.
pub(crate) fn expand_judge(model: &Model, items: &TokenStream) -> TokenStream {
    metric(model, items)
}

/// Returns the methods that are called on the metric itself.
fn inherent(cx: &Context<'_>) -> TokenStream {
    let Context { span, ident, .. } = cx;
    let (impl_generics, ty_generics, where_clause) = cx.split();
    let methods = [
        spec::readers(cx),
        run::run(cx),
        explain::explain(cx),
        entry_point::entry_point(cx),
    ];
    quote_spanned! {*span=>
        impl #impl_generics #ident #ty_generics #where_clause {
            #(#methods)*
        }
    }
}

/// Returns the metric's struct and its hidden block, which contains the additional items.
fn metric(model: &Model, items: &TokenStream) -> TokenStream {
    let cx = &Context::new(model);
    let (definition, builder) = (definition::definition(cx), builder::definition(cx));
    let cx = &Context::hidden(model);
    let parts = [
        fields::aliases(cx),
        fields::traits(cx),
        spec::item(cx),
        definition::impls(cx),
        builder::impls(cx),
        inherent(cx),
        rows::metric(cx),
        declared::declared(cx),
        rows::bridge(cx),
        configure::configure(cx),
        assert::assertions(cx),
    ];
    let hidden = hidden(cx, &quote!(#items #(#parts)*));
    quote!(#definition #builder #hidden)
}
