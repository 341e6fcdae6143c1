//! Metrics of tool calls: parameters that match their JSON Schema, and calls that were made before.

#[cfg(feature = "schema")]
mod tool_params_schema;
mod was_repeated;

#[cfg(feature = "schema")]
pub use tool_params_schema::{InvalidSchema, ToolParamsSchema, ToolSchemas, tool_params_schema};
pub use was_repeated::{WasRepeated, was_repeated};
