//! Turns a function into a metric.
//!
//! The steps are settings -> model -> check -> expand. `#[metric]` starts from the user's function. `#[judge]`
//! generates an asynchronous function over the inputs of the judge and expands it here.

pub(crate) mod role;

pub(crate) mod item;
pub(crate) mod side;

pub(crate) mod param;

mod bind;
mod configured_fields;
mod rows;

pub(crate) mod model;

pub(crate) mod check;

pub(crate) mod expand;

pub(crate) mod fallback;
