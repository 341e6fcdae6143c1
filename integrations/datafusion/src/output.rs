//! The columns that a function returns: scores, or structs with the details of each score.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BooleanBuilder, Float64Builder, StringBuilder, StructArray,
};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Fields};
use dsrs_metrics::{
    Outcome,
    contract::{ScoreKind, ScoreRange},
};

use crate::named_scores::NamedScores;

/// The key in a column's metadata of the smallest score of the metric.
pub(crate) const LEAST: &str = "dsrs_metrics.least";
/// The key in a column's metadata of the largest score of the metric.
pub(crate) const MOST: &str = "dsrs_metrics.most";

/// What a function returns for each row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Output {
    /// The score, or NULL.
    Score,
    /// A struct.
    Details,
}

/// The properties of a metric that determine the columns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScoreColumn {
    pub(crate) kind: ScoreKind,
    pub(crate) range: Option<ScoreRange>,
}

impl ScoreColumn {
    fn value_type(self) -> DataType {
        match self.kind {
            ScoreKind::Bool => DataType::Boolean,
            ScoreKind::Number | ScoreKind::Corpus => DataType::Float64,
        }
    }

    fn details(self) -> Fields {
        let field = |name: &str, ty| Field::new(name, ty, true);
        Fields::from(vec![
            field("value", self.value_type()),
            field("verdict", DataType::Boolean),
            field("feedback", DataType::Utf8),
            field("outcome", DataType::Utf8),
            field("error", DataType::Utf8),
            field("scores", NamedScores::data_type()),
        ])
    }

    pub(crate) fn data_type(self, output: Output) -> DataType {
        match output {
            Output::Score => self.value_type(),
            Output::Details => DataType::Struct(self.details()),
        }
    }

    /// The column with the range of the scores, which the aggregates read.
    pub(crate) fn field(self, name: &str, output: Output) -> FieldRef {
        let range = self
            .range
            .map(|ScoreRange { min, max }| [(LEAST, min), (MOST, max)]);
        let range = range.into_iter().flatten();
        let metadata: HashMap<_, _> = range
            .map(|(key, value)| (key.to_owned(), format!("{value:?}")))
            .collect();
        Arc::new(Field::new(name, self.data_type(output), true).with_metadata(metadata))
    }

    pub(crate) fn builder(self, output: Output, rows: usize) -> OutputBuilder {
        let value = match self.kind {
            ScoreKind::Bool => Values::Bools(BooleanBuilder::with_capacity(rows)),
            _ => Values::Numbers(Float64Builder::with_capacity(rows)),
        };
        let details = (output == Output::Details).then(|| Details {
            fields: self.details(),
            verdict: BooleanBuilder::with_capacity(rows),
            feedback: StringBuilder::new(),
            outcome: StringBuilder::with_capacity(rows, rows * "scored".len()),
            error: StringBuilder::new(),
            scores: NamedScores::new(),
        });
        OutputBuilder { value, details }
    }
}

enum Values {
    Bools(BooleanBuilder),
    Numbers(Float64Builder),
}

struct Details {
    fields: Fields,
    verdict: BooleanBuilder,
    feedback: StringBuilder,
    outcome: StringBuilder,
    error: StringBuilder,
    scores: NamedScores,
}

/// Builds the column of a batch.
pub(crate) struct OutputBuilder {
    value: Values,
    details: Option<Details>,
}

impl OutputBuilder {
    pub(crate) fn append(&mut self, outcome: &Outcome) {
        let value = outcome.value();
        match &mut self.value {
            Values::Bools(bools) => bools.append_option(value.map(|value| value >= 1.0)),
            Values::Numbers(numbers) => numbers.append_option(value),
        }
        let Some(details) = &mut self.details else {
            return;
        };
        let scored = outcome.scored();
        details
            .verdict
            .append_option(scored.and_then(|scored| scored.passed));
        let feedback = scored.and_then(|scored| {
            let explained = || scored.score.details.as_deref().map(Into::into);
            scored.feedback().or_else(explained)
        });
        details.feedback.append_option(feedback);
        details.outcome.append_value(outcome.name());
        details.error.append_option(outcome.error());
        details.scores.append(scored);
    }

    pub(crate) fn finish(self) -> ArrayRef {
        let value: ArrayRef = match self.value {
            Values::Bools(mut bools) => Arc::new(bools.finish()),
            Values::Numbers(mut numbers) => Arc::new(numbers.finish()),
        };
        let Some(mut details) = self.details else {
            return value;
        };
        let columns: Vec<ArrayRef> = vec![
            value,
            Arc::new(details.verdict.finish()),
            Arc::new(details.feedback.finish()),
            Arc::new(details.outcome.finish()),
            Arc::new(details.error.finish()),
            details.scores.finish(),
        ];
        Arc::new(StructArray::new(details.fields, columns, None))
    }
}
