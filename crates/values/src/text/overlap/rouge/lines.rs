//! The shared words of ROUGE-Lsum: for each reference line, the words that are in a longest common subsequence with any
//! line of the prediction.
//!
//! Several longest common subsequences may exist, with different words. This module chooses the same one as
//! `rouge-score` 0.1.2.

use std::collections::HashMap;

/// Returns the number of shared words. A word counts at most as often as it occurs on each side.
pub(super) fn shared_by_line(prediction: &[&[u32]], reference: &[&[u32]]) -> usize {
    let mut left = counts(prediction);
    let mut shared = 0;
    for line in reference {
        for word in union(line, prediction) {
            if let Some(left @ 1..) = left.get_mut(&word) {
                *left -= 1;
                shared += 1;
            }
        }
    }
    shared
}

fn counts(lines: &[&[u32]]) -> HashMap<u32, usize> {
    let mut counts = HashMap::new();
    for word in lines.iter().copied().flatten() {
        *counts.entry(*word).or_insert(0) += 1;
    }
    counts
}

/// Returns the line's words that are in a longest common subsequence with any of the other lines.
fn union<'a>(line: &'a [u32], others: &[&[u32]]) -> impl Iterator<Item = u32> + use<'a> {
    let mut is_in = vec![false; line.len()];
    for other in others {
        mark(line, other, &mut is_in);
    }
    line.iter()
        .zip(is_in)
        .filter_map(|(word, is_in)| is_in.then_some(*word))
}

/// Marks the words of one longest common subsequence.
fn mark(line: &[u32], other: &[u32], is_in: &mut [bool]) {
    // The only part of the length table needed on the way back: whether to step in `other` instead of in `line`.
    let mut back = vec![false; line.len() * other.len()];
    let (mut above, mut row) = (vec![0_u32; other.len() + 1], vec![0_u32; other.len() + 1]);
    for (i, word) in line.iter().enumerate() {
        for (j, candidate) in other.iter().enumerate() {
            row[j + 1] = if word == candidate {
                above[j] + 1
            } else {
                above[j + 1].max(row[j])
            };
            back[i * other.len() + j] = row[j] > above[j + 1];
        }
        std::mem::swap(&mut above, &mut row);
    }
    let (mut i, mut j) = (line.len(), other.len());
    while i > 0 && j > 0 {
        if line[i - 1] == other[j - 1] {
            is_in[i - 1] = true;
            (i, j) = (i - 1, j - 1);
        } else if back[(i - 1) * other.len() + j - 1] {
            j -= 1;
        } else {
            i -= 1;
        }
    }
}
