//! The parts of a query's algebra, into which its analysis and its rewriting descend.

use spargebra::algebra::{AggregateExpression, Expression, GraphPattern, OrderExpression};

/// The patterns directly inside a pattern, and the expressions that it evaluates.
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

/// The expressions directly inside an expression.
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
