//! What the results of a metric's functions depend on, to compare the functions of two processes.

use dsrs_metrics::contract::MetricIdentity;
use serde::{Deserialize, Serialize};

/// What the results of a metric's functions depend on: the types of the call, the version of this crate, and the metric
/// with its version, parameters and models. A process sends it to another one as JSON.
///
/// ```
/// use dsrs_metrics::metrics::F1;
/// use dsrs_metrics::prelude::*;
/// use dsrs_metrics_datafusion::MetricFunctions;
///
/// let one = MetricFunctions::new(F1::default()).description();
/// let other = MetricFunctions::new(F1::default().with_threshold(0.8)).description();
/// assert_eq!(one.difference(&one), None);
/// assert_eq!(one.difference(&other).unwrap(), "expected `threshold` not set, found 0.8");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionDescription {
    /// The call with its types: `f1(answer: a string, prediction_answer: a string) -> Float64`.
    call: String,
    /// The fields of the gold row and of the prediction that are arguments, of a metric that reads whole rows.
    fields: Option<(Vec<String>, Vec<String>)>,
    /// The version of this crate, which defines how rows are read and what an aggregate keeps of them.
    library: String,
    metric: MetricIdentity,
}

impl FunctionDescription {
    pub(crate) fn new(
        call: String,
        fields: Option<(Vec<String>, Vec<String>)>,
        metric: MetricIdentity,
    ) -> Self {
        Self {
            call,
            fields,
            library: env!("CARGO_PKG_VERSION").to_owned(),
            metric,
        }
    }

    /// Returns the call with its types.
    #[must_use]
    pub fn call(&self) -> &str {
        &self.call
    }

    /// Returns the version of this crate, which both processes must share.
    #[must_use]
    pub fn library(&self) -> &str {
        &self.library
    }

    /// Returns the first difference from the description of another process, for a message; `None` if the results are
    /// the same.
    #[must_use]
    pub fn difference(&self, found: &Self) -> Option<String> {
        if self.call != found.call {
            return Some(format!("expected {}, found {}", self.call, found.call));
        }
        if self.fields != found.fields {
            let shown = |description: &Self| match &description.fields {
                Some((gold, pred)) => format!("with_fields({gold:?}, {pred:?})"),
                None => "the fields of the metric".to_owned(),
            };
            return Some(format!("expected {}, found {}", shown(self), shown(found)));
        }
        if self.library != found.library {
            let (expected, found) = (&self.library, &found.library);
            return Some(format!(
                "expected version {expected} of dsrs-metrics-datafusion, found {found}"
            ));
        }
        let first = self.metric.differences(&found.metric).into_iter().next()?;
        Some(format!(
            "expected {} {}, found {}",
            first.place, first.expected, first.found
        ))
    }
}

#[cfg(test)]
mod tests {
    use dsrs_metrics::metric_fn;

    use crate::MetricFunctions;

    #[test]
    fn the_sides_of_fields_are_compared() {
        let function = |gold: &[&str], pred: &[&str]| {
            let same = metric_fn("same", |gold, pred| gold.get("a") == pred.get("b"));
            let fields =
                |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
            MetricFunctions::new(same)
                .with_fields(fields(gold), fields(pred))
                .description()
        };
        let (one, other) = (function(&["a"], &["b"]), function(&["a", "b"], &[]));
        assert_eq!(one.difference(&function(&["a"], &["b"])), None);
        let expected = r#"expected with_fields(["a"], ["b"]), found with_fields(["a", "b"], [])"#;
        assert_eq!(one.difference(&other).unwrap(), expected);
    }
}
