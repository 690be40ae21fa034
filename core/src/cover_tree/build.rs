//! Building a tree of many points at once, from the top down.

use rayon::prelude::*;

use super::{CoverTree, NONE, TreeNode, TreePoints};
use crate::error::Result;
use crate::ids::ItemId;
use crate::nearest::Distance;
use crate::progress::Progress;

/// Points from which on a node's work is shared between threads.
const SHARED: usize = 2048;

/// A point that is to be placed, and the distance to the centre that it is nearest to so far.
#[derive(Clone, Copy)]
struct Waiting {
    point: u32,
    distance: f64,
    centre: u32,
}

/// A node before it has its number.
struct Planned {
    point: u32,
    level: i32,
    /// Nodes below and this one.
    size: u32,
    radius: f64,
    parent_distance: f64,
    /// Points that are equal to this one.
    copies: Vec<u32>,
}

impl<S: TreePoints, D: Distance<S::Point>> CoverTree<S, D> {
    /// Makes this the tree of all of `points`, of which none fails the distance's check.
    ///
    /// # Errors
    /// [`crate::Error::Cancelled`]: it is no tree then.
    pub(super) fn build(&mut self, points: S, ids: &[ItemId], progress: &Progress) -> Result<()> {
        let n = points.count();
        self.nodes.clear();
        self.places.clear();
        self.copies.clear();
        self.free.clear();
        self.changes = 0;
        self.root = NONE;
        self.points = points;
        if n == 0 {
            return Ok(());
        }
        progress.begin("Building a cover tree", n as u64);
        let root = self.points.middle() as u32;
        let mut rest: Vec<Waiting> =
            (0..n as u32).filter(|i| *i != root).map(|point| Waiting { point, distance: f64::INFINITY, centre: 0 }).collect();
        self.measure(root, 0, &[], &mut rest);
        let farthest = rest.iter().fold(0.0, |most: f64, waiting| most.max(waiting.distance));
        let mut planned = Vec::with_capacity(n);
        self.plan(root, 0.0, level_of(farthest, self.options.base), &mut rest, &mut planned, Some(progress))?;
        self.points = self.points.ordered(&planned.iter().map(|node| node.point).collect::<Vec<_>>());
        self.number(planned, ids);
        Ok(())
    }

    /// Adds the subtree of a point that is to have `rest` below it, each with its distance to it:
    /// in the order in which nodes come before those below them. A step is counted for each of
    /// these points: at once where the work is not shared between threads.
    fn plan(
        &self,
        point: u32,
        parent_distance: f64,
        level: i32,
        rest: &mut [Waiting],
        planned: &mut Vec<Planned>,
        progress: Option<&Progress>,
    ) -> Result<()> {
        let all = rest.len() as u64 + 1;
        let copies: Vec<u32> = rest.iter().filter(|waiting| waiting.distance == 0.0).map(|waiting| waiting.point).collect();
        let mut kept = 0;
        for i in 0..rest.len() {
            if rest[i].distance != 0.0 {
                rest[kept] = rest[i];
                kept += 1;
            }
        }
        let rest = &mut rest[..kept];
        let radius = rest.iter().fold(0.0, |most: f64, waiting| most.max(waiting.distance));
        let number = planned.len();
        planned.push(Planned { point, level, size: 1, radius, parent_distance, copies });
        let count = |steps: u64| progress.map_or(Ok(()), |progress| progress.steps(steps));
        if rest.is_empty() {
            return count(all);
        }
        let is_shared = rest.len() >= SHARED;
        if is_shared {
            count(all - rest.len() as u64)?;
        }
        let cover = self.cover(level - 1);
        let mut centres: Vec<(u32, f64)> = Vec::new();
        // The centres so far, and how far each is from the new one.
        let mut apart: Vec<f64> = Vec::new();
        let mut next = farthest(rest);
        let to_parent: Vec<f64> = rest.iter().map(|waiting| waiting.distance).collect();
        let mut own: Vec<bool> = vec![false; rest.len()];
        rest.iter_mut().for_each(|waiting| waiting.distance = f64::INFINITY);
        loop {
            if is_shared {
                count(0)?;
            }
            let centre = rest[next].point;
            own[next] = true;
            apart.clear();
            apart.extend(centres.iter().map(|(other, _)| self.between(centre, *other)));
            centres.push((centre, to_parent[next]));
            self.measure(centre, centres.len() as u32 - 1, &apart, rest);
            next = farthest(rest);
            if rest[next].distance <= cover {
                break;
            }
        }
        let sizes = group(rest, &own, centres.len());
        drop((to_parent, own));
        let mut left = &mut rest[..];
        let groups = sizes.into_iter().map(|size| left.split_off_mut(..size).unwrap_or_default());
        let level = level - 1;
        if is_shared {
            let of = |((centre, distance), group): ((u32, f64), &mut [Waiting])| {
                let mut planned = Vec::with_capacity(group.len() + 1);
                self.plan(centre, distance, level, group, &mut planned, progress)?;
                Ok(planned)
            };
            let groups: Vec<&mut [Waiting]> = groups.collect();
            let parts: Vec<Vec<Planned>> = centres.into_par_iter().zip(groups).map(of).collect::<Result<_>>()?;
            parts.into_iter().for_each(|part| planned.extend(part));
        } else {
            for ((centre, distance), group) in centres.into_iter().zip(groups) {
                self.plan(centre, distance, level, group, planned, None)?;
            }
            count(all)?;
        }
        planned[number].size = (planned.len() - number) as u32;
        Ok(())
    }

    /// Notes the new centre for all points that are nearer to it than to those before it, from
    /// which it is `apart`. A point that is nearer to its centre than half of that is not compared.
    fn measure(&self, centre: u32, number: u32, apart: &[f64], waiting: &mut [Waiting]) {
        let one = |waiting: &mut Waiting| {
            if number > 0 && apart[waiting.centre as usize] * 0.5 >= waiting.distance * (1.0 + 1e-6) {
                return;
            }
            let distance = self.between(centre, waiting.point);
            if distance < waiting.distance {
                (waiting.distance, waiting.centre) = (distance, number);
            }
        };
        if waiting.len() >= SHARED {
            waiting.par_chunks_mut(SHARED / 2).for_each(|chunk| chunk.iter_mut().for_each(one));
        } else {
            waiting.iter_mut().for_each(one);
        }
    }

    /// Makes nodes of a plan, whose points lie in its order.
    fn number(&mut self, planned: Vec<Planned>, ids: &[ItemId]) {
        let mut open: Vec<u32> = Vec::new();
        let mut last_child: Vec<u32> = Vec::new();
        // A map is made of a list sooner than entry by entry.
        let mut places: Vec<(ItemId, u32)> = Vec::with_capacity(ids.len());
        self.root = 0;
        self.nodes.reserve(planned.len());
        for (node, number) in planned.into_iter().zip(0u32..) {
            while open.last().is_some_and(|above| self.nodes[*above as usize].end <= number) {
                open.pop();
                last_child.pop();
            }
            let id = ids[node.point as usize];
            let parent = open.last().copied().unwrap_or(NONE);
            self.nodes.push(TreeNode {
                id,
                level: node.level,
                parent,
                first_child: NONE,
                next_sibling: NONE,
                end: number + node.size,
                radius: node.radius,
                parent_distance: node.parent_distance,
            });
            if let Some(before) = last_child.last_mut() {
                if *before == NONE {
                    self.nodes[parent as usize].first_child = number;
                } else {
                    self.nodes[*before as usize].next_sibling = number;
                }
                *before = number;
            }
            places.push((id, number));
            if !node.copies.is_empty() {
                let mut copies: Vec<ItemId> = node.copies.into_iter().map(|point| ids[point as usize]).collect();
                copies.sort_unstable();
                places.extend(copies.iter().map(|id| (*id, number)));
                self.copies.insert(number, copies);
            }
            open.push(number);
            last_child.push(NONE);
        }
        self.places = places.into_iter().collect();
    }
}

/// Puts the points that are no centres themselves first, by centre and in their order, and returns
/// how many each centre has.
fn group(waiting: &mut [Waiting], is_centre: &[bool], centres: usize) -> Vec<usize> {
    let others: Vec<Waiting> = waiting.iter().zip(is_centre).filter(|(_, is_centre)| !**is_centre).map(|(waiting, _)| *waiting).collect();
    let mut sizes = vec![0; centres];
    others.iter().for_each(|one| sizes[one.centre as usize] += 1);
    let mut places: Vec<usize> = sizes.iter().scan(0, |end, size| Some(std::mem::replace(end, *end + size))).collect();
    for one in others {
        let place = &mut places[one.centre as usize];
        waiting[*place] = one;
        *place += 1;
    }
    sizes
}

/// The place of the point that is farthest from its centre; of equals the first. There is one.
fn farthest(waiting: &[Waiting]) -> usize {
    (1..waiting.len()).fold(0, |best, i| if waiting[i].distance > waiting[best].distance { i } else { best })
}

/// The lowest level of which a node covers that distance.
pub(super) fn level_of(distance: f64, base: f64) -> i32 {
    if distance <= 0.0 {
        return 0;
    }
    let mut level = (distance.ln() / base.ln()).ceil() as i32;
    while base.powi(level) < distance {
        level += 1;
    }
    level
}
