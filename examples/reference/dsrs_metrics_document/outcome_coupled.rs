//! "Outcome-Coupled Scoring": the formula, the labels, and the use as the objective of an optimizer.

use dsrs_metrics::metrics::OutcomeCoupled;
use dsrs_metrics::outcome_coupled::{
    OutcomeCoupledLabels, OutcomeCoupledScorer, StepOutcome, ToolResultRecord,
    load_jsonl_with_labels,
};
use dsrs_metrics::prelude::*;
use dsrs_metrics::{
    Evaluate,
    runs::{Module, ProgramError},
};

use crate::Result;

pub(super) async fn run() -> Result {
    formula()?;
    labels()?;
    optimization().await
}

/// "Implementation": `0.4 * utility + 0.3 * repetition + 0.2 * verification + 0.1 * schema`.
fn formula() -> Result {
    let scorer = OutcomeCoupledScorer::default();
    let record = ToolResultRecord {
        step_utility: 1.0,
        was_repeated: false,
        verification_delta: 0,
        params_valid: true,
    };
    assert_eq!(scorer.score(&record)?, 0.9);
    let worst = ToolResultRecord {
        step_utility: -1.0,
        was_repeated: true,
        verification_delta: -2,
        params_valid: false,
    };
    assert_eq!(scorer.score(&worst)?, 0.0);
    let best = ToolResultRecord {
        step_utility: 1.0,
        was_repeated: false,
        verification_delta: 3,
        params_valid: true,
    };
    assert_eq!(scorer.score(&best)?, 1.0);
    Ok(())
}

/// "Training Data Labels": serialized and read again.
fn labels() -> Result {
    let step = StepOutcome {
        step_utility: 0.5,
        tests_before: 3,
        tests_after: 4,
        was_repeated: false,
        params_valid: true,
    };
    let labels = OutcomeCoupledScorer::default().label(&step)?;
    labels.check(Some(1), Some(0.9))?;
    let json = serde_json::to_string(&labels)?;
    assert_eq!(serde_json::from_str::<OutcomeCoupledLabels>(&json)?, labels);
    Ok(())
}

/// A candidate of an optimizer: it assesses the same steps with another instruction.
struct Candidate {
    utility: f64,
}

#[async_trait]
impl Module for Candidate {
    async fn forward(&self, _: Example) -> Result<Prediction, ProgramError> {
        Ok(prediction! {
            "step_utility" => self.utility, "was_repeated" => false, "params_valid" => true, "verification_delta" => 1,
        })
    }
}

/// "Usage in Optimization": candidates are selected by their outcome-coupled scores.
async fn optimization() -> Result {
    let folder =
        std::env::temp_dir().join(format!("dsrs-metrics-tool-calls-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("tool_calls.jsonl");
    std::fs::write(
        &file,
        r#"{"tool": "edit", "step_utility": 1, "tests_before": 3, "tests_after": 3, "was_repeated": false, "params_valid": true}"#,
    )?;
    // Training examples include outcome labels
    let examples = load_jsonl_with_labels(&file).await?;
    std::fs::remove_dir_all(folder)?;
    assert_eq!(examples[0].labels.outcome_score, 0.9);

    let devset: Vec<Example> = examples
        .into_iter()
        .map(|example| example.pair.gold)
        .collect();
    let evaluate = Evaluate::builder()
        .devset(devset)
        .inputs(["tool"])
        .metric(OutcomeCoupled::default());
    let evaluate = evaluate.build()?;
    let mut best = (0.0, 0.0);
    for utility in [-1.0, 0.5, 0.0] {
        let score = evaluate
            .run(Candidate { utility })
            .await?
            .score
            .ok_or("no score")?;
        if score > best.0 {
            best = (score, utility);
        }
    }
    assert_eq!((format!("{:.2}", best.0), best.1), ("0.90".to_owned(), 0.5));
    Ok(())
}
