use std::collections::BTreeSet;

use super::{Combine, Decision, Missing, Node, Operator, Value, path};
use crate::composite::derived::Derived;
use crate::composite::shape::{OnMissing, Reads};
use crate::score::{ComponentResult, MetricScore, RowAnswer, Scored};
use crate::spec::MetricSpec;

const COMPONENTS: usize = 6;

/// A xorshift64 random number generator.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % end
    }
}

/// A tree as an enum, evaluated with a plain match.
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
        let (operator, parts) = match self {
            Self::Number(number) => (Operator::Number(*number), Vec::new()),
            Self::Metric(index) => (Operator::Leaf(*index), Vec::new()),
            Self::Ask { node, yes, no } => {
                let decision = Decision {
                    node: *node,
                    reads: Reads::Bool,
                    answers: vec![&["no"], &["yes"]],
                };
                (Operator::Decision(decision), vec![no.node(), yes.node()])
            }
        };
        with_parts(operator, parts)
    }
}

fn with_parts(operator: Operator, parts: Vec<Node>) -> Node {
    let worst = Value {
        value: 0.0,
        passed: None,
    };
    Node {
        operator,
        parts,
        known: Derived::of(&MetricSpec::new("a")),
        worst,
        name: String::new(),
    }
}

fn result(value: f64) -> ComponentResult {
    let scored = Scored::validated(MetricScore::new(value), &MetricSpec::new("a"));
    scored.map(RowAnswer::from).into()
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
        let found = loop {
            let mut combine = Combine::new(OnMissing::Fail, &results);
            let found = combine.node(&node);
            let ready: BTreeSet<usize> = combine.ready.into_iter().collect();
            if found != Err(Missing::Unfinished) {
                break found;
            }
            assert!(!ready.is_empty(), "a component is missing");
            for index in ready {
                assert!(asked.insert(index), "each component is asked once");
                results[index] = result(values[index]);
            }
        };
        assert_eq!(asked, expected);
        assert_eq!(found.map(|found| found.value), Ok(value));
        let names = ["a"; COMPONENTS];
        let is_tree = matches!(plain, Plain::Ask { .. });
        assert_eq!(path(&node, &names, &results).is_some(), is_tree);
    }
}

#[test]
fn the_path_of_a_tree_behind_a_gate_is_shown() {
    let [yes, no] = [1.0, 0.0].map(|number| Box::new(Plain::Number(number)));
    let truth = Plain::Ask { node: 1, yes, no }.node();
    let operator = Operator::Gate {
        proxies: 1,
        at_least: 0.5,
    };
    let gate = with_parts(operator, vec![Plain::Metric(0).node(), truth]);
    let results = [result(1.0), result(1.0)];
    assert_eq!(
        path(&gate, &["open", "good"], &results).as_deref(),
        Some("good: yes")
    );
}
