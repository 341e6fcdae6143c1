//! `#[judge_output]`: adds derives to a type that a judge can answer with. The paths go through the runtime crate, so
//! the user needs no other dependency.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::{Data, DeriveInput, Error, Path};

use crate::shared::attributes::{derived_traits, is_cfg};
use crate::shared::attrs::{self, Attribute, Key};
use crate::shared::contract::hidden;
use crate::shared::errors::Errors;
use crate::shared::item_kind::item_kind;
use crate::shared::names;
use crate::shared::settings::Settings;

/// Expands `#[judge_output(args)] item`.
pub(crate) fn expand(args: TokenStream, item: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let JudgeOutputAttrs(Settings { krate, .. }) = attrs::parse(args, &mut errors);
    if let Some(path) = &krate {
        names::check_crate_path(path, &mut errors);
    }
    let derived = errors
        .ok(parsed(item))
        .map(|item| derived(&item, krate.as_ref()));
    let (item, errors) = (derived.unwrap_or_else(|| item.clone()), errors.finish());
    quote!(#item #errors)
}

/// `#[judge_output(crate = path)]`.
#[derive(Default)]
struct JudgeOutputAttrs(Settings);

impl AsMut<Settings> for JudgeOutputAttrs {
    fn as_mut(&mut self) -> &mut Settings {
        &mut self.0
    }
}

impl Attribute for JudgeOutputAttrs {
    const NAME: &'static str = "`#[judge_output]`";
    const EXAMPLE: &'static str = "crate = ::dsrs_metrics";
    const KEYS: &'static [Key<Self>] = &[Key::CRATE];
}

fn parsed(item: &TokenStream) -> syn::Result<DeriveInput> {
    match item_kind(item) {
        Some((keyword, found)) if keyword != "enum" && keyword != "struct" => {
            let message = format!("expected an enum or a struct, found {found}");
            Err(Error::new(keyword.span(), message))
        }
        _ => {
            let item: DeriveInput = syn::parse2(item.clone())?;
            match &item.data {
                Data::Enum(data) if data.variants.is_empty() => Err(Error::new_spanned(
                    &item.ident,
                    format!(
                        "the enum `{}` has no variant that a model could answer with; write at least two",
                        item.ident
                    ),
                )),
                _ => Ok(item),
            }
        }
    }
}

/// Returns the item with the derives that it lacks.
fn derived(item: &DeriveInput, krate: Option<&Path>) -> TokenStream {
    let span = item.ident.span();
    let runtime = names::runtime(krate, span);
    let own = derived_traits(&item.attrs);
    let has = |name: &str| own.iter().any(|ident| ident == name);
    let serde = quote_spanned!(span=> #runtime::__private::serde);
    let schemars = quote_spanned!(span=> #runtime::judge::schemars);
    let mut all = Vec::new();
    for (name, path) in [
        ("Debug", quote_spanned!(span=> ::core::fmt::Debug)),
        ("Clone", quote_spanned!(span=> ::core::clone::Clone)),
        ("PartialEq", quote_spanned!(span=> ::core::cmp::PartialEq)),
        ("Deserialize", quote_spanned!(span=> #serde::Deserialize)),
        ("JsonSchema", quote_spanned!(span=> #schemars::JsonSchema)),
    ] {
        all.extend((!has(name)).then_some(path));
    }
    if is_choice(item) {
        let copy = (!has("Copy")).then(|| quote_spanned!(span=> ::core::marker::Copy));
        let eq = (!has("Eq")).then(|| quote_spanned!(span=> ::core::cmp::Eq));
        all.extend(copy.into_iter().chain(eq));
    }
    let at = |path: &TokenStream| path.to_string().replace(' ', "");
    let of_serde = (!has("Deserialize")).then(|| {
        let path = at(&serde);
        let closed = is_closed(item).then(|| quote_spanned!(span=> #[serde(deny_unknown_fields)]));
        quote_spanned!(span=> #[serde(crate = #path)] #closed)
    });
    let of_schemars = (!has("JsonSchema")).then(|| {
        let path = at(&schemars);
        quote_spanned!(span=> #[schemars(crate = #path)])
    });
    let choice = is_choice(item).then(|| choice(item, &runtime));
    quote!(#[derive(#(#all),*)] #of_serde #of_schemars #item #choice)
}

/// Returns `true` if the item is a fieldless enum.
fn is_choice(item: &DeriveInput) -> bool {
    let is_name = |variant: &syn::Variant| matches!(variant.fields, syn::Fields::Unit);
    matches!(&item.data, Data::Enum(data) if data.variants.iter().all(is_name))
}

/// Emits the names of the variants, for decision trees.
fn choice(item: &DeriveInput, runtime: &TokenStream) -> TokenStream {
    let (ident, span) = (&item.ident, item.ident.span());
    let Data::Enum(data) = &item.data else {
        return TokenStream::new();
    };
    let arms = data.variants.iter().map(|variant| {
        let (cfgs, name) = (
            variant.attrs.iter().filter(|attr| is_cfg(attr)),
            &variant.ident,
        );
        let text = name.unraw().to_string();
        let cfgs = quote!(#(#cfgs)*);
        (
            quote!(#cfgs #text),
            quote_spanned!(span=> #cfgs Self::#name => #text),
        )
    });
    let (names, arms): (Vec<_>, Vec<_>) = arms.unzip();
    let cfgs = item.attrs.iter().filter(|attr| is_cfg(attr));
    let choice = quote_spanned! {span=>
        #[automatically_derived]
        impl #runtime::judge::Choice for #ident {
            const VARIANTS: &'static [&'static ::core::primitive::str] = &[#(#names),*];

            fn name(self) -> &'static ::core::primitive::str {
                match self { #(#arms,)* }
            }
        }
    };
    hidden(span, &quote!(#(#cfgs)*), runtime, &choice)
}

/// Returns `true` if unknown fields can be rejected: for a struct, unless its `serde` attributes conflict.
fn is_closed(item: &DeriveInput) -> bool {
    let Data::Struct(data) = &item.data else {
        return false;
    };
    let mentions = |attrs: &[syn::Attribute], word: &str| {
        let of_serde = attrs.iter().filter(|attr| attr.path().is_ident("serde"));
        of_serde
            .into_iter()
            .any(|attr| attr.to_token_stream().to_string().contains(word))
    };
    let flattens = data
        .fields
        .iter()
        .any(|field| mentions(&field.attrs, "flatten"));
    matches!(data.fields, syn::Fields::Named(_))
        && !flattens
        && !mentions(&item.attrs, "deny_unknown_fields")
        && !mentions(&item.attrs, "transparent")
}
