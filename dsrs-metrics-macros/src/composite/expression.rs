//! How metrics are put together, as written: components, combinations, weights and bounds.

use proc_macro2::Span;
use syn::{Expr, Ident, Path};

use crate::shared::tokens::as_written;

/// A component or a combination.
pub(super) enum Expression {
    Component(Component),
    Combination(Combination),
    Gate(Gate),
}

/// `entity_f1(similarity = 0.9)`.
pub(super) struct Component {
    /// As the user wrote it.
    pub(super) text: String,
    /// The path to the metric's struct.
    pub(super) ty: Path,
    pub(super) args: Vec<(Ident, Expr)>,
    /// The arguments as written, in parentheses, or nothing.
    pub(super) configured: String,
    pub(super) span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Weighted,
    All,
    Any,
    Min,
    Max,
    Invert,
}

/// `weighted(..)`, `all(..)` and their like.
pub(super) struct Combination {
    pub(super) kind: Kind,
    pub(super) word: Ident,
    pub(super) parts: Vec<Part>,
    /// Whether all parts could be read.
    pub(super) is_complete: bool,
}

/// `gate(proxy(..) >= 0.5, truth(..))`.
pub(super) struct Gate {
    pub(super) word: Ident,
    pub(super) proxies: Vec<Part>,
    pub(super) at_least: Expr,
    pub(super) truths: Vec<Part>,
}

/// A part of a combination.
pub(super) struct Part {
    pub(super) expression: Expression,
    pub(super) weight: Option<Expr>,
    pub(super) bound: Option<Expr>,
}

impl Expression {
    /// As it is called in messages.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Component(component) => component.text.clone(),
            Self::Combination(combination) => format!("{}(..)", combination.word),
            Self::Gate(_) => "gate(..)".to_owned(),
        }
    }

    /// The place that messages about it point at.
    pub(super) fn span(&self) -> Span {
        match self {
            Self::Component(component) => component.span,
            Self::Combination(combination) => combination.word.span(),
            Self::Gate(gate) => gate.word.span(),
        }
    }
}

impl Component {
    /// What tells it from another component.
    pub(super) fn key(&self) -> (String, &str) {
        (as_written(&self.ty), &self.configured)
    }
}

/// `all` and `any` are verdicts whatever their parts are.
pub(super) fn is_verdict(whole: &Expression) -> bool {
    matches!(whole, Expression::Combination(Combination { kind: Kind::All | Kind::Any, .. }))
}

/// A gate before one truth passes from where the truth does.
pub(super) fn may_have_a_threshold(whole: &Expression) -> bool {
    matches!(whole, Expression::Gate(gate) if gate.truths.len() == 1)
}

/// The parts of a combination, or of both halves of a gate.
pub(super) fn parts_of(whole: &Expression) -> impl Iterator<Item = &Part> {
    let (first, second): (&[Part], &[Part]) = match whole {
        Expression::Component(_) => (&[], &[]),
        Expression::Combination(combination) => (&combination.parts, &[]),
        Expression::Gate(gate) => (&gate.proxies, &gate.truths),
    };
    first.iter().chain(second)
}
