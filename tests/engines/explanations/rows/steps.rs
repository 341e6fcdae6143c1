//! Rows of the metrics of outputs, steps of agents, and programs.

use dsrs_metrics::metrics as m;
use dsrs_metrics::metrics::{DiffStrictness, FileSource, ToolSchemas};
use dsrs_metrics::prelude::*;
use serde_json::{Value, json};

use super::{gold, pred};
use crate::explanations::{Case, case};

pub(super) fn format() -> Vec<Case> {
    let museum = json!({ "name": "Louvre", "address": { "city": "Paris" }, "floors": 3 });
    let answer = json!({ "name": "Louvre", "address": { "city": "Lyon" }, "river": "Rhône" });
    let tree = m::Diff::builder().strictness(DiffStrictness::Exact).build();
    vec![
        case(
            m::JsonFieldAccuracy::default(),
            gold(museum),
            pred(answer),
            "1 of 3 fields correct; wrong: `/address/city` (expected the string \"Paris\", found the string \"Lyon\"), `/floors` (expected the number 3, found nothing)",
        ),
        case(
            m::Format::builder()
                .required_fields(["name", "age"])
                .build(),
            example! {},
            pred(r#"{"name": "Ada"}"#),
            "the output lacks the fields `age`",
        ),
        case(
            m::Keyword::builder()
                .required(["function", "return"])
                .forbidden(["TODO"])
                .build(),
            example! {},
            pred("function f() {} // TODO"),
            "forbidden: \"TODO\"; missing: \"return\"",
        ),
        case(
            m::Length::builder().min_chars(10).build(),
            example! {},
            pred("Paris"),
            "expected at least 10 characters, found 5",
        ),
        case(
            m::Syntax::default(),
            example! {},
            pred("f(a]"),
            "line 1, column 4: `]` does not match `(` on line 1",
        ),
        case(
            tree,
            gold("one\ntwo"),
            pred("one\nthree"),
            "--- expected\n+++ answer\n one\n-two\n+three",
        ),
    ]
}

pub(super) fn agents() -> Vec<Case> {
    let read = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let schemas = ToolSchemas::new([("read", &read)]).unwrap();
    let call = |params: Value| prediction! { "tool" => "read", "params" => params };
    let history = [json!({ "tool": "read", "params": { "path": "a.rs" } })];
    let plan = || {
        let subtask = json!({ "id": 1, "action": "fly", "target": "src/lib.rs", "instruction": "Add a test" });
        prediction! {
            "subtasks" => [subtask], "success" => true, "summary" => "Added a test of the parser",
            "modified_files" => ["src/lib.rs"], "confidence" => 95,
        }
    };
    vec![
        case(
            m::ToolParamsSchema::builder().schemas(schemas).build(),
            example! {},
            call(json!({ "path": 5 })),
            "Tool: read, Params valid: false",
        ),
        case(
            m::WasRepeated,
            example! { "execution_history" => history },
            call(json!({ "path": "a.rs" })),
            "Was repeated: true",
        ),
        case(
            m::SubtaskPlanning::default(),
            example! {},
            plan(),
            "subtasks 1, weight 0.25; actions 0, weight 0.25: subtask 1: unknown action \"fly\"; expected one of read, edit, bash; targets 1, weight 0.25; instructions 1, weight 0.25",
        ),
        case(
            m::SubtaskExecution::default(),
            example! {},
            prediction! { "result" => r#"{"command": "ls"}"#, "reasoning" => "short" },
            "result 1, weight 0.33; edit_or_command 1, weight 0.33; reasoning 0, weight 0.34: `reasoning`: expected at least 20 characters, found 5",
        ),
        case(
            m::Synthesis::default(),
            example! {},
            plan(),
            "success 1, weight 0.25; summary 1, weight 0.25; modified_files 1, weight 0.25; confidence 0, weight 0.25: `confidence`: expected a number in 0..=1, found the number 95",
        ),
        case(
            m::ToolStepUtility::default(),
            example! {},
            prediction! {
                "step_utility" => -0.5, "should_continue" => true, "next_action_hint" => "Read the test", "confidence" => 0.7,
            },
            "step_utility 0, weight 0.25: `step_utility`: expected a number in 0..=1, found the number -0.5; should_continue 1, weight 0.25; next_action_hint 1, weight 0.25; confidence 1, weight 0.25",
        ),
        case(
            m::Combined,
            example! {},
            plan(),
            "subtask_planning (0.75): subtask 1: unknown action \"fly\"; expected one of read, edit, bash\nsynthesis (0.75): `confidence`: expected a number in 0..=1, found the number 95",
        ),
        case(
            m::OutcomeCoupled::default(),
            example! {},
            prediction! {
                "step_utility" => 0.5, "was_repeated" => true, "verification_delta" => 0, "params_valid" => true,
            },
            "step_utility 0.75, weight 0.4: the step's utility is 0.5; not_repeated 0, weight 0.3: the same call was made before; verification 0.5, weight 0.2: the number of passing tests is unchanged; params_valid 1, weight 0.1",
        ),
    ]
}

pub(in crate::explanations) fn sandboxed() -> Vec<Case> {
    let before = || example! { "tests_passing" => 3 };
    let unittest = "echo 'Ran 2 tests'; echo '1 passed, 1 failed'; exit 1";
    vec![
        case(
            m::Sandbox::builder()
                .command("echo 'no file' >&2; exit 2")
                .build(),
            example! {},
            prediction! {},
            "exit code 2, expected 0\nno file",
        ),
        case(
            m::TestPass::builder()
                .command(unittest)
                .file("it.py", FileSource::Text("pass".to_owned()))
                .build(),
            example! {},
            prediction! {},
            "1 passed, 1 failed, 0 skipped; exit code 1, expected 0\nRan 2 tests\n1 passed, 1 failed",
        ),
        case(
            m::VerificationDelta::builder().command(unittest).build(),
            before(),
            prediction! {},
            "Tests before: 3, after: 1, delta: -2",
        ),
    ]
}

pub(super) fn program() -> Vec<Case> {
    let run = || {
        prediction! { "latency_s" => 1.5, "input_tokens" => 120, "output_tokens" => 8, "cost_msats" => 40 }
    };
    vec![
        case(m::Latency, example! {}, run(), "1.5 s"),
        case(
            m::Tokens,
            example! {},
            run(),
            "120 prompt tokens and 8 reply tokens",
        ),
        case(m::Cost, example! {}, run(), "40 msat"),
    ]
}
