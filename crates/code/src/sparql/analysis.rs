//! Static analysis of a query: detects network access, and computes upper bounds on the query's cost.

use std::collections::HashSet;
use std::time::Duration;

use spargebra::Query;
use spargebra::algebra::{
    AggregateExpression, AggregateFunction, Expression, Function, GraphPattern,
    PropertyPathExpression,
};

use super::instrument::{operands, parts};
use super::metered::{Limits, MAX_STRING_BYTES};

/// The maximum number of patterns and path steps. The planner's time grows with the cube of their
/// number; 200 take half a second.
pub(super) const MAX_PATTERNS: usize = 200;

/// The maximum number of operands and values in expressions. The planner's time grows with the
/// square of the length of a chain.
const MAX_OPERANDS: usize = 5_000;

/// The maximum length of a string that one expression can compute, in bytes.
const MAX_EXPRESSION_BYTES: f64 = 64e6;

/// The message for a query that calls another endpoint.
pub(super) const SERVICE_REJECTED: &str =
    "SERVICE is not allowed: a predicted query must not access the network";

/// Returns the limits of a query, or why it must not run.
pub(super) fn limits(text: &str, query: &mut Query, timeout: Duration) -> Result<Limits, String> {
    let analysis = analyze(query);
    if let Some(reason) = analysis.rejection() {
        return Err(reason);
    }
    let names: HashSet<&str> = text
        .split(['?', '$'])
        .skip(1)
        .filter_map(|rest| {
            rest.split(|c: char| !c.is_alphanumeric() && c != '_')
                .next()
        })
        .collect();
    let constants = match query {
        Query::Construct { .. } | Query::Describe { .. } => Some(text.len()),
        _ => analysis.has_groups.then_some(analysis.constants),
    };
    Ok(Limits {
        timeout,
        // Path steps, blank nodes and aggregates may have their own slots.
        slots: names.len() + analysis.patterns + analysis.operands,
        weight_of_stored: constants.map(|bytes| 1 + bytes as u64 / 4),
    })
}

/// Returns `true` if the query calls another endpoint (`SERVICE`).
#[cfg(feature = "sparql-http")]
pub(super) fn uses_service(query: &mut Query) -> bool {
    analyze(query).uses_service
}

fn analyze(query: &mut Query) -> Analysis {
    let (Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }
    | Query::Ask { pattern, .. }) = query;
    let mut analysis = Analysis::default();
    analysis.pattern(pattern);
    if let Query::Construct { template, .. } = query {
        analysis.patterns += template.len();
    }
    analysis
}

#[derive(Default)]
struct Analysis {
    /// The number of patterns and path steps.
    patterns: usize,
    /// The number of operands and values in expressions.
    operands: usize,
    /// The maximum length of a string that an expression can compute, in bytes.
    max_bytes: f64,
    /// The total length of all constants in expressions and of separators, in bytes.
    constants: usize,
    has_groups: bool,
    uses_service: bool,
}

impl Analysis {
    fn rejection(&self) -> Option<String> {
        if self.uses_service {
            return Some(SERVICE_REJECTED.to_owned());
        }
        let (patterns, operands) = (self.patterns, self.operands);
        if patterns > MAX_PATTERNS {
            return Some(format!(
                "expected at most {MAX_PATTERNS} patterns in the query, found {patterns}"
            ));
        }
        if operands > MAX_OPERANDS {
            return Some(format!(
                "expected at most {MAX_OPERANDS} operands in the query's expressions, found {operands}"
            ));
        }
        (self.max_bytes > MAX_EXPRESSION_BYTES)
            .then(|| "a query expression could compute a string of more than 64 MB".to_owned())
    }

    fn pattern(&mut self, pattern: &mut GraphPattern) {
        self.patterns += 1;
        match pattern {
            GraphPattern::Bgp { patterns } => self.patterns += patterns.len(),
            GraphPattern::Path { path, .. } => self.path(path),
            GraphPattern::Service { .. } => self.uses_service = true,
            GraphPattern::Group { aggregates, .. } => {
                self.has_groups = true;
                for (_, aggregate) in aggregates {
                    if let AggregateExpression::FunctionCall {
                        name: AggregateFunction::GroupConcat { separator },
                        ..
                    } = aggregate
                    {
                        self.constants += separator.as_ref().map_or(1, String::len);
                    }
                }
            }
            _ => {}
        }
        let (inner, expressions) = parts(pattern);
        for expression in expressions {
            let bytes = self.bytes(expression);
            self.max_bytes = self.max_bytes.max(bytes);
        }
        inner.into_iter().for_each(|pattern| self.pattern(pattern));
    }

    fn path(&mut self, path: &PropertyPathExpression) {
        self.patterns += 1;
        match path {
            PropertyPathExpression::Sequence(a, b) | PropertyPathExpression::Alternative(a, b) => {
                self.path(a);
                self.path(b);
            }
            PropertyPathExpression::Reverse(a)
            | PropertyPathExpression::ZeroOrMore(a)
            | PropertyPathExpression::OneOrMore(a)
            | PropertyPathExpression::ZeroOrOne(a) => self.path(a),
            PropertyPathExpression::NamedNode(_)
            | PropertyPathExpression::NegatedPropertySet(_) => {}
        }
    }

    /// Returns an upper bound on the length of an expression's value, in bytes.
    fn bytes(&mut self, expression: &mut Expression) -> f64 {
        use Expression as E;
        self.operands += 1;
        match expression {
            E::Literal(literal) => {
                self.constants += literal.value().len();
                count(literal.value().len())
            }
            E::NamedNode(node) => {
                self.constants += node.as_str().len();
                count(MAX_STRING_BYTES)
            }
            E::Exists(pattern) => {
                self.pattern(pattern);
                1.0
            }
            E::FunctionCall(function, arguments) => self.call(function, arguments),
            E::Variable(_) | E::Bound(_) => count(MAX_STRING_BYTES),
            other => self.longest(operands(other)),
        }
    }

    fn longest<'e>(&mut self, of: impl IntoIterator<Item = &'e mut Expression>) -> f64 {
        of.into_iter()
            .map(|expression| self.bytes(expression))
            .fold(0.0, f64::max)
    }

    fn call(&mut self, function: &Function, arguments: &mut [Expression]) -> f64 {
        match (function, arguments) {
            (Function::Concat, list) => list.iter_mut().map(|argument| self.bytes(argument)).sum(),
            // An empty match is replaced too, before each character and at the end.
            (Function::Replace, [text, _, with, ..]) => {
                let (text, with) = (self.bytes(text), self.bytes(with));
                (text + 1.0) * (with + 1.0)
            }
            // A byte can become three.
            (Function::EncodeForUri | Function::UCase | Function::LCase, [text]) => {
                3.0 * self.bytes(text)
            }
            (_, list) => self.longest(list),
        }
    }
}

// Lengths within a query are exact in a float.
fn count(length: usize) -> f64 {
    length as f64
}
