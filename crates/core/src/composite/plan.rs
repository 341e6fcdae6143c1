//! A checked expression over numbered components, for rows of any type. Composites built at run time and those declared
//! with `#[metric]` share it.

use super::OnMissing;
use super::check::Leaves;
use super::derived::dearest;
use super::node::Node;
use super::run;
use super::shape::{Named, Shape};
use crate::declared::{Declaration, Requirement};
use crate::dedup::{Key, Settings, Sharing};
use crate::files::MetricFile;
use crate::metric::{Answer, Metric, MetricCall};
use crate::rows::by_name::intern;
use crate::score::MetricError;
use crate::spec::MetricSpec;

/// How a composite's score is computed from its components' scores.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) node: Node,
    /// The names of the components, by number.
    pub(super) names: Vec<&'static str>,
    pub(super) on_missing: OnMissing,
    /// The keys of the components, by number; empty if no keys need comparing.
    pub(super) keys: Vec<Option<Key>>,
    /// The keys that occur more than once in the expression, including nested composites.
    pub(super) sharing: Option<Sharing>,
}

impl Plan {
    /// Evaluates the composite on one row. Asynchronous components run concurrently.
    pub(super) fn answer<'a, G: Sync, P: Sync>(
        &'a self,
        leaves: &[&'a dyn Metric<G, P>],
        call: MetricCall<'a, G, P>,
        spec: &'a MetricSpec<'a>,
    ) -> Answer<'a> {
        let (spec, call) = (call.spec(spec), call.with_spec(None));
        match &self.sharing {
            Some(sharing) if call.memo.is_none() => self.memoized(sharing, leaves, call, spec),
            _ => run::answer(self, leaves, call, spec),
        }
    }

    /// Evaluates a composite outside of a run if it uses a metric in several places. There is no run's memo, so the
    /// composite uses its own.
    #[cold]
    fn memoized<'a, G: Sync, P: Sync>(
        &'a self,
        sharing: &'a Sharing,
        leaves: &[&'a dyn Metric<G, P>],
        call: MetricCall<'a, G, P>,
        spec: &'a MetricSpec<'a>,
    ) -> Answer<'a> {
        if spec.is_async {
            let leaves = leaves.to_vec();
            return Answer::pending(async move {
                let memo = sharing.memo(call.address());
                run::answer(self, &leaves, call.with_memo(Some(&memo)), spec).await
            });
        }
        let memo = sharing.memo(call.address());
        let answer = run::answer(self, leaves, call.with_memo(Some(&memo)), spec).ready();
        let unexpected =
            "a component is asynchronous, but its spec declares that it is synchronous";
        let failed = || Err(MetricError::failed(spec.name, unexpected));
        answer.unwrap_or_else(failed).into()
    }
}

/// A composite declared with `#[metric]` that accepts rows of any type.
///
/// The struct contains the composite's plan and components.
pub struct Compiled {
    /// The plan, or a mistake in it, which every row reports.
    plan: Result<Plan, String>,
    key: Key,
    spec: &'static MetricSpec<'static>,
    components: Vec<&'static (dyn Declaration + Sync)>,
    /// The components on each path through the expression, if it has a decision tree.
    paths: Option<&'static [&'static [usize]]>,
}

impl Compiled {
    /// Creates the composite of type `M` from its expression and its components. The components are in the expression's
    /// order.
    pub fn new<M: 'static, const N: usize>(
        spec: &'static MetricSpec<'static>,
        (expression, on_missing): (Shape<Named>, OnMissing),
        components: [&'static (dyn Declaration + Sync); N],
        paths: Option<&'static [&'static [usize]]>,
    ) -> Self {
        let components = components.to_vec();
        let mut all = Vec::new();
        components.iter().for_each(|it| it.keys(&mut all));
        let keys = components.iter().map(|component| component.key()).collect();
        let specs: Vec<_> = components.iter().map(|it| it.spec()).collect();
        // A tree's parameters are its paths and their scores. Like its key, they live as long as the program.
        let settings: Settings = match paths {
            Some(_) => expression.settings(on_missing).leak(),
            None => &[],
        };
        let mut leaves = Leaves::new(on_missing);
        // The compiler has checked all rules.
        let node = leaves.resolve(expression);
        let own_setting = leaves.all.iter().find_map(|leaf| own_setting(leaf, &specs));
        let node = own_setting.map_or(node, Err);
        let name = |leaf: &Named| intern(&format!("{}{}", leaf.spec.name, leaf.configured));
        let plan = node.map(|node| Plan {
            node,
            names: leaves.all.iter().map(name).collect(),
            on_missing,
            keys,
            sharing: Sharing::among(&all),
        });
        Self {
            plan,
            key: Key::of_tree::<M>(settings),
            spec,
            components,
            paths,
        }
    }

    /// Evaluates the composite on one row.
    pub fn answer<'a, G: Sync, P: Sync>(
        &'a self,
        leaves: &[&'a dyn Metric<G, P>],
        call: MetricCall<'a, G, P>,
    ) -> Answer<'a> {
        match &self.plan {
            Ok(plan) => plan.answer(leaves, call, self.spec),
            Err(mistake) => Answer::Ready(Err(MetricError::failed(self.spec.name, mistake))),
        }
    }
}

impl Declaration for Compiled {
    fn spec(&self) -> MetricSpec<'_> {
        *self.spec
    }

    fn key(&self) -> Option<Key> {
        Some(self.key.clone())
    }

    fn keys(&self, all: &mut Vec<Key>) {
        all.push(self.key.clone());
        self.components.iter().for_each(|it| it.keys(all));
    }

    fn requirements(&self, all: &mut Vec<Requirement>) {
        let mistake = self.plan.as_ref().map(|_| ());
        all.extend(Requirement::unless(self.spec.name, mistake));
        self.components.iter().for_each(|it| it.requirements(all));
    }

    fn files(&self, all: &mut Vec<MetricFile>) {
        self.components.iter().for_each(|it| it.files(all));
    }

    /// Returns the cost of all components, or of the most expensive path through a tree.
    fn max_cost(&self) -> u64 {
        let costs = self.components.iter().map(|component| component.max_cost());
        match self.paths {
            Some(paths) => dearest(&costs.collect::<Vec<_>>(), paths),
            None => costs.fold(0, u64::saturating_add),
        }
    }
}

/// Returns `true` if all components can read the rows.
pub fn can_evaluate<G: Sync, P: Sync>(
    components: &[&dyn Metric<G, P>],
    gold: &G,
    pred: &P,
) -> bool {
    let mut components = components.iter();
    components.all(|component| component.can_evaluate(gold, pred))
}

/// Converts an array of expression parts to a vector.
pub fn list<T, const N: usize>(parts: [T; N]) -> Vec<T> {
    Vec::from(parts)
}

/// Returns an error if a component has its own threshold or strictness, which the compiler did not see.
fn own_setting(leaf: &Named, specs: &[MetricSpec<'_>]) -> Option<String> {
    let (declared, own) = (leaf.spec, specs.get(leaf.index)?);
    let setting = match own {
        _ if own.threshold != declared.threshold => "threshold",
        _ if own.strict != declared.strict => "strict",
        _ => return None,
    };
    Some(format!(
        "the component `{}` has a `{setting}` of its own, which a declared composite does not support; write `{} >= 0.5` in the expression, or use `Composite::builder`",
        declared.name, declared.name
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::composite::shape::{Decision, Operator, Reads};
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
        let decision = Decision {
            node,
            reads: Reads::Bool,
            answers: vec![&["yes"], &["no"]],
        };
        let branches = [1.0, 0.0].map(|number| Shape::new(Operator::Number(number), []));
        let tree = Shape::new(Operator::Decision(decision), branches);
        let compiled = Compiled::new::<M, 0>(&SPEC, (tree, on_missing), [], Some(&[]));
        Declaration::key(&compiled).expect("a composite has a key")
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

    /// A tree's only parameters are those in its declaration.
    #[test]
    fn a_tree_has_the_key_of_its_type() {
        let tone = key::<Tone>("", OnMissing::Fail);
        assert_eq!(tone, key::<Tone>("", OnMissing::Fail));
        assert_ne!(tone, key::<Style>("", OnMissing::Fail));
    }
}
