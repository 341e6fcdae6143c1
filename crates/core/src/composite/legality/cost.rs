//! The largest cost of a composite on one row: of all components, or of the dearest path through a decision tree.

use crate::spec::MetricSpec;

/// Returns the largest expected cost of all components together, in millisatoshis.
pub const fn total_cost(components: &[MetricSpec<'_>]) -> u64 {
    let mut total: u64 = 0;
    let mut index = 0;
    while index < components.len() {
        total = total.saturating_add(components[index].cost_msats);
        index += 1;
    }
    total
}

/// Returns the largest cost of a path, in millisatoshis, where `paths` has the components on each path and `costs` the costs of
/// all components.
pub const fn dearest(costs: &[u64], paths: &[&[usize]]) -> u64 {
    let (mut dearest, mut path) = (0, 0);
    while path < paths.len() {
        let (mut cost, mut step): (u64, usize) = (0, 0);
        while step < paths[path].len() {
            cost = cost.saturating_add(costs[paths[path][step]]);
            step += 1;
        }
        if cost > dearest {
            dearest = cost;
        }
        path += 1;
    }
    dearest
}

#[cfg(test)]
mod tests {
    use super::{dearest, total_cost};
    use crate::spec::MetricSpec;

    #[test]
    fn costs_are_added_up_to_the_largest_number() {
        let costing = |cost| MetricSpec::new("it").with_cost_msats(cost);
        assert_eq!(total_cost(&[costing(20), costing(0), costing(1)]), 21);
        assert_eq!(total_cost(&[costing(1), costing(u64::MAX)]), u64::MAX);
        assert_eq!(total_cost(&[]), 0);
        assert_eq!(dearest(&[1, 20, 300], &[&[0], &[0, 1], &[0, 2], &[1]]), 301);
        assert_eq!(dearest(&[1, 20, 300], &[&[2, 1], &[0], &[0, 1]]), 320);
        assert_eq!(dearest(&[1, u64::MAX], &[&[0, 1], &[0]]), u64::MAX);
        assert_eq!(dearest(&[], &[&[]]), 0);
    }
}
