//! Dense vectors and small dense matrices: inner products, distances, projections, principal
//! components, eigenvectors, and small linear programs.
//!
//! Every sum is taken in an order that the code fixes: eight partial sums, added from first to
//! last, then the rest. No product is fused with its addition. So a value is the same on every
//! machine and for any number of threads, whichever instructions the processor offers. Matrix
//! libraries choose their kernels at run time, with and without fused multiplication, and with
//! blocks that depend on caches and threads; their results differ in the last bits from one machine
//! to the next, and the answers built on them would too. The matrices here are small (at most a
//! thousand columns), so that little speed is lost.
//!
//! - [`single`]: vectors of f32, as pictures and indexes have them.
//! - [`double`]: vectors and square matrices of f64, as learners have them.
//! - [`projection`]: random projections to fewer dimensions.
//! - [`cholesky`]: systems of equations with a positive definite matrix.
//! - [`axes`], [`pca`]: principal components of dense and of sparse vectors; [`eigen`]:
//!   eigenvectors of small symmetric matrices.
//! - [`dots`]: dot products of vectors of whole numbers.
//! - [`simplex`]: small linear programs with the prices of their rows.
//!
//! ```
//! use tessera_core::linalg::{double, single};
//!
//! assert_eq!(single::dot(&[1.0, 2.0], &[3.0, 4.0]), 11.0);
//! assert_eq!(double::norm(&[3.0, 4.0]), 5.0);
//! ```

pub mod axes;
pub mod cholesky;
pub mod dots;
pub mod double;
pub mod eigen;
pub mod pca;
pub mod projection;
pub mod simplex;
pub mod single;
