//! Memory trees as bytes: read back, they answer and go on learning exactly as if they had never
//! been written.
//!
//! Numbers are little-endian; lists begin with their length as u64. A file is: the eight bytes
//! `tess.cmt`, the version as u32, the options as RON; the memories by slot, the vacant slots,
//! those in use and the most there ever were; the scorer's weights; for each tree its generator,
//! its root, its nodes and the vacant ones. Whoever keeps the bytes guards them against damage;
//! anything that would not be a tree is refused here.

use super::check::check_tree;
use super::memories::Memories;
use super::scorer::Scorer;
use super::tree::{Inner, Kind, Leaf, NONE, Node, Place, Tree};
use super::{Cmt, CmtOptions, Memory, Router};
use crate::bytes::{Reader, Stored, Writer};
use crate::error::Result;
use crate::ids::ItemId;
use crate::random;

const MAGIC: [u8; 8] = *b"tess.cmt";
const VERSION: u32 = 2;

impl<V: Stored, R: Router> Cmt<V, R> {
    /// The trees, their memories and the scorer as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.bytes(&MAGIC);
        out.put(&VERSION);
        self.write(&mut out);
        out.finish()
    }

    /// The trees that [`Cmt::to_bytes`] wrote. Any bytes are safe to pass.
    ///
    /// # Errors
    /// [`crate::Error::Value`] or [`crate::Error::Option`] when they are not a memory tree of this
    /// version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new("memory tree", bytes);
        let (magic, version) = (from.bytes::<8>()?, from.get::<u32>()?);
        if magic != MAGIC || version != VERSION {
            let found = format!("`{}` of version {version}", String::from_utf8_lossy(&magic).escape_debug());
            return Err(from.wrong(format!("`{}` of version {VERSION}", String::from_utf8_lossy(&MAGIC)), found));
        }
        let cmt = from.get()?;
        from.end()?;
        Ok(cmt)
    }
}

/// Without the magic bytes and the version, to be a part of other bytes.
impl<V: Stored, R: Router> Stored for Cmt<V, R> {
    fn write(&self, out: &mut Writer) {
        out.put(&self.options);
        out.put(&self.memories);
        self.scorer.write(out);
        for tree in &self.trees {
            tree.write(out);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let options: CmtOptions = from.get()?;
        let memories: Memories<V> = from.get()?;
        let scorer = Scorer::read(from, &options)?;
        let mut trees = Vec::new();
        for _ in 0..options.trees {
            let tree = Tree::read(from, memories.slots.len())?;
            check_tree(&tree, &memories, &options).map_err(|found| from.wrong("a tree of these memories", found))?;
            trees.push(tree);
        }
        Ok(Self { options, memories, trees, scorer })
    }
}

impl<V: Stored> Stored for Memories<V> {
    fn write(&self, out: &mut Writer) {
        out.count(self.slots.len());
        for memory in &self.slots {
            out.put(&memory.is_some());
            if let Some(memory) = memory {
                out.put(&memory.id.0);
                out.put(&memory.x);
                out.put(&memory.value);
            }
        }
        out.put(&self.vacant);
        out.put(&self.live);
        out.put(&(self.peak as u64));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let n = from.count()?;
        let mut slots = Vec::new();
        for _ in 0..n {
            let memory = from.get::<bool>()?.then(|| Ok(Memory { id: ItemId(from.get()?), x: from.get()?, value: from.get()? }));
            slots.push(memory.transpose()?);
        }
        slots.shrink_to_fit();
        let (vacant, live, peak): (Vec<u32>, Vec<u32>, u64) = (from.get()?, from.get()?, from.get()?);
        let peak = usize::try_from(peak).map_err(|_| from.wrong("a number of memories", peak.to_string()))?;
        Self::restored(slots, vacant, live, peak).map_err(|found| from.wrong("lists of the same memories", found))
    }
}

impl<R: Router> Tree<R> {
    fn write(&self, out: &mut Writer) {
        out.bytes(&random::state(&self.rng));
        out.put(&self.root);
        out.count(self.nodes.len());
        for node in &self.nodes {
            out.put(&node.stamp);
            match &node.kind {
                Kind::Vacant => out.put(&0u8),
                Kind::Leaf(leaf) => {
                    out.put(&1u8);
                    out.put(&node.parent);
                    out.put(&leaf.members);
                }
                Kind::Inner(inner) => {
                    out.put(&2u8);
                    out.put(&node.parent);
                    inner.sides.iter().chain(&inner.counts).for_each(|number| out.put(number));
                    out.put(&inner.router);
                }
            }
        }
        out.put(&self.vacant);
    }

    /// `slots`: how many slots the memories have.
    fn read(from: &mut Reader<'_>, slots: usize) -> Result<Self> {
        let rng = random::restored(&from.bytes()?);
        let root = from.get()?;
        let n = from.count()?;
        let mut nodes = Vec::new();
        let mut places = vec![Place { leaf: NONE, at: 0 }; slots];
        for number in 0..n as u32 {
            let stamp = from.get()?;
            let (parent, kind) = match from.get::<u8>()? {
                0 => (NONE, Kind::Vacant),
                1 => {
                    let parent = from.get()?;
                    let members: Vec<u32> = from.get()?;
                    for (&slot, at) in members.iter().zip(0..) {
                        let place = places.get_mut(slot as usize).ok_or_else(|| from.wrong(format!("{slots} slots"), slot.to_string()))?;
                        *place = Place { leaf: number, at };
                    }
                    (parent, Kind::Leaf(Leaf { members, alike: false }))
                }
                2 => {
                    let parent = from.get()?;
                    let (sides, counts) = ([from.get()?, from.get()?], [from.get()?, from.get()?]);
                    (parent, Kind::Inner(Inner { sides, counts, router: from.get()? }))
                }
                other => return Err(from.wrong("a kind of node, 0 to 2", other.to_string())),
            };
            nodes.push(Node { parent, stamp, kind });
        }
        Ok(Self { nodes, vacant: from.get()?, root, places, rng })
    }
}
