//! The assignment of the largest total weight.

/// Returns the column of each row such that the sum of the weights is largest; no two rows have the same column, and there are as many
/// pairs as the smaller side has items. The Hungarian method with potentials (Kuhn 1955, Munkres 1957), in O(n² m).
pub(super) fn best(
    rows: usize,
    columns: usize,
    weight: &dyn Fn(usize, usize) -> f64,
) -> Vec<Option<usize>> {
    if rows > columns {
        let of_columns = best(columns, rows, &|column, row| weight(row, column));
        let mut of_rows = vec![None; rows];
        for (column, row) in of_columns.into_iter().enumerate() {
            if let Some(row) = row {
                of_rows[row] = Some(column);
            }
        }
        return of_rows;
    }
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
                let cost = -weight(current - 1, other - 1)
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
    let mut column_of = vec![None; rows];
    for (column, row) in row_of.into_iter().enumerate().skip(1) {
        if let Some(row) = row.checked_sub(1) {
            column_of[row] = Some(column - 1);
        }
    }
    column_of
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::best;

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
            (rows, columns) in (0_usize..5, 0_usize..5),
            drawn in prop::collection::vec(prop_oneof![Just(0.0), Just(0.5), Just(1.0), 0.0..1.0], 25),
        ) {
            let weights: Vec<Vec<f64>> =
                (0..rows).map(|row| drawn[row * 5..row * 5 + columns].to_vec()).collect();
            let chosen = best(rows, columns, &|row, column| weights[row][column]);
            let pairs: Vec<_> =
                chosen.iter().enumerate().filter_map(|(row, it)| it.map(|it| (row, it))).collect();
            let mut used: Vec<_> = pairs.iter().map(|pair| pair.1).collect();
            used.sort_unstable();
            used.dedup();
            prop_assert_eq!(used.len(), pairs.len());
            let sum: f64 = pairs.iter().map(|(row, column)| weights[*row][*column]).sum();
            let largest = brute_force(&weights, 0, &mut vec![false; columns]);
            prop_assert!((sum - largest).abs() < 1e-9, "{} {}", sum, largest);
        }
    }
}
