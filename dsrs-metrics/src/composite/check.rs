//! The rules: an expression and its components' specs become a tree that can be run, or a mistake.

use std::sync::Arc;

use super::Derived;
use super::error::Mistake;
use super::fold::{Child, Node, stable_sum};
use super::part::{Part, Shape};
use crate::metric::Metric;
use crate::spec::{MetricSpec, MetricTier, ScoreKind, ScoreRange};

type Leaves<G, P> = Vec<Arc<dyn Metric<G, P>>>;

/// How far weights may be from 1, which ten decimal weights written out never are.
const WEIGHT_TOLERANCE: f64 = 1e-9;

/// Resolves an expression; each distinct metric goes to `leaves` once.
pub(super) fn resolve<G: Sync, P: Sync>(
    part: Part<G, P>,
    leaves: &mut Leaves<G, P>,
) -> Result<(Node, Derived), Mistake> {
    match part.0 {
        Shape::Metric(metric) => Ok(leaf(metric, leaves)),
        Shape::Weighted(parts) => weighted(parts, leaves),
        Shape::All(parts) => verdicts("all", parts, leaves, Node::All),
        Shape::Any(parts) => verdicts("any", parts, leaves, Node::Any),
        Shape::Min(parts) => extreme("min", parts, leaves, Node::Min, f64::min),
        Shape::Max(parts) => extreme("max", parts, leaves, Node::Max, f64::max),
        Shape::Gate { proxies, at_least, truths } => gate(proxies, at_least, truths, leaves),
        Shape::Invert(part) => invert(*part, leaves),
        Shape::AtLeast(part, bound) => at_least(*part, bound, leaves),
    }
}

fn leaf<G: Sync, P: Sync>(
    metric: Arc<dyn Metric<G, P>>,
    leaves: &mut Leaves<G, P>,
) -> (Node, Derived) {
    let spec = metric.spec();
    let derived = Derived {
        kind: spec.kind,
        range: if spec.strict { Some(ScoreRange::UNIT) } else { spec.range },
        tier: spec.tier,
        has_verdict: spec.kind == ScoreKind::Bool || spec.threshold.is_some(),
    };
    let known = leaves.iter().position(|leaf| Arc::ptr_eq(leaf, &metric));
    let index = known.unwrap_or_else(|| {
        leaves.push(metric);
        leaves.len() - 1
    });
    (Node::Leaf(index), derived)
}

/// The name of a part in messages: the metric's, or the combination's.
fn name<G: Sync, P: Sync>(part: &Part<G, P>) -> String {
    match &part.0 {
        Shape::Metric(metric) => metric.name().to_owned(),
        Shape::Weighted(_) => "weighted(..)".to_owned(),
        Shape::All(_) => "all(..)".to_owned(),
        Shape::Any(_) => "any(..)".to_owned(),
        Shape::Min(_) => "min(..)".to_owned(),
        Shape::Max(_) => "max(..)".to_owned(),
        Shape::Gate { .. } => "gate(..)".to_owned(),
        Shape::Invert(part) => format!("invert({})", name(part)),
        Shape::AtLeast(part, _) => name(part),
    }
}

/// The metric that a part is, under bounds.
fn metric<G: Sync, P: Sync>(part: &Part<G, P>) -> Option<&Arc<dyn Metric<G, P>>> {
    match &part.0 {
        Shape::Metric(metric) => Some(metric),
        Shape::AtLeast(part, _) => metric(part),
        _ => None,
    }
}

/// The parts of one combination: not empty, none twice, all with the good end up.
pub(super) fn siblings<G: Sync, P: Sync>(
    within: &'static str,
    parts: &[&Part<G, P>],
) -> Result<(), Mistake> {
    if parts.is_empty() {
        return Err(Mistake::Empty { within });
    }
    for (position, part) in parts.iter().enumerate() {
        let Some(found) = metric(part) else { continue };
        if !found.spec().higher_is_better() {
            return Err(Mistake::LowerIsBetter { component: name(part) });
        }
        let twice =
            |other: &&Part<G, P>| metric(other).is_some_and(|other| Arc::ptr_eq(other, found));
        if parts[..position].iter().any(twice) {
            return Err(Mistake::Twice { component: name(part), within });
        }
    }
    Ok(())
}

fn children<G: Sync, P: Sync>(
    parts: Vec<Part<G, P>>,
    leaves: &mut Leaves<G, P>,
) -> Result<(Vec<Child>, Vec<Derived>), Mistake> {
    let mut nodes = Vec::with_capacity(parts.len());
    let mut known = Vec::with_capacity(parts.len());
    for part in parts {
        let name = name(&part);
        let (node, derived) = resolve(part, leaves)?;
        let low = derived.range.map_or(0.0, |range| range.min);
        nodes.push(Child { node, low, name });
        known.push(derived);
    }
    Ok((nodes, known))
}

fn highest_tier(parts: &[Derived]) -> MetricTier {
    let truth = parts.iter().any(|part| part.tier == MetricTier::Truth);
    if truth { MetricTier::Truth } else { MetricTier::Proxy }
}

fn number(range: Option<ScoreRange>, parts: &[Derived]) -> Derived {
    let tier = highest_tier(parts);
    Derived { kind: ScoreKind::Number, range, tier, has_verdict: false }
}

/// The range of a sum of `weight * part`.
fn weighted_range(parts: &[Derived], weights: &[f64]) -> Option<ScoreRange> {
    let end = |of: fn(ScoreRange) -> f64| {
        let terms = parts.iter().zip(weights).map(|(part, weight)| Some(weight * of(part.range?)));
        Some(stable_sum(&mut terms.collect::<Option<Vec<f64>>>()?))
    };
    Some(ScoreRange { min: end(|range| range.min)?, max: end(|range| range.max)? })
}

fn weighted<G: Sync, P: Sync>(
    parts: Vec<(Part<G, P>, f64)>,
    leaves: &mut Leaves<G, P>,
) -> Result<(Node, Derived), Mistake> {
    siblings("weighted", &parts.iter().map(|(part, _)| part).collect::<Vec<_>>())?;
    for (part, weight) in &parts {
        if !weight.is_finite() || *weight < 0.0 {
            return Err(Mistake::BadWeight { component: name(part), weight: *weight });
        }
    }
    let (parts, weights): (Vec<_>, Vec<f64>) = parts.into_iter().unzip();
    let sum = stable_sum(&mut weights.clone());
    if (sum - 1.0).abs() > WEIGHT_TOLERANCE {
        // 0.1 + 0.2 + 0.65 is 0.95 to a person, whatever its last bit.
        return Err(Mistake::WeightsSum { sum: (sum * 1e12).round() / 1e12 });
    }
    let (children, known) = children(parts, leaves)?;
    let derived = number(weighted_range(&known, &weights), &known);
    Ok((Node::Weighted(children.into_iter().zip(weights).collect(), derived.range), derived))
}

fn verdicts<G: Sync, P: Sync>(
    within: &'static str,
    parts: Vec<Part<G, P>>,
    leaves: &mut Leaves<G, P>,
    node: fn(Vec<Child>) -> Node,
) -> Result<(Node, Derived), Mistake> {
    siblings(within, &parts.iter().collect::<Vec<_>>())?;
    let (children, known) = children(parts, leaves)?;
    if let Some((child, _)) = children.iter().zip(&known).find(|(_, known)| !known.has_verdict) {
        return Err(Mistake::NoVerdict { component: child.name.clone() });
    }
    let derived = Derived {
        kind: ScoreKind::Bool,
        range: Some(ScoreRange::UNIT),
        tier: highest_tier(&known),
        has_verdict: true,
    };
    Ok((node(children), derived))
}

fn extreme<G: Sync, P: Sync>(
    within: &'static str,
    parts: Vec<Part<G, P>>,
    leaves: &mut Leaves<G, P>,
    node: fn(Vec<Child>) -> Node,
    pick: fn(f64, f64) -> f64,
) -> Result<(Node, Derived), Mistake> {
    siblings(within, &parts.iter().collect::<Vec<_>>())?;
    let (children, known) = children(parts, leaves)?;
    let picked = |of: fn(ScoreRange) -> f64| {
        let ends = known.iter().map(|part| part.range.map(of));
        ends.reduce(|a, b| Some(pick(a?, b?))).flatten()
    };
    let range = match (picked(|range| range.min), picked(|range| range.max)) {
        (Some(min), Some(max)) => Some(ScoreRange { min, max }),
        _ => None,
    };
    Ok((node(children), number(range, &known)))
}

fn gate<G: Sync, P: Sync>(
    proxies: Vec<Part<G, P>>,
    at_least: f64,
    truths: Vec<Part<G, P>>,
    leaves: &mut Leaves<G, P>,
) -> Result<(Node, Derived), Mistake> {
    siblings("proxy", &proxies.iter().collect::<Vec<_>>())?;
    siblings("truth", &truths.iter().collect::<Vec<_>>())?;
    let (proxies, cheap) = children(proxies, leaves)?;
    let (truths, dear) = children(truths, leaves)?;
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
    threshold_fits("proxy(..)", at_least, weighted_range(&cheap, &equal_weights(cheap.len())))?;
    let range = weighted_range(&dear, &equal_weights(dear.len()));
    let derived = match &dear[..] {
        [only] => *only,
        several => number(range, several),
    };
    Ok((Node::Gate { proxies, at_least, truths, range }, derived))
}

fn equal_weights(parts: usize) -> Vec<f64> {
    vec![1.0 / parts as f64; parts]
}

fn invert<G: Sync, P: Sync>(
    part: Part<G, P>,
    leaves: &mut Leaves<G, P>,
) -> Result<(Node, Derived), Mistake> {
    let component = name(&part);
    let (node, derived) = resolve(part, leaves)?;
    let unknown = Mistake::UnknownRange { component: component.clone(), within: "invert" };
    let range = derived.range.ok_or(unknown)?;
    let child = Child { node, low: range.min, name: component };
    Ok((Node::Invert(Box::new(child), range), Derived { kind: ScoreKind::Number, ..derived }))
}

fn at_least<G: Sync, P: Sync>(
    part: Part<G, P>,
    bound: f64,
    leaves: &mut Leaves<G, P>,
) -> Result<(Node, Derived), Mistake> {
    let component = name(&part);
    let (node, derived) = resolve(part, leaves)?;
    threshold_fits(&component, bound, derived.range)?;
    let low = derived.range.map_or(0.0, |range| range.min);
    let child = Child { node, low, name: component };
    Ok((Node::AtLeast(Box::new(child), bound), Derived { has_verdict: true, ..derived }))
}

fn threshold_fits(
    component: &str,
    threshold: f64,
    range: Option<ScoreRange>,
) -> Result<(), Mistake> {
    let component = component.to_owned();
    if !threshold.is_finite() {
        return Err(Mistake::ThresholdNotFinite { component, threshold });
    }
    match range {
        Some(range) if !range.contains(threshold) => {
            Err(Mistake::ThresholdOutside { component, threshold, range })
        }
        _ => Ok(()),
    }
}

/// The composite as a whole: what was declared, held against what was derived.
pub(super) struct Whole {
    pub(super) derived: Derived,
    pub(super) cost_msats: u64,
    pub(super) threshold: Option<f64>,
    pub(super) tier: Option<MetricTier>,
    pub(super) budget_msats: Option<u64>,
    pub(super) strict: bool,
}

impl Whole {
    /// The composite's spec, without its name.
    pub(super) fn spec(&self, is_async: bool) -> Result<MetricSpec<'static>, Mistake> {
        self.check_limits()?;
        self.check_verdict()?;
        let Derived { kind, range, tier, .. } = self.derived;
        let mut spec = MetricSpec::new("").with_tier(tier).with_cost_msats(self.cost_msats);
        spec = spec.with_kind(kind);
        spec.range = range;
        spec.threshold = self.threshold;
        spec.strict = self.strict;
        spec.is_async = is_async;
        Ok(spec)
    }

    fn check_limits(&self) -> Result<(), Mistake> {
        let found = self.derived.tier;
        if let Some(declared @ MetricTier::Proxy) = self.tier
            && found == MetricTier::Truth
        {
            return Err(Mistake::TierBelow { declared, found });
        }
        match self.budget_msats {
            Some(budget) if self.cost_msats > budget => {
                Err(Mistake::OverBudget { cost: self.cost_msats, budget })
            }
            _ => Ok(()),
        }
    }

    fn check_verdict(&self) -> Result<(), Mistake> {
        let is_bool = self.derived.kind == ScoreKind::Bool;
        if is_bool && (self.threshold.is_some() || self.strict) {
            return Err(Mistake::ThresholdOnBool { within: "the whole" });
        }
        match self.threshold {
            Some(threshold) => threshold_fits("the whole", threshold, self.derived.range),
            None if self.strict => Err(Mistake::StrictWithoutThreshold),
            None => Ok(()),
        }
    }
}
