//! Vectors of seven bits: products by whichever instructions are those of the bytes.

use tessera_core::ann::codes::{CodeQuery, Codes};
use tessera_core::linalg::dots::{Factors, LANES, Quads, TILE, portable_signed};

#[test]
fn products_are_those_of_the_bytes() {
    for dimension in [1, 4, 7, 70] {
        let mut codes = Codes::new(vec![1.0; dimension]);
        let vector = |i: usize| -> Vec<u8> { (0..dimension).map(|d| [0, 127, 64, (i * 31 + d * 7) as u8 % 128][(i + d) % 4]).collect() };
        (0..37).for_each(|i| codes.push(&vector(i)));
        let mut asked = vec![CodeQuery::default(); TILE];
        for (t, asked) in asked.iter_mut().enumerate() {
            let x: Vec<f32> = (0..dimension).map(|d| [127.0, -127.0, 0.0, (d % 100) as f32 - 50.0][(t + d) % 4]).collect();
            codes.ask(&x, asked, &mut []);
        }
        let (mut products, mut alone) = (Vec::new(), Vec::new());
        codes.products_of(&codes.tile(&asked), 0..3, &mut products);
        for (t, asked) in asked.iter().enumerate() {
            codes.products(asked, &mut alone);
            for i in 0..37 {
                let sum: i32 = vector(i).iter().zip(asked.steps()).map(|(a, b)| (i32::from(*a) - 64) * i32::from(b)).sum();
                assert_eq!(products[i / LANES][t][i % LANES], sum as f32 * asked.step(), "{dimension} values, vector {i}");
                assert_eq!(alone[i / LANES][i % LANES], sum as f32 * asked.step(), "{dimension} values, vector {i}");
            }
        }
    }
}

#[test]
fn products_on_any_processor_are_those_of_the_bytes() {
    let value = |seed: usize| (seed * 7919 % 255) as i32 - 127;
    let block: Vec<Quads> = (0..5).map(|q| std::array::from_fn(|i| std::array::from_fn(|k| (q * 64 + i * 4 + k) as u8 & 127))).collect();
    let factor = |q: usize, t: usize| [0, 1, 2, 3].map(|k| value(q * 32 + t * 4 + k) as i8);
    let rows: Vec<Factors> = (0..5).map(|q| std::array::from_fn(|t| i32::from_le_bytes(factor(q, t).map(|value| value as u8)))).collect();
    let dots = portable_signed(&block, &rows);
    for (t, dots) in dots.iter().enumerate() {
        for (i, dot) in dots.iter().enumerate() {
            let product = |q: usize| -> i32 { block[q][i].iter().zip(factor(q, t)).map(|(a, b)| i32::from(*a) * i32::from(b)).sum() };
            assert_eq!(*dot, (0..5).map(product).sum::<i32>());
        }
    }
}
