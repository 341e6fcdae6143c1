//! The assignment of the largest total weight.

/// Returns the largest sum of the weights of one column for each row, where no two rows have the same column. There are at
/// least as many columns as rows. The Hungarian method with potentials (Kuhn 1955, Munkres 1957), in O(n² m).
pub(super) fn largest_weight(weights: &[Vec<f64>]) -> f64 {
    let (rows, columns) = (weights.len(), weights.first().map_or(0, Vec::len));
    // Row and column 0 stand for none: `row_of[column]` is the row of a column, from 1.
    let mut row_of = vec![0; columns + 1];
    let (mut row_potential, mut column_potential) = (vec![0.0; rows + 1], vec![0.0; columns + 1]);
    for row in 1..=rows {
        row_of[0] = row;
        let mut column = 0;
        let mut least = vec![f64::INFINITY; columns + 1];
        let mut before = vec![0; columns + 1];
        let mut is_used = vec![false; columns + 1];
        while row_of[column] != 0 {
            is_used[column] = true;
            let current = row_of[column];
            let (mut delta, mut next) = (f64::INFINITY, 0);
            for other in 1..=columns {
                if is_used[other] {
                    continue;
                }
                let cost = -weights[current - 1][other - 1]
                    - row_potential[current]
                    - column_potential[other];
                if cost < least[other] {
                    least[other] = cost;
                    before[other] = column;
                }
                if least[other] < delta {
                    delta = least[other];
                    next = other;
                }
            }
            for other in 0..=columns {
                if is_used[other] {
                    row_potential[row_of[other]] += delta;
                    column_potential[other] -= delta;
                } else {
                    least[other] -= delta;
                }
            }
            column = next;
        }
        while column != 0 {
            let previous = before[column];
            row_of[column] = row_of[previous];
            column = previous;
        }
    }
    let mut chosen = vec![0.0; rows];
    for (column, row) in row_of.into_iter().enumerate().skip(1) {
        if let Some(row) = row.checked_sub(1) {
            chosen[row] = weights[row][column - 1];
        }
    }
    chosen.into_iter().fold(0.0, |sum, weight| sum + weight)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::largest_weight;

    fn brute_force(weights: &[Vec<f64>], row: usize, taken: &mut Vec<bool>) -> f64 {
        let Some(of_row) = weights.get(row) else {
            return 0.0;
        };
        let mut largest = brute_force(weights, row + 1, taken);
        for column in 0..of_row.len() {
            if !taken[column] {
                taken[column] = true;
                largest = largest.max(of_row[column] + brute_force(weights, row + 1, taken));
                taken[column] = false;
            }
        }
        largest
    }

    proptest! {
        #[test]
        fn no_assignment_weighs_more(
            (rows, more) in (0_usize..5, 0_usize..3),
            drawn in prop::collection::vec(prop_oneof![Just(0.0), Just(0.5), Just(1.0), 0.0..1.0], 35),
        ) {
            let columns = rows + more;
            let weights: Vec<Vec<f64>> =
                (0..rows).map(|row| drawn[row * 7..row * 7 + columns].to_vec()).collect();
            let largest = brute_force(&weights, 0, &mut vec![false; columns]);
            let found = largest_weight(&weights);
            prop_assert!((found - largest).abs() < 1e-9, "{} {}", found, largest);
        }
    }
}
