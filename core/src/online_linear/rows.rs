//! A table from features to the rows of a matrix.

/// Rows of features, numbered in the order in which features first came: open addressing, linear
/// probing, nothing but one vector. 8 bytes a place, at most half of them taken.
#[derive(Clone, Debug, Default)]
pub struct FeatureRows {
    /// A feature and its row plus 1; 0 in a vacant place. A power of two, or none.
    places: Vec<(u32, u32)>,
    rows: u32,
}

impl FeatureRows {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows as usize
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The row of a feature, if it has one. O(1).
    pub fn get(&self, feature: u32) -> Option<usize> {
        let (_, row) = *self.places.get(self.place(feature))?;
        (row as usize).checked_sub(1)
    }

    /// The row of a feature, which is the next if it had none; and whether it is new. O(1), now and
    /// then O(rows).
    pub fn enter(&mut self, feature: u32) -> (usize, bool) {
        if let Some(row) = self.get(feature) {
            return (row, false);
        }
        if self.places.len() <= self.rows as usize * 2 {
            let size = (self.places.len() * 2).max(8);
            let old = std::mem::replace(&mut self.places, vec![(0, 0); size]);
            for (feature, row) in old.into_iter().filter(|place| place.1 != 0) {
                let place = self.place(feature);
                self.places[place] = (feature, row);
            }
        }
        self.rows += 1;
        let place = self.place(feature);
        self.places[place] = (feature, self.rows);
        (self.rows as usize - 1, true)
    }

    /// Where a feature is, or the vacant place where it would be.
    fn place(&self, feature: u32) -> usize {
        let mask = self.places.len().wrapping_sub(1);
        let mut place = (feature.wrapping_mul(0x9e37_79b9) >> 7) as usize & mask;
        while self.places.get(place).is_some_and(|&(own, row)| row != 0 && own != feature) {
            place = (place + 1) & mask;
        }
        place
    }
}
