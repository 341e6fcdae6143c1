//! Maximum matching between two sides, such as calls or names.

use std::collections::VecDeque;

/// Pairs as many items as possible, using shortest augmenting paths (Kuhn 1955), and returns the indices of the
/// unpaired items on each side. The closure returns `true` if an item on the first side matches one on the second.
pub(crate) fn unmatched(
    ours: usize,
    theirs: usize,
    matches: impl Fn(usize, usize) -> bool,
) -> [Vec<usize>; 2] {
    let matching_of = |our| (0..theirs).filter(|their| matches(our, *their)).collect();
    let matching: Vec<Vec<usize>> = (0..ours).map(matching_of).collect();
    let mut partners = [vec![None; ours], vec![None; theirs]];
    for start in 0..ours {
        let mut reached_from = vec![None; theirs];
        let (mut queue, mut end) = (VecDeque::from([start]), None);
        while let (Some(our), None) = (queue.pop_front(), end) {
            for &their in &matching[our] {
                if reached_from[their].is_none() {
                    reached_from[their] = Some(our);
                    match partners[1][their] {
                        Some(other) => queue.push_back(other),
                        None => end = end.or(Some(their)),
                    }
                }
            }
        }
        // Walking back along the path, each item swaps its partner for the one that it reached.
        while let Some((their, our)) =
            end.and_then(|their: usize| Some((their, reached_from[their]?)))
        {
            partners[1][their] = Some(our);
            end = partners[0][our].replace(their);
        }
    }
    partners.map(|side| (0..side.len()).filter(|at| side[*at].is_none()).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::unmatched;

    /// Returns the largest number of pairs, by trying every partner of each item.
    fn brute_force(edges: &[&[bool]], free: &mut Vec<bool>) -> usize {
        let Some((first, rest)) = edges.split_first() else {
            return 0;
        };
        let mut best = brute_force(rest, free);
        for their in 0..free.len() {
            if first[their] && free[their] {
                free[their] = false;
                best = best.max(1 + brute_force(rest, free));
                free[their] = true;
            }
        }
        best
    }

    fn largest_matching(ours: usize, theirs: usize, alike: impl Fn(usize, usize) -> bool) -> usize {
        ours - unmatched(ours, theirs, alike)[0].len()
    }

    #[test]
    fn long_chains_need_no_stack_and_equal_items_no_cubic_time() {
        let chain = |one: usize, other: usize| {
            (other..other + 2).contains(&one) || (one, other) == (0, 2_000)
        };
        assert_eq!(largest_matching(2_001, 2_001, chain), 2_001);
        assert_eq!(largest_matching(1_500, 1_500, |_, _| true), 1_500);
        assert_eq!(largest_matching(700, 1_500, |_, _| true), 700);
    }

    proptest! {
        #[test]
        fn the_matching_is_maximum(
            (ours, theirs) in (0_usize..6, 0_usize..6), bits in prop::collection::vec(any::<bool>(), 36),
        ) {
            let edges: Vec<&[bool]> = bits.chunks(6).take(ours).collect();
            let best = brute_force(&edges, &mut vec![true; theirs]);
            let [extra, missing] = unmatched(ours, theirs, |our, their| edges[our][their]);
            prop_assert_eq!([ours - extra.len(), theirs - missing.len()], [best; 2]);
        }
    }
}
