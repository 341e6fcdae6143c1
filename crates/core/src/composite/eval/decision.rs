//! Decision trees: the branch that the answer of a node leads to, and the path of a row.

use super::combine::{Combine, Missing, Resolved, Stop, Value, resolved};
use super::tree::{Child, Decision, Node};
use crate::composite::shape::Reads;
use crate::judge::NoAnswer;
use crate::score::component_results::ComponentResult;
use crate::score::outcome::Outcome;

/// The branch that an answer leads to.
pub(super) struct Taken<'a> {
    answer: &'static str,
    pub(super) to: &'a Child,
}

impl Decision {
    /// Returns the branch that the result of the node leads to.
    ///
    /// # Errors
    /// The node has no score or no answer.
    pub(super) fn taken(&self, results: &[ComponentResult]) -> Result<Taken<'_>, Missing> {
        let result = &results[self.node];
        let Resolved::Value(Value { value, .. }) = resolved(result) else {
            return Err(Missing::Leaf(self.node));
        };
        let answer = match self.reads {
            // Validated: 0 or 1.
            Reads::Bool => Ok(if value == 0.0 { "no" } else { "yes" }),
            Reads::Enum { read, .. } => {
                let scored = result.as_outcome().and_then(Outcome::scored);
                scored.ok_or(NoAnswer::Missing).and_then(read)
            }
        };
        let branch = |answer| {
            let leads = |answers: &&[&str]| answers.contains(&answer);
            let mut branches = self.branches.iter();
            let branch = branches.find(|(answers, _)| leads(answers));
            let (_, to) = branch.ok_or(NoAnswer::NoBranch { answer })?;
            Ok(Taken { answer, to })
        };
        answer
            .and_then(branch)
            .map_err(|reason| Missing::NoAnswer(self.node, reason))
    }
}

impl Combine<'_> {
    /// Returns the value of the branch that is taken. A node without an answer is not replaced by one, whatever `OnMissing` is.
    pub(super) fn decision(&mut self, decision: &Decision) -> Result<Value, Stop> {
        let taken = decision.taken(self.results).map_err(|missing| {
            let is_gated = matches!(resolved(&self.results[decision.node]), Resolved::Gated);
            *self.missing = missing;
            if is_gated { Stop::Gated } else { Stop::Missing }
        })?;
        let value = self.child(taken.to)?;
        let Value { value, .. } = value.ok_or(Stop::Missing)?;
        Ok(Value {
            value,
            passed: None,
        })
    }
}

/// Returns the paths through the decision trees of an expression, one line each: `has_headings: yes, heading_order: Partly`.
pub(super) fn path(node: &Node, names: &[&str], results: &[ComponentResult]) -> Option<String> {
    let mut lines = Vec::new();
    each_tree(node, names, results, &mut lines);
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn each_tree(node: &Node, names: &[&str], results: &[ComponentResult], lines: &mut Vec<String>) {
    let (mut node, mut steps) = (node, Vec::new());
    while let Node::Decision(decision) = node {
        let Ok(taken) = decision.taken(results) else {
            break;
        };
        steps.push(format!("{}: {}", names[decision.node], taken.answer));
        node = &taken.to.node;
    }
    if !steps.is_empty() {
        lines.push(steps.join(", "));
    }
    let parts = node.operands().chain(node.later_operands());
    parts.for_each(|part| each_tree(&part.node, names, results, lines));
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::path;
    use crate::composite::OnMissing;
    use crate::composite::eval::combine::{Missing, Resolved, Value, combine};
    use crate::composite::eval::schedule::next;
    use crate::composite::eval::{Child, Decision, Node, Tree};
    use crate::composite::shape::Reads;
    use crate::score::component_results::{ComponentResult, Number};

    const COMPONENTS: usize = 6;

    /// A random sequence: xorshift64.
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            usize::try_from(self.0 >> 33).unwrap() % end
        }
    }

    /// A tree as an enum, whose value is a plain match.
    enum Plain {
        Number(f64),
        Metric(usize),
        Ask {
            node: usize,
            yes: Box<Plain>,
            no: Box<Plain>,
        },
    }

    impl Plain {
        fn random(random: &mut Random, depth: usize) -> Self {
            match random.below(if depth == 0 { 2 } else { 5 }) {
                0 => Self::Number(f64::from(u8::try_from(random.below(5)).unwrap()) / 4.0),
                1 => Self::Metric(random.below(COMPONENTS)),
                _ => Self::Ask {
                    node: random.below(COMPONENTS),
                    yes: Box::new(Self::random(random, depth - 1)),
                    no: Box::new(Self::random(random, depth - 1)),
                },
            }
        }

        fn value(&self, values: &[f64], asked: &mut BTreeSet<usize>) -> f64 {
            match self {
                Self::Number(number) => *number,
                Self::Metric(index) => {
                    asked.insert(*index);
                    values[*index]
                }
                Self::Ask { node, yes, no } => {
                    asked.insert(*node);
                    match values[*node] == 1.0 {
                        true => yes.value(values, asked),
                        false => no.value(values, asked),
                    }
                }
            }
        }

        fn node(&self) -> Node {
            let child = |to: &Self| {
                let worst = Value {
                    value: 0.0,
                    passed: None,
                };
                Child {
                    node: to.node(),
                    worst,
                    name: String::new(),
                }
            };
            match self {
                Self::Number(number) => Node::Number(*number),
                Self::Metric(index) => Node::Leaf(*index),
                Self::Ask { node, yes, no } => Node::Decision(Decision {
                    node: *node,
                    reads: Reads::Bool,
                    branches: vec![(&["no"], child(no)), (&["yes"], child(yes))],
                }),
            }
        }
    }

    #[test]
    fn random_trees_ask_and_score_as_nested_matches() {
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        for _ in 0..20_000 {
            let plain = Plain::random(&mut random, 5);
            let values: Vec<f64> = (0..COMPONENTS)
                .map(|_| f64::from(u8::from(random.below(2) == 1)))
                .collect();
            let mut expected = BTreeSet::new();
            let value = plain.value(&values, &mut expected);

            let (node, mut asked) = (plain.node(), BTreeSet::new());
            let mut results = vec![ComponentResult::default(); COMPONENTS];
            let mut missing = Missing::Leaf(0);
            while let Ok(ready) = next(&node, OnMissing::Fail, &results, &mut missing)
                && !ready.is_empty()
            {
                for index in ready {
                    assert!(asked.insert(index), "each component is asked once");
                    let number = Number {
                        value: values[index],
                        cost_msats: 1,
                        passed: None,
                    };
                    results[index] = ComponentResult::of_number(number);
                }
            }
            assert_eq!(asked, expected);
            let found = combine(&node, OnMissing::Fail, &results, &mut missing);
            assert!(matches!(found, Resolved::Value(found) if found.value == value));
            let names = ["a"; COMPONENTS];
            let is_tree = matches!(plain, Plain::Ask { .. });
            assert_eq!(path(&node, &names, &results).is_some(), is_tree);
        }
    }

    #[test]
    fn the_path_of_a_tree_behind_a_gate_is_shown() {
        let worst = Value {
            value: 0.0,
            passed: None,
        };
        let child = |node| Child {
            node,
            worst,
            name: String::new(),
        };
        let [yes, no] = [1.0, 0.0].map(|number| Box::new(Plain::Number(number)));
        let truths = vec![child(Plain::Ask { node: 1, yes, no }.node())];
        let proxies = vec![child(Node::Leaf(0))];
        let gate = Node::Gate {
            proxies,
            at_least: 0.5,
            truths,
            range: None,
        };
        let number = Number {
            value: 1.0,
            cost_msats: 0,
            passed: None,
        };
        let results = [number, number].map(ComponentResult::of_number);
        assert_eq!(
            path(&gate, &["open", "good"], &results).as_deref(),
            Some("good: yes")
        );
        assert!(Tree::new(gate).has_decisions);
    }
}
