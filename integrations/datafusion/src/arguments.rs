//! The arguments of a metric's function: one for each field that the metric reads, and the errors about them.

use std::fmt::Write as _;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, plan_err};
use dsrs_metrics::{
    contract::{FieldSpec, MetricSpec, Side},
    rows::TypeHelp,
};

use crate::cells;
use crate::samples;

/// One argument.
#[derive(Debug, Clone)]
pub(crate) struct Argument {
    /// The name in SQL: that of the field, or `prediction_FIELD` if the gold row has a field of that name too.
    pub(crate) name: String,
    pub(crate) side: Side,
    /// The name of the field in the row.
    pub(crate) field: String,
    is_required: bool,
    /// The type for messages, such as `a string`.
    expected: String,
    help: TypeHelp,
}

/// The arguments of one function, gold fields first.
#[derive(Debug, Clone)]
pub(crate) struct Arguments {
    list: Vec<Argument>,
    /// The number of arguments that cannot be left out.
    required: usize,
}

impl Arguments {
    /// The arguments for the fields that a metric declares.
    pub(crate) fn declared(spec: &MetricSpec<'_>) -> Self {
        let argument = |side: Side, field: &FieldSpec<'_>| Argument {
            name: field.name.to_owned(),
            side,
            field: field.name.to_owned(),
            is_required: field.required,
            expected: match field.help.is_some() {
                true => field.help.to_string(),
                false => format!("`{}`", field.ty),
            },
            help: field.help,
        };
        let gold = spec.gold.iter().map(|field| argument(Side::Gold, field));
        let pred = spec.pred.iter().map(|field| argument(Side::Pred, field));
        Self::of(gold.chain(pred).collect())
    }

    /// The arguments for these fields of the gold row and of the prediction, of any type, for a metric that reads whole rows.
    pub(crate) fn of_any_type(gold: &[String], pred: &[String]) -> Self {
        let field = |name: &String| Argument {
            name: name.clone(),
            side: Side::Gold,
            field: name.clone(),
            is_required: true,
            expected: "a value".to_owned(),
            help: TypeHelp::NONE,
        };
        let pred = pred.iter().map(|name| Argument {
            side: Side::Pred,
            ..field(name)
        });
        Self::of(gold.iter().map(field).chain(pred).collect())
    }

    fn of(mut list: Vec<Argument>) -> Self {
        for position in 0..list.len() {
            let (before, rest) = list.split_at_mut(position);
            let name = &mut rest[0].name;
            if before.iter().any(|argument| argument.name == *name) {
                name.insert_str(0, "prediction_");
            }
        }
        let required = list.iter().rposition(|argument| argument.is_required);
        let required = required.map_or(0, |last| last + 1);
        Self { list, required }
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = &Argument> {
        self.list.iter()
    }

    /// The number of arguments, if none can be left out.
    pub(crate) fn fixed_number(&self) -> Option<usize> {
        (self.required == self.list.len()).then_some(self.required)
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.list
            .iter()
            .map(|argument| argument.name.clone())
            .collect()
    }

    /// The call as it is written in SQL: `f1(answer, prediction_answer [, weight])`.
    fn call(&self, function: &str) -> String {
        let mut call = format!("{function}(");
        for (position, Argument { name, .. }) in self.list.iter().enumerate() {
            let comma = if position == 0 { "" } else { ", " };
            let _ = match position < self.required {
                true => write!(call, "{comma}{name}"),
                false => write!(call, "[{comma}{name}]"),
            };
        }
        call + ")"
    }

    /// The call with its types: `f1(answer: a string, prediction_answer: a string) -> Float64`.
    pub(crate) fn typed_call(&self, function: &str, value: &DataType) -> String {
        let argument =
            |(position, Argument { name, expected, .. }): (usize, &Argument)| match position
                < self.required
            {
                true => format!("{name}: {expected}"),
                false => format!("{name}?: {expected}"),
            };
        let arguments: Vec<String> = self.list.iter().enumerate().map(argument).collect();
        format!("{function}({}) -> {value}", arguments.join(", "))
    }

    /// Validates the number and the types of arguments. Returns the types to which they are cast before a call.
    ///
    /// # Errors
    /// A planning error that names the function, what it expects and what was found.
    pub(crate) fn coerce(&self, function: &str, types: &[DataType]) -> Result<Vec<DataType>> {
        let Self { list, required } = self;
        if !(*required..=list.len()).contains(&types.len()) {
            let expected = match *required == list.len() {
                true => number_of(*required),
                false => format!("{required} to {}", number_of(list.len())),
            };
            let found = match types {
                [] => "none".to_owned(),
                types => format!("{} ({})", types.len(), joined(types)),
            };
            let call = self.call(function);
            return plan_err!(
                "function `{function}`: expected {expected}, found {found}; write {call}"
            );
        }
        let arguments = list.iter().zip(types).enumerate();
        let place = |position| format!("function `{function}`, argument {}", position + 1);
        arguments
            .map(|(position, (argument, ty))| argument.coerce(&place(position), ty))
            .collect()
    }
}

impl Argument {
    fn coerce(&self, place: &str, ty: &DataType) -> Result<DataType> {
        let Self {
            name,
            expected,
            help,
            ..
        } = self;
        let Some(readable) = cells::readable(ty) else {
            return plan_err!(
                "{place} `{name}`: expected {expected}, found {ty}, which metrics do not read; write CAST(.. AS VARCHAR)"
            );
        };
        if samples::may_be_read(help, &readable) {
            return Ok(readable);
        }
        let advice = samples::advice(help, &readable);
        plan_err!("{place} `{name}`: expected {expected}, found {ty}; {advice}")
    }
}

fn number_of(arguments: usize) -> String {
    match arguments {
        1 => "1 argument".to_owned(),
        more => format!("{more} arguments"),
    }
}

fn joined(types: &[DataType]) -> String {
    types
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(", ")
}
