//! Metrics of tool calls: whether the parameters match the JSON Schema, and whether the call is a
//! repetition.

#[cfg(feature = "schema")]
mod schema_graph;
#[cfg(feature = "schema")]
mod schema_work;
#[cfg(feature = "schema")]
mod tool_params_schema;
mod was_repeated;

#[cfg(feature = "schema")]
pub use tool_params_schema::{InvalidSchema, ToolParamsSchema, ToolSchemas, tool_params_schema};
pub use was_repeated::{WasRepeated, was_repeated};
