//! Two systems answer 142 questions about museums, archives and libraries. Three metrics and a judge show which
//! system is better, whether the difference is more than chance, and which questions it loses.
//!
//! ```sh
//! cargo run --example quickstart
//! ```
//!
//! The last line names the HTML report, in which each row is shown with both answers.
//!
//! The answers are recorded, so no key is needed: `Recorded` takes the place of your own program. The judge is called
//! only if the intent was recognized. `.offline()` asks it to score by token overlap instead of a model, and the headline
//! states this; `.with_lm(..)` takes its place in a program of yours.

use std::collections::HashMap;
use std::error::Error;
use std::fs;

use dsrs_metrics::composite::{Composite, CompositeError, component, gate};
use dsrs_metrics::data::DataReader;
use dsrs_metrics::judge::shipped::SemanticEquivalence;
use dsrs_metrics::prelude::*;
use dsrs_metrics::results::{Comparison, HtmlReport, Results};
use dsrs_metrics::text::em;
use dsrs_metrics::{
    Evaluate,
    rows::Pair,
    runs::{EvaluationResult, Module, ProgramError},
};

/// Passes if the intent of the question was recognized, ignoring case.
#[metric]
fn intent_accuracy(#[gold] expected_intent: &str, #[pred] intent: &str) -> bool {
    expected_intent.trim().eq_ignore_ascii_case(intent.trim())
}

/// Passes if the answer is an accepted one, ignoring case, articles and punctuation.
#[metric]
fn answer_correct(#[gold("answer")] accepted: &[String], #[pred] answer: &str) -> bool {
    !answer.is_empty() && em(answer, accepted).unwrap_or(false)
}

/// F1 of the cited sources against the sources that support the answer.
///
/// Abstains if there are no sources on either side.
#[metric(threshold = 0.8, range = 0.0..=1.0)]
fn source_f1(
    #[gold] sources: &[String],
    #[pred] sources_used: &[String],
) -> Option<FeedbackMetric> {
    let missing: Vec<_> = sources
        .iter()
        .filter(|source| !sources_used.contains(source))
        .collect();
    let invented = sources_used
        .iter()
        .filter(|source| !sources.contains(source))
        .count();
    let cited = sources.len() - missing.len();
    let total = sources.len() + sources_used.len();
    let score = 2.0 * cited as f64 / total as f64;
    let feedback = format!(
        "{cited} of {} sources cited, {invented} not in support; missing: {missing:?}",
        sources.len()
    );
    (total > 0).then(|| FeedbackMetric::new(score, feedback))
}

/// The judge is expensive, so it is called only for rows that pass a cheap metric. Here it is asked to score by token
/// overlap, because this program has no language model.
fn answer_means_the_same() -> Result<Composite, CompositeError> {
    let judge = SemanticEquivalence::builder().offline().build();
    let judged = gate([component(IntentAccuracy)], 1.0, [component(judge)]);
    Composite::builder("answer_means_the_same", judged).build()
}

/// A program that looks up recorded answers by the question.
struct Recorded {
    answers: HashMap<String, Prediction>,
}

#[async_trait]
impl Module for Recorded {
    async fn forward(&self, inputs: Example) -> Result<Prediction, ProgramError> {
        let question = inputs
            .get("question")
            .and_then(|question| question.as_str());
        let question = question.ok_or("the row has no question")?;
        let answer = self.answers.get(question).ok_or("no answer was recorded")?;
        Ok(answer.clone())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let [baseline, tuned] = [run("baseline").await?, run("tuned").await?];
    println!("baseline\n{baseline}\n\ntuned\n{tuned}\n");

    // Both runs have the same questions, so each row is compared with itself.
    let [a, b] = [Results::of(&baseline)?, Results::of(&tuned)?];
    let [a, b] = [a.with_name("baseline"), b.with_name("tuned")];
    let comparison = Comparison::of(&a, &b)?;
    let correct = comparison
        .metric("answer_correct")
        .ok_or("the metric was not compared")?;
    println!("A: baseline, B: tuned\n{}\n", correct.sentence());
    print_regressions(&baseline, &tuned);

    fs::create_dir_all("target")?;
    HtmlReport::comparison(&a, &b)
        .title("Quickstart")
        .write(REPORT)?;
    println!("\nEach row, with both answers: {REPORT}");
    Ok(())
}

/// The report, in the folder in which the program is run.
const REPORT: &str = "target/quickstart.html";

async fn run(system: &str) -> Result<EvaluationResult, Box<dyn Error>> {
    let pairs = read(system)?;
    let question = |pair: &Pair| pair.gold.get("question")?.as_str().map(str::to_owned);
    let answers = pairs
        .iter()
        .filter_map(|pair| Some((question(pair)?, pair.pred.clone())));
    let program = Recorded {
        answers: answers.collect(),
    };
    let devset = pairs.into_iter().map(|pair| pair.gold);

    let evaluate = Evaluate::builder()
        .devset(devset)
        .inputs(["question"])
        .metric(AnswerCorrect)
        .metric(IntentAccuracy)
        .metric(SourceF1)
        .metric(answer_means_the_same()?)
        .display_progress(true)
        .build()?;
    Ok(evaluate.run(program).await?)
}

fn read(system: &str) -> Result<Vec<Pair>, Box<dyn Error>> {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/data/heritage");
    let pairs = DataReader::new().read([format!("{data}/heritage.{system}.jsonl")])?;
    Ok(pairs.collect::<Result<_, _>>()?)
}

/// Prints questions that became worse, which the mean does not show.
fn print_regressions(baseline: &EvaluationResult, tuned: &EvaluationResult) {
    let rows = baseline.results.iter().zip(&tuned.results);
    let lost = rows.filter(|(before, after)| before.score() > after.score());
    let questions: Vec<_> = lost
        .filter_map(|(row, _)| row.gold.get("question")?.as_str())
        .collect();
    println!(
        "{} questions that only the baseline answers, such as",
        questions.len()
    );
    questions
        .iter()
        .take(3)
        .for_each(|question| println!("  {question}"));
}
