//! Sum-product functions of any shape: built with checks, evaluated and differentiated in time
//! linear in their size.

use std::ops::Range;
use std::sync::Arc;

use super::semiring::Semiring;
use crate::error::{Error, Result};

/// A node of the function that a [`Builder`] is building; only that builder knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeId(u32);

/// A weight, as a position in the list that an evaluation is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WeightId(u32);

/// A child of a sum: a node, and the weight that it is multiplied by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightedTerm {
    node: NodeId,
    weight: Option<WeightId>,
}

impl From<NodeId> for WeightedTerm {
    /// The node by itself, as with a weight of one.
    fn from(node: NodeId) -> Self {
        Self { node, weight: None }
    }
}

impl From<(NodeId, WeightId)> for WeightedTerm {
    fn from((node, weight): (NodeId, WeightId)) -> Self {
        Self { node, weight: Some(weight) }
    }
}

impl NodeId {
    /// This node times a weight, as a child of a sum.
    pub fn weighted(self, weight: WeightId) -> WeightedTerm {
        (self, weight).into()
    }
}

/// What a node computes; ranges are positions in the function's lists of children.
#[derive(Clone, Debug)]
enum Operation {
    /// The leaf kernel at this position of the list that an evaluation is given.
    Leaf(u32),
    Sum(Range<usize>),
    Product(Range<usize>),
}

/// The query elements that a node looks at, in ascending order.
type Scope = Arc<[u32]>;

/// Builds a function from its leaves up. Children exist before their parents, so the order of
/// building is a topological order and a function has no circles.
#[derive(Debug, Default)]
pub struct Builder {
    operations: Vec<Operation>,
    scopes: Vec<Scope>,
    children: Vec<WeightedTerm>,
    n_leaves: u32,
    n_weights: u32,
}

impl Builder {
    /// A function without nodes.
    pub fn new() -> Self {
        Self::default()
    }

    /// A leaf kernel that compares query element `element` with some training element. Leaves are
    /// numbered in the order of these calls; an evaluation is given their values in this order.
    pub fn leaf(&mut self, element: u32) -> NodeId {
        let leaf = self.n_leaves;
        self.n_leaves += 1;
        self.push(Operation::Leaf(leaf), Arc::new([element]))
    }

    /// A weight or a cost, which any number of sums may use. Weights are numbered in the order of
    /// these calls.
    pub fn weight(&mut self) -> WeightId {
        self.n_weights += 1;
        WeightId(self.n_weights - 1)
    }

    /// The weighted sum of `terms`, all over the same query elements.
    ///
    /// # Errors
    /// [`Error::Value`] without a term, or when two terms differ in scope.
    pub fn sum<T: Copy + Into<WeightedTerm>>(&mut self, terms: &[T]) -> Result<NodeId> {
        let Some(first) = terms.first() else {
            return Err(Error::value("sum", "one term or more", "none"));
        };
        let scope = Arc::clone(self.scope((*first).into().node));
        for &term in &terms[1..] {
            let other = self.scope(term.into().node);
            if !Arc::ptr_eq(other, &scope) && *other != scope {
                let expected = format!("terms with one scope, such as the first term's {scope:?}");
                return Err(Error::value("sum", expected, format!("a term with the scope {other:?}")));
            }
        }
        let range = self.adopt(terms);
        Ok(self.push(Operation::Sum(range), scope))
    }

    /// The product of `factors`, no two of which look at the same query element.
    ///
    /// # Errors
    /// [`Error::Value`] without a factor, or when two factors share a query element.
    pub fn product(&mut self, factors: &[NodeId]) -> Result<NodeId> {
        let scope = match factors {
            [] => return Err(Error::value("product", "one factor or more", "none")),
            [one] => Arc::clone(self.scope(*one)),
            _ => {
                let mut all: Vec<u32> = factors.iter().flat_map(|&factor| self.scope(factor).iter().copied()).collect();
                all.sort_unstable();
                if let Some(twice) = all.windows(2).find(|pair| pair[0] == pair[1]) {
                    let found = format!("query element {} in two of them", twice[0]);
                    return Err(Error::value("product", "factors with disjoint scopes", found));
                }
                all.into()
            }
        };
        let range = self.adopt(factors);
        Ok(self.push(Operation::Product(range), scope))
    }

    /// The function whose value is that of `root`. Nodes that are not below it are dropped; leaves
    /// and weights keep their numbers. O(nodes and edges).
    ///
    /// # Errors
    /// [`Error::Value`] when `root` is no node of this builder.
    pub fn build(self, root: NodeId) -> Result<Function> {
        let Some(scope) = self.scopes.get(root.0 as usize).map(Arc::clone) else {
            return Err(Error::value("root", format!("a node below {}", self.scopes.len()), root.0.to_string()));
        };
        let mut is_below = vec![false; self.operations.len()];
        is_below[root.0 as usize] = true;
        for (node, operation) in self.operations.iter().enumerate().rev().filter(|(node, _)| *node <= root.0 as usize) {
            if let (true, Operation::Sum(range) | Operation::Product(range)) = (is_below[node], operation) {
                self.children[range.clone()].iter().for_each(|term| is_below[term.node.0 as usize] = true);
            }
        }
        let mut place = vec![0; self.operations.len()];
        let mut function =
            Function { operations: Vec::new(), children: Vec::new(), scope, n_leaves: self.n_leaves, n_weights: self.n_weights };
        for (node, operation) in self.operations.into_iter().enumerate().filter(|(node, _)| is_below[*node]) {
            place[node] = function.operations.len() as u32;
            let mut moved = |range: Range<usize>| {
                let start = function.children.len();
                let term = |term: &WeightedTerm| WeightedTerm { node: NodeId(place[term.node.0 as usize]), weight: term.weight };
                function.children.extend(self.children[range].iter().map(term));
                start..function.children.len()
            };
            let operation = match operation {
                Operation::Leaf(leaf) => Operation::Leaf(leaf),
                Operation::Sum(range) => Operation::Sum(moved(range)),
                Operation::Product(range) => Operation::Product(moved(range)),
            };
            function.operations.push(operation);
        }
        Ok(function)
    }

    fn scope(&self, node: NodeId) -> &Scope {
        &self.scopes[node.0 as usize]
    }

    fn adopt<T: Copy + Into<WeightedTerm>>(&mut self, terms: &[T]) -> Range<usize> {
        let start = self.children.len();
        self.children.extend(terms.iter().map(|&term| term.into()));
        start..self.children.len()
    }

    fn push(&mut self, operation: Operation, scope: Scope) -> NodeId {
        self.operations.push(operation);
        self.scopes.push(scope);
        NodeId(self.operations.len() as u32 - 1)
    }
}

/// A decomposable sum-product function. Its last node is the root.
#[derive(Clone, Debug)]
pub struct Function {
    operations: Vec<Operation>,
    children: Vec<WeightedTerm>,
    scope: Scope,
    n_leaves: u32,
    n_weights: u32,
}

/// The values of all nodes of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    values: Vec<f64>,
    weights: Vec<f64>,
}

impl Evaluation {
    /// The value of the root.
    pub fn root(&self) -> f64 {
        self.values.last().copied().unwrap_or(f64::NAN)
    }
}

/// The derivatives of a function's root.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient {
    /// With respect to the value of each leaf; 0 for leaves that are not below the root.
    pub leaves: Vec<f64>,
    /// With respect to each weight.
    pub weights: Vec<f64>,
}

impl Function {
    /// The query elements that the function looks at, in ascending order.
    pub fn scope(&self) -> &[u32] {
        &self.scope
    }

    /// Nodes and edges: what an evaluation costs.
    pub fn size(&self) -> usize {
        self.operations.len() + self.children.len()
    }

    /// Evaluates all nodes, children first. O([`Function::size`]).
    ///
    /// # Errors
    /// [`Error::Value`] for another number of leaves or weights than the function was built with,
    /// and for values outside the semiring.
    pub fn evaluate(&self, semiring: &impl Semiring, leaves: &[f64], weights: &[f64]) -> Result<Evaluation> {
        for (name, given, n) in [("leaves", leaves, self.n_leaves), ("weights", weights, self.n_weights)] {
            if given.len() != n as usize {
                return Err(Error::value(name, format!("{n} values"), given.len().to_string()));
            }
            if let Some(value) = given.iter().find(|&&value| !semiring.contains(value)) {
                return Err(Error::value(name, "values of the semiring", value.to_string()));
            }
        }
        let mut values = Vec::with_capacity(self.operations.len());
        let mut inputs = Vec::new();
        for operation in &self.operations {
            values.push(match operation {
                Operation::Leaf(leaf) => leaves[*leaf as usize],
                Operation::Sum(range) => {
                    self.inputs(range, semiring, &values, weights, &mut inputs);
                    semiring.sum(&inputs)
                }
                Operation::Product(range) => {
                    self.inputs(range, semiring, &values, weights, &mut inputs);
                    semiring.product(&inputs)
                }
            });
        }
        Ok(Evaluation { values, weights: weights.to_vec() })
    }

    /// The derivatives of the root by back-propagation through an evaluation of this function over
    /// the same semiring: of a maximum, 1 for the first of its largest terms, so that the leaves
    /// with a slope are the best virtual instance; of a sum in the log domain, each term's
    /// posterior. O([`Function::size`]).
    pub fn gradient(&self, semiring: &impl Semiring, evaluation: &Evaluation) -> Gradient {
        let Evaluation { values, weights } = evaluation;
        let mut gradient = Gradient { leaves: vec![0.0; self.n_leaves as usize], weights: vec![0.0; weights.len()] };
        let mut slopes = vec![0.0; values.len()];
        if let Some(root) = slopes.last_mut() {
            *root = 1.0;
        }
        let (mut inputs, mut own, mut parts) = (Vec::new(), Vec::new(), Vec::new());
        for (node, operation) in self.operations.iter().enumerate().rev() {
            let slope = slopes[node];
            if slope == 0.0 {
                continue;
            }
            let range = match operation {
                Operation::Leaf(leaf) => {
                    gradient.leaves[*leaf as usize] += slope;
                    continue;
                }
                Operation::Sum(range) => {
                    self.inputs(range, semiring, values, weights, &mut inputs);
                    semiring.sum_slopes(&inputs, values[node], &mut own);
                    range
                }
                Operation::Product(range) => {
                    self.inputs(range, semiring, values, weights, &mut inputs);
                    semiring.product_slopes(&inputs, &mut own);
                    range
                }
            };
            for (term, own) in self.children[range.clone()].iter().zip(&own) {
                let child = term.node.0 as usize;
                match term.weight {
                    None => slopes[child] += slope * own,
                    Some(WeightId(weight)) => {
                        semiring.product_slopes(&[weights[weight as usize], values[child]], &mut parts);
                        gradient.weights[weight as usize] += slope * own * parts[0];
                        slopes[child] += slope * own * parts[1];
                    }
                }
            }
        }
        gradient
    }

    /// The weighted values of a node's children.
    fn inputs(&self, range: &Range<usize>, semiring: &impl Semiring, values: &[f64], weights: &[f64], inputs: &mut Vec<f64>) {
        inputs.clear();
        inputs.extend(self.children[range.clone()].iter().map(|term| {
            let value = values[term.node.0 as usize];
            term.weight.map_or(value, |weight| semiring.times(weights[weight.0 as usize], value))
        }));
    }
}
