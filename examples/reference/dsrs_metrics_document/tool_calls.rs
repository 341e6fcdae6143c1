//! "ToolParamsSchemaMetric" and "WasRepeatedMetric". "VerificationDeltaMetric" is with the other sandbox metrics.

use std::sync::Arc;

use dsrs_metrics::metrics::{ToolParamsSchema, ToolSchemas, WasRepeated};
use dsrs_metrics::prelude::*;
use serde_json::{Value, json};

use crate::Result;

/// The document's trait of tools.
trait RlmTool {
    fn name(&self) -> &'static str;
    fn args_schema(&self) -> Value;
}

struct ReadFile;

impl RlmTool for ReadFile {
    fn name(&self) -> &'static str {
        "read_file"
    }

    fn args_schema(&self) -> Value {
        json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] })
    }
}

pub(super) async fn run() -> Result {
    tool_params_schema().await?;
    was_repeated().await
}

async fn tool_params_schema() -> Result {
    let tools: [Arc<dyn RlmTool>; 1] = [Arc::new(ReadFile)];
    let schemas: Vec<(&str, Value)> = tools
        .iter()
        .map(|tool| (tool.name(), tool.args_schema()))
        .collect();
    let schemas = ToolSchemas::new(schemas.iter().map(|(name, schema)| (*name, schema)))?;
    let metric = ToolParamsSchema::builder().schemas(schemas).build();
    assert_eq!(
        (metric.tier(), metric.cost_estimate()),
        (MetricTier::Proxy, 0)
    );

    let input = example! {};
    let valid = metric
        .evaluate(
            &input,
            &prediction! { "tool" => "read_file", "params" => json!({ "path": "a.rs" }) },
        )
        .await?;
    assert_eq!((valid.value, valid.confidence), (1.0, 1.0));
    assert_eq!(
        valid.details.as_deref(),
        Some("Tool: read_file, Params valid: true")
    );
    let invalid = metric
        .evaluate(
            &input,
            &prediction! { "tool" => "read_file", "params" => json!({ "path": 5 }) },
        )
        .await?;
    assert_eq!(invalid.value, 0.0);
    assert!(
        invalid
            .details
            .is_some_and(|details| details.starts_with("Tool: read_file, Params valid: false"))
    );
    // "Unknown tool", and a call without a tool.
    assert_eq!(
        metric
            .evaluate(
                &input,
                &prediction! { "tool" => "write_file", "params" => json!({}) }
            )
            .await?
            .value,
        0.0
    );
    assert_eq!(
        metric
            .evaluate(&input, &prediction! { "params" => json!({}) })
            .await?
            .value,
        0.0
    );
    Ok(())
}

async fn was_repeated() -> Result {
    let input = example! { "execution_history" => [json!({ "tool": "read_file", "params": { "path": "a.rs", "line": 1 } })] };
    let again =
        prediction! { "tool" => "read_file", "params" => json!({ "line": 1, "path": "a.rs" }) };
    let score = WasRepeated.evaluate(&input, &again).await?;
    assert_eq!(score.value, 0.0);
    assert!(
        score
            .details
            .is_some_and(|details| details.starts_with("Was repeated: true"))
    );
    let other = prediction! { "tool" => "read_file", "params" => json!({ "path": "b.rs" }) };
    let score = WasRepeated.evaluate(&input, &other).await?;
    assert_eq!(
        (score.value, score.details.as_deref()),
        (1.0, Some("Was repeated: false"))
    );
    // Without a history nothing is repeated.
    assert_eq!(WasRepeated.evaluate(&example! {}, &again).await?.value, 1.0);
    Ok(())
}
