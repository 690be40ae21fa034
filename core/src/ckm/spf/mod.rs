//! Sum-product functions: compact sums over all virtual instances of a query.
//!
//! A sum-product function is made of leaf kernels, weighted sums and products over a commutative
//! semiring. Where the children of each product have disjoint scopes and those of each sum have
//! equal scopes, it sums over exponentially many virtual instances in time linear in its size
//! (Gens and Domingos, section 2; Friesen and Domingos, *The Sum-Product Theorem*, ICML 2016).
//!
//! [`function`] builds, evaluates and differentiates any of them, over any [`semiring`]. The
//! recogniser itself evaluates one architecture, [`Architecture`] (section 3.1), without ever
//! building its function: [`Evidence`] holds the few maxima over training images that its nodes
//! need. Tests compare the two.
//!
//! ```
//! use tessera_core::ckm::spf::function::{Builder, Function};
//! use tessera_core::ckm::spf::semiring::{LogSumProduct, MaxSum};
//!
//! // A query of two elements, each of which may be any of three training elements: nine virtual
//! // instances, from six leaf kernels (the paper's example in section 2.1).
//! let mut builder = Builder::new();
//! let mut factors = Vec::new();
//! for element in 0..2 {
//!     let leaves = [0; 3].map(|_| builder.leaf(element));
//!     factors.push(builder.sum(&leaves)?);
//! }
//! let root = builder.product(&factors)?;
//! let function: Function = builder.build(root)?;
//!
//! let kernels = [0.9, 0.4, 0.1, 0.2, 0.7, 0.3];
//! let best = function.evaluate(&MaxSum, &kernels, &[])?;
//! assert_eq!(best.root(), 0.9 + 0.7);
//! // The best virtual instance is made of these two training elements.
//! assert_eq!(function.gradient(&MaxSum, &best).leaves, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
//!
//! let all = function.evaluate(&LogSumProduct::default(), &kernels, &[])?;
//! assert!(all.root() > best.root());
//! # Ok::<(), tessera_core::Error>(())
//! ```

mod architecture;
pub mod function;
pub mod semiring;

pub use architecture::{Architecture, Evidence, NO_IMAGE, Node};
