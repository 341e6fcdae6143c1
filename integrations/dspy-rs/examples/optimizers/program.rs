//! The program that is compiled: it answers questions. Its data, its configuration, and what is known once it is compiled.

use dspy_rs::{ChatAdapter, Example, LM, Module, Optimizable, Predict, Predictor, Signature};
use dsrs_metrics::Metric;
use dsrs_metrics_dspy_rs::{Measured, MetricReport, Recorded};

use super::model;
use super::server::{Received, Server};

#[Signature]
struct AnswerQuestion {
    /// Answer the question.

    #[input]
    pub(crate) question: String,
    #[output]
    pub(crate) answer: String,
}

/// A program with one predictor.
#[derive(Optimizable)]
pub(crate) struct Qa {
    #[parameter]
    answer: Recorded<Predict>,
}

impl Qa {
    pub(crate) fn new() -> Self {
        Self {
            answer: Recorded::new("answer", Predict::new(AnswerQuestion::new())),
        }
    }
}

impl Module for Qa {
    async fn forward(&self, inputs: Example) -> anyhow::Result<dspy_rs::Prediction> {
        self.answer.forward(inputs).await
    }
}

/// Questions with the names that are expected as answers.
pub(crate) fn trainset() -> Vec<Example> {
    let row = |(country, capital): &(&str, &str)| {
        let question = format!("What is the capital of {country}?");
        let fields = [
            ("question".to_owned(), question.into()),
            ("answer".to_owned(), (*capital).into()),
        ];
        Example::new(
            fields.into(),
            vec!["question".to_owned()],
            vec!["answer".to_owned()],
        )
    };
    model::CAPITALS.iter().map(row).collect()
}

/// Starts the server, and configures dspy-rs to use it.
pub(crate) async fn start() -> anyhow::Result<Server> {
    let server = Server::start(model::reply).await?;
    configure(&server).await?;
    Ok(server)
}

/// Configures dspy-rs to use a server.
pub(crate) async fn configure(server: &Server) -> anyhow::Result<()> {
    let lm = LM::builder()
        .base_url(server.url())
        .model("local".to_owned())
        .build()
        .await?;
    dspy_rs::configure(lm, ChatAdapter);
    Ok(())
}

/// A compiled program, and how it was compiled.
pub(crate) struct Compiled {
    /// The instruction of its predictor.
    pub(crate) instruction: String,
    /// What the metric returned.
    pub(crate) report: MetricReport,
    /// The requests that the server received.
    pub(crate) received: Vec<Received>,
}

impl Compiled {
    pub(crate) fn new<T: Metric>(module: Measured<Qa, T>, server: &Server) -> Self {
        let report = module.report();
        let instruction = module.into_module().answer.get_signature().instruction();
        Self {
            instruction,
            report,
            received: server.received(),
        }
    }

    /// Prints the instruction, and the headline of each evaluation.
    pub(crate) fn print(&self) {
        println!("\ninstruction: {}", self.instruction);
        for evaluation in &self.report.evaluations {
            println!("evaluation: {}", self.report.headline(evaluation));
        }
        println!(
            "all calls: {} ({} requests)",
            self.report,
            self.received.len()
        );
        for line in self.feedback() {
            println!("feedback that the model received: {line}");
        }
    }

    /// Returns the feedback of the metric in the first prompt for a reflection, if the optimizer sent one.
    pub(crate) fn feedback(&self) -> Vec<String> {
        let mut reflections = self
            .received
            .iter()
            .filter(|it| it.has_output("reflection"));
        let prompt = reflections.next().map(Received::prompt).unwrap_or_default();
        let lines = prompt
            .lines()
            .filter_map(|line| line.strip_prefix("Feedback: "));
        lines.map(str::to_owned).collect()
    }
}
