//! The macros: any tokens as arguments and as item. The sources of the macro crate are compiled into this target, since
//! a crate with macros cannot be linked.
//!
//! The first byte selects the macro. A line with `~` separates the arguments from the item.
#![no_main]
#![allow(
    dead_code,
    reason = "some functions are used by the entry points of the macro crate only"
)]

#[path = "../../dsrs-metrics-macros/src/added_metrics.rs"]
mod added_metrics;
#[path = "../../dsrs-metrics-macros/src/composite/mod.rs"]
mod composite;
#[path = "../../dsrs-metrics-macros/src/eval/mod.rs"]
mod eval;
#[path = "../../dsrs-metrics-macros/src/expansions.rs"]
mod expansions;
#[path = "../../dsrs-metrics-macros/src/judge/mod.rs"]
mod judge;
#[path = "../../dsrs-metrics-macros/src/judge_output.rs"]
mod judge_output;
#[path = "../../dsrs-metrics-macros/src/metric/mod.rs"]
mod metric;
#[path = "../../dsrs-metrics-macros/src/param_group.rs"]
mod param_group;
#[path = "../../dsrs-metrics-macros/src/record.rs"]
mod record;
#[path = "../../dsrs-metrics-macros/src/shared/mod.rs"]
mod shared;

use dsrs_metrics_fuzz::{choice_and_text, parts};
use libfuzzer_sys::fuzz_target;
use proc_macro2::TokenStream;

/// rustc itself ends with an error at 128 levels.
const MAX_DEPTH: usize = 64;

fuzz_target!(|data: &[u8]| {
    let Some((choice, text)) = choice_and_text(data) else {
        return;
    };
    if depth(text) > MAX_DEPTH {
        return;
    }
    let (args, item) = parts(text);
    let (Ok(args), Ok(item)) = (args.parse::<TokenStream>(), item.parse::<TokenStream>()) else {
        return;
    };
    let expand = || match choice & 7 {
        0 => expansions::expand_metric(args.clone(), &item),
        1 => expansions::expand_judge(args.clone(), &item),
        2 => expansions::expand_judge_output(args.clone(), &item),
        3 => expansions::expand_eval(args.clone(), &item),
        4 => expansions::expand_param_group(item.clone()),
        _ => expansions::expand_record(item.clone()),
    };
    let expanded = expand();
    assert_eq!(expanded.to_string(), expand().to_string(), "expanded twice");
    // An item stays one, also after mistakes.
    if syn::parse2::<syn::Item>(item.clone()).is_ok_and(|item| !has_underscore(&item)) {
        let parsed = syn::parse2::<syn::File>(expanded.clone());
        if let Err(error) = parsed {
            panic!("{error} in the expansion of {text}:\n{expanded}");
        }
    }
});

fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' | b'<' | b'!' | b'-' | b'*' | b'&' => depth += 1,
            b')' | b']' | b'}' | b'>' | b',' | b';' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Returns `true` if a field is named `_`, which `syn` accepts and rustc rejects before it calls a macro.
fn has_underscore(item: &syn::Item) -> bool {
    let any = |fields: &syn::Fields| {
        fields
            .iter()
            .any(|field| field.ident.as_ref().is_some_and(|name| name == "_"))
    };
    match item {
        syn::Item::Struct(item) => any(&item.fields),
        syn::Item::Enum(item) => item.variants.iter().any(|variant| any(&variant.fields)),
        syn::Item::Union(item) => any(&syn::Fields::Named(item.fields.clone())),
        _ => false,
    }
}
