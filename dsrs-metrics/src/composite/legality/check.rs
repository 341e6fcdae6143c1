//! The rules: an expression and its components' specs become a tree that can be run, or a mistake.

use super::derived::{Bound, Derived, is_weight, total_cost, wrong_sum};
use super::error::Mistake;
use crate::composite::OnMissing;
use crate::composite::eval::{Child, Node, Value, Weighted};
use crate::composite::shape::{Leaf, Shape};
use crate::core::spec::{MetricSpec, MetricTier, ScoreRange};

/// The components that were found, each once.
pub(in crate::composite) struct Leaves<L> {
    pub(in crate::composite) all: Vec<L>,
    on_missing: OnMissing,
    /// Whether the part that is being resolved stands upside down in the whole.
    inverted: bool,
}

impl<L> Leaves<L> {
    pub(in crate::composite) fn new(on_missing: OnMissing) -> Self {
        Self { all: Vec::new(), on_missing, inverted: false }
    }

    /// What a missing part counts as at worst: upside down, that is its high end.
    fn worst(&self, derived: &Derived) -> Value {
        let end = |range: ScoreRange| if self.inverted { range.max } else { range.min };
        Value { value: derived.range.map_or(0.0, end), passed: Some(self.inverted) }
    }

    /// What is known of a combination, where parts of it may be left out.
    fn known(&self, whole: Derived, parts: &[Derived]) -> Derived {
        if self.on_missing == OnMissing::Skip { whole.or_fewer(parts) } else { whole }
    }
}

/// Resolves an expression; each distinct component goes to `leaves` once.
pub(in crate::composite) fn resolve<L: Leaf>(
    part: Shape<L>,
    leaves: &mut Leaves<L>,
) -> Result<(Node, Derived), Mistake> {
    match part {
        Shape::Leaf(component) => Ok(leaf(component, leaves)),
        Shape::Weighted(parts) => weighted(parts, leaves),
        Shape::All(parts) => verdicts("all", parts, leaves, Node::All),
        Shape::Any(parts) => verdicts("any", parts, leaves, Node::Any),
        Shape::Min(parts) => {
            let (children, known) = children("min", parts, leaves)?;
            Ok((Node::Min(children), leaves.known(Derived::min(&known), &known)))
        }
        Shape::Max(parts) => {
            let (children, known) = children("max", parts, leaves)?;
            Ok((Node::Max(children), leaves.known(Derived::max(&known), &known)))
        }
        Shape::Gate { proxies, at_least, truths } => gate(proxies, at_least, truths, leaves),
        Shape::Invert(part) => invert(*part, leaves),
        Shape::AtLeast(part, bound) => at_least(*part, bound, leaves),
    }
}

fn leaf<L: Leaf>(component: L, leaves: &mut Leaves<L>) -> (Node, Derived) {
    let derived = Derived::of(&component.spec());
    let known = leaves.all.iter().position(|leaf| leaf.is(&component));
    let index = known.unwrap_or_else(|| {
        leaves.all.push(component);
        leaves.all.len() - 1
    });
    (Node::Leaf(index), derived)
}

/// A name as `#[metric]` takes it.
pub(in crate::composite) fn name(name: &str) -> Result<(), Mistake> {
    let is_snake = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let starts = name.starts_with(|first: char| first.is_ascii_lowercase());
    if starts && name.chars().all(is_snake) { Ok(()) } else { Err(Mistake::Name) }
}

/// The expression as a whole: its good end is up, and its bound is the composite's threshold.
pub(in crate::composite) fn whole<L: Leaf>(whole: &Shape<L>) -> Result<(), Mistake> {
    if let Shape::AtLeast(part, _) = whole {
        return Err(Mistake::UselessBound { component: part.name(), within: "the composite" });
    }
    siblings("the composite", &[whole])
}

/// The parts of one combination: not empty, none twice, all with the good end up.
fn siblings<L: Leaf>(within: &'static str, parts: &[&Shape<L>]) -> Result<(), Mistake> {
    if parts.is_empty() {
        return Err(Mistake::Empty { within });
    }
    for (position, part) in parts.iter().enumerate() {
        let Some(found) = part.component() else { continue };
        if !Derived::of(&found.spec()).higher_is_better {
            return Err(Mistake::LowerIsBetter { component: part.name() });
        }
        let twice = |other: &&Shape<L>| other.component().is_some_and(|other| other.is(found));
        if parts[..position].iter().any(twice) {
            return Err(Mistake::Twice { component: part.name(), within });
        }
    }
    Ok(())
}

fn children<L: Leaf>(
    within: &'static str,
    parts: Vec<Shape<L>>,
    leaves: &mut Leaves<L>,
) -> Result<(Vec<Child>, Vec<Derived>), Mistake> {
    siblings(within, &parts.iter().collect::<Vec<_>>())?;
    let mut nodes = Vec::with_capacity(parts.len());
    let mut known = Vec::with_capacity(parts.len());
    for part in parts {
        // Where a number is wanted, nothing would ever look at the bound.
        if let (Shape::AtLeast(..), "weighted" | "min" | "max" | "proxy" | "truth") =
            (&part, within)
        {
            return Err(Mistake::UselessBound { component: part.name(), within });
        }
        let name = part.name();
        let (node, derived) = resolve(part, leaves)?;
        nodes.push(Child { node, worst: leaves.worst(&derived), name });
        known.push(derived);
    }
    Ok((nodes, known))
}

fn weighted<L: Leaf>(
    parts: Vec<(Shape<L>, f64)>,
    leaves: &mut Leaves<L>,
) -> Result<(Node, Derived), Mistake> {
    for (part, weight) in &parts {
        if !is_weight(*weight) {
            return Err(Mistake::BadWeight { component: part.name(), weight: *weight });
        }
    }
    let (parts, weights): (Vec<_>, Vec<f64>) = parts.into_iter().unzip();
    let (children, known) = children("weighted", parts, leaves)?;
    let parts: Vec<_> = known.into_iter().zip(weights.iter().copied()).collect();
    if let Some(sum) = wrong_sum(&parts) {
        // 0.1 + 0.2 + 0.65 is 0.95 to a person, whatever its last bit.
        return Err(Mistake::WeightsSum { sum: (sum * 1e12).round() / 1e12 });
    }
    let known: Vec<Derived> = parts.iter().map(|(known, _)| *known).collect();
    let derived = leaves.known(Derived::weighted(&parts), &known);
    let parts = children.into_iter().zip(weights).collect();
    Ok((Node::Weighted(Weighted::new(parts, derived.range)), derived))
}

fn verdicts<L: Leaf>(
    within: &'static str,
    parts: Vec<Shape<L>>,
    leaves: &mut Leaves<L>,
    node: fn(Vec<Child>) -> Node,
) -> Result<(Node, Derived), Mistake> {
    let (children, known) = children(within, parts, leaves)?;
    if let Some((child, _)) = children.iter().zip(&known).find(|(_, known)| !known.has_verdict()) {
        return Err(Mistake::NoVerdict { component: child.name.clone() });
    }
    Ok((node(children), Derived::verdict(&known)))
}

fn gate<L: Leaf>(
    proxies: Vec<Shape<L>>,
    at_least: f64,
    truths: Vec<Shape<L>>,
    leaves: &mut Leaves<L>,
) -> Result<(Node, Derived), Mistake> {
    // Proxies only open the gate, whichever way up stands what is behind it.
    let inverted = std::mem::take(&mut leaves.inverted);
    let (proxies, cheap) = children("proxy", proxies, leaves)?;
    leaves.inverted = inverted;
    let (truths, dear) = children("truth", truths, leaves)?;
    let placed = |children: &[Child], known: &[Derived], tier: MetricTier| {
        let wrong = children.iter().zip(known).find(|(_, known)| known.tier != tier);
        wrong.map(|(child, _)| child.name.clone())
    };
    if let Some(component) = placed(&proxies, &cheap, MetricTier::Proxy) {
        return Err(Mistake::TruthAsProxy { component });
    }
    if let Some(component) = placed(&truths, &dear, MetricTier::Truth) {
        return Err(Mistake::ProxyAsTruth { component });
    }
    bound_fits("proxy(..)", at_least, &leaves.known(Derived::mean(&cheap), &cheap))?;
    let derived = leaves.known(Derived::mean(&dear), &dear);
    Ok((Node::Gate { proxies, at_least, truths, range: derived.range }, derived))
}

fn invert<L: Leaf>(part: Shape<L>, leaves: &mut Leaves<L>) -> Result<(Node, Derived), Mistake> {
    let component = part.name();
    leaves.inverted = !leaves.inverted;
    // Nothing is done with `leaves` after a mistake.
    let (node, derived) = resolve(part, leaves)?;
    let worst = leaves.worst(&derived);
    leaves.inverted = !leaves.inverted;
    let unknown = Mistake::UnknownRange { component: component.clone(), within: "invert" };
    let range = derived.range.ok_or(unknown)?;
    let child = Child { node, worst, name: component };
    Ok((Node::Invert(Box::new(child), range), derived.invert()))
}

fn at_least<L: Leaf>(
    part: Shape<L>,
    bound: f64,
    leaves: &mut Leaves<L>,
) -> Result<(Node, Derived), Mistake> {
    let component = part.name();
    let (node, derived) = resolve(part, leaves)?;
    bound_fits(&component, bound, &derived)?;
    let child = Child { node, worst: leaves.worst(&derived), name: component };
    Ok((Node::AtLeast(Box::new(child), bound), derived.at_least(bound)))
}

fn bound_fits(component: &str, threshold: f64, derived: &Derived) -> Result<(), Mistake> {
    let component = component.to_owned();
    let range = derived.range.unwrap_or(ScoreRange::UNIT);
    match derived.bound(threshold) {
        Bound::Fits => Ok(()),
        Bound::NotFinite => Err(Mistake::ThresholdNotFinite { component, threshold }),
        Bound::Outside => Err(Mistake::ThresholdOutside { component, threshold, range }),
        Bound::CannotFail => Err(Mistake::ThresholdCannotFail { component, threshold, range }),
    }
}

/// What was declared of the composite as a whole.
#[derive(Debug, Default)]
pub(in crate::composite) struct Declaration {
    pub(in crate::composite) threshold: Option<f64>,
    pub(in crate::composite) tier: Option<MetricTier>,
    pub(in crate::composite) budget_msats: Option<u64>,
    pub(in crate::composite) strict: bool,
}

impl Declaration {
    /// The composite's spec, without its name, if what was declared agrees with what was derived.
    pub(in crate::composite) fn spec(
        &self,
        derived: &Derived,
        components: &[MetricSpec<'_>],
    ) -> Result<MetricSpec<'static>, Mistake> {
        let Self { threshold, tier, strict, .. } = *self;
        self.check_limits(derived, total_cost(components))?;
        self.check_verdict(derived)?;
        Ok(derived.spec("", components, tier, threshold, strict))
    }

    fn check_limits(&self, derived: &Derived, cost: u64) -> Result<(), Mistake> {
        let found = derived.tier;
        if let Some(declared @ MetricTier::Proxy) = self.tier
            && found == MetricTier::Truth
        {
            return Err(Mistake::TierBelow { declared, found });
        }
        match self.budget_msats {
            Some(budget) if cost > budget => Err(Mistake::OverBudget { cost, budget }),
            _ => Ok(()),
        }
    }

    fn check_verdict(&self, derived: &Derived) -> Result<(), Mistake> {
        if derived.is_bool() && (self.threshold.is_some() || self.strict) {
            return Err(Mistake::ThresholdOnBool { within: "the composite" });
        }
        match self.threshold {
            Some(threshold) => bound_fits("the composite", threshold, derived),
            None if self.strict && derived.threshold.is_none() => {
                Err(Mistake::StrictWithoutThreshold)
            }
            None => Ok(()),
        }
    }
}
