//! Sparse vectors against dense ones, and what they refuse.

use proptest::prelude::*;
use tessera_core::bytes::{Reader, Stored, Writer};
use tessera_core::sparse::SparseVec;

const DIM: u32 = 12;

fn pairs() -> impl Strategy<Value = Vec<(u32, f32)>> {
    prop::collection::vec((0..DIM, (-4i32..5).prop_map(|v| v as f32 / 2.0)), 0..20)
}

fn dense(pairs: &[(u32, f32)]) -> Vec<f64> {
    let mut all = vec![0.0; DIM as usize];
    for &(index, value) in pairs {
        all[index as usize] += f64::from(value);
    }
    all
}

proptest! {
    #[test]
    fn a_sparse_vector_is_the_dense_one(a in pairs(), b in pairs()) {
        let (x, y) = (SparseVec::from_pairs(a.clone()).unwrap(), SparseVec::from_pairs(b.clone()).unwrap());
        let (a, b) = (dense(&a), dense(&b));
        for i in 0..DIM {
            prop_assert_eq!(f64::from(x.get(i)), a[i as usize]);
        }
        prop_assert!(x.entries().iter().all(|entry| entry.1 != 0.0));
        prop_assert_eq!(x.dot(&y), a.iter().zip(&b).map(|(a, b)| a * b).sum::<f64>());
        prop_assert_eq!(x.square(), a.iter().map(|a| a * a).sum::<f64>());
        prop_assert_eq!(x.distance_squared(&y), a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>());
        let union: Vec<_> = (0..DIM).map(|i| (i, x.get(i), y.get(i))).filter(|(_, a, b)| *a != 0.0 || *b != 0.0).collect();
        let common: Vec<_> = union.iter().copied().filter(|(_, a, b)| *a != 0.0 && *b != 0.0).collect();
        prop_assert_eq!(x.union(&y).collect::<Vec<_>>(), union);
        prop_assert_eq!(x.common(&y).collect::<Vec<_>>(), common);
    }

    #[test]
    fn bytes_give_the_vector_back(a in pairs()) {
        let x = SparseVec::from_pairs(a).unwrap();
        let mut out = Writer::default();
        x.write(&mut out);
        let bytes = out.finish();
        prop_assert_eq!(Reader::new("vector", &bytes).get::<SparseVec>().unwrap(), x);
        for cut in 0..bytes.len() {
            prop_assert!(Reader::new("vector", &bytes[..cut]).get::<SparseVec>().is_err());
        }
    }
}

#[test]
fn what_is_no_vector_is_refused_in_a_sentence() {
    let refused = |indices: &[u32], values: &[f32]| SparseVec::new(indices, values).unwrap_err().to_string();
    assert_eq!(refused(&[1], &[f32::NAN]), "vector: expected finite values other than zero, found NaN at 1");
    assert_eq!(refused(&[1], &[f32::INFINITY]), "vector: expected finite values other than zero, found inf at 1");
    assert_eq!(refused(&[1], &[0.0]), "vector: expected finite values other than zero, found 0 at 1");
    assert_eq!(refused(&[2, 1], &[1.0, 1.0]), "vector: expected indices that ascend, found 1 after 2");
    assert_eq!(refused(&[1, 1], &[1.0, 1.0]), "vector: expected indices that ascend, found 1 after 1");
    assert_eq!(refused(&[1, 2], &[1.0]), "vector: expected as many values as indices, found 1 and 2");
    assert!(SparseVec::from_pairs([(0, f32::MAX), (0, f32::MAX)]).is_err());
    assert!(SparseVec::from_pairs([(0, 1.0), (0, -1.0), (3, 0.0)]).unwrap().is_empty());
}
