//! Checks the rules: converts an expression and its components' specs to a tree that can be evaluated, or says which
//! rule it breaks.

use super::OnMissing;
use super::derived::{Bound, Derived, is_weight, total_cost, wrong_sum};
use super::node::{Decision, Node, Operator, Value};
use super::shape::{Combinator, Leaf, Reads, Shape};
use crate::spec::{MetricSpec, MetricTier, ScoreRange};

/// The components of an expression, without duplicates.
pub(super) struct Leaves<L> {
    pub(super) all: Vec<L>,
    on_missing: OnMissing,
    /// `true` inside an odd number of inversions.
    inverted: bool,
}

impl<L> Leaves<L> {
    pub(super) fn new(on_missing: OnMissing) -> Self {
        Self {
            all: Vec::new(),
            on_missing,
            inverted: false,
        }
    }

    /// Returns a node with its worst value: the minimum of its range, or the maximum if it is inverted.
    fn node(&self, name: String, (operator, parts, known): Resolved) -> Node {
        let end = |range: ScoreRange| if self.inverted { range.max } else { range.min };
        let worst = Value {
            value: known.range.map_or(0.0, end),
            passed: Some(self.inverted),
        };
        Node {
            operator,
            parts,
            known,
            worst,
            name,
        }
    }

    /// Returns the properties of a combination whose operands may be omitted under `OnMissing::Skip`.
    fn known(&self, combine: impl Fn(&[Derived]) -> Derived, parts: &[Node]) -> Derived {
        let parts = known(parts);
        match self.on_missing {
            OnMissing::Skip => combine(&parts).or_fewer(&parts),
            OnMissing::Fail | OnMissing::Zero => combine(&parts),
        }
    }
}

/// The operator, the operands and the properties of a node.
type Resolved = (Operator, Vec<Node>, Derived);

fn known(parts: &[Node]) -> Vec<Derived> {
    parts.iter().map(|part| part.known).collect()
}

/// Resolves an expression, and adds each distinct component to `leaves` once.
pub(super) fn resolve<L: Leaf>(part: Shape<L>, leaves: &mut Leaves<L>) -> Result<Node, String> {
    let name = part.name();
    let resolved = match part {
        Shape::Leaf(component) if Derived::of(&component.spec()).is_corpus() => {
            return Err(format!(
                "`{name}` scores all rows together, not single rows; run it alongside the composite"
            ));
        }
        Shape::Leaf(component) => {
            let (index, known) = leaf(component, leaves);
            (Operator::Leaf(index), Vec::new(), known)
        }
        Shape::Weighted(parts) => weighted(parts, leaves)?,
        Shape::Combined(combinator, parts) => combined(combinator, parts, leaves)?,
        Shape::Gate {
            proxies,
            at_least,
            truths,
        } => gate(proxies, at_least, truths, leaves)?,
        Shape::Invert(part) => {
            leaves.inverted = !leaves.inverted;
            // After a mistake `leaves` is not used, so `inverted` need not be restored.
            let part = operand("invert", *part, leaves)?;
            leaves.inverted = !leaves.inverted;
            let known = part.known.invert();
            (Operator::Invert, vec![part], known)
        }
        Shape::AtLeast(part, bound) => {
            let part = resolve(*part, leaves)?;
            bound_fits(&part.name, bound, &part.known)?;
            let known = part.known.at_least(bound);
            (Operator::AtLeast(bound), vec![part], known)
        }
        Shape::Decision {
            node,
            reads,
            branches,
        } => decision(leaf(node, leaves), reads, branches, leaves)?,
        Shape::Number(number) => {
            let known = Derived::constant(number);
            (Operator::Number(number), Vec::new(), known)
        }
    };
    Ok(leaves.node(name, resolved))
}

/// Resolves an operand, which needs a range in every combination.
fn operand<L: Leaf>(
    within: &'static str,
    part: Shape<L>,
    leaves: &mut Leaves<L>,
) -> Result<Node, String> {
    let node = resolve(part, leaves)?;
    if node.known.range.is_none() {
        return Err(format!(
            "`{within}` needs the range of `{}`, which declares none; declare one with `#[metric(range = 0.0..=1.0)]` or `.with_range(0.0, 1.0)`",
            node.name
        ));
    }
    Ok(node)
}

/// Returns the number of a component.
fn leaf<L: Leaf>(component: L, leaves: &mut Leaves<L>) -> (usize, Derived) {
    let derived = Derived::of(&component.spec());
    let known = leaves.all.iter().position(|leaf| leaf.is(&component));
    let index = known.unwrap_or_else(|| {
        leaves.all.push(component);
        leaves.all.len() - 1
    });
    (index, derived)
}

fn decision<L: Leaf>(
    (node, known_node): (usize, Derived),
    reads: Reads,
    branches: Vec<(&'static [&'static str], Shape<L>)>,
    leaves: &mut Leaves<L>,
) -> Result<Resolved, String> {
    let (mut answers, mut parts) = (Vec::new(), Vec::new());
    for (of_branch, branch) in branches {
        siblings("tree", &[&branch])?;
        answers.push(of_branch);
        parts.push(operand("tree", branch, leaves)?);
    }
    let decision = Decision {
        node,
        reads,
        answers,
    };
    let known = Derived::decision(&known_node, &known(&parts));
    Ok((Operator::Decision(decision), parts, known))
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
    if let Shape::AtLeast(part, _) = expression {
        return Err(useless_bound(&part.name(), "the composite"));
    }
    siblings("the composite", &[expression])
}

/// Checks the operands of one combination: at least one, no duplicates, all higher-is-better.
fn siblings<L: Leaf>(within: &'static str, parts: &[&Shape<L>]) -> Result<(), String> {
    if parts.is_empty() {
        return Err(format!("`{within}` has no components; add at least one"));
    }
    for (position, part) in parts.iter().enumerate() {
        let Some(found) = part.component() else {
            continue;
        };
        if !Derived::of(&found.spec()).higher_is_better {
            let name = part.name();
            return Err(format!(
                "`{name}` is lower-is-better; write `invert({name})`"
            ));
        }
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

fn children<L: Leaf>(
    within: &'static str,
    parts: Vec<Shape<L>>,
    leaves: &mut Leaves<L>,
) -> Result<Vec<Node>, String> {
    siblings(within, &parts.iter().collect::<Vec<_>>())?;
    let child = |part: Shape<L>| {
        // These combinations use only the number, so a bound would have no effect.
        let uses_scores = matches!(within, "weighted" | "min" | "max" | "proxy" | "truth");
        if uses_scores && matches!(part, Shape::AtLeast(..)) {
            return Err(useless_bound(&part.name(), within));
        }
        operand(within, part, leaves)
    };
    parts.into_iter().map(child).collect()
}

fn weighted<L: Leaf>(
    parts: Vec<(Shape<L>, f64)>,
    leaves: &mut Leaves<L>,
) -> Result<Resolved, String> {
    for (part, weight) in &parts {
        if !is_weight(*weight) {
            return Err(format!(
                "the weight {weight} of `{}` is negative or not finite",
                part.name()
            ));
        }
    }
    let (parts, weights): (Vec<_>, Vec<f64>) = parts.into_iter().unzip();
    let parts = children("weighted", parts, leaves)?;
    let weigh = |parts: &[Derived]| -> Vec<_> {
        parts.iter().copied().zip(weights.iter().copied()).collect()
    };
    if let Some(sum) = wrong_sum(&weigh(&known(&parts))) {
        // Twelve decimals hide the rounding error of 0.1 + 0.2 + 0.65.
        let sum = (sum * 1e12).round() / 1e12;
        return Err(format!("the weights sum to {sum}; they must sum to 1"));
    }
    let known = leaves.known(|parts| Derived::weighted(&weigh(parts)), &parts);
    Ok((Operator::Weighted(weights), parts, known))
}

fn combined<L: Leaf>(
    combinator: Combinator,
    parts: Vec<Shape<L>>,
    leaves: &mut Leaves<L>,
) -> Result<Resolved, String> {
    let parts = children(combinator.name(), parts, leaves)?;
    let known = match combinator {
        Combinator::Min => leaves.known(Derived::min, &parts),
        Combinator::Max => leaves.known(Derived::max, &parts),
        Combinator::All | Combinator::Any => {
            if let Some(part) = parts.iter().find(|part| !part.known.has_verdict()) {
                return Err(format!(
                    "`{}` has a score but no verdict; set a pass threshold with `at_least`",
                    part.name
                ));
            }
            Derived::verdict(&known(&parts))
        }
    };
    Ok((Operator::Combined(combinator), parts, known))
}

fn gate<L: Leaf>(
    proxies: Vec<Shape<L>>,
    at_least: f64,
    truths: Vec<Shape<L>>,
    leaves: &mut Leaves<L>,
) -> Result<Resolved, String> {
    // Proxies only open the gate, so an inversion around it does not apply to them.
    let inverted = std::mem::take(&mut leaves.inverted);
    let mut parts = children("proxy", proxies, leaves)?;
    leaves.inverted = inverted;
    let truths = children("truth", truths, leaves)?;
    let misplaced = |parts: &[Node], tier| {
        let wrong = parts.iter().find(|part| part.known.tier != tier);
        wrong.map(|part| part.name.clone())
    };
    if let Some(component) = misplaced(&parts, MetricTier::Proxy) {
        return Err(format!(
            "`{component}` is a truth metric, but is among the gate's proxies; move it to the truths"
        ));
    }
    if let Some(component) = misplaced(&truths, MetricTier::Truth) {
        return Err(format!(
            "`{component}` is a proxy metric, but is among the gate's truths; move it to the proxies"
        ));
    }
    let of_proxies = leaves.known(Derived::mean, &parts);
    bound_fits("proxy(..)", at_least, &of_proxies)?;
    let (proxies, known) = (parts.len(), leaves.known(Derived::mean, &truths));
    parts.extend(truths);
    Ok((Operator::Gate { proxies, at_least }, parts, known))
}

fn useless_bound(component: &str, within: &str) -> String {
    format!(
        "thresholds are not supported in `{within}`, which uses the score of `{component}`; remove `at_least`"
    )
}

fn bound_fits(component: &str, threshold: f64, derived: &Derived) -> Result<(), String> {
    let range = derived.range.unwrap_or(ScoreRange::UNIT);
    let of = format!("the threshold {threshold} of `{component}`");
    match derived.bound(threshold) {
        Bound::Fits => Ok(()),
        Bound::NotFinite => Err(format!("{of} is not finite; set a finite number")),
        Bound::Outside => Err(format!(
            "{of} is outside its range {range}; set one within it"
        )),
        Bound::CannotFail => Err(format!(
            "{of} never fails: every score is in {range}; set a larger one"
        )),
    }
}

/// What a composite declares.
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
        self.check_limits(derived, total_cost(components))?;
        self.check_verdict(derived)?;
        Ok(derived.spec(name, components, self.tier, self.threshold, self.strict))
    }

    fn check_limits(&self, derived: &Derived, cost: u64) -> Result<(), String> {
        let found = derived.tier;
        if let Some(declared @ MetricTier::Proxy) = self.tier
            && found == MetricTier::Truth
        {
            return Err(format!(
                "the composite is declared as {declared:?}, but a component is {found:?}; declare {found:?}, or omit the tier"
            ));
        }
        match self.budget_msats {
            Some(budget) if cost > budget => Err(format!(
                "the components cost up to {cost} msat per row, but the budget is {budget} msat; raise the budget or remove a component"
            )),
            _ => Ok(()),
        }
    }

    fn check_verdict(&self, derived: &Derived) -> Result<(), String> {
        if derived.is_bool() && (self.threshold.is_some() || self.strict) {
            return Err(
                "a composite that is true or false takes no threshold; remove the threshold and `strict`"
                    .to_owned(),
            );
        }
        match self.threshold {
            Some(threshold) => bound_fits("the composite", threshold, derived),
            None if self.strict && derived.threshold.is_none() => {
                Err("`strict` requires a threshold; set one".to_owned())
            }
            None => Ok(()),
        }
    }
}
