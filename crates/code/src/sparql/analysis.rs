//! Static analysis of a query: whether it would access the network, and upper bounds on its cost.

use std::collections::HashSet;

use oxigraph::sparql::Variable;
use spargebra::Query;
use spargebra::algebra::{Expression, Function, GraphPattern, PropertyPathExpression};
use spargebra::term::{NamedNodePattern, TermPattern};

use super::metered::MAX_STRING_BYTES;
use super::walk::{operands, parts};

/// The maximum number of patterns and path steps. The planner's time grows with the cube of their
/// number; 200 take half a second.
pub(super) const MAX_PATTERNS: usize = 200;

/// The maximum number of operands and values in expressions. The planner's time grows with the
/// square of the length of a chain.
const MAX_OPERANDS: usize = 5_000;

/// The maximum number of rows that constants (`VALUES`, `UNION` of empty patterns) produce,
/// independently of the data.
const MAX_CONSTANT_ROWS: f64 = 1e6;

/// The maximum length of a string that one expression can compute, in bytes.
const MAX_EXPRESSION_BYTES: f64 = 64e6;

/// The message for a query that calls another endpoint.
pub(super) const SERVICE_REJECTED: &str =
    "SERVICE is not allowed: a predicted query must not access the network";

/// The cost of a query for each tuple and result.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    /// An upper bound on the slots of a tuple.
    pub(super) slots: usize,
    /// For a `CONSTRUCT` or `DESCRIBE`: the bytes of constants in its template.
    pub(super) template: Option<usize>,
}

/// Returns the cost of a query, or why it must not run.
pub(super) fn cost(query: &mut Query) -> Result<Cost, String> {
    let analysis = analyze(query);
    if let Some(reason) = analysis.rejection() {
        return Err(reason);
    }
    let template = match query {
        Query::Construct { template, .. } => {
            let bytes = |term: &TermPattern| match term {
                TermPattern::Literal(literal) => literal.value().len(),
                TermPattern::NamedNode(node) => node.as_str().len(),
                _ => 0,
            };
            Some(
                template
                    .iter()
                    .map(|it| bytes(&it.subject) + bytes(&it.object))
                    .sum(),
            )
        }
        Query::Describe { .. } => Some(0),
        Query::Select { .. } | Query::Ask { .. } => None,
    };
    Ok(Cost {
        slots: analysis.slots(),
        template,
    })
}

/// Whether the query calls another endpoint (`SERVICE`).
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
    analysis.rows(pattern);
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
    /// The most rows that a pattern can produce from constants.
    max_rows: f64,
    /// The longest string that an expression can compute, in bytes.
    max_bytes: f64,
    variables: HashSet<Variable>,
    /// The number of path steps and blank nodes. Each can get a variable of its own.
    unnamed: usize,
    aggregates: usize,
    uses_service: bool,
}

impl Analysis {
    /// An upper bound on the slots of a tuple. The state of an aggregate takes as much as two.
    fn slots(&self) -> usize {
        self.variables.len() + self.unnamed + 2 * self.aggregates
    }

    fn variable(&mut self, variable: &Variable) {
        if !self.variables.contains(variable) {
            self.variables.insert(variable.clone());
        }
    }

    fn variables<'v>(&mut self, variables: impl IntoIterator<Item = &'v Variable>) {
        variables
            .into_iter()
            .for_each(|variable| self.variable(variable));
    }

    fn term(&mut self, term: &TermPattern) {
        match term {
            TermPattern::Variable(variable) => self.variable(variable),
            TermPattern::BlankNode(_) => self.unnamed += 1,
            _ => {}
        }
    }

    fn name(&mut self, name: &NamedNodePattern) {
        if let NamedNodePattern::Variable(variable) = name {
            self.variable(variable);
        }
    }

    fn rejection(&self) -> Option<String> {
        if self.uses_service {
            return Some(SERVICE_REJECTED.to_owned());
        }
        let (patterns, operands) = (self.patterns, self.operands);
        if patterns > MAX_PATTERNS {
            return Some(format!(
                "the query has {patterns} patterns; the maximum is {MAX_PATTERNS}"
            ));
        }
        if operands > MAX_OPERANDS {
            return Some(format!(
                "the query's expressions have {operands} operands; the maximum is {MAX_OPERANDS}"
            ));
        }
        if self.max_rows > MAX_CONSTANT_ROWS {
            return Some("the query's constants produce more than a million rows".to_owned());
        }
        (self.max_bytes > MAX_EXPRESSION_BYTES).then(|| {
            "an expression of the query could compute a string of more than 64 MB".to_owned()
        })
    }

    /// An upper bound on the rows of a pattern, assuming that every triple pattern matches once.
    fn rows(&mut self, pattern: &mut GraphPattern) -> f64 {
        use GraphPattern as P;
        self.patterns += 1;
        self.names(pattern);
        let (inner, expressions) = parts(pattern);
        expressions
            .into_iter()
            .for_each(|expression| self.expression(expression));
        let inner: Vec<f64> = inner
            .into_iter()
            .map(|pattern| self.rows(pattern))
            .collect();
        let rows = match (pattern, inner.as_slice()) {
            (P::Join { .. } | P::Lateral { .. }, [left, right]) => left * right,
            (P::LeftJoin { .. }, [left, right]) => left * right.max(1.0),
            (P::Union { .. }, [left, right]) => left + right,
            (P::Values { bindings, .. }, _) => count(bindings.len()),
            (_, rows) => rows.first().copied().unwrap_or(1.0),
        };
        self.max_rows = self.max_rows.max(rows);
        rows
    }

    /// Counts the variables, terms and path steps of a pattern itself.
    fn names(&mut self, pattern: &GraphPattern) {
        match pattern {
            GraphPattern::Bgp { patterns } => {
                self.patterns += patterns.len();
                for triple in patterns {
                    self.term(&triple.subject);
                    self.name(&triple.predicate);
                    self.term(&triple.object);
                }
            }
            GraphPattern::Path {
                subject,
                path,
                object,
            } => {
                self.term(subject);
                self.path(path);
                self.term(object);
            }
            GraphPattern::Values { variables, .. } => self.variables(variables),
            GraphPattern::Service { .. } => self.uses_service = true,
            GraphPattern::Extend { variable, .. } => self.variable(variable),
            GraphPattern::Group {
                variables,
                aggregates,
                ..
            } => {
                self.variables(variables);
                self.variables(aggregates.iter().map(|(variable, _)| variable));
                self.aggregates += aggregates.len();
            }
            GraphPattern::Project { variables, .. } => {
                // The constant that `instrument` adds.
                self.unnamed += 1;
                self.variables(variables);
            }
            GraphPattern::Graph { name, .. } => self.name(name),
            _ => {}
        }
    }

    fn path(&mut self, path: &PropertyPathExpression) {
        self.patterns += 1;
        self.unnamed += 1;
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

    fn expression(&mut self, expression: &mut Expression) {
        let bytes = self.bytes(expression);
        self.max_bytes = self.max_bytes.max(bytes);
    }

    /// An upper bound on the length of an expression's value, in bytes.
    fn bytes(&mut self, expression: &mut Expression) -> f64 {
        use Expression as E;
        self.operands += 1;
        match expression {
            E::Literal(literal) => count(literal.value().len()),
            E::Exists(pattern) => {
                self.rows(pattern);
                1.0
            }
            E::FunctionCall(function, arguments) => self.call(function, arguments),
            E::Variable(variable) | E::Bound(variable) => {
                self.variable(variable);
                count(MAX_STRING_BYTES)
            }
            E::NamedNode(_) => count(MAX_STRING_BYTES),
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
