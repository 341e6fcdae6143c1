//! Trees that differ in a branch or in its score are different metrics.

use dsrs_metrics::contract::{IdentityDifference, MetricIdentity};
use dsrs_metrics::prelude::*;

use super::{Blended, Structure};

mod other {
    use super::super::*;

    /// Headings first, then their order.
    #[metric(tree(has_headings_judge {
        no => -0.25,
        yes => heading_order_judge { Correct => 1.0, Partly => 0.75, Wrong => 0.0 },
    }))]
    pub(super) struct Structure;

    #[metric(weighted(structure = 0.5, brief = 0.5))]
    pub(super) struct Blended;
}

mod swapped {
    use super::super::*;

    /// Headings first, then their order.
    #[metric(tree(has_headings_judge {
        no => -0.25,
        yes => heading_order_judge { Correct => 1.0, Wrong => (HALF), Partly => 0.0 },
    }))]
    pub(super) struct Structure;
}

mod same {
    use super::super::*;

    /// Headings first, then their order.
    #[metric(tree(has_headings_judge {
        no => -0.25,
        yes => heading_order_judge { Correct => 1.0, Partly => 0.5, Wrong => 0.0 },
    }))]
    pub(super) struct Structure;

    #[metric(weighted(structure = 0.5, brief = 0.5))]
    pub(super) struct Blended;
}

#[test]
fn trees_that_differ_in_a_branch_or_a_leaf_are_different_metrics() {
    let identity = |metric: &dyn Metric| MetricIdentity::of(metric);
    let own = identity(&Structure);
    assert_eq!(own.differences(&identity(&same::Structure)), []);
    let shown = |other: &dyn Metric| {
        let all = own.differences(&identity(other));
        let line = |it: &IdentityDifference| format!("{} {} {}", it.place, it.expected, it.found);
        all.iter().map(line).collect::<Vec<_>>()
    };
    let partly = "parameter `Structure.has_headings: yes, heading_order: Partly`";
    let wrong = "parameter `Structure.has_headings: yes, heading_order: Wrong`";
    assert_eq!(
        shown(&other::Structure),
        [format!(r#"{partly} "0.5" "0.75""#)]
    );
    assert_eq!(
        shown(&swapped::Structure),
        [
            format!(r#"{partly} "0.5" "0""#),
            format!(r#"{wrong} "0" "0.5""#)
        ]
    );
    let [difference] = &identity(&same::Blended).differences(&identity(&other::Blended))[..] else {
        panic!("a component differs");
    };
    assert_eq!(difference.place, partly);
    let inline = identity(&Blended).to_string();
    assert!(
        inline.contains("; Blended.expression = weighted(structure in "),
        "{inline}"
    );
}
