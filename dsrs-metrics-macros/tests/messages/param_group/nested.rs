use dsrs_metrics::prelude::*;

#[derive(Debug, Clone, ParamGroup)]
struct Outer {
    #[param(flatten)]
    inner: Inner,
    #[cfg(unix)]
    #[param(default)]
    unix: bool,
}
