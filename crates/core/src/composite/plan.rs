//! A checked expression over numbered components, for rows of any type. Composites built at run time and those of
//! `#[metric]` share it.

use super::eval::{Node, Run};
use super::legality::check::{Leaves, resolve};
use super::shape::{Leaf as _, Named, OnMissing, Shape};
use crate::declared::requirements::Requirement;
use crate::dedup::Key;
use crate::dedup::Sharing;
use crate::interned_names;
use crate::metric::{Answer, Metric, MetricCall};
use crate::score::error::MetricError;
use crate::spec::MetricSpec;

/// How a composite's score follows from the scores of its components.
#[derive(Debug)]
pub struct Plan {
    node: Result<Node, String>,
    /// The settings of a declared composite with a decision tree, to compare it with that of another run.
    settings: Vec<(&'static str, String)>,
    names: &'static [&'static str],
    on_missing: OnMissing,
    /// The keys of the components, by number.
    keys: Vec<Option<Key>>,
    /// The keys that occur more than once in the expression, including nested composites.
    sharing: Option<Sharing>,
}

impl Plan {
    /// Creates the plan of a composite checked at compile time. `all` has the keys of the components and of their
    /// components, and `specs` the components' specs as configured.
    pub fn declared(
        expression: Shape<Named>,
        on_missing: OnMissing,
        keys: Vec<Option<Key>>,
        all: &[Key],
        specs: &[MetricSpec<'_>],
    ) -> Self {
        let settings = expression.settings(on_missing);
        let mut leaves = Leaves::new(on_missing);
        // The compiler has checked all rules. If one is broken nevertheless, every row reports it.
        let node = resolve(expression, &mut leaves).map(|(node, _)| node);
        let own_setting = leaves.all.iter().find_map(|leaf| own_setting(leaf, specs));
        let node = own_setting.map_or(node, Err);
        let name = |leaf: &Named| format!("{}{}", leaf.name(), leaf.configured);
        let names: Vec<String> = leaves.all.iter().map(name).collect();
        let names = interned_names::intern_all(names.iter().map(String::as_str));
        Self {
            node,
            settings,
            names,
            on_missing,
            keys,
            sharing: Sharing::among(all),
        }
    }

    pub(super) fn checked(
        node: Node,
        names: &'static [&'static str],
        on_missing: OnMissing,
        keys: Vec<Option<Key>>,
        all: &[Key],
    ) -> Self {
        Self {
            node: Ok(node),
            settings: Vec::new(),
            names,
            on_missing,
            keys,
            sharing: Sharing::among(all),
        }
    }

    /// Adds the requirement of a composite that cannot be evaluated.
    pub fn requirements(&self, composite: &str, all: &mut Vec<Requirement>) {
        all.extend(Requirement::unless(
            composite,
            self.node.as_ref().map(|_| ()),
        ));
    }

    /// Returns the key of a declared composite with a decision tree. Its parameters are the paths and their scores.
    pub fn key_of<M: 'static>(&'static self) -> Key {
        Key::of_tree::<M>(&self.settings)
    }

    pub(super) fn names(&self) -> &'static [&'static str] {
        self.names
    }

    /// Evaluates the composite on one row. Asynchronous components run concurrently.
    pub fn answer<'a, G: Sync, P: Sync>(
        &'a self,
        leaves: &[&'a dyn Metric<G, P>],
        call: MetricCall<'a, G, P>,
        name: &'a str,
        spec: &'a MetricSpec<'a>,
    ) -> Answer<'a> {
        let node = match &self.node {
            Ok(node) => node,
            Err(mistake) => return Answer::Ready(Err(MetricError::failed(name, mistake))),
        };
        let (spec, call) = (call.spec(spec), call.with_spec(None));
        let run = Run {
            node,
            on_missing: self.on_missing,
            components: self.names,
            keys: &self.keys,
            name,
            spec,
        };
        match &self.sharing {
            Some(sharing) if call.memo.is_none() => memoized(run, sharing, leaves, call),
            _ => run.answer(leaves, call),
        }
    }
}

/// Returns an error if a component has its own threshold or strictness, which the compiler did not see.
fn own_setting(leaf: &Named, specs: &[MetricSpec<'_>]) -> Option<String> {
    let (declared, own) = (leaf.spec, specs.get(leaf.index)?);
    let setting = match (
        own.threshold == declared.threshold,
        own.strict == declared.strict,
    ) {
        (true, true) => return None,
        (false, _) => "threshold",
        (true, false) => "strict",
    };
    Some(format!(
        "the component `{}` has a `{setting}` of its own, which a declared composite does not support; write `{} >= 0.5` in the expression, or use `Composite::builder`",
        declared.name, declared.name
    ))
}

/// Evaluates a composite that uses a metric in several places outside of a run, where it must memoize for itself.
#[cold]
fn memoized<'a, G: Sync, P: Sync>(
    run: Run<'a>,
    sharing: &'a Sharing,
    leaves: &[&'a dyn Metric<G, P>],
    call: MetricCall<'a, G, P>,
) -> Answer<'a> {
    if run.spec.is_async {
        let leaves = leaves.to_vec();
        return Answer::pending(async move {
            let memo = sharing.memo(call.address());
            run.answer(&leaves, call.with_memo(Some(&memo))).await
        });
    }
    let (name, memo) = (run.name, sharing.memo(call.address()));
    let answer = run.answer(leaves, call.with_memo(Some(&memo))).ready();
    let unexpected = "a component is asynchronous, but its spec declares that it is synchronous";
    answer
        .unwrap_or_else(|| Err(MetricError::failed(name, unexpected)))
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::composite::shape::Reads;
    use crate::spec::ScoreKind;

    struct Tone;
    struct Style;

    const SPEC: MetricSpec<'static> = MetricSpec::new("short").with_kind(ScoreKind::Bool);

    fn key<M: 'static>(configured: &'static str, on_missing: OnMissing) -> Key {
        let node = Named {
            index: 0,
            configured,
            spec: &SPEC,
        };
        let branches = vec![
            (&["yes"][..], Shape::Number(1.0)),
            (&["no"], Shape::Number(0.0)),
        ];
        let tree = Shape::Decision {
            node,
            reads: Reads::Bool,
            branches,
        };
        let plan = Plan::declared(tree, on_missing, vec![None], &[], &[SPEC]);
        Box::leak(Box::new(plan)).key_of::<M>()
    }

    #[test]
    fn the_parameters_of_a_tree_are_its_paths_and_what_a_missing_component_does() {
        for (configured, on_missing, expected) in [
            (
                "",
                OnMissing::Fail,
                vec![("short: yes", "1"), ("short: no", "0")],
            ),
            (
                "(chars = 9)",
                OnMissing::Skip,
                vec![
                    ("on_missing", "skip"),
                    ("short(chars = 9): yes", "1"),
                    ("short(chars = 9): no", "0"),
                ],
            ),
        ] {
            let found = key::<Tone>(configured, on_missing).parameters();
            let expected = expected.into_iter();
            let expected = expected.map(|(name, value)| (format!("Tone.{name}"), value.to_owned()));
            assert_eq!(found, expected.collect::<Vec<_>>());
        }
    }

    /// A tree's only parameters are those of its declaration.
    #[test]
    fn a_tree_has_the_key_of_its_type() {
        let tone = key::<Tone>("", OnMissing::Fail);
        assert_eq!(tone, key::<Tone>("", OnMissing::Fail));
        assert_ne!(tone, key::<Style>("", OnMissing::Fail));
    }
}
