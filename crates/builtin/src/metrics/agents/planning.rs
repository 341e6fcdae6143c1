//! Scores the form of a plan, which is a list of subtasks.

use serde_json::Value;

use super::{check_each, ensure, json_list, present};
use crate::contract::Unscored;
use crate::contract::weights::check;
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
/// This metric uses the formula for `subtask_planning_metric` in the `dsrs` document, with three corrections. An empty
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
    let subtasks = json_list("subtasks", subtasks)?.and_then(|subtasks| {
        let is_empty = || "`subtasks` is an empty list".to_owned();
        ensure(!subtasks.is_empty(), is_empty).map(|()| subtasks)
    });
    let check = |check: &dyn Fn(&Value) -> Result<(), String>| match &subtasks {
        Ok(subtasks) => check_each("subtask", subtasks, check),
        Err(_) => Err(String::new()),
    };
    let has = |list: &[String], action: &str| list.iter().any(|it| it == action);
    let needs_path = |action: &str| has(&file_actions, action) || !has(&actions, action);
    let of_fields = check(&has_fields);
    let of_actions = check(&|subtask| known_action(subtask, &actions));
    let of_targets = check(&|subtask| valid_target(subtask, &needs_path, &bare_names));
    let of_instructions = check(&|subtask| actionable(subtask, &verbs));
    let checks = [
        ("subtasks", subtasks.and(of_fields)),
        ("actions", of_actions),
        ("targets", of_targets),
        ("instructions", of_instructions),
    ];
    Breakdown::of_checks(weights, checks)
}

requires_valid! {
    SubtaskPlanning: |metric| check(&metric.weights);
}

fn words(list: &str) -> Vec<String> {
    list.split_whitespace().map(str::to_owned).collect()
}

fn has_fields(subtask: &Value) -> Result<(), String> {
    let subtask = subtask.as_object().ok_or("it is not an object")?;
    for field in ["id", "action", "target", "instruction"] {
        let value = subtask.get(field);
        present(field, value.filter(|it| !it.is_null() || field == "target"))?;
    }
    Ok(())
}

fn known_action(subtask: &Value, actions: &[String]) -> Result<(), String> {
    let action = text(subtask, "action").ok_or("its `action` is not a string")?;
    ensure(actions.iter().any(|known| known == action), || {
        let known = actions.join(", ");
        format!("unknown action {action:?}; expected one of {known}")
    })
}

fn valid_target(
    subtask: &Value,
    needs_path: &dyn Fn(&str) -> bool,
    bare_names: &[String],
) -> Result<(), String> {
    if !needs_path(text(subtask, "action").unwrap_or_default()) {
        return Ok(());
    }
    let target = text(subtask, "target").ok_or("its `target` is not a string")?;
    ensure(is_path(target, bare_names), || {
        format!("its target {target:?} is not a path")
    })
}

fn is_path(target: &str, bare_names: &[String]) -> bool {
    let has_valid_chars = !target.chars().any(|c| c.is_whitespace() || c.is_control());
    let looks_like_path =
        target.contains(['/', '\\', '.']) || bare_names.iter().any(|name| name == target);
    has_valid_chars && looks_like_path && !target.contains("://")
}

fn actionable(subtask: &Value, verbs: &[String]) -> Result<(), String> {
    let instruction = text(subtask, "instruction").ok_or("its `instruction` is not a string")?;
    let words = instruction.trim_start_matches(|c: char| !c.is_alphabetic());
    let first = words.split_whitespace().next();
    let first = first.ok_or("its instruction contains no word")?;
    let text = Searchable::new(words, false, true);
    let starts_with_verb = verbs.iter().any(|verb| text.starts_with(verb));
    ensure(verbs.is_empty() || starts_with_verb, || {
        format!("its instruction starts with {first:?}, which is not a known verb")
    })
}

fn text<'a>(subtask: &'a Value, field: &str) -> Option<&'a str> {
    subtask.get(field).and_then(Value::as_str)
}

const BARE_NAMES: &str = "BUILD CHANGELOG CODEOWNERS COPYING Dockerfile Gemfile Jenkinsfile Justfile LICENSE Makefile \
    NOTICE Procfile README Rakefile Vagrantfile WORKSPACE justfile makefile";

/// Verbs that instructions to a coding agent start with.
const VERBS: &str = "add adjust analyse analyze append apply benchmark build call change check clean commit \
    compare compile configure confirm convert copy create debug define delete deploy disable \
    document download edit enable ensure examine execute explore export extend extract fetch \
    find fix format generate grep handle identify implement import improve initialize insert \
    inspect install introduce investigate list load locate look make merge migrate modify move \
    open optimize parse print query read refactor remove rename replace reproduce revert review \
    rewrite run save scan search set show simplify split start stop test understand update \
    upgrade use validate verify view wrap write";
