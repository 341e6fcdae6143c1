//! The form of a plan: a list of subtasks.

use serde_json::Value;

use super::{first_failure, json_field, missing};
use crate::contract::weights::check;
use crate::contract::{Unscored, Weights};
use crate::metric;
use crate::metrics::breakdown::Breakdown;
use crate::text::Searchable;

/// Scores how well a plan's subtasks can be executed.
///
/// The metric makes four checks, weighted 0.25 each.
///
/// The score is in [0, 1]. A check scores 1 if every subtask passes it, and 0 otherwise.
///
/// The metric reads the plan from `pred.subtasks`. The plan is a list, or a string that contains a list as JSON.
///
/// - `subtasks`: `pred.subtasks` is a non-empty list of objects with `id`, `action`, `target` and `instruction`. Only
///   `target` can be `null`.
/// - `actions`: each `action` is exactly one of `actions`.
/// - `targets`: each `target` is a path, unless its action is in `actions` but not in `file_actions`. A path contains
///   `/`, `\` or `.`, or is one of `bare_names`. A path contains no whitespace, control characters or `://`.
/// - `instructions`: each `instruction` starts with one of `verbs` as a whole word. Case and any leading digits and
///   punctuation are ignored. If `verbs` is empty, any string that contains a letter passes.
///
/// This metric uses the formula of `subtask_planning_metric` in the `dsrs` document, with three corrections. An empty
/// plan scores 0 instead of 0.25. "Address" does not start with the verb "add". `Makefile` is a path.
///
/// A missing or invalid plan scores 0. The row fails if its JSON is nested deeper than 127 levels.
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
    #[pred(missing)] subtasks: Option<&Value>,
    /// The weights of the checks `subtasks`, `actions`, `targets` and `instructions`.
    #[param(default = [0.25, 0.25, 0.25, 0.25])]
    weights: [f64; 4],
    /// The valid actions.
    #[param(default = words("read edit bash"))]
    actions: Vec<String>,
    /// The actions whose target is a file.
    #[param(default = words("read edit"))]
    file_actions: Vec<String>,
    /// File names without an extension.
    #[param(default = words(BARE_NAMES))]
    bare_names: Vec<String>,
    /// The verbs that an instruction can start with. The default is a list of English verbs. If empty, an instruction
    /// can start with any word.
    #[param(default = words(VERBS))]
    verbs: Vec<String>,
) -> Result<Breakdown, Unscored> {
    let weights = Weights::new(weights).map_err(Unscored::because)?;
    let Some(subtasks) = subtasks else {
        return Ok(invalid_plan(weights, missing("subtasks")));
    };
    let plan = match json_field("subtasks", subtasks)? {
        Ok(plan) => plan,
        Err(reason) => return Ok(invalid_plan(weights, reason)),
    };
    let subtasks = match plan.as_array().map(Vec::as_slice) {
        None => return Ok(invalid_plan(weights, "`subtasks` is not a list".to_owned())),
        Some([]) => {
            return Ok(invalid_plan(
                weights,
                "`subtasks` is an empty list".to_owned(),
            ));
        }
        Some(subtasks) => subtasks,
    };
    let is_unknown = |action: &str| !actions.iter().any(|known| known == action);
    let needs_path =
        |action: &str| is_unknown(action) || file_actions.iter().any(|it| it == action);
    let check =
        |check: &dyn Fn(&Value) -> Option<String>| first_failure("subtask", subtasks, check);
    let of_actions = check(&|subtask| unknown_action(subtask, &actions));
    let of_targets = check(&|subtask| invalid_target(subtask, &needs_path, &bare_names));
    let of_instructions = check(&|subtask| invalid_instruction(subtask, &verbs));
    Ok(Breakdown::of_checks(
        weights,
        [
            ("subtasks", check(&missing_field)),
            ("actions", of_actions),
            ("targets", of_targets),
            ("instructions", of_instructions),
        ],
    ))
}

requires_valid! {
    SubtaskPlanning: |metric| check(&metric.weights);
}

fn words(list: &str) -> Vec<String> {
    list.split_whitespace().map(str::to_owned).collect()
}

/// Returns a breakdown whose four checks all fail for the same reason.
fn invalid_plan(weights: Weights<4>, reason: String) -> Breakdown {
    let failed = (0.0, None);
    let subtasks = ("subtasks", (0.0, Some(reason)));
    Breakdown::new(
        weights,
        [
            subtasks,
            ("actions", failed.clone()),
            ("targets", failed.clone()),
            ("instructions", failed),
        ],
    )
}

fn missing_field(subtask: &Value) -> Option<String> {
    let Some(subtask) = subtask.as_object() else {
        return Some("it is not an object".to_owned());
    };
    let has = |field: &&&str| match subtask.get(**field) {
        Some(Value::Null) => **field == "target",
        value => value.is_some(),
    };
    let fields = ["id", "action", "target", "instruction"];
    let absent = fields.iter().find(|field| !has(field));
    absent.map(|field| missing(field))
}

fn unknown_action(subtask: &Value, actions: &[String]) -> Option<String> {
    let Some(action) = text(subtask, "action") else {
        return Some("its `action` is not a string".to_owned());
    };
    let is_known = actions.iter().any(|known| known == action);
    let known = || actions.join(", ");
    (!is_known).then(|| format!("unknown action {action:?}; expected one of {}", known()))
}

fn invalid_target(
    subtask: &Value,
    needs_path: &dyn Fn(&str) -> bool,
    bare_names: &[String],
) -> Option<String> {
    if !needs_path(text(subtask, "action").unwrap_or_default()) {
        return None;
    }
    match text(subtask, "target") {
        Some(target) if is_path(target, bare_names) => None,
        Some(target) => Some(format!("its target {target:?} is not a path")),
        None => Some("its `target` is not a string".to_owned()),
    }
}

fn is_path(target: &str, bare_names: &[String]) -> bool {
    let has_valid_chars = !target.chars().any(|c| c.is_whitespace() || c.is_control());
    let looks_like_path =
        target.contains(['/', '\\', '.']) || bare_names.iter().any(|name| name == target);
    has_valid_chars && looks_like_path && !target.contains("://")
}

fn invalid_instruction(subtask: &Value, verbs: &[String]) -> Option<String> {
    let Some(instruction) = text(subtask, "instruction") else {
        return Some("its `instruction` is not a string".to_owned());
    };
    let words = instruction.trim_start_matches(|c: char| !c.is_alphabetic());
    if words.is_empty() {
        return Some("its instruction contains no word".to_owned());
    }
    let first = words.split_whitespace().next().unwrap_or(words);
    let starts_with_verb = |text: &Searchable<'_>| verbs.iter().any(|verb| text.starts_with(verb));
    let is_actionable = verbs.is_empty() || starts_with_verb(&Searchable::new(words, false, true));
    (!is_actionable)
        .then(|| format!("its instruction starts with {first:?}, which is not a known verb"))
}

fn text<'a>(subtask: &'a Value, field: &str) -> Option<&'a str> {
    subtask.get(field).and_then(Value::as_str)
}

const BARE_NAMES: &str = "BUILD CHANGELOG CODEOWNERS COPYING Dockerfile Gemfile Jenkinsfile Justfile LICENSE Makefile \
    NOTICE Procfile README Rakefile Vagrantfile WORKSPACE justfile makefile";

/// Verbs that start instructions to a coding agent.
const VERBS: &str = "add adjust analyse analyze append apply benchmark build call change check clean commit \
    compare compile configure confirm convert copy create debug define delete deploy disable \
    document download edit enable ensure examine execute explore export extend extract fetch \
    find fix format generate grep handle identify implement import improve initialize insert \
    inspect install introduce investigate list load locate look make merge migrate modify move \
    open optimize parse print query read refactor remove rename replace reproduce revert review \
    rewrite run save scan search set show simplify split start stop test understand update \
    upgrade use validate verify view wrap write";
