//! Reports a metric that reads nothing and therefore gives every row the same score.

use crate::shared::errors::Errors;
use crate::shared::function::model::Model;
use crate::shared::function::param::Binding;

/// Rejects a function whose parameters read neither a row nor the program's run.
pub(super) fn check(model: &Model, errors: &mut Errors) {
    let is_config = |binding: &Binding| matches!(binding, Binding::Config(_));
    let reads = model.params.iter().any(|param| !is_config(&param.binding));
    if reads || model.function.sig.receiver().is_some() {
        return;
    }
    let (ident, metric) = (&model.function.sig.ident, &model.names.metric);
    errors.at(ident, format!("the metric `{metric}` reads nothing, so every row has the same score; write a parameter such as `#[pred] answer: &str` for a field, or `pred: &Prediction` for the row"));
}
