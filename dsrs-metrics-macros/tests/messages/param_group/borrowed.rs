use dsrs_metrics::prelude::*;

#[derive(Debug, Clone, ParamGroup)]
struct Words<'a> {
    #[param(default = "en")]
    language: &'a str,
    #[param(default)]
    ignored: &'a [String],
    #[param(default)]
    limit: &'a Limit,
    unit: Option<&'a str>,
}
