//! Harbor's Agent Trajectory Interchange Format, versions 1.0 to 1.7 and later 1.x.
//!
//! <https://github.com/harbor-framework/harbor/blob/main/rfcs/0001-trajectory-format.md>.

use serde_json::{Map, Value};

use super::call::Results;
use super::fields::{each, list, object, string, unexpected};
use super::{call, fields, messages};
use crate::messages::escape::name;
use crate::trajectory::{Subagent, SubagentTrajectory, Trajectory};

pub(super) fn read(mut root: Map<String, Value>) -> Result<Trajectory, String> {
    let steps = match root.remove("steps") {
        Some(Value::Array(steps)) => steps,
        Some(other) => return Err(unexpected("steps", "a list", &other)),
        None => return Err("an ATIF object without `steps`".to_owned()),
    };
    let total = fields::usage(&root, "final_metrics");
    let total = total.map_err(|reason| format!("`final_metrics`: {reason}"))?;
    let mut subagents = Subagents::read(root.remove("subagent_trajectories"))?;
    let mut to = Results::with_capacity(steps.len());
    each("step", steps, |step| {
        read_step(object(step)?, &mut to, &mut subagents)
    })?;
    Ok(Trajectory {
        messages: to.messages,
        total,
        subagents: subagents.all(),
    })
}

fn read_step(
    mut step: Map<String, Value>,
    to: &mut Results,
    subagents: &mut Subagents,
) -> Result<(), String> {
    let mut message = Map::new();
    for (key, of_message) in [
        ("source", "role"),
        ("message", "content"),
        ("tool_calls", "tool_calls"),
        ("metrics", "usage"),
    ] {
        message.extend(step.remove(key).map(|value| (of_message.to_owned(), value)));
    }
    messages::read(message, to)?;
    let results = match step.remove("observation") {
        Some(Value::Object(mut observation)) => observation.remove("results"),
        None | Some(Value::Null) => None,
        Some(other) => return Err(unexpected("observation", "an object", &other)),
    };
    for result in list("results", results)? {
        let mut result = object(result).map_err(|reason| format!("a result: {reason}"))?;
        let id = call::id(&result, "source_call_id")?;
        subagents.refer(result.remove("subagent_trajectory_ref"), id.as_deref())?;
        result.insert("role".to_owned(), "tool".into());
        result.insert("tool_call_id".to_owned(), id.into());
        messages::read(result, to)?;
    }
    Ok(())
}

/// The embedded trajectories of one document, and the references that have been read.
#[derive(Default)]
struct Subagents {
    /// The ids of all embedded trajectories. Each has its trajectory until a result refers to it.
    embedded: Vec<(Option<String>, Option<Trajectory>)>,
    referred: Vec<Subagent>,
}

impl Subagents {
    /// Reads `subagent_trajectories`.
    fn read(items: Option<Value>) -> Result<Self, String> {
        let items = list("subagent_trajectories", items)?;
        let mut all = Self::default();
        each("subagent trajectory", items, |item| {
            let mut item = object(item)?;
            let id = string(&mut item, "trajectory_id")?;
            if id.is_some() && all.embedded.iter().any(|(other, _)| *other == id) {
                return Err(format!(
                    "duplicate `trajectory_id` `{}`; give each trajectory a different id",
                    name(id.as_deref().unwrap_or_default())
                ));
            }
            all.embedded.push((id, Some(read(item)?)));
            Ok(())
        })?;
        Ok(all)
    }

    /// Reads a call result's `subagent_trajectory_ref`, which is one reference or a list of references.
    fn refer(&mut self, refs: Option<Value>, call: Option<&str>) -> Result<(), String> {
        let refs = match refs {
            None | Some(Value::Null) => return Ok(()),
            Some(Value::Array(refs)) => refs,
            Some(one) => vec![one],
        };
        refs.into_iter().try_for_each(|one| {
            // If several results refer to a trajectory, it belongs to the first of them.
            let trajectory = self.resolve(one);
            let trajectory =
                trajectory.map_err(|reason| format!("`subagent_trajectory_ref`: {reason}"))?;
            self.referred.extend(trajectory.map(|trajectory| Subagent {
                tool_call_id: call.map(str::to_owned),
                trajectory,
            }));
            Ok(())
        })
    }

    /// Returns the trajectory that a reference names, or `None` if another result already referred to it.
    fn resolve(&mut self, one: Value) -> Result<Option<SubagentTrajectory>, String> {
        let mut one = object(one)?;
        let id = string(&mut one, "trajectory_id")?;
        let path = string(&mut one, "trajectory_path")?;
        let session_id = string(&mut one, "session_id")?;
        let mut embedded = self.embedded.iter_mut().filter(|_| id.is_some());
        if let Some((_, embedded)) = embedded.find(|(other, _)| *other == id) {
            return Ok(embedded
                .take()
                .map(|trajectory| SubagentTrajectory::Embedded { trajectory }));
        }
        match (path, session_id, id) {
            (Some(path), ..) => Ok(Some(SubagentTrajectory::External { path })),
            (None, _, Some(id)) => Err(format!(
                "no trajectory in `subagent_trajectories` has the `trajectory_id` `{}`; add it, or write a `trajectory_path`",
                name(&id)
            )),
            // Valid until version 1.6.
            (None, Some(id), None) => {
                Ok(Some(SubagentTrajectory::External { path: format!("session {id}") }))
            }
            (None, None, None) => Err(
                "expected `trajectory_id` or `trajectory_path`, found neither; write the id of one of `subagent_trajectories`, or the \
                 path of a file"
                    .to_owned(),
            ),
        }
    }

    /// Returns all trajectories: first those that results refer to, in the order of the results, then all others.
    fn all(self) -> Vec<Subagent> {
        let others = self.embedded.into_iter().filter_map(|it| it.1);
        let others = others.map(|trajectory| Subagent {
            tool_call_id: None,
            trajectory: SubagentTrajectory::Embedded { trajectory },
        });
        self.referred.into_iter().chain(others).collect()
    }
}
