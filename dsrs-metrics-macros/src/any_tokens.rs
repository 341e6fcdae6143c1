//! Feeds random arguments and items to the macros: no macro panics, and an item stays an item. The fuzz target `macros`
//! checks the same properties.

use proc_macro2::TokenStream;
use proptest::prelude::*;
use proptest::sample::select;

/// Keys, roles and names that the macros know, and words from Rust.
const WORDS: &[&str] = &[
    "tier",
    "cost",
    "threshold",
    "range",
    "lower_is_better",
    "strict",
    "name",
    "struct",
    "gold",
    "pred",
    "version",
    "crate",
    "explain",
    "missing",
    "param",
    "default",
    "named_by",
    "trace",
    "pred_name",
    "pred_trace",
    "weighted",
    "all",
    "any",
    "min",
    "max",
    "gate",
    "proxies",
    "truths",
    "invert",
    "budget",
    "on_missing",
    "score",
    "models",
    "aggregation",
    "quorum",
    "devset",
    "inputs",
    "metrics",
    "gate",
    "f1",
    "lower",
    "each",
    "passed_at",
    "no_worse",
    "better",
    "by",
    "repeats",
    "baseline",
    "live",
    "replay",
    "store",
    "timeout",
    "early",
    "alpha",
    "limit",
    "pairwise",
    "empty",
    "reasoning",
    "temperature",
    "max_tokens",
    "max_concurrent_judges",
    "input",
    "output",
    "labels",
    "desc",
    "record",
    "flatten",
    "proxy",
    "truth",
    "F1",
    "Em",
    "x",
    "r#type",
    "self",
    "Self",
    "super",
    "mut",
    "async",
    "fn",
    "pub",
    "impl",
    "dyn",
    "where",
    "unsafe",
    "const",
    "enum",
    "union",
    "true",
];

const LITERALS: &[&str] = &[
    "0",
    "1",
    "5",
    "0.5",
    "1.0",
    "-1",
    "1e400",
    "2f32",
    "18446744073709551616",
    "0x1f",
    "\"\"",
    "\"x\"",
    "\"5 msat\"",
    "\"openai:gpt\"",
    "\"not a name\"",
    "r#\"raw\"#",
    "b\"bytes\"",
    "c\"c\"",
    "'c'",
    "b'c'",
    "0.0..=1.0",
    "1..=5",
    "..",
];

const PUNCTUATION: &[&str] = &[
    ",", ";", ":", "::", "=", "==", ">=", ">", "<", "->", "=>", "&", "&&", "|", "+", "-", "*", "/",
    "!", "?", "#", "$", "@", ".", "..", "..=", "'a", "'static",
];

const TYPES: &[&str] = &[
    "bool",
    "f64",
    "u8",
    "&str",
    "&'static str",
    "String",
    "Vec<String>",
    "&[f64]",
    "&Vec<u8>",
    "Option<f64>",
    "Option<&str>",
    "Option<Option<u8>>",
    "Result<f64>",
    "Result<(), String>",
    "Scores",
    "MetricScore",
    "Trace",
    "Option<&Trace>",
    "impl Into<f64>",
    "dyn Fn(u8) -> u8",
    "[u8; N]",
    "(u8, f64)",
    "()",
    "!",
    "_",
    "&mut u8",
    "*const u8",
    "fn(u8)",
    "<T as X>::Y",
    "Self",
    "serde_json::Value",
    "m!()",
    "Box<T>",
];

/// Tokens as source code, with balanced groups.
fn tokens() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        6 => select(WORDS).prop_map(str::to_owned),
        3 => select(LITERALS).prop_map(str::to_owned),
        5 => select(PUNCTUATION).prop_map(str::to_owned),
        1 => select(TYPES).prop_map(str::to_owned),
    ];
    let tree = leaf.prop_recursive(3, 16, 5, |inner| {
        (
            select(&["()", "[]", "{}"][..]),
            prop::collection::vec(inner, 0..5),
        )
            .prop_map(|(pair, inner)| format!("{}{}{}", &pair[..1], inner.join(" "), &pair[1..]))
    });
    prop::collection::vec(tree, 0..8).prop_map(|trees| trees.join(" "))
}

fn word() -> impl Strategy<Value = String> {
    select(WORDS).prop_map(str::to_owned)
}

fn ty() -> impl Strategy<Value = String> {
    prop_oneof![9 => select(TYPES).prop_map(str::to_owned), 1 => tokens()]
}

/// `key`, `key = value`, `key(..)` or anything else.
fn setting() -> impl Strategy<Value = String> {
    let value = prop_oneof![4 => select(LITERALS).prop_map(str::to_owned), 1 => ty(), 1 => word(), 1 => tokens()];
    let component = prop_oneof![
        (
            select(&["F1", "Em", "X(k = 3)", "weighted(F1 = 1.0)"][..]),
            select(&["", "= 0.5", ">= 0.5", ": 1", "< 2"][..])
        )
            .prop_map(|(component, weight)| format!("{component} {weight}")),
        tokens(),
    ];
    let components = prop::collection::vec(component, 0..4).prop_map(|all| all.join(", "));
    prop_oneof![
        2 => word(),
        6 => (word(), value).prop_map(|(key, value)| format!("{key} = {value}")),
        2 => (word(), components).prop_map(|(key, inner)| format!("{key}({inner})")),
        1 => tokens(),
    ]
}

fn settings() -> impl Strategy<Value = String> {
    prop::collection::vec(setting(), 0..6).prop_map(|all| all.join(", "))
}

/// Attributes of a parameter or a field.
fn attributes() -> impl Strategy<Value = String> {
    let role = select(
        &[
            "gold", "pred", "param", "input", "output", "record", "doc", "cfg", "metric", "x::y",
        ][..],
    );
    let attribute = (role, settings(), 0..3_u8).prop_map(|(role, inner, form)| match form {
        0 => format!("#[{role}]"),
        1 => format!("#[{role}({inner})]"),
        _ => format!("#[{role} = \"x\"]"),
    });
    prop::collection::vec(attribute, 0..3).prop_map(|all| all.join(" "))
}

fn fields() -> impl Strategy<Value = String> {
    let field = (attributes(), word(), ty())
        .prop_map(|(attributes, name, ty)| format!("{attributes} {name}: {ty}"));
    prop::collection::vec(field, 0..5).prop_map(|all| all.join(", "))
}

fn generics() -> impl Strategy<Value = &'static str> {
    select(
        &[
            "",
            "",
            "",
            "<T>",
            "<'a>",
            "<const N: usize>",
            "<T: Clone = u8>",
        ][..],
    )
}

fn item() -> impl Strategy<Value = String> {
    let start = select(
        &[
            "",
            "/// A line.\n",
            "#[derive(Debug)] ",
            "pub ",
            "pub(crate) ",
        ][..],
    );
    let function = (
        select(&["fn", "async fn", "const fn", "unsafe fn", "extern \"C\" fn"][..]),
        word(),
        generics(),
        fields(),
        ty(),
        tokens(),
    )
        .prop_map(|(kind, name, generics, inputs, ty, body)| {
            format!("{kind} {name}{generics}({inputs}) -> {ty} {{ {body} }}")
        });
    let structure = (word(), generics(), fields())
        .prop_map(|(name, generics, fields)| format!("struct {name}{generics} {{ {fields} }}"));
    let tuple = (word(), generics(), ty())
        .prop_map(|(name, generics, ty)| format!("struct {name}{generics}({ty});"));
    let unit =
        (word(), generics()).prop_map(|(name, generics)| format!("struct {name}{generics};"));
    let enumeration = (word(), generics(), tokens())
        .prop_map(|(name, generics, body)| format!("enum {name}{generics} {{ A, B(u8), {body} }}"));
    let other = (
        select(
            &[
                "impl",
                "trait",
                "mod",
                "type",
                "const",
                "macro_rules!",
                "union",
            ][..],
        ),
        word(),
        tokens(),
    )
        .prop_map(|(kind, name, body)| format!("{kind} {name} {{ {body} }}"));
    let item = prop_oneof![6 => function, 6 => structure, 1 => tuple, 3 => unit, 2 => enumeration, 1 => other];
    prop_oneof![9 => (start, item).prop_map(|(start, item)| format!("{start}{item}")), 1 => tokens()]
}

/// Expands with all macros. Skips what rustc rejects before it calls a macro.
fn expand(args: &str, item: &str) -> Result<(), TestCaseError> {
    let (Ok(args), Ok(item)) = (args.parse::<TokenStream>(), item.parse::<TokenStream>()) else {
        return Ok(());
    };
    let expanded = [
        crate::expand_metric(args.clone(), &item),
        crate::expand_judge(args.clone(), &item),
        crate::expand_judge_output(args.clone(), &item),
        crate::expand_eval(args, &item),
        crate::expand_record(item.clone()),
        crate::expand_param_group(item.clone()),
    ];
    if syn::parse2::<syn::Item>(item).is_ok() {
        for expanded in expanded {
            let parsed = syn::parse2::<syn::File>(expanded.clone());
            prop_assert!(parsed.is_ok(), "{:?}\n{expanded}", parsed.err());
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_arguments_and_no_item_make_a_macro_panic(args in settings(), item in item()) {
        expand(&args, &item)?;
    }

    #[test]
    fn no_tokens_make_a_macro_panic(args in tokens(), item in tokens()) {
        expand(&args, &item)?;
    }
}

/// Checks that most random items parse, so the properties above are not vacuous.
#[test]
fn random_items_are_parsed() {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut any_item = || item().new_tree(&mut runner).unwrap().current();
    let parsed = (0..400)
        .filter(|_| syn::parse_str::<syn::Item>(&any_item()).is_ok())
        .count();
    assert!(parsed >= 100, "{parsed} of 400");
}
