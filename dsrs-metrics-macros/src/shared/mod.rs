//! Modules that several macros use.
//!
//! `metric`, `composite`, `judge`, `record`, `eval` and `judge_output` import from here, never from each other. A
//! module imports only from those above it in this list.

pub(crate) mod amount;
pub(crate) mod errors;
pub(crate) mod fingerprint;

pub(crate) mod tokens;

pub(crate) mod meant;
pub(crate) mod names;

pub(crate) mod attributes;
pub(crate) mod combinators;
pub(crate) mod field_name;
pub(crate) mod item_kind;
pub(crate) mod list;
pub(crate) mod types;
pub(crate) mod values;

pub(crate) mod attrs;
pub(crate) mod number;

pub(crate) mod settings;

pub(crate) mod contract;
pub(crate) mod derive_input;

pub(crate) mod function;
