//! Checks the rules: converts an expression and its components' specs to a tree that can be evaluated, or reports the
//! rule that the expression breaks.

use super::OnMissing;
use super::derived::{Derived, total_cost};
use super::node::{Node, Value};
use super::rules;
use super::shape::{Decision, Leaf, Operator, Shape};
use crate::sentence::Sentence;
use crate::spec::{MetricSpec, MetricTier, ScoreRange};

/// The components of an expression, without duplicates.
pub(super) struct Leaves<L> {
    pub(super) all: Vec<L>,
    on_missing: OnMissing,
    /// `true` inside an odd number of inversions.
    inverted: bool,
}

/// A node's operator, operands and properties.
type Resolved = (Operator, Vec<Node>, Derived);

fn known(parts: &[Node]) -> Vec<Derived> {
    parts.iter().map(|part| part.known).collect()
}

impl<L: Leaf> Leaves<L> {
    pub(super) fn new(on_missing: OnMissing) -> Self {
        Self {
            all: Vec::new(),
            on_missing,
            inverted: false,
        }
    }

    /// Resolves an expression, and adds each distinct component once.
    ///
    /// If this method fails, the leaves must not be used.
    pub(super) fn resolve(&mut self, shape: Shape<L>) -> Result<Node, String> {
        let name = shape.name();
        let Shape { operator, parts } = shape;
        let (operator, parts, known) = match operator {
            Operator::Leaf(component) => {
                let (index, known) = self.leaf(component);
                holds(rules::scores_rows(&name, &known))?;
                (Operator::Leaf(index), Vec::new(), known)
            }
            Operator::Weighted(weights) => self.weighted(weights, parts)?,
            Operator::All => self.verdict(Operator::All, "all", parts)?,
            Operator::Any => self.verdict(Operator::Any, "any", parts)?,
            Operator::Min => {
                let parts = self.children("min", parts)?;
                let known = self.known(Derived::min, &parts);
                (Operator::Min, parts, known)
            }
            Operator::Max => {
                let parts = self.children("max", parts)?;
                let known = self.known(Derived::max, &parts);
                (Operator::Max, parts, known)
            }
            Operator::Gate { proxies, at_least } => self.gate(proxies, at_least, parts)?,
            Operator::Invert => {
                self.inverted = !self.inverted;
                let operand = |part| self.operand("invert", part);
                let parts: Vec<_> = parts.into_iter().map(operand).collect::<Result<_, _>>()?;
                self.inverted = !self.inverted;
                let known = parts[0].known.invert();
                (Operator::Invert, parts, known)
            }
            Operator::AtLeast(bound) => {
                let parts = parts.into_iter().map(|part| self.resolve(part));
                let parts: Vec<_> = parts.collect::<Result<_, _>>()?;
                let of = format!("of `{}`", parts[0].name);
                bound_fits(&of, bound, &parts[0].known)?;
                let known = parts[0].known.at_least(bound);
                (Operator::AtLeast(bound), parts, known)
            }
            Operator::Decision(decision) => self.decision(decision, parts)?,
            Operator::Number(number) => {
                let known = Derived::constant(number);
                (Operator::Number(number), Vec::new(), known)
            }
        };
        // The minimum of the range, or the maximum if it is inverted.
        let worst = |range: ScoreRange| if self.inverted { range.max } else { range.min };
        let worst = Value {
            value: known.range.map_or(0.0, worst),
            passed: Some(self.inverted),
        };
        Ok(Node {
            operator,
            parts,
            known,
            worst,
            name,
        })
    }

    /// Returns the properties of a combination whose operands may be omitted under `OnMissing::Skip`.
    fn known(&self, combine: impl Fn(&[Derived]) -> Derived, parts: &[Node]) -> Derived {
        let parts = known(parts);
        match self.on_missing {
            OnMissing::Skip => combine(&parts).or_fewer(&parts),
            OnMissing::Fail | OnMissing::Zero => combine(&parts),
        }
    }

    /// Resolves an operand; every combination requires its operands to have a range.
    fn operand(&mut self, within: &str, part: Shape<L>) -> Result<Node, String> {
        let node = self.resolve(part)?;
        if node.known.range.is_none() {
            return Err(format!(
                "`{within}` needs the range of `{}`, which declares none; declare one with `#[metric(range = 0.0..=1.0)]` or `.with_range(0.0, 1.0)`",
                node.name
            ));
        }
        Ok(node)
    }

    /// Returns a component's number.
    fn leaf(&mut self, component: L) -> (usize, Derived) {
        let derived = Derived::of(&component.spec());
        let known = self.all.iter().position(|leaf| leaf.is(&component));
        let index = known.unwrap_or_else(|| {
            self.all.push(component);
            self.all.len() - 1
        });
        (index, derived)
    }

    fn children(&mut self, within: &str, parts: Vec<Shape<L>>) -> Result<Vec<Node>, String> {
        siblings(within, &parts.iter().collect::<Vec<_>>())?;
        let child = |part: Shape<L>| {
            // These combinations use only the number, so a bound would have no effect.
            let uses_scores = matches!(within, "weighted" | "min" | "max" | "proxy" | "truth");
            if uses_scores && matches!(part.operator, Operator::AtLeast(_)) {
                return Err(useless_bound(&part.name(), within));
            }
            self.operand(within, part)
        };
        parts.into_iter().map(child).collect()
    }

    fn decision(
        &mut self,
        decision: Decision<L>,
        branches: Vec<Shape<L>>,
    ) -> Result<Resolved, String> {
        let Decision {
            node,
            reads,
            answers,
        } = decision;
        let (node, known_node) = self.leaf(node);
        let branch = |branch| {
            siblings("tree", &[&branch])?;
            self.operand("tree", branch)
        };
        let parts = branches.into_iter().map(branch);
        let parts: Vec<Node> = parts.collect::<Result<_, String>>()?;
        let known = Derived::decision(&known_node, &known(&parts));
        let decision = Decision {
            node,
            reads,
            answers,
        };
        Ok((Operator::Decision(decision), parts, known))
    }

    fn weighted(&mut self, weights: Vec<f64>, parts: Vec<Shape<L>>) -> Result<Resolved, String> {
        for (weight, part) in weights.iter().zip(&parts) {
            holds(rules::weight_counts(&part.name(), *weight))?;
        }
        let parts = self.children("weighted", parts)?;
        let weigh = |parts: &[Derived]| -> Vec<_> {
            parts.iter().copied().zip(weights.iter().copied()).collect()
        };
        holds(rules::weights_sum_to_one(&weigh(&known(&parts))))?;
        let known = self.known(|parts| Derived::weighted(&weigh(parts)), &parts);
        Ok((Operator::Weighted(weights), parts, known))
    }

    fn verdict(
        &mut self,
        operator: Operator,
        within: &str,
        parts: Vec<Shape<L>>,
    ) -> Result<Resolved, String> {
        let parts = self.children(within, parts)?;
        if let Some(part) = parts.iter().find(|part| !part.known.has_verdict()) {
            return Err(format!(
                "`{}` has a score but no verdict; set a pass threshold with `at_least`",
                part.name
            ));
        }
        let known = Derived::verdict(&known(&parts));
        Ok((operator, parts, known))
    }

    fn gate(
        &mut self,
        count: usize,
        at_least: f64,
        mut proxies: Vec<Shape<L>>,
    ) -> Result<Resolved, String> {
        let truths = proxies.split_off(count);
        // Proxies only open the gate, so an inversion around it does not apply to them.
        let inverted = std::mem::take(&mut self.inverted);
        let mut parts = self.children("proxy", proxies)?;
        self.inverted = inverted;
        let truths = self.children("truth", truths)?;
        let is_proxy = |part: &&Node| part.known.tier == MetricTier::Proxy;
        if let Some(Node { name, .. }) = parts.iter().find(|part| !is_proxy(part)) {
            return Err(format!(
                "`{name}` is a truth metric, but is among the gate's proxies; move it to the truths"
            ));
        }
        if let Some(Node { name, .. }) = truths.iter().find(is_proxy) {
            return Err(format!(
                "`{name}` is a proxy metric, but is among the gate's truths; move it to the proxies"
            ));
        }
        bound_fits(
            "of the proxies",
            at_least,
            &self.known(Derived::mean, &parts),
        )?;
        let (proxies, known) = (count, self.known(Derived::mean, &truths));
        parts.extend(truths);
        Ok((Operator::Gate { proxies, at_least }, parts, known))
    }
}

/// Checks that the name is in snake case, as `#[metric]` requires.
pub(super) fn name(name: &str) -> Result<(), String> {
    let is_snake = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let starts = name.starts_with(|first: char| first.is_ascii_lowercase());
    if starts && name.chars().all(is_snake) {
        Ok(())
    } else {
        Err("expected a metric name in ASCII snake case that starts with a letter".to_owned())
    }
}

/// Checks the top-level expression: it must be higher-is-better, and its bound must be the composite's threshold.
pub(super) fn top_level<L: Leaf>(expression: &Shape<L>) -> Result<(), String> {
    if let Operator::AtLeast(_) = expression.operator {
        return Err(useless_bound(&expression.name(), "the composite"));
    }
    siblings("the composite", &[expression])
}

/// Checks the operands of one combination: at least one, no duplicates, all higher-is-better.
fn siblings<L: Leaf>(within: &str, parts: &[&Shape<L>]) -> Result<(), String> {
    if parts.is_empty() {
        return Err(format!("`{within}` has no components; add at least one"));
    }
    for (position, part) in parts.iter().enumerate() {
        let Some(found) = part.component() else {
            continue;
        };
        holds(rules::points_up(&part.name(), &Derived::of(&found.spec())))?;
        let twice = |other: &&Shape<L>| other.component().is_some_and(|other| other.is(found));
        if parts[..position].iter().any(twice) {
            let name = part.name();
            return Err(format!(
                "duplicate component `{name}` in `{within}`; use it once"
            ));
        }
    }
    Ok(())
}

fn useless_bound(component: &str, within: &str) -> String {
    format!(
        "thresholds are not supported in `{within}`, which uses the score of `{component}`; remove `at_least`"
    )
}

/// Returns a broken rule's message as an error.
fn holds(broken: Option<Sentence>) -> Result<(), String> {
    broken.map_or(Ok(()), |broken| Err(broken.as_str().to_owned()))
}

fn bound_fits(of: &str, threshold: f64, derived: &Derived) -> Result<(), String> {
    holds(rules::bound_fits("threshold", of, derived, threshold))
}

/// The properties that a composite declares.
#[derive(Debug, Default)]
pub(super) struct Declaration {
    pub(super) threshold: Option<f64>,
    pub(super) tier: Option<MetricTier>,
    pub(super) budget_msats: Option<u64>,
    pub(super) strict: bool,
}

impl Declaration {
    /// Returns the composite's spec, without its fields, if the declarations agree with the derived properties.
    pub(super) fn spec(
        &self,
        name: &'static str,
        derived: &Derived,
        components: &[MetricSpec<'_>],
    ) -> Result<MetricSpec<'static>, String> {
        let (cost, found) = (total_cost(components), derived.tier);
        if let Some(declared @ MetricTier::Proxy) = self.tier
            && found == MetricTier::Truth
        {
            return Err(format!(
                "the composite is declared as {declared:?}, but a component is {found:?}; declare {found:?}, or omit the tier"
            ));
        }
        if let Some(budget) = self.budget_msats.filter(|budget| cost > *budget) {
            return Err(format!(
                "the components cost up to {cost} msat per row, but the budget is {budget} msat; raise the budget or remove a component"
            ));
        }
        if self.strict {
            holds(rules::takes_threshold("strict", derived))?;
        }
        match self.threshold {
            Some(threshold) => {
                holds(rules::takes_threshold("threshold", derived))?;
                bound_fits("of the composite", threshold, derived)?;
            }
            None if self.strict && derived.threshold.is_none() => {
                return Err("`strict` requires a threshold; set one".to_owned());
            }
            None => {}
        }
        Ok(derived.spec(name, components, self.tier, self.threshold, self.strict))
    }
}
