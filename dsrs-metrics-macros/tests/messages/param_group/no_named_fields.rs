use dsrs_metrics::prelude::*;

#[derive(Debug, Clone, ParamGroup)]
struct Empty {}

#[derive(Debug, Clone, ParamGroup)]
struct Unit;

#[derive(Debug, Clone, ParamGroup)]
struct Tuple(#[param(default = true)] bool);

#[derive(Debug, Clone, ParamGroup)]
enum Choice {
    One,
    Two,
}
