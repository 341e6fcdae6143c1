//! The identity of a run: the settings that the records of a journal depend on. A run that continues a journal must have the
//! identity of the run that started it.
//!
//! The data set itself is compared row by row; see `evaluate/row/run_journal.rs`.

use std::collections::BTreeMap;
use std::path::Path;

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;

use super::error::JournalError;
use crate::core::metric::identity::{self, MetricIdentity};
use crate::messages::escape;

/// The settings that the outcomes of a run depend on, apart from its rows.
#[derive(Debug, Serialize)]
pub(crate) struct RunIdentity {
    /// The metrics in their order: outcomes are recorded by position.
    pub(crate) order: Vec<String>,
    pub(crate) metrics: IndexMap<String, MetricIdentity>,
    pub(crate) repeats: Option<u32>,
    pub(crate) failure_score: f64,
    /// The fields that the program receives of the rows that do not declare their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) program_inputs: Option<Vec<String>>,
    /// Versions that the caller named, such as the version of the program or of a file.
    pub(crate) inputs: BTreeMap<String, String>,
}

impl RunIdentity {
    /// Of a run without metrics.
    #[cfg(test)]
    pub(super) fn empty() -> Self {
        Self {
            order: Vec::new(),
            metrics: IndexMap::default(),
            repeats: None,
            failure_score: 0.0,
            program_inputs: None,
            inputs: BTreeMap::default(),
        }
    }

    /// Compares this run with the run that started a journal.
    ///
    /// # Errors
    /// [`JournalError::Changed`], with all differences.
    pub(super) fn check(&self, started: &Value, dir: &Path) -> Result<(), JournalError> {
        let now = serde_json::to_value(self).unwrap_or_default();
        let mut changes = Vec::new();
        let order = |run: &Value| -> Vec<String> {
            let names = run.get("order").and_then(Value::as_array).into_iter().flatten();
            names.filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let before = order(started);
        if before == self.order {
            identity::each_difference(Some(started), Some(&now), &mut |path, before, now| {
                changes.push(format!("{} was {before}, now {now}", place(path)));
            });
        } else {
            let list = |names: &[String]| escape::names(names.iter().map(|name| &**name));
            changes.push(format!("the metrics were {}, now {}", list(&before), list(&self.order)));
        }
        match changes.is_empty() {
            true => Ok(()),
            false => Err(JournalError::Changed { dir: dir.to_owned(), changes }),
        }
    }
}

/// Returns `` `profile` of `f1` `` for a path in the identity of a run.
fn place(path: &[&str]) -> String {
    match path {
        ["metrics", metric, rest @ ..] => {
            format!("{} of `{}`", identity::place(rest), escape::name(metric))
        }
        ["inputs", input] => identity::place(&[input]),
        other => identity::place(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::composite::{Composite, component, max, min};
    use crate::core::metric::Metric;
    use crate::core::metric::instance::WithSettings;
    use crate::core::rows::dynamic::{Example, Prediction};
    use dsrs_metrics::judge::shipped::LlmJudge;
    use dsrs_metrics::judge::{Aggregation, Panel};
    use dsrs_metrics::metrics::{Em, F1};

    fn run(metrics: &[(&str, &dyn Metric)]) -> RunIdentity {
        let identity = |(name, metric): &(&str, &dyn Metric)| {
            ((*name).to_owned(), MetricIdentity::of::<Example, Prediction>(*metric))
        };
        let inputs = BTreeMap::from([("program".to_owned(), "1".to_owned())]);
        let order = metrics.iter().map(|(name, _)| (*name).to_owned()).collect();
        let metrics = metrics.iter().map(identity).collect();
        let (repeats, program_inputs) = (None, None);
        RunIdentity { order, metrics, repeats, failure_score: 0.0, program_inputs, inputs }
    }

    fn changes(before: &RunIdentity, after: &RunIdentity) -> Vec<String> {
        let started = serde_json::to_value(before).unwrap();
        match after.check(&started, Path::new("j")) {
            Ok(()) => Vec::new(),
            Err(JournalError::Changed { changes, .. }) => changes,
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn every_change_is_named() {
        let f1 = F1::default();
        let base = || run(&[("f1", &f1), ("em", &Em::default())]);
        assert_eq!(changes(&base(), &base()), [""; 0]);
        let other = F1 { profile: dsrs_metrics::text::Profile::Folded };
        assert_eq!(
            changes(&base(), &run(&[("f1", &other), ("em", &Em::default())])),
            ["parameter `F1.profile` of `f1` was \"dspy\", now \"folded\""]
        );
        let stricter = F1::default().with_threshold(0.8);
        assert_eq!(
            changes(&base(), &run(&[("f1", &stricter), ("em", &Em::default())])),
            ["`threshold` of `f1` was not set, now 0.8"]
        );
        assert_eq!(
            changes(&base(), &run(&[("f1", &f1)])),
            ["the metrics were `f1`, `em`, now `f1`"]
        );
        let mut repeated = base();
        repeated.repeats = Some(3);
        repeated.inputs.insert("program".to_owned(), "2".to_owned());
        assert_eq!(
            changes(&base(), &repeated),
            ["`program` was \"1\", now \"2\"", "`repeats` was not set, now 3"]
        );
    }

    /// A parameter may move to a struct of parameters.
    #[test]
    fn order_and_types_of_parameters_are_not_compared() {
        let metric = dsrs_metrics::metrics::MacroF1::default();
        let run = run(&[("macro_f1", &metric)]);
        let mut started = serde_json::to_value(&run).unwrap();
        let params = started["metrics"]["macro_f1"]["params"].as_array_mut().unwrap();
        assert_eq!(params.len(), 2);
        params.swap(0, 1);
        params[0]["type"] = "another".into();
        run.check(&started, Path::new("j")).unwrap();
        started["metrics"]["macro_f1"]["params"][0]["default"] = "another".into();
        run.check(&started, Path::new("j")).unwrap_err();
    }

    /// The output of `Debug` is for programmers.
    #[test]
    fn the_settings_of_a_panel_are_named_one_by_one() {
        let judge = |panel: Panel| LlmJudge { panel, ..LlmJudge::default() };
        let plain = judge(Panel::new().models(["p:a", "p:b"]));
        let other = Panel::new().models(["p:a", "p:b"]).quorum(1).instruction("Be strict.");
        let demo = Example::from_iter([("question", "Why?")]);
        let other = judge(other.aggregation(Aggregation::Average).demos([demo]).context("c"));
        let place = |name: &str| format!("parameter `LlmJudge.{name}` of `llm_judge`");
        assert_eq!(
            changes(&run(&[("llm_judge", &plain)]), &run(&[("llm_judge", &other)])),
            [
                format!("{} was not set, now \"average\"", place("aggregation")),
                format!("{} was not set, now \"c\"", place("context")),
                format!(
                    "{} was not set, now \"[{{\\\"question\\\":\\\"Why?\\\"}}]\"",
                    place("demos")
                ),
                format!("{} was not set, now \"Be strict.\"", place("instruction")),
                format!("{} was not set, now \"1\"", place("quorum")),
            ]
        );
        let cheap = LlmJudge::default().with_cost_msats(7);
        assert_eq!(
            changes(&run(&[("llm_judge", &LlmJudge::default())]), &run(&[("llm_judge", &cheap)])),
            ["`cost_msats` of `llm_judge` was 100, now 7"]
        );
    }

    #[test]
    fn a_composite_is_compared_by_its_expression() {
        let composite = |expression| Composite::builder("c", expression).build().unwrap();
        let parts = || [component(Em::default()), component(F1::default().with_threshold(0.5))];
        let (one, other) = (composite(min(parts())), composite(max(parts())));
        let parts = "em in 0.0..=1.0, f1 in 0.0..=1.0 with threshold 0.5";
        assert_eq!(
            changes(&run(&[("c", &one)]), &run(&[("c", &other)])),
            [format!("parameter `expression` of `c` was \"min({parts})\", now \"max({parts})\"")]
        );
    }

    /// A type that implements `Debug` only.
    #[test]
    fn a_value_that_cannot_be_shown_is_compared_by_its_hash() {
        #[derive(Clone, Debug, PartialEq)]
        struct Options(u8);

        /// Compares nothing.
        #[dsrs_metrics::metric]
        fn constant(#[pred] answer: &str, #[param] options: &Options) -> bool {
            answer.len() == usize::from(options.0)
        }

        let metric = |options: u8| Constant::builder().options(Options(options)).build();
        let found = changes(&run(&[("c", &metric(1))]), &run(&[("c", &metric(2))]));
        let [change] = &found[..] else { panic!("{found:?}") };
        let start = "parameter `Constant.options` of `c` was \"a value with the hash ";
        assert!(change.starts_with(start) && !change.contains("Options("), "{change}");
    }

    #[test]
    fn the_model_of_a_judge_is_compared() {
        use crate::lm::ScriptedLm;
        let judge = |name: &str| {
            let panel = Panel::new().with_lm(ScriptedLm::new().named(name));
            LlmJudge { panel, ..LlmJudge::default() }
        };
        let (one, other) = (judge("p:one"), judge("p:two"));
        let changes = changes(&run(&[("llm_judge", &one)]), &run(&[("llm_judge", &other)]));
        assert!(
            changes.iter().any(|change| {
                change == "`models` of `llm_judge` was [\"p:one\"], now [\"p:two\"]"
            }),
            "{changes:?}"
        );
    }
}
