use dsrs_metrics::prelude::*;

#[derive(Debug, Clone, ParamGroup)]
#[param_group(crate = metrics)]
struct Relative {
    #[param(default)]
    strict: bool,
}

#[derive(Debug, Clone, ParamGroup)]
#[param_group]
struct Alone {
    #[param(default)]
    strict: bool,
}

#[derive(Debug, Clone, ParamGroup)]
#[param_group(rename = "x")]
struct Unknown {
    #[param(default)]
    strict: bool,
}
