//! The macro `dsrs_metrics::main!`.

/// Defines a `main` function with the `dsrs-metrics` commands, for your metrics and the built-in ones.
///
/// Name each metric by its function or struct, as in a composite: `sources_used`, `rag::sources_used`, `SourcesUsed`.
/// The struct must be in scope and implement [`Configure`](crate::Configure), which `#[metric]` does for you. Requires
/// the `cli` feature.
///
/// ```no_run
/// # #[cfg(any())] fn main() {} // so that rustdoc adds none
/// use dsrs_metrics::prelude::*;
///
/// /// The answer names its sources.
/// #[metric]
/// fn sources_used(#[pred] sources: &[String]) -> bool {
///     !sources.is_empty()
/// }
///
/// dsrs_metrics::main![sources_used];
/// ```
///
/// Your metric replaces a built-in metric with the same name. If two of your metrics have the same name, the program
/// reports an error when it starts.
///
/// Write `main!` outside all functions. Inside a function, it would define a `main` that nothing calls, so it doesn't
/// compile:
///
/// ```compile_fail,E0277
/// fn main() {
///     dsrs_metrics::main![];
/// }
/// ```
#[cfg(feature = "cli")]
#[macro_export]
macro_rules! main {
    ($($metrics:tt)*) => {
        fn main() -> $crate::cli::MainExit {
            $crate::cli::main(|registry| $crate::__private::added_metrics!(registry, $($metrics)*)).into()
        }
        // Inside a function, this finds the `main` of the enclosing module.
        const _: () = $crate::main_function::is_main(self::main);
    };
}

/// Defines a `main` function with the `dsrs-metrics` commands. Requires the `cli` feature.
#[cfg(not(feature = "cli"))]
#[macro_export]
macro_rules! main {
    ($($metrics:tt)*) => {
        ::core::compile_error!(
            "`dsrs_metrics::main!` requires the `cli` feature; add `features = [\"cli\"]` to the `dsrs-metrics` dependency in Cargo.toml"
        );
        fn main() {}
    };
}

/// A type that the `main` function defined by `main!` can return.
#[cfg(feature = "cli")]
#[diagnostic::on_unimplemented(
    message = "`dsrs_metrics::main!` defines `main`, which is never called if it is inside another function",
    label = "write `dsrs_metrics::main!` outside any function, and remove `fn main`"
)]
pub trait OfMain {}

#[cfg(feature = "cli")]
impl OfMain for crate::cli::MainExit {}

/// Checks at compile time that `main` is the function that `main!` defines.
#[cfg(feature = "cli")]
pub const fn is_main<R: OfMain>(_: fn() -> R) {}
