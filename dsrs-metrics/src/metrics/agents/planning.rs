//! Whether a plan is a list of subtasks that can be carried out.
#![allow(
    clippy::needless_pass_by_value,
    reason = "a parameter is held for the call and passed on as it was read"
)]

use serde_json::Value;

use super::checks::{Given, first_fault, missing};
use crate::core::requirements::{Requirement, Requires};
use crate::core::weights::Weights;
use crate::metric;
use crate::metrics::breakdown::{Breakdown, need_weights};
use crate::metrics::check::Unscored;
use crate::text::Searchable;

/// Whether a plan is a list of subtasks that can be carried out: four checks, a quarter each.
///
/// In [0, 1]; a check counts in full if every subtask passes it, else nothing. `pred.subtasks` is a list, or a text that holds one as
/// JSON.
///
/// - `subtasks`: it is a list, not empty, of objects with `id`, `action`, `target` and `instruction`, none of them `null` but
///   `target`;
/// - `actions`: each `action` is one of `actions`, letter for letter;
/// - `targets`: each `target` is a path, unless its action is one of `actions` and not of `file_actions`. A path has no white
///   space, no control character and no `://`, and either a `/`, `\` or `.`, or it is one of `bare_names`;
/// - `instructions`: each `instruction` begins with one of `verbs` as a whole word, in any case; signs and digits before it are passed
///   over. Without `verbs` any text with a letter will do.
///
/// The formula is that of the `dsrs` document, `subtask_planning_metric`. What it leaves open, or its project gets wrong, is
/// decided here: an empty plan is worth 0 and not a quarter, "Address" does not begin with the verb "add", `Makefile` is a path.
/// A row without `subtasks` is an error, and so is JSON nested deeper than 127 levels; anything else that is no plan is 0.
///
/// ```
/// use dsrs_metrics::metrics::SubtaskPlanning;
/// use dsrs_metrics::prelude::*;
///
/// # fn main() -> dsrs_metrics::Result<()> {
/// let plan = r#"[{"id": 1, "action": "edit", "target": "src/lib.rs", "instruction": "Add a test"},
///                {"id": 2, "action": "bash", "target": null, "instruction": "Please run it"}]"#;
/// let metric = SubtaskPlanning::default();
/// assert_eq!(metric.score(&example! {}, &prediction! { "subtasks" => plan })?.value, 0.75);
/// assert_eq!(metric.score(&example! {}, &prediction! { "subtasks" => "first, add a test" })?.value, 0.0);
/// # Ok(())
/// # }
/// ```
#[metric(range = 0.0..=1.0)]
pub fn subtask_planning(
    #[pred] subtasks: &Value,
    /// How much each check counts: subtasks, actions, targets, instructions.
    #[param(default = [0.25, 0.25, 0.25, 0.25])]
    weights: [f64; 4],
    /// The actions that there are.
    #[param(default = owned(&["read", "edit", "bash"]))]
    actions: Vec<String>,
    /// The actions whose target is a file.
    #[param(default = owned(&["read", "edit"]))]
    file_actions: Vec<String>,
    /// Names of files that have no extension.
    #[param(default = owned(BARE_NAMES))]
    bare_names: Vec<String>,
    /// The verbs with which an instruction begins; English ones if not given, any word if empty.
    #[param(default = owned(VERBS))]
    verbs: Vec<String>,
) -> Result<Breakdown, Unscored> {
    let weights = Weights::new(weights).map_err(Unscored::because)?;
    let plan = match Given::read("subtasks", subtasks)? {
        Given::Json(plan) => plan,
        Given::Text(reason) => return Ok(no_plan(weights, reason)),
    };
    let subtasks = match plan.as_array().map(Vec::as_slice) {
        None => return Ok(no_plan(weights, "`subtasks` is no list".to_owned())),
        Some([]) => return Ok(no_plan(weights, "`subtasks` is an empty list".to_owned())),
        Some(subtasks) => subtasks,
    };
    let is_unknown = |action: &str| !actions.iter().any(|known| known == action);
    let needs_path =
        |action: &str| is_unknown(action) || file_actions.iter().any(|it| it == action);
    let check = |fault: &dyn Fn(&Value) -> Option<String>| first_fault("subtask", subtasks, fault);
    Ok(Breakdown::of_checks(
        weights,
        [
            ("subtasks", check(&incomplete)),
            ("actions", check(&|subtask| unknown_action(subtask, &actions))),
            ("targets", check(&|subtask| no_target(subtask, &needs_path, &bare_names))),
            ("instructions", check(&|subtask| no_instruction(subtask, &verbs))),
        ],
    ))
}

impl Requires for SubtaskPlanning {
    fn requirements(&self, all: &mut Vec<Requirement>) {
        need_weights(Self::SPEC.name, &self.weights, all);
    }
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// All four checks fail, for one reason.
fn no_plan(weights: Weights<4>, reason: String) -> Breakdown {
    let none = (0.0, None);
    let subtasks = ("subtasks", (0.0, Some(reason)));
    Breakdown::new(
        weights,
        [subtasks, ("actions", none.clone()), ("targets", none.clone()), ("instructions", none)],
    )
}

fn incomplete(subtask: &Value) -> Option<String> {
    let Some(subtask) = subtask.as_object() else {
        return Some("it is no object".to_owned());
    };
    let has = |field: &&&str| match subtask.get(**field) {
        Some(Value::Null) => **field == "target",
        value => value.is_some(),
    };
    let fields = ["id", "action", "target", "instruction"];
    fields.iter().find(|field| !has(field)).map(|field| missing(field))
}

fn unknown_action(subtask: &Value, actions: &[String]) -> Option<String> {
    let Some(action) = text(subtask, "action") else {
        return Some("its `action` is no text".to_owned());
    };
    let is_known = actions.iter().any(|known| known == action);
    (!is_known).then(|| format!("its action {action:?} is none of {}", actions.join(", ")))
}

fn no_target(
    subtask: &Value,
    needs_path: &dyn Fn(&str) -> bool,
    bare_names: &[String],
) -> Option<String> {
    if !needs_path(text(subtask, "action").unwrap_or_default()) {
        return None;
    }
    match text(subtask, "target") {
        Some(target) if is_path(target, bare_names) => None,
        Some(target) => Some(format!("its target {target:?} is no path")),
        None => Some("its `target` is no text".to_owned()),
    }
}

fn is_path(target: &str, bare_names: &[String]) -> bool {
    let is_clean = !target.chars().any(|c| c.is_whitespace() || c.is_control());
    let looks_like_one =
        target.contains(['/', '\\', '.']) || bare_names.iter().any(|name| name == target);
    is_clean && looks_like_one && !target.contains("://")
}

fn no_instruction(subtask: &Value, verbs: &[String]) -> Option<String> {
    let Some(instruction) = text(subtask, "instruction") else {
        return Some("its `instruction` is no text".to_owned());
    };
    let words = instruction.trim_start_matches(|c: char| !c.is_alphabetic());
    if words.is_empty() {
        return Some("its instruction has no word".to_owned());
    }
    let first = words.split_whitespace().next().unwrap_or(words);
    let begins = |text: &Searchable<'_>| verbs.iter().any(|verb| text.starts_with(verb));
    let is_actionable = verbs.is_empty() || begins(&Searchable::new(words, false, true));
    (!is_actionable).then(|| format!("its instruction begins with {first:?}, which is no verb"))
}

fn text<'a>(subtask: &'a Value, field: &str) -> Option<&'a str> {
    subtask.get(field).and_then(Value::as_str)
}

const BARE_NAMES: &[&str] = &[
    "BUILD",
    "CHANGELOG",
    "CODEOWNERS",
    "COPYING",
    "Dockerfile",
    "Gemfile",
    "Jenkinsfile",
    "Justfile",
    "LICENSE",
    "Makefile",
    "NOTICE",
    "Procfile",
    "README",
    "Rakefile",
    "Vagrantfile",
    "WORKSPACE",
    "justfile",
    "makefile",
];

/// What instructions to a coding agent begin with.
const VERBS: &[&str] = &[
    "add",
    "adjust",
    "analyse",
    "analyze",
    "append",
    "apply",
    "benchmark",
    "build",
    "call",
    "change",
    "check",
    "clean",
    "commit",
    "compare",
    "compile",
    "configure",
    "confirm",
    "convert",
    "copy",
    "create",
    "debug",
    "define",
    "delete",
    "deploy",
    "disable",
    "document",
    "download",
    "edit",
    "enable",
    "ensure",
    "examine",
    "execute",
    "explore",
    "export",
    "extend",
    "extract",
    "fetch",
    "find",
    "fix",
    "format",
    "generate",
    "grep",
    "handle",
    "identify",
    "implement",
    "import",
    "improve",
    "initialize",
    "insert",
    "inspect",
    "install",
    "introduce",
    "investigate",
    "list",
    "load",
    "locate",
    "look",
    "make",
    "merge",
    "migrate",
    "modify",
    "move",
    "open",
    "optimize",
    "parse",
    "print",
    "query",
    "read",
    "refactor",
    "remove",
    "rename",
    "replace",
    "reproduce",
    "revert",
    "review",
    "rewrite",
    "run",
    "save",
    "scan",
    "search",
    "set",
    "show",
    "simplify",
    "split",
    "start",
    "stop",
    "test",
    "understand",
    "update",
    "upgrade",
    "use",
    "validate",
    "verify",
    "view",
    "wrap",
    "write",
];
