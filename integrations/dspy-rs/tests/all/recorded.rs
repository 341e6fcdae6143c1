//! Recorded predictors: the steps, the usage and the changed predictor that a metric gets.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dspy_rs::{
    Evaluator, Example, FeedbackEvaluator as _, GEPA, LM, LmUsage, MetaSignature, Module,
    Optimizable, Predict, Prediction, Predictor, Signature,
};
use dsrs_metrics::metrics::Tokens;
use dsrs_metrics::prelude::{Metric, traced_metric_fn};
use dsrs_metrics::{optimizers::FeedbackMetric, rows::Trace};
use dsrs_metrics_dspy_rs::{ConvertedPrediction, RUN_FIELD, Recorded, WithMetric};
use indexmap::IndexMap;
use serde_json::Value;

use crate::example::program;
use crate::example::server::Server;
use crate::optimizers::CONFIGURED;
use crate::programs::{prediction, qa};

#[Signature]
struct Search {
    /// Search.

    #[input]
    pub question: String,
    #[output]
    pub query: String,
}

#[Signature]
struct Answer {
    /// Answer.

    #[input]
    pub query: String,
    #[output]
    pub answer: String,
}

/// A predictor that returns its input, without a language model.
struct Copy {
    signature: Box<dyn MetaSignature>,
    from: &'static str,
    to: &'static str,
}

impl Predictor for Copy {
    async fn forward(&self, inputs: Example) -> anyhow::Result<Prediction> {
        // Other rows run in between.
        tokio::task::yield_now().await;
        let value = inputs.get(self.from, None);
        anyhow::ensure!(value != "fail", "no reply");
        let usage = LmUsage {
            prompt_tokens: 10,
            completion_tokens: 1,
            total_tokens: 11,
        };
        Ok(Prediction::new([(self.to.to_owned(), value)].into(), usage))
    }

    async fn forward_with_config(&self, inputs: Example, _: Arc<LM>) -> anyhow::Result<Prediction> {
        self.forward(inputs).await
    }
}

impl Optimizable for Copy {
    fn get_signature(&self) -> &dyn MetaSignature {
        &*self.signature
    }

    fn parameters(&mut self) -> IndexMap<String, &mut dyn Optimizable> {
        IndexMap::new()
    }

    fn update_signature_instruction(&mut self, instruction: String) -> anyhow::Result<()> {
        self.signature.update_instruction(instruction)
    }
}

/// A program with two predictors.
#[derive(Optimizable)]
struct Pipeline<P: Predictor + Optimizable> {
    #[parameter]
    search: Recorded<P>,
    #[parameter]
    answer: Recorded<P>,
}

impl<P: Predictor + Optimizable> Module for Pipeline<P> {
    async fn forward(&self, inputs: Example) -> anyhow::Result<Prediction> {
        let found = self.search.forward(inputs).await?;
        self.answer
            .forward(Example::new(
                found.data,
                vec!["query".to_owned()],
                Vec::new(),
            ))
            .await
    }
}

fn pipeline() -> Pipeline<Copy> {
    let search = Copy {
        signature: Box::new(Search::new()),
        from: "question",
        to: "query",
    };
    let answer = Copy {
        signature: Box::new(Answer::new()),
        from: "query",
        to: "answer",
    };
    Pipeline {
        search: Recorded::new("search", search),
        answer: Recorded::new("answer", answer),
    }
}

/// Feedback that shows what the metric got.
fn seen() -> impl Metric {
    traced_metric_fn("seen", |_, _, trace, name, steps| {
        let names = |trace: Option<&Trace>| {
            let steps = trace.map_or(&[][..], |trace| &trace.steps);
            steps
                .iter()
                .map(|step| step.predictor.clone())
                .collect::<Vec<_>>()
                .join("+")
        };
        let name = name.unwrap_or("program");
        FeedbackMetric::new(
            0.5,
            format!("on {name}: {} of {}", names(steps), names(trace)),
        )
    })
}

#[tokio::test]
async fn a_prediction_has_the_steps_without_labels() {
    let module = pipeline().with_metric(seen());
    let start = Instant::now();
    let prediction = ConvertedPrediction::from(module.forward(qa("Why?", "secret")).await.unwrap());
    let elapsed = start.elapsed();
    assert_eq!(prediction.prediction.keys().collect::<Vec<_>>(), ["answer"]);
    let run = prediction.run();
    let steps = run.trace.unwrap().steps;
    let inputs: Vec<_> = steps
        .iter()
        .map(|step| serde_json::to_value(&step.inputs).unwrap())
        .collect();
    assert_eq!(
        inputs,
        [
            serde_json::json!({ "question": "Why?" }),
            serde_json::json!({ "query": "Why?" })
        ]
    );
    assert_eq!(steps[1].outputs.get("answer").unwrap(), "Why?");
    // The prediction itself has the tokens of the last step only.
    assert_eq!(
        (prediction.tokens.total, run.usage.unwrap().tokens()),
        (11, 22)
    );
    let latency = run.latency.unwrap();
    assert!(
        Duration::ZERO < latency && latency <= elapsed,
        "{latency:?} of {elapsed:?}"
    );
}

#[tokio::test]
async fn nothing_is_recorded_without_a_metric() {
    let prediction = pipeline().forward(qa("Why?", "secret")).await.unwrap();
    assert_eq!(prediction.keys(), ["answer"]);
    assert!(!prediction.data.contains_key(RUN_FIELD));
}

#[tokio::test]
async fn feedback_is_on_the_predictor_that_was_changed_last() {
    let mut module = pipeline().with_metric(seen());
    let row = qa("Why?", "secret");
    let mut found = Vec::new();
    for changed in ["", "search", "answer", "search"] {
        if let Some(predictor) = module.parameters().get_mut(changed) {
            predictor
                .update_signature_instruction(format!("Better {changed}."))
                .unwrap();
        }
        let prediction = module.forward(row.clone()).await.unwrap();
        found.push(module.feedback_metric(&row, &prediction).await.feedback);
    }
    assert_eq!(
        found,
        [
            "on program:  of search+answer",
            "on search: search of search+answer",
            "on answer: answer of search+answer",
            "on search: search of search+answer"
        ]
    );
    assert_eq!(
        module.module().search.get_signature().instruction(),
        "Better search."
    );
    assert_eq!(module.module().answer.name(), "answer");
}

#[tokio::test]
async fn evaluation_passes_steps_and_usage_but_no_predictor() {
    let module = pipeline().with_metric(Tokens);
    assert_eq!(
        Evaluator::evaluate(&module, vec![qa("a", "a"), qa("b", "b")]).await,
        -22.0
    );
    let module = pipeline().with_metric(seen());
    assert_eq!(
        module.evaluate(vec![qa("a", "a"), qa("fail", "b")]).await,
        0.25
    );
    assert_eq!(module.report().failures[0].to_string(), "row 1: no reply");
}

#[tokio::test]
async fn rows_that_run_concurrently_have_their_own_steps() {
    let own = traced_metric_fn("own", |gold, _, trace, _, _| {
        let steps = &trace.expect("a trace").steps;
        let question = gold.get("question");
        let same = steps
            .iter()
            .all(|step| step.outputs.data.iter().all(|(_, it)| Some(it) == question));
        same && steps.len() == 2
    });
    let module = pipeline().with_metric(own);
    let rows: Vec<_> = (0..40).map(|row| qa(&row.to_string(), "")).collect();
    let forward = rows.iter().map(|row| async {
        let prediction = module.forward(row.clone()).await.unwrap();
        module.feedback_metric(row, &prediction).await.score
    });
    let scores = futures_util::future::join_all(forward).await;
    assert_eq!(scores, [1.0; 40]);
}

#[tokio::test]
async fn an_execution_trace_has_the_steps() {
    let module = pipeline().with_metric(seen());
    let trace = module.execution_trace(qa("Why?", "secret")).await;
    let names: Vec<_> = trace
        .intermediate_steps
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(names, ["search", "answer"]);
    assert_eq!(trace.outputs.as_ref().unwrap().keys(), ["answer"]);
    assert_eq!(
        trace.feedback.as_ref().unwrap().feedback,
        "on program:  of search+answer"
    );
    let spans = module.evaluate_spans(&trace).await;
    assert_eq!(
        spans[1].feedback.feedback,
        "on answer: answer of search+answer"
    );
}

#[tokio::test]
async fn a_run_field_of_the_user_is_a_field() {
    let module = pipeline().with_metric(seen());
    let own = prediction([(RUN_FIELD, Value::from("mine"))]);
    assert_eq!(
        module.feedback_metric(&qa("a", "a"), &own).await.feedback,
        "on program:  of "
    );
}

#[tokio::test]
async fn gepa_receives_feedback_on_the_predictor_that_it_improves() {
    let _guard = CONFIGURED.lock().await;
    let server = Server::start(|_, request| {
        let prompt = request.prompt();
        let current = prompt
            .split("[[ ## current_instruction ## ]]\n")
            .nth(1)
            .unwrap_or_default();
        let current = current.split("\n\n[[").next().unwrap_or_default();
        let fields = ["query", "answer", "reflection"];
        let field = fields.into_iter().find(|field| request.has_output(field));
        Ok(match field {
            Some(field) => format!("[[ ## {field} ## ]]\nsome {field}\n\n[[ ## completed ## ]]\n"),
            None => format!(
                "[[ ## improved_instruction ## ]]\n{current} More.\n\n[[ ## completed ## ]]\n"
            ),
        })
    });
    let server = server.await.unwrap();
    program::configure(&server).await.unwrap();
    let search = Recorded::new("search", Predict::new(Search::new()));
    let answer = Recorded::new("answer", Predict::new(Answer::new()));
    let mut module = Pipeline { search, answer }.with_metric(seen());
    let gepa = GEPA::builder().num_iterations(6).minibatch_size(1).build();
    gepa.compile_with_feedback(&mut module, vec![qa("Why?", "Because.")])
        .await
        .unwrap();

    let received = server.received();
    let reflections: Vec<_> = received
        .iter()
        .filter(|it| it.has_output("reflection"))
        .collect();
    assert_eq!(reflections.len(), 6);
    for reflection in reflections {
        let prompt = reflection.prompt();
        let name = if prompt.contains("[[ ## current_instruction ## ]]\nSearch.") {
            "search"
        } else {
            "answer"
        };
        let feedback = format!("Feedback: on {name}: {name} of search+answer");
        assert!(
            prompt.contains(&feedback),
            "expected {feedback}, found {prompt}"
        );
    }
}
