//! A sorted map of small values in little memory: runs of neighbours side by side.

/// Entries of a full run.
const RUN: usize = 256;

/// Keys with their values, in order. O(runs + a run) to change, O(log) to look up.
pub(super) struct Runs<K, V> {
    runs: Vec<Vec<(K, V)>>,
    len: usize,
}

impl<K, V> Default for Runs<K, V> {
    fn default() -> Self {
        Self { runs: Vec::new(), len: 0 }
    }
}

impl<K: Ord + Copy, V: Copy> Runs<K, V> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (K, V)> {
        self.runs.iter().flatten().copied()
    }

    /// The entries from `key` on.
    pub(super) fn from(&self, key: K) -> impl Iterator<Item = (K, V)> {
        let run = self.run(key);
        let at = self.runs.get(run).map_or(0, |run| run.partition_point(|entry| entry.0 < key));
        self.runs[run.min(self.runs.len())..].iter().flatten().skip(at).copied()
    }

    /// The bytes that they take in memory.
    pub(super) fn bytes(&self) -> usize {
        self.runs.iter().map(|run| size_of_val(run) + run.capacity() * size_of::<(K, V)>()).sum()
    }

    /// The run where a key is or would be.
    fn run(&self, key: K) -> usize {
        self.runs.partition_point(|run| run.last().is_some_and(|last| last.0 < key))
    }

    pub(super) fn get(&self, key: K) -> Option<V> {
        let run = self.runs.get(self.run(key))?;
        run.binary_search_by_key(&key, |entry| entry.0).ok().map(|at| run[at].1)
    }

    /// Enters a value, in place of what `join` makes of it and the one that is there.
    pub(super) fn put(&mut self, key: K, value: V, join: impl FnOnce(V, V) -> V) {
        let mut at = self.run(key);
        if at == self.runs.len() {
            // Behind all others, as they mostly come.
            match self.runs.last_mut() {
                Some(last) if last.len() < RUN => at -= 1,
                full => {
                    if let Some(full) = full {
                        full.shrink_to_fit();
                    }
                    self.runs.push(Vec::with_capacity(1));
                }
            }
        }
        let run = &mut self.runs[at];
        match run.binary_search_by_key(&key, |entry| entry.0) {
            Ok(place) => run[place].1 = join(run[place].1, value),
            Err(place) => {
                run.insert(place, (key, value));
                self.len += 1;
            }
        }
        if run.len() > RUN {
            let rest = run.split_off(RUN / 2);
            self.runs.insert(at + 1, rest);
        }
    }

    /// Enters a value in place of the one that is there.
    pub(super) fn insert(&mut self, key: K, value: V) {
        self.put(key, value, |_, new| new);
    }

    pub(super) fn remove(&mut self, key: K) -> Option<V> {
        let at = self.run(key);
        let run = self.runs.get_mut(at)?;
        let place = run.binary_search_by_key(&key, |entry| entry.0).ok()?;
        let (_, value) = run.remove(place);
        if run.is_empty() {
            self.runs.remove(at);
        }
        self.len -= 1;
        Some(value)
    }
}
