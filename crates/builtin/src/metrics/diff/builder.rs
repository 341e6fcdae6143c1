//! Builds a [`Diff`], in code or from the parameters of a command line.

use super::{Diff, DiffStrictness};
use crate::core::metric::params::{Configure, ParamError, Params, read_param};
use crate::core::spec::{FieldSpec, MetricSpec, MetricTier, ParamSpec, ScoreKind, Side};
use crate::core::value_type::ValueType as _;
use crate::judge::configured::{PANEL, param, read_panel};
use crate::judge::{Aggregation, IntoModel, Panel};
use crate::metrics::answers::StrOrList;
use crate::metrics::language::LanguageSetting;

const DOC: &str = "Whether the answer equals the expected one, with a line diff in the feedback if it does not.

Reads the strings `gold.answer` and `pred.answer`, or the field set by `field`, on both sides. If gold is a list, the answer must equal any of its strings.

`ast_equivalent` costs 10 msat per row. `semantic` calls a language model, for at most 50 msat per row. Strings that differ only in white space are equal without a call.";

const FIELD: &str = "answer";

/// The cost of one comparison of syntax trees, in millisatoshis.
const AST_MSATS: u64 = 10;

const STRICTNESS: ParamSpec<'static> = param(
    "strictness",
    "exact | normalized_whitespace | ast_equivalent | semantic",
    "normalized_whitespace",
    "How much may differ.",
);

const LANGUAGE: ParamSpec<'static> = param(
    "language",
    "rust | python | javascript | typescript | json | sql | bash",
    "null",
    "The language of both sides, for `ast_equivalent`.",
);

const COMPARED: ParamSpec<'static> = ParamSpec {
    help: String::HELP,
    names: &[(Side::Gold, 0), (Side::Pred, 0)],
    ..param(
        "field",
        "String",
        FIELD,
        "The field that is compared, on both sides.",
    )
};

const GOLD: FieldSpec<'static> =
    FieldSpec::new(FIELD, "StrOrList<'_>", true).with_help(StrOrList::HELP);
const PRED: FieldSpec<'static> = FieldSpec::new(FIELD, "&str", true)
    .or_missing()
    .with_help(str::HELP);

const PARAMS: [ParamSpec<'static>; 7] = {
    let [models, aggregation, limit, quorum] = PANEL;
    let aggregation = ParamSpec {
        default: Some("majority"),
        ..aggregation
    };
    [
        STRICTNESS,
        LANGUAGE,
        COMPARED,
        models,
        aggregation,
        limit,
        quorum,
    ]
};

impl Diff {
    /// The metric's spec at all strictnesses but [`DiffStrictness::Semantic`], with the cost of the most expensive,
    /// [`DiffStrictness::AstEquivalent`]. [`Metric::spec`](dsrs_metrics_core::Metric::spec) returns the spec of a value, with its cost.
    pub const SPEC: MetricSpec<'static> = MetricSpec::new("diff")
        .with_doc(DOC)
        .with_tier(MetricTier::Truth)
        .with_cost_msats(AST_MSATS)
        .with_kind(ScoreKind::Bool)
        .with_fields(&[GOLD], &[PRED])
        .with_params(&PARAMS);
}

/// The builder of a [`Diff`].
#[derive(Debug, Clone, Default)]
#[must_use = "a builder does nothing before `build`"]
pub struct DiffBuilder {
    strictness: DiffStrictness,
    language: LanguageSetting,
    field: Option<String>,
    panel: Panel,
}

impl DiffBuilder {
    setters! {
        /// Sets how much may differ; the default is white space.
        pub fn strictness(strictness: DiffStrictness) => strictness = strictness;

        /// Sets the language of both sides, or its name, for [`DiffStrictness::AstEquivalent`].
        pub fn language(language: impl Into<LanguageSetting>) => language = language.into();

        /// Sets the field that is compared, on both sides; the default is `answer`.
        pub fn field(field: impl Into<String>) => field = Some(field.into());
    }

    setters! {
        /// Sets the model that is called if the panel names none, for [`DiffStrictness::Semantic`].
        pub fn with_lm(lm: impl IntoModel) in panel.with_lm;

        /// Scores by token overlap, in place of a model, for [`DiffStrictness::Semantic`]. Every result is labelled as
        /// offline.
        pub fn offline() in panel.offline;

        /// Sets the models of the panel. Each is called, and the majority decides.
        pub fn models(models: impl IntoIterator<Item = impl IntoModel>) in panel.models;

        /// Sets how the verdicts of several judges are aggregated.
        pub fn aggregation(aggregation: Aggregation) in panel.aggregation;

        /// Sets how many judges are called concurrently, at least one.
        pub fn max_concurrent_judges(limit: usize) in panel.max_concurrent_judges;

        /// Sets how many judges must return a verdict for a score.
        pub fn quorum(quorum: usize) in panel.quorum;
    }

    /// Builds the metric.
    pub fn build(self) -> Diff {
        let Self {
            strictness,
            language,
            field,
            panel,
        } = self;
        Diff {
            strictness,
            language,
            field: field.unwrap_or_else(|| FIELD.to_owned()),
            panel,
        }
    }
}

impl Configure for Diff {
    const SPEC: MetricSpec<'static> = Self::SPEC;

    fn configure(params: &Params) -> Result<Self, ParamError> {
        let spec = &Self::SPEC;
        params.check(spec)?;
        Ok(Self {
            strictness: read_param(params, spec, &STRICTNESS, Some(DiffStrictness::default))?,
            language: read_param(params, spec, &LANGUAGE, Some(LanguageSetting::default))?,
            field: read_param(params, spec, &COMPARED, Some(|| FIELD.to_owned()))?,
            panel: read_panel(params, spec)?,
        })
    }
}
