//! `dsrs_metrics::main!`.

/// Defines a `main` function with the commands of `dsrs-metrics`, for these metrics and the
/// built-in ones.
///
/// Each metric is named by its function or its struct, as in a composite: `sources_used`, `rag::sources_used`,
/// `SourcesUsed`. The struct must be in scope and implement [`Configure`](crate::Configure); `#[metric]` implements it.
/// Requires the feature `cli`.
///
/// ```no_run
/// # #[cfg(any())] fn main() {} // so that rustdoc adds none
/// use dsrs_metrics::prelude::*;
///
/// /// Whether the answer names its sources.
/// #[metric]
/// fn sources_used(#[pred] sources: &[String]) -> bool {
///     !sources.is_empty()
/// }
///
/// dsrs_metrics::main![sources_used];
/// ```
///
/// A metric replaces the built-in metric of the same name. Two metrics of the user with the same
/// name are an error when the program starts.
///
/// Write it outside of all functions. Inside a function it would define a `main` that nothing calls, so it does not compile:
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
        // Within a function, it is the `main` of the module.
        const _: () = $crate::cli::is_main(self::main);
    };
}

/// Defines a `main` function with the commands of `dsrs-metrics`. Requires the feature `cli`.
#[cfg(not(feature = "cli"))]
#[macro_export]
macro_rules! main {
    ($($metrics:tt)*) => {
        ::core::compile_error!(
            "`dsrs_metrics::main!` requires the feature `cli`; write `features = [\"cli\"]` after the version of `dsrs-metrics` in Cargo.toml"
        );
        fn main() {}
    };
}
