//! The prediction, with its token counts and the run that made it.

use dsrs_metrics::{
    Prediction,
    rows::Fields,
    runs::{ProgramOutput, ProgramRun, ProgramUsage},
};

use super::run_field::{RUN_FIELD, RunField};

/// A [`Prediction`] with what dspy-rs knows of the run that made it.
///
/// A prediction of dspy-rs can be converted and converted back without a change.
///
/// ```
/// use dsrs_metrics_dspy_rs::{ConvertedPrediction, TokenCounts};
///
/// let usage = dspy_rs::LmUsage { prompt_tokens: 120, completion_tokens: 8, total_tokens: 128 };
/// let original = dspy_rs::Prediction::new([("answer".to_owned(), "Paris".into())].into(), usage);
/// let converted = ConvertedPrediction::from(&original);
/// assert_eq!(converted.prediction.get("answer").unwrap(), "Paris");
/// assert_eq!(converted.tokens, TokenCounts { prompt: 120, completion: 8, total: 128 });
/// assert_eq!(converted.run().usage.unwrap().tokens(), 128);
/// assert_eq!(dspy_rs::Prediction::from(converted).data, original.data);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConvertedPrediction {
    /// The fields, sorted by name, without [`RUN_FIELD`].
    pub prediction: Prediction,
    /// The token counts of the prediction.
    pub tokens: TokenCounts,
    /// The value of [`RUN_FIELD`].
    pub run_field: Option<RunField>,
}

/// The token counts of a prediction of dspy-rs. The total need not be the sum of the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenCounts {
    /// Tokens of the prompts.
    pub prompt: u64,
    /// Tokens of the replies.
    pub completion: u64,
    /// Tokens of both.
    pub total: u64,
}

impl ConvertedPrediction {
    /// Returns the run as metrics read it: that of [`run_field`](Self::run_field), with the token counts of the prediction
    /// unless the field has a usage. Counts that are all 0 mean that the usage is not known: modules of dspy-rs write them
    /// for predictions that they build themselves.
    #[must_use]
    pub fn run(&self) -> ProgramRun {
        let mut run = self.run_field.clone().unwrap_or_default();
        run.usage = run.usage.or_else(|| self.tokens.usage());
        run.into_run()
    }
}

impl TokenCounts {
    fn usage(self) -> Option<ProgramUsage> {
        (self != Self::default()).then(|| ProgramUsage::new(self.prompt, self.completion))
    }
}

impl From<dspy_rs::LmUsage> for TokenCounts {
    fn from(usage: dspy_rs::LmUsage) -> Self {
        let dspy_rs::LmUsage {
            prompt_tokens,
            completion_tokens,
            total_tokens,
        } = usage;
        Self {
            prompt: prompt_tokens,
            completion: completion_tokens,
            total: total_tokens,
        }
    }
}

impl From<TokenCounts> for dspy_rs::LmUsage {
    fn from(
        TokenCounts {
            prompt,
            completion,
            total,
        }: TokenCounts,
    ) -> Self {
        Self {
            prompt_tokens: prompt,
            completion_tokens: completion,
            total_tokens: total,
        }
    }
}

impl From<dspy_rs::Prediction> for ConvertedPrediction {
    fn from(original: dspy_rs::Prediction) -> Self {
        let dspy_rs::Prediction { mut data, lm_usage } = original;
        // A field of this name with another content is the user's own.
        let run_field = data.get(RUN_FIELD).and_then(RunField::from_value);
        if run_field.is_some() {
            data.remove(RUN_FIELD);
        }
        let mut fields: Vec<_> = data.into_iter().collect();
        fields.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let prediction = Prediction::from(Fields::from_iter(fields));
        Self {
            prediction,
            tokens: lm_usage.into(),
            run_field,
        }
    }
}

impl From<&dspy_rs::Prediction> for ConvertedPrediction {
    fn from(original: &dspy_rs::Prediction) -> Self {
        original.clone().into()
    }
}

/// The output of a program of dsrs-metrics. Its trace, usage and latency are in [`RUN_FIELD`] if there are any.
impl From<ProgramOutput> for ConvertedPrediction {
    fn from(output: ProgramOutput) -> Self {
        let ProgramOutput {
            prediction,
            trace,
            usage,
            latency,
        } = output;
        let tokens = usage.map_or_else(TokenCounts::default, |usage| TokenCounts {
            prompt: usage.input_tokens,
            completion: usage.output_tokens,
            total: usage.tokens(),
        });
        let run_field = RunField {
            trace,
            usage,
            latency,
            ..RunField::default()
        };
        let run_field = (run_field != RunField::default()).then_some(run_field);
        Self {
            prediction,
            tokens,
            run_field,
        }
    }
}

impl From<ConvertedPrediction> for ProgramOutput {
    fn from(converted: ConvertedPrediction) -> Self {
        let run = converted.run();
        let mut output = Self::new(converted.prediction);
        output.latency = run.returned_latency();
        (output.trace, output.usage) = (run.trace, run.usage);
        output
    }
}

impl From<ConvertedPrediction> for dspy_rs::Prediction {
    fn from(converted: ConvertedPrediction) -> Self {
        let ConvertedPrediction {
            prediction,
            tokens,
            run_field,
        } = converted;
        let run_field = run_field.map(|run| (RUN_FIELD.to_owned(), run.to_value()));
        let data = prediction.data.into_iter().chain(run_field).collect();
        Self {
            data,
            lm_usage: tokens.into(),
        }
    }
}
