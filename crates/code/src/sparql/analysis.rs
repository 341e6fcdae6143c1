//! Static analysis of a query: detects network access, and computes upper bounds on the query's cost.

use std::collections::HashSet;
use std::time::Duration;

use oxigraph::model::Literal;
use oxigraph::sparql::Variable;
use spargebra::Query;
use spargebra::algebra::{
    AggregateExpression, AggregateFunction, Expression, Function, GraphPattern, OrderExpression,
    PropertyPathExpression,
};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

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

/// Rewrites a query.
pub(super) fn instrument(query: &mut Query) {
    let (Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }
    | Query::Ask { pattern, .. }) = query;
    Rewriter::default().root(pattern);
}

#[derive(Default)]
struct Rewriter {
    constants: usize,
}

impl Rewriter {
    /// The outermost patterns determine the columns of the results, so they get no extra variable.
    fn root(&mut self, pattern: &mut GraphPattern) {
        match pattern {
            GraphPattern::Project { inner, .. } => self.pattern(inner),
            GraphPattern::Distinct { inner }
            | GraphPattern::Reduced { inner }
            | GraphPattern::Slice { inner, .. } => self.root(inner),
            other => self.pattern(other),
        }
    }

    fn pattern(&mut self, pattern: &mut GraphPattern) {
        let (inner, expressions) = parts(pattern);
        inner.into_iter().for_each(|pattern| self.pattern(pattern));
        expressions
            .into_iter()
            .for_each(|expression| self.expression(expression));
        let has_value = match pattern {
            GraphPattern::Project { inner, variables } => {
                variables.push(self.add_constant(inner));
                true
            }
            GraphPattern::Bgp { patterns } => patterns.iter().any(has_variable),
            GraphPattern::Path {
                subject, object, ..
            } => is_variable(subject) || is_variable(object),
            GraphPattern::Values { variables, .. } => !variables.is_empty(),
            _ => true,
        };
        if !has_value {
            self.add_constant(pattern);
        }
    }

    /// Binds a new variable to a constant in each row of a pattern.
    fn add_constant(&mut self, pattern: &mut GraphPattern) -> Variable {
        self.constants += 1;
        // No name in a query can contain a space.
        let variable = Variable::new_unchecked(format!("constant {}", self.constants));
        let inner = std::mem::take(pattern);
        *pattern = GraphPattern::Extend {
            inner: Box::new(inner),
            variable: variable.clone(),
            expression: Expression::Literal(Literal::new_simple_literal("")),
        };
        variable
    }

    fn expression(&mut self, expression: &mut Expression) {
        operands(expression)
            .into_iter()
            .for_each(|operand| self.expression(operand));
        if let Expression::Exists(pattern) = expression {
            self.pattern(pattern);
        }
    }
}

fn has_variable(triple: &TriplePattern) -> bool {
    is_variable(&triple.subject)
        || matches!(triple.predicate, NamedNodePattern::Variable(_))
        || is_variable(&triple.object)
}

/// Returns `true` if a term of a pattern gets a value in each row. This includes blank nodes.
fn is_variable(term: &TermPattern) -> bool {
    matches!(term, TermPattern::Variable(_) | TermPattern::BlankNode(_))
}

/// Returns the patterns directly inside a pattern, and the expressions that it evaluates.
pub(super) fn parts(pattern: &mut GraphPattern) -> (Vec<&mut GraphPattern>, Vec<&mut Expression>) {
    use GraphPattern as P;
    match pattern {
        P::Bgp { .. } | P::Path { .. } | P::Values { .. } => (Vec::new(), Vec::new()),
        P::Join { left, right }
        | P::Lateral { left, right }
        | P::Union { left, right }
        | P::Minus { left, right } => (vec![&mut **left, &mut **right], Vec::new()),
        P::LeftJoin {
            left,
            right,
            expression,
        } => (
            vec![&mut **left, &mut **right],
            expression.iter_mut().collect(),
        ),
        P::Filter {
            inner,
            expr: expression,
        }
        | P::Extend {
            inner, expression, ..
        } => (vec![&mut **inner], vec![expression]),
        P::OrderBy { inner, expression } => {
            let by = expression
                .iter_mut()
                .map(|(OrderExpression::Asc(by) | OrderExpression::Desc(by))| by);
            (vec![&mut **inner], by.collect())
        }
        P::Group {
            inner, aggregates, ..
        } => {
            let arguments = aggregates
                .iter_mut()
                .filter_map(|(_, aggregate)| match aggregate {
                    AggregateExpression::FunctionCall { expr, .. } => Some(expr),
                    AggregateExpression::CountSolutions { .. } => None,
                });
            (vec![&mut **inner], arguments.collect())
        }
        P::Project { inner, .. }
        | P::Graph { inner, .. }
        | P::Distinct { inner }
        | P::Reduced { inner }
        | P::Slice { inner, .. }
        | P::Service { inner, .. } => (vec![&mut **inner], Vec::new()),
    }
}

/// Returns the expressions directly inside an expression.
pub(super) fn operands(expression: &mut Expression) -> Vec<&mut Expression> {
    use Expression as E;
    match expression {
        E::NamedNode(_) | E::Literal(_) | E::Variable(_) | E::Bound(_) | E::Exists(_) => Vec::new(),
        E::Or(a, b)
        | E::And(a, b)
        | E::Equal(a, b)
        | E::SameTerm(a, b)
        | E::Greater(a, b)
        | E::GreaterOrEqual(a, b)
        | E::Less(a, b)
        | E::LessOrEqual(a, b)
        | E::Add(a, b)
        | E::Subtract(a, b)
        | E::Multiply(a, b)
        | E::Divide(a, b) => vec![&mut **a, &mut **b],
        E::UnaryPlus(a) | E::UnaryMinus(a) | E::Not(a) => vec![&mut **a],
        E::If(a, b, c) => vec![&mut **a, &mut **b, &mut **c],
        E::In(a, list) => std::iter::once(&mut **a).chain(list).collect(),
        E::Coalesce(list) | E::FunctionCall(_, list) => list.iter_mut().collect(),
    }
}
