//! What the macros share. `metric`, `composite`, `judge`, `record` and `judge_output` import from here and never from
//! each other. Modules further down the list may import from those above them.

pub(crate) mod errors;

pub(crate) mod tokens;

pub(crate) mod names;

pub(crate) mod attributes;
pub(crate) mod combinators;
pub(crate) mod field_name;
pub(crate) mod list;
pub(crate) mod types;
pub(crate) mod values;

pub(crate) mod attrs;

pub(crate) mod settings;

pub(crate) mod contract;

pub(crate) mod function;
