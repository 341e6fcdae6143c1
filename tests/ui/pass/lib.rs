//! Code that must compile: each module represents a crate of its own, with its lints, names and prelude.
//!
//! This is a library and not a test, because rustc looks for missing documentation and unreachable items in libraries only.
//! The unit tests run the items of the modules.
#![deny(non_ascii_idents)]
#![allow(
    dead_code,
    unused_macros,
    clippy::all,
    reason = "a module denies what it is about"
)]

/// A module for each case, and a test that runs it.
macro_rules! cases {
    ($($case:ident)+) => {
        $(pub mod $case;)+

        #[cfg(test)]
        mod tests {
            $(#[test]
            fn $case() {
                super::$case::main();
            })+
        }
    };
}

cases! {
    advice
    attributes
    calls
    composites
    composites_of_private_metrics
    evals
    generic_records
    generics
    inside_a_function
    judge_everywhere
    judge_names_like_ours
    judge_output_alone
    judge_shadowed_prelude
    judge_strictest_lints
    many_parameters
    named_fields
    names_like_ours
    no_implicit_prelude
    param_groups
    path_to_the_crate
    raw_identifiers
    shadowed_prelude
    strictest_lints
    trees
    two_metrics_in_one_module
    visibility
    written_by_another_macro
}
