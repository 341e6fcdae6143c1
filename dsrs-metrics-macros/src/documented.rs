//! What rustdoc shows for an expansion: the documentation of a metric's struct ends with its spec.

use syn::{Attribute, Item, ItemStruct, Meta};

use crate::expansions::{expand_judge, expand_metric};
use crate::shared::attributes::doc_text;

/// Expands the item, and returns the metric's struct.
fn metric(item: &Item) -> ItemStruct {
    let attrs = match item {
        Item::Fn(function) => &function.attrs,
        Item::Struct(signature) => &signature.attrs,
        other => panic!("expected a metric, found {other:?}"),
    };
    let (own, others): (Vec<&Attribute>, Vec<_>) = attrs
        .iter()
        .partition(|attr| attr.path().is_ident("metric") || attr.path().is_ident("judge"));
    let args = match &own[0].meta {
        Meta::List(list) => list.tokens.clone(),
        _ => proc_macro2::TokenStream::new(),
    };
    let others: Vec<_> = others.into_iter().cloned().collect();
    let expanded = match item.clone() {
        Item::Fn(mut function) => {
            function.attrs = others;
            expand_metric(args, &quote::quote!(#function))
        }
        Item::Struct(mut signature) => {
            signature.attrs = others;
            expand_judge(args, &quote::quote!(#signature))
        }
        _ => unreachable!("the item has attributes"),
    };
    let file: syn::File = syn::parse2(expanded).expect("items");
    let structs = file.items.into_iter().filter_map(|item| match item {
        Item::Struct(item) if doc_text(&item.attrs).contains("\n\nThe ") => Some(item),
        _ => None,
    });
    structs.last().expect("the struct of the metric")
}

#[test]
fn the_documentation_of_a_struct_ends_with_its_spec() {
    let source = include_str!("../tests/spec_lines/metrics.rs");
    let file = syn::parse_file(source).expect("a source file");
    let metrics = file
        .items
        .iter()
        .filter(|item| !matches!(item, Item::Use(_)));
    let docs = metrics.map(|item| doc_text(&metric(item).attrs));
    let docs: Vec<_> = docs.collect();
    assert_eq!(docs.len(), 8);
    for doc in docs {
        assert_eq!(doc.lines().next_back(), doc.lines().next(), "{doc}");
    }
}

/// rustc reports a missing crate once per place. Without the crate, an item has only one error.
#[test]
fn the_crate_is_named_at_one_place_of_an_item() {
    let source = include_str!("../tests/spec_lines/metrics.rs");
    let file = syn::parse_file(source).expect("a source file");
    for item in file.items.iter().filter(|item| matches!(item, Item::Fn(_))) {
        let Item::Fn(function) = item else { continue };
        let mut places = Vec::new();
        let attr = function
            .attrs
            .iter()
            .find(|attr| attr.path().is_ident("metric"));
        let args = match &attr.expect("the attribute").meta {
            Meta::List(list) => list.tokens.clone(),
            _ => proc_macro2::TokenStream::new(),
        };
        let mut bare = function.clone();
        bare.attrs.clear();
        find_crate(expand_metric(args, &quote::quote!(#bare)), &mut places);
        places.dedup();
        assert_eq!(
            places,
            [function.sig.ident.span().start()],
            "{}",
            function.sig.ident
        );
    }
}

fn find_crate(tokens: proc_macro2::TokenStream, places: &mut Vec<proc_macro2::LineColumn>) {
    for token in tokens {
        match token {
            proc_macro2::TokenTree::Group(group) => find_crate(group.stream(), places),
            proc_macro2::TokenTree::Ident(ident) if ident == "dsrs_metrics" => {
                places.push(ident.span().start());
            }
            _ => {}
        }
    }
}
