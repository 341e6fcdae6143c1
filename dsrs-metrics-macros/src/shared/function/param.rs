//! A parameter of the function and its binding.

use proc_macro2::{Ident, Span};
use syn::{Attribute, Type};

use super::role::DefaultValue;
use super::side::Side;
use crate::shared::types::option_of;

/// A parameter of the function.
pub(crate) struct Param {
    pub(crate) ident: Option<Ident>,
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) ty: Type,
    pub(crate) span: Span,
    pub(crate) binding: Binding,
}

impl Param {
    /// Returns `true` if the parameter reads a field that a row must have on this side.
    pub(crate) fn is_required(&self, of: Side) -> bool {
        match &self.binding {
            Binding::Field(side, field) => {
                *side == of && field.default.is_none() && option_of(&self.ty).is_none()
            }
            _ => false,
        }
    }
}

/// A field of a row that a parameter reads.
pub(crate) struct FieldParam {
    pub(crate) name: String,
    pub(crate) name_span: Span,
    pub(crate) renamed: bool,
    /// The `#[param]` whose value is the field's name; `name` is its default.
    pub(crate) named_by: Option<Ident>,
    /// The value to use if the row lacks the field.
    pub(crate) default: Option<DefaultValue>,
    /// `true` if rows without the field are counted. Then `default` is the value of `missing`.
    pub(crate) is_counted: bool,
}

/// A `#[param]`.
pub(crate) struct Config {
    pub(crate) default: Option<DefaultValue>,
    /// `true` if the parameter's setter accepts every type that converts into the parameter's type.
    pub(crate) into: bool,
    /// `true` if the parameter is a struct of parameters. Each of its fields is then a parameter of the metric.
    pub(crate) is_group: bool,
}

/// The binding of a parameter.
pub(crate) enum Binding {
    /// `#[gold] f: T` and `#[pred] f: T`.
    Field(Side, FieldParam),
    /// `gold: &MyGold`, `example: &Example`, `pred: &Prediction`.
    Row(Side),
    /// `trace: Option<&Trace>`.
    Trace,
    /// `#[trace] steps: Option<&Trace>`, or `#[trace] steps: &Trace`, which is required.
    Steps { is_required: bool },
    /// `run: Option<&ProgramRun>`.
    Run,
    /// `pred_name: Option<&str>`.
    PredName,
    /// `pred_trace: Option<&Trace>`.
    PredTrace,
    /// `#[param] x: T`.
    Config(Config),
    /// No binding; the error is already reported.
    Nothing,
}
