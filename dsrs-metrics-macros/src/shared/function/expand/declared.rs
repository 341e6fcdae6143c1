//! The impl of `Declared`: rows, verdict, spec and identity of the metric's type, from which composites are compiled.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Lifetime;

use super::context::Context;
use super::spec::group_item;
use super::{builder, definition, fields, spec};
use crate::shared::function::rows::Row;
use crate::shared::function::side::Side;
use crate::shared::tokens::ends;
use crate::shared::types::{in_lifetime, is_panel};

pub(super) fn declared(cx: &Context<'_>) -> TokenStream {
    let Context { span, ident, runtime, .. } = cx;
    let (impl_generics, ty_generics, where_clause) = cx.split();
    let verdict = verdict(cx);
    let (gold, pred) = (row(cx, Side::Gold), row(cx, Side::Pred));
    let (start, started) = match definition::is_unit(cx) {
        true => {
            let start = quote_spanned!(*span=> #runtime::WithoutParameters);
            (quote_spanned!(*span=> #start<Self>), quote_spanned!(*span=> #start::of_default()))
        }
        false => (builder::unstarted(cx), quote_spanned!(*span=> Self::builder())),
    };
    let (identity, configured) = (identity(cx), configured(cx));
    let own = spec::own(cx).map(
        |own| quote_spanned!(*span=> fn spec(&self) -> #runtime::__private::MetricSpec<'static> { #own }),
    );
    let at_once = (!cx.model.is_async()).then(|| {
        let params = fields::trailing(&cx.generics);
        let gold = &cx.gold;
        quote_spanned! {*span=>
                impl<#params #gold> #runtime::__private::ScoredAtOnce<#gold> for #ident #ty_generics #where_clause {}
        }
    });
    quote_spanned! {*span=>
        #at_once
        #configured
        impl #impl_generics #runtime::Declared for #ident #ty_generics #where_clause {
            #verdict
            type OverGold = #gold;
            type OverPred = #pred;
            type Start = #start;

            const SPEC: #runtime::__private::MetricSpec<'static> = Self::SPEC;

            fn start() -> Self::Start {
                #started
            }

            #own
            #identity
        }
    }
}

/// Emits the key of type and parameters, which is equal for two values of the same metric, and the requirements and
/// files. A metric with type parameters has none of them.
fn identity(cx: &Context<'_>) -> TokenStream {
    let Context { span, private, .. } = cx;
    if !cx.generics.params.is_empty() {
        return TokenStream::new();
    }
    let key = match definition::is_unit(cx) {
        true => quote_spanned!(*span=> of_type::<Self>()),
        false => quote_spanned!(*span=> of(self)),
    };
    let (required, files) = (required(cx, "requirements", &quote_spanned!(*span=> all)), files(cx));
    // The cost of a judge depends on its panel, which is a parameter.
    let max_cost = (!definition::is_unit(cx)).then(|| {
        let cost = self::required(cx, "max_cost", &quote_spanned!(*span=> declared_msats));
        quote_spanned! {*span=>
            fn max_cost_of(&self, declared_msats: ::core::primitive::u64) -> ::core::primitive::u64 {
                #cost
            }
        }
    });
    quote_spanned! {*span=>
        fn key(&self) -> ::core::option::Option<#private::Key> {
            ::core::option::Option::Some(#private::Key::#key)
        }

        fn requirements(&self, all: &mut #private::Requirements) {
            #required
        }

        fn files(&self, all: &mut #private::Files) {
            #files
        }

        #max_cost
    }
}

/// Returns the statements that add the files named by parameters, and the files of `Requires`.
fn files(cx: &Context<'_>) -> TokenStream {
    let Context { span, ident, private, .. } = cx;
    let required = required(cx, "files", &quote_spanned!(*span=> all));
    let params = cx.model.configs().filter(|(_, param, _)| !is_panel(&param.ty));
    let named = params.map(|(name, param, config)| {
        if config.is_group {
            let (files, metric) = (group_item(cx, param, "files"), ident.to_string());
            return quote_spanned!(*span=> #files(&self.#name, #metric, all););
        }
        let text = format!("{ident}.{}", syn::ext::IdentExt::unraw(name));
        quote_spanned!(*span=> #private::MaybeNamesFiles(&self.#name).files(#text, all);)
    });
    quote_spanned! {*span=>
        {
            use #private::FallbackNamesFiles as _;
            #(#named)*
        }
        #required
    }
}

/// Returns the call of a method of `Requires`, which every judge implements and other metrics may implement.
fn required(cx: &Context<'_>, method: &str, argument: &TokenStream) -> TokenStream {
    let Context { span, private, .. } = cx;
    let method = proc_macro2::Ident::new(method, *span);
    match cx.model.judged {
        Some(_) => quote_spanned!(*span=> #private::Requires::#method(self, #argument)),
        None => quote_spanned! {*span=>
            use #private::FallbackRequires as _;
            #private::MaybeRequires(self).#method(#argument)
        },
    }
}

/// Emits the comparison of two values with parameters.
fn configured(cx: &Context<'_>) -> TokenStream {
    let Context { span, ident, private, .. } = cx;
    if !cx.generics.params.is_empty() || definition::is_unit(cx) {
        return TokenStream::new();
    }
    let methods = parameters(cx);
    quote_spanned!(*span=> impl #private::Configured for #ident { #methods })
}

/// Returns the methods of `Configured`, which `ParamGroup` has too.
pub(super) fn parameters(cx: &Context<'_>) -> TokenStream {
    let Context { span, private, .. } = cx;
    let equal = cx.model.configs().map(|(name, param, config)| match is_panel(&param.ty) {
        true => quote_spanned!(*span=> self.#name == other.#name),
        false if config.is_group => {
            let same = group_item(cx, param, "has_same_parameters");
            quote_spanned!(*span=> #same(&self.#name, &other.#name))
        }
        false => quote_spanned!(*span=> #private::MaybeEq(&self.#name, &other.#name).are_equal()),
    });
    let shown = cx.model.configs().map(|(name, param, config)| {
        let text = syn::ext::IdentExt::unraw(name).to_string();
        match is_panel(&param.ty) {
            true => quote_spanned!(*span=> all.extend(#private::shown_panel(&self.#name));),
            false if config.is_group => {
                let shown = group_item(cx, param, "parameters");
                quote_spanned!(*span=> all.extend(#shown(&self.#name));)
            }
            false => {
                let shown = quote_spanned!(*span=> (&#private::MaybeShown(&self.#name)).shown());
                quote_spanned!(*span=> all.push((#text, #shown));)
            }
        }
    });
    quote_spanned! {*span=>
        fn has_same_parameters(&self, other: &Self) -> ::core::primitive::bool {
            use #private::FallbackEq as _;
            #(#equal)&&*
        }

        fn parameters(
            &self,
        ) -> #private::vec::Vec<(
            &'static ::core::primitive::str,
            ::core::option::Option<#private::string::String>,
        )> {
            #[allow(unused_imports)]
            use #private::{FallbackDebug as _, FallbackShown as _};
            let mut all = #private::vec::Vec::new();
            #(#shown)*
            all
        }
    }
}

fn verdict(cx: &Context<'_>) -> TokenStream {
    let Context { span, private, .. } = cx;
    if cx.model.attrs.threshold.is_some() {
        return quote_spanned!(*span=> type Verdict = #private::Decided;);
    }
    let (start, end) = ends(cx.model.output());
    let ty = spec::returns(cx, "Verdict", &Lifetime::new("'static", *span));
    let (before, after) = (quote_spanned!(start=> type), quote_spanned!(end=> ;));
    let name = quote_spanned!(end=> Verdict =);
    quote!(#before #name #ty #after)
}

/// Returns the type for the rows of a side that the metric accepts.
fn row(cx: &Context<'_>, side: Side) -> TokenStream {
    let Context { span, runtime, .. } = cx;
    let half = match side {
        Side::Gold => quote_spanned!(*span=> #runtime::GoldRows),
        Side::Pred => quote_spanned!(*span=> #runtime::PredRows),
    };
    match cx.model.rows.get(side) {
        Row::Any => quote_spanned!(*span=> #runtime::AnyRow),
        Row::Dynamic => {
            let row = cx.row_type(side);
            quote_spanned!(*span=> #half<#row>)
        }
        Row::Typed(_) => {
            let ty = cx.typed(side).map(|ty| in_lifetime(&ty, &Lifetime::new("'static", *span)));
            quote_spanned!(*span=> #half<#ty>)
        }
    }
}
