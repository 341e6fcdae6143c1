//! Maximum matching between two sides whose items come in groups, such as calls or names.

use std::collections::{BTreeMap, VecDeque};

/// Groups of calls on two sides, and which groups match.
pub(crate) struct Groups {
    /// The number of calls in each called group without a partner.
    pub(crate) called: Vec<usize>,
    /// The number of calls in each expected group without a partner.
    pub(crate) expected: Vec<usize>,
    /// The expected groups that match each called group.
    matching: Vec<Vec<usize>>,
    /// For each expected group, the partners of its calls: the called group, and how many of its calls.
    partners: Vec<BTreeMap<usize, usize>>,
}

impl Groups {
    /// Creates groups of these sizes. The closure says whether a called group matches an expected one.
    pub(crate) fn new(
        called: Vec<usize>,
        expected: Vec<usize>,
        matches: impl Fn(usize, usize) -> bool,
    ) -> Self {
        let matching_of = |called| {
            (0..expected.len())
                .filter(|expected| matches(called, *expected))
                .collect()
        };
        let matching = (0..called.len()).map(matching_of).collect();
        let partners = vec![BTreeMap::new(); expected.len()];
        Self {
            called,
            expected,
            matching,
            partners,
        }
    }

    /// Finds partners for as many calls as possible, by maximum flow with shortest augmenting paths (Edmonds and
    /// Karp 1972) from called groups to expected groups.
    pub(crate) fn match_all(&mut self) {
        for called in 0..self.called.len() {
            for at in 0..self.matching[called].len() {
                let expected = self.matching[called][at];
                let pairs = self.called[called].min(self.expected[expected]);
                if pairs > 0 {
                    self.pair(called, expected, pairs);
                    self.called[called] -= pairs;
                    self.expected[expected] -= pairs;
                }
            }
        }
        while self.augment() {}
    }

    fn pair(&mut self, called: usize, expected: usize, pairs: usize) {
        *self.partners[expected].entry(called).or_default() += pairs;
    }

    /// Adds pairs along one path, which alternates between matching groups and partners. Returns `true` if there is
    /// such a path.
    fn augment(&mut self) -> bool {
        // The called group from which each expected group is reached, and vice versa.
        let mut reached_from = vec![None; self.expected.len()];
        let mut given_up_by = vec![None; self.called.len()];
        let mut queue: VecDeque<usize> = (0..self.called.len())
            .filter(|called| self.called[*called] > 0)
            .collect();
        let is_start: Vec<bool> = self.called.iter().map(|free| *free > 0).collect();
        while let Some(called) = queue.pop_front() {
            for &expected in &self.matching[called] {
                if reached_from[expected].is_some() {
                    continue;
                }
                reached_from[expected] = Some(called);
                if self.expected[expected] > 0 {
                    self.shift(expected, &reached_from, &given_up_by);
                    return true;
                }
                for &other in self.partners[expected].keys() {
                    if !is_start[other] && given_up_by[other].is_none() {
                        given_up_by[other] = Some(expected);
                        queue.push_back(other);
                    }
                }
            }
        }
        false
    }

    /// Adds pairs along the path that ends at an expected group.
    fn shift(&mut self, end: usize, reached_from: &[Option<usize>], given_up_by: &[Option<usize>]) {
        // The pairs of the path from its end to its start, each with the group whose partner is given up.
        let (mut path, mut at, mut pairs) = (Vec::new(), end, self.expected[end]);
        while let Some(called) = reached_from[at] {
            path.push((called, at, given_up_by[called]));
            match given_up_by[called] {
                Some(before) => {
                    pairs = pairs.min(self.partners[before].get(&called).copied().unwrap_or(0));
                    at = before;
                }
                None => {
                    pairs = pairs.min(self.called[called]);
                    self.called[called] -= pairs;
                    break;
                }
            }
        }
        self.expected[end] -= pairs;
        for (called, expected, given_up) in path {
            self.pair(called, expected, pairs);
            let Some(before) = given_up else { continue };
            if let Some(left) = self.partners[before].get_mut(&called) {
                *left -= pairs;
                if *left == 0 {
                    self.partners[before].remove(&called);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Groups;

    /// Returns the largest number of pairs, by trying every partner of each call.
    fn brute_force(edges: &[Vec<bool>], called: &[usize], free: &mut Vec<usize>) -> usize {
        let Some((first, rest)) = called.split_first() else {
            return 0;
        };
        let mut best = brute_force(edges, rest, free);
        for expected in 0..free.len() {
            if edges[*first][expected] && free[expected] > 0 {
                free[expected] -= 1;
                best = best.max(1 + brute_force(edges, rest, free));
                free[expected] += 1;
            }
        }
        best
    }

    fn largest_matching(ours: usize, theirs: usize, alike: impl Fn(usize, usize) -> bool) -> usize {
        let mut groups = Groups::new(vec![1; ours], vec![1; theirs], alike);
        groups.match_all();
        ours - groups.called.iter().sum::<usize>()
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
            called in prop::collection::vec(0_usize..3, 0..4),
            expected in prop::collection::vec(0_usize..3, 0..4),
            bits in prop::collection::vec(any::<bool>(), 16),
        ) {
            let edges: Vec<Vec<bool>> = bits.chunks(4).map(<[bool]>::to_vec).collect();
            let each: Vec<usize> =
                called.iter().enumerate().flat_map(|(at, count)| vec![at; *count]).collect();
            let best = brute_force(&edges, &each, &mut expected.clone());
            let mut groups = Groups::new(called.clone(), expected.clone(), |a, b| edges[a][b]);
            groups.match_all();
            let free: usize = groups.called.iter().sum();
            prop_assert_eq!(called.iter().sum::<usize>() - free, best);
            prop_assert_eq!(expected.iter().sum::<usize>() - groups.expected.iter().sum::<usize>(), best);
        }
    }
}
