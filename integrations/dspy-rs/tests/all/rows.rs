//! Rows and traces that are converted and converted back.

use std::collections::HashMap;
use std::time::Duration;

use dspy_rs::LmUsage;
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    rows::TraceStep,
    runs::{ProgramOutput, ProgramUsage},
};
use dsrs_metrics_dspy_rs::{
    ConvertedExample, ConvertedExecution, ConvertedPrediction, ConvertedTrace, RUN_FIELD, RunField,
    step_from_value, step_into_value, trace_from_steps, trace_into_steps,
};
use proptest::collection::{hash_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Names that collide: with each other, with the parts of a step and with the field of the run.
fn name() -> impl Strategy<Value = String> {
    const FIXED: [&str; 9] = [
        "a", "b", "question", "inputs", "outputs", "output", "trace", "error", RUN_FIELD,
    ];
    prop_oneof![
        proptest::sample::select(&FIXED[..]).prop_map(str::to_owned),
        ".{0,3}"
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let number = prop_oneof![
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        Just(json!(u64::MAX)),
        Just(json!(i64::MIN)),
        Just(json!(-0.0)),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        ".{0,4}".prop_map(Value::from),
        number,
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let object = vec((name(), inner.clone()), 0..4);
        let object = object.prop_map(|it| Value::Object(it.into_iter().collect()));
        let part = || vec((name(), inner.clone()), 0..2);
        let step = (part(), part()).prop_map(|(inputs, outputs)| {
            let object = |it: Vec<(String, Value)>| Value::Object(it.into_iter().collect());
            json!({ "inputs": object(inputs), "outputs": object(outputs) })
        });
        let plain = inner
            .clone()
            .prop_map(|it| json!({ "inputs": {}, "outputs": { "output": it } }));
        prop_oneof![vec(inner, 0..4).prop_map(Value::from), object, step, plain]
    })
}

fn fields() -> impl Strategy<Value = HashMap<String, Value>> {
    hash_map(name(), value(), 0..5)
}

prop_compose! {
    fn example()(data in fields(), input_keys in vec(name(), 0..4), output_keys in vec(name(), 0..4)) -> dspy_rs::Example {
        dspy_rs::Example { data, input_keys, output_keys }
    }
}

prop_compose! {
    fn run_field()(
        steps in option::of(vec((name(), value()), 0..3)),
        usage in option::of((any::<u64>(), any::<u64>(), option::of(any::<u64>()))),
        latency in option::of(any::<Duration>()),
        predictor in option::of(name()),
        error in option::of(".{0,3}"),
    ) -> RunField {
        let usage = usage.map(|(input_tokens, output_tokens, cost_msats)| ProgramUsage { input_tokens, output_tokens, cost_msats });
        RunField { trace: steps.map(trace_from_steps), usage, latency, predictor, error }
    }
}

prop_compose! {
    fn prediction()(
        mut data in fields(),
        run in option::of(run_field()),
        (prompt_tokens, completion_tokens, total_tokens) in any::<(u64, u64, u64)>(),
    ) -> dspy_rs::Prediction {
        if let Some(run) = run {
            data.insert(RUN_FIELD.to_owned(), serde_json::to_value(run).unwrap());
        }
        dspy_rs::Prediction::new(data, LmUsage { prompt_tokens, completion_tokens, total_tokens })
    }
}

/// The types of dspy-rs have no equality; this is every field of them.
fn all<T: serde::Serialize>(row: &T) -> Value {
    serde_json::to_value(row).unwrap()
}

proptest! {
    #[test]
    fn an_example_of_dspy_rs_is_the_same_again(original in example()) {
        let converted = ConvertedExample::from(&original);
        prop_assert_eq!(converted.example.data.len(), original.data.len());
        for (name, value) in &original.data {
            prop_assert_eq!(converted.example.get(name), Some(value));
        }
        if !original.input_keys.is_empty() || !original.output_keys.is_empty() {
            let is_input = |name: &str| original.input_keys.iter().any(|key| key == name);
            if let Ok(inputs) = converted.example.inputs() {
                prop_assert!(inputs.keys().all(is_input));
            }
            prop_assert!(converted.example.labels().keys().all(|name| !is_input(name)));
        }
        prop_assert_eq!(all(&dspy_rs::Example::from(converted)), all(&original));
    }

    #[test]
    fn an_example_is_the_same_again(data in hash_map(name(), value(), 1..5), keys in option::of(vec(name(), 0..4))) {
        let mut original = Example::from_iter(data);
        if let Some(keys) = keys {
            original = original.with_inputs(keys);
        }
        // One case of dspy-rs has two meanings: without inputs and labels, nothing is set.
        prop_assume!(original.input_keys() != Some(&[]) || original.labels().keys().len() > 0);
        let theirs = dspy_rs::Example::from(ConvertedExample::from(original.clone()));
        prop_assert_eq!(ConvertedExample::from(theirs).example, original);
    }

    #[test]
    fn a_prediction_of_dspy_rs_is_the_same_again(original in prediction()) {
        let converted = ConvertedPrediction::from(&original);
        let tokens = (converted.tokens.prompt, converted.tokens.completion, converted.tokens.total);
        let usage = &original.lm_usage;
        prop_assert_eq!(tokens, (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens));
        prop_assert_eq!(all(&dspy_rs::Prediction::from(converted)), all(&original));
    }

    #[test]
    fn the_output_of_a_program_is_the_same_again(data in fields(), run in run_field()) {
        let mut original = ProgramOutput::new(Prediction::from_iter(data));
        prop_assume!(original.prediction.get(RUN_FIELD).is_none());
        (original.trace, original.usage, original.latency) = (run.trace, run.usage, run.latency);
        let theirs = dspy_rs::Prediction::from(ConvertedPrediction::from(original.clone()));
        prop_assert_eq!(ProgramOutput::from(ConvertedPrediction::from(theirs)), original);
    }

    #[test]
    fn the_steps_of_dspy_rs_are_the_same_again(steps in vec((name(), value()), 0..4)) {
        prop_assert_eq!(trace_into_steps(trace_from_steps(steps.clone())), steps);
    }

    #[test]
    fn a_step_is_the_same_again(predictor in name(), inputs in fields(), outputs in fields()) {
        let original = TraceStep { predictor, inputs: Example::from_iter(inputs), outputs: Prediction::from_iter(outputs) };
        let (name, value) = step_into_value(original.clone());
        prop_assert_eq!(step_from_value(name, value), original);
    }

    #[test]
    fn traces_of_dspy_rs_are_the_same_again(
        (inputs, outputs) in (example(), prediction()),
        score in option::of(any::<f32>()),
        steps in vec((name(), value()), 0..3),
        (errors, metadata) in (vec(".{0,3}", 0..3), fields()),
    ) {
        let bits = |score: Option<f32>| score.map(f32::to_bits);
        let original = dspy_rs::Trace::new(inputs.clone(), outputs.clone(), score);
        let converted = ConvertedTrace::from(original);
        let again = dspy_rs::Trace::from(converted);
        prop_assert_eq!((all(&again.inputs), all(&again.outputs)), (all(&inputs), all(&outputs)));
        prop_assert_eq!(bits(again.score), bits(score));

        let feedback = score.map(|score| dspy_rs::FeedbackMetric::with_metadata(score, "why", metadata.clone()));
        let original = dspy_rs::ExecutionTrace {
            inputs, outputs: Some(outputs), feedback, intermediate_steps: steps, errors, metadata,
        };
        let again = dspy_rs::ExecutionTrace::from(ConvertedExecution::from(original.clone()));
        prop_assert_eq!(bits(again.score()), bits(original.score()));
        prop_assert_eq!(all(&again), all(&original));
    }
}

#[test]
fn a_step_has_one_form() {
    let step = |inputs: Example, outputs: Prediction| TraceStep {
        predictor: "p".to_owned(),
        inputs,
        outputs,
    };
    let whole = json!({ "inputs": { "q": 1 }, "outputs": { "output": 2 } });
    let parts = step(example! { "q" => 1 }, prediction! { "output" => 2 });
    assert_eq!(step_from_value("p".to_owned(), whole.clone()), parts);
    assert_eq!(step_into_value(parts), ("p".to_owned(), whole.clone()));
    // A plain value that looks like a step is the output of one.
    let nested = step(example! {}, prediction! { "output" => whole.clone() });
    let value = json!({ "inputs": {}, "outputs": { "output": whole } });
    assert_eq!(
        step_into_value(nested.clone()),
        ("p".to_owned(), value.clone())
    );
    assert_eq!(step_from_value("p".to_owned(), value), nested);
    // An object with a third part is a plain value.
    let other = json!({ "inputs": {}, "outputs": {}, "time": 3 });
    assert_eq!(
        step_from_value("p".to_owned(), other.clone())
            .outputs
            .get("output"),
        Some(&other)
    );
}

#[test]
fn the_fields_of_an_example_have_a_fixed_order() {
    let data = ["z", "y", "x", "w", "v"].map(|name| (name.to_owned(), json!(name)));
    let keys = |names: &[&str]| {
        names
            .iter()
            .map(|&name| name.to_owned())
            .collect::<Vec<_>>()
    };
    let original = dspy_rs::Example::new(data.into(), keys(&["y", "gone"]), keys(&["x", "y"]));
    let example = ConvertedExample::from(original).example;
    assert_eq!(
        example.keys().collect::<Vec<_>>(),
        ["y", "x", "v", "w", "z"]
    );
    assert_eq!(
        example.inputs().unwrap_err().to_string(),
        "no input `gone`; the row has `y`, `x`, `v`, `w`, `z`"
    );
}

#[test]
fn token_counts_are_the_usage_unless_the_run_has_one() {
    let of = |usage: LmUsage, run: Option<Value>| {
        let run = run.map(|run| (RUN_FIELD.to_owned(), run));
        let original = dspy_rs::Prediction::new(run.into_iter().collect(), usage);
        ConvertedPrediction::from(original).run().usage
    };
    let usage = LmUsage {
        prompt_tokens: 7,
        completion_tokens: 2,
        total_tokens: 9,
    };
    assert_eq!(of(LmUsage::default(), None), None);
    assert_eq!(of(usage.clone(), None), Some(ProgramUsage::new(7, 2)));
    let steps = json!({ "usage": { "input_tokens": 70, "output_tokens": 20, "cost_msats": 3 } });
    assert_eq!(
        of(usage.clone(), Some(steps)),
        Some(ProgramUsage::new(70, 20).with_cost_msats(3))
    );
    // A field of this name that is not a run is the user's.
    let own = json!({ "usage": "low" });
    assert_eq!(
        of(usage.clone(), Some(own.clone())),
        Some(ProgramUsage::new(7, 2))
    );
    let original = dspy_rs::Prediction::new([(RUN_FIELD.to_owned(), own.clone())].into(), usage);
    assert_eq!(
        ConvertedPrediction::from(original)
            .prediction
            .get(RUN_FIELD),
        Some(&own)
    );
}
