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
    /// Finds partners for as many calls as possible in groups of these sizes, by maximum flow with shortest augmenting
    /// paths (Edmonds and Karp 1972) from called groups to expected groups. The closure says whether a called group
    /// matches an expected one.
    pub(crate) fn matched(
        called: Vec<usize>,
        expected: Vec<usize>,
        matches: impl Fn(usize, usize) -> bool,
    ) -> Self {
        let matching_of = |called| {
            let all = 0..expected.len();
            all.filter(|expected| matches(called, *expected)).collect()
        };
        let mut groups = Self {
            matching: (0..called.len()).map(matching_of).collect(),
            partners: vec![BTreeMap::new(); expected.len()],
            called,
            expected,
        };
        while let Some(path) = groups.path() {
            groups.shift(&path);
        }
        groups
    }

    /// Returns a path on which a pair can be added. It consists of pairs, the last one first; the called group of each
    /// but the first pair gives up a partner in the expected group of the pair before.
    fn path(&self) -> Option<Vec<(usize, usize)>> {
        // The called group from which each expected group is reached, and vice versa.
        let mut reached_from = vec![None; self.expected.len()];
        let mut given_up_by = vec![None; self.called.len()];
        let is_free = |called: &usize| self.called[*called] > 0;
        let mut queue: VecDeque<usize> = (0..self.called.len()).filter(is_free).collect();
        while let Some(called) = queue.pop_front() {
            for &expected in &self.matching[called] {
                if reached_from[expected].is_some() {
                    continue;
                }
                reached_from[expected] = Some(called);
                if self.expected[expected] > 0 {
                    let before = |&(called, _): &(usize, usize)| {
                        let given_up: usize = given_up_by[called]?;
                        Some((reached_from[given_up]?, given_up))
                    };
                    return Some(std::iter::successors(Some((called, expected)), before).collect());
                }
                for (&other, pairs) in &self.partners[expected] {
                    if *pairs > 0 && !is_free(&other) && given_up_by[other].is_none() {
                        given_up_by[other] = Some(expected);
                        queue.push_back(other);
                    }
                }
            }
        }
        None
    }

    /// Adds as many pairs as possible along a path.
    fn shift(&mut self, path: &[(usize, usize)]) {
        let ([(_, end), ..], [.., (start, _)]) = (path, path) else {
            return;
        };
        let given_up = path.windows(2).map(|pair| (pair[0].0, pair[1].1));
        let held = given_up
            .clone()
            .map(|(called, before)| self.partners[before][&called]);
        let free = self.called[*start].min(self.expected[*end]);
        let pairs = held.fold(free, usize::min);
        self.called[*start] -= pairs;
        self.expected[*end] -= pairs;
        for (called, expected) in path {
            *self.partners[*expected].entry(*called).or_default() += pairs;
        }
        for (called, before) in given_up {
            *self.partners[before].entry(called).or_default() -= pairs;
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
        let groups = Groups::matched(vec![1; ours], vec![1; theirs], alike);
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
            let groups = Groups::matched(called.clone(), expected.clone(), |a, b| edges[a][b]);
            let free: usize = groups.called.iter().sum();
            prop_assert_eq!(called.iter().sum::<usize>() - free, best);
            prop_assert_eq!(expected.iter().sum::<usize>() - groups.expected.iter().sum::<usize>(), best);
        }
    }
}
