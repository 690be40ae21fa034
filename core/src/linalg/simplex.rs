//! Small linear programs, exactly: the simplex method on a dense tableau.
//!
//! - Bland, *New finite pivoting rules for the simplex method*, 1977: if of the improving variables
//!   the one of lowest index enters the basis, and of those that may leave it the one of lowest
//!   index leaves, no basis comes twice.

/// The optimal solution of a linear program, and the dual prices of its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimum {
    /// The largest value.
    pub value: f64,
    /// Where it is reached, `(n_columns)`.
    pub point: Vec<f64>,
    /// By how much the largest value grows for one more unit on the right side of each row,
    /// `(n_rows)`: the optimum of the dual program.
    pub prices: Vec<f64>,
}

/// Entries no larger than this, relative to the largest of their row or of the costs, are rounding
/// errors.
const TINY: f64 = 1e-11;

/// The largest `costs . y` with `matrix y <= right` and `y >= 0`. `matrix` is row-major `(n_rows,
/// n_columns)`; `right` is not negative, so that y = 0 is a point to start from. `None` when the
/// program is unbounded, or numbers are not finite.
///
/// The column of the largest cost enters; after as many steps without progress as there are rows
/// and columns, Bland's rule holds, so that it ends. O(n_rows n_columns) a step.
pub fn maximise(costs: &[f64], matrix: &[f64], right: &[f64]) -> Option<Optimum> {
    let (n, m) = (costs.len(), right.len());
    let finite = costs.iter().chain(matrix).chain(right).all(|x| x.is_finite());
    if matrix.len() != n * m || !finite || right.iter().any(|&b| b < 0.0) {
        return None;
    }
    // Columns: what is not in the basis, then the right side. A variable below n is a column of the
    // program, the others are slacks.
    let width = n + 1;
    let mut table: Vec<f64> = Vec::with_capacity((m + 1) * width);
    for (row, right) in right.iter().enumerate() {
        table.extend_from_slice(&matrix[row * n..][..n]);
        table.push(*right);
    }
    table.extend(costs.iter().map(|cost| -cost));
    table.push(0.0);
    let mut outside: Vec<usize> = (0..n).collect();
    let mut basis: Vec<usize> = (n..n + m).collect();
    let scale = costs.iter().fold(0.0f64, |most, cost| most.max(cost.abs()));
    let (mut still, mut last) = (0, 0.0);
    for _ in 0..50 * (n + m + 10) {
        let last_row = &table[m * width..][..n];
        let improving = (0..n).filter(|&j| last_row[j] < -TINY * scale);
        let bland = still > n + m;
        let entering = if bland {
            improving.min_by_key(|&j| outside[j])
        } else {
            improving.min_by(|&i, &j| last_row[i].total_cmp(&last_row[j]).then(outside[i].cmp(&outside[j])))
        };
        let Some(entering) = entering else {
            return Some(finish(&table, &outside, &basis, n, m));
        };
        let mut leaving: Option<(f64, usize)> = None;
        for row in 0..m {
            let entry = table[row * width + entering];
            if entry > TINY {
                let ratio = table[row * width + n].max(0.0) / entry;
                let better = leaving.is_none_or(|(least, other)| ratio < least || (ratio == least && basis[row] < basis[other]));
                if better {
                    leaving = Some((ratio, row));
                }
            }
        }
        let (_, leaving) = leaving?;
        pivot(&mut table, width, leaving, entering);
        std::mem::swap(&mut basis[leaving], &mut outside[entering]);
        let value = table[m * width + n];
        still = if value > last { 0 } else { still + 1 };
        last = value;
    }
    None
}

/// Pivots: the variable of the column enters the basis, and that of the row leaves it.
fn pivot(table: &mut [f64], width: usize, row: usize, column: usize) {
    let own: Vec<f64> = {
        let own = &mut table[row * width..][..width];
        let inverse = 1.0 / own[column];
        own[column] = 1.0;
        own.iter_mut().for_each(|x| *x *= inverse);
        own.to_vec()
    };
    for (number, other) in table.chunks_exact_mut(width).enumerate() {
        let factor = other[column];
        if number != row && factor != 0.0 {
            other[column] = 0.0;
            super::double::add_scaled(other, -factor, &own);
        }
    }
}

fn finish(table: &[f64], outside: &[usize], basis: &[usize], n: usize, m: usize) -> Optimum {
    let width = n + 1;
    let (mut point, mut prices) = (vec![0.0; n], vec![0.0; m]);
    for (row, &variable) in basis.iter().enumerate() {
        if variable < n {
            point[variable] = table[row * width + n].max(0.0);
        }
    }
    for (column, &variable) in outside.iter().enumerate() {
        if variable >= n {
            prices[variable - n] = table[m * width + column].max(0.0);
        }
    }
    Optimum { value: table[m * width + n], point, prices }
}
