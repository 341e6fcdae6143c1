//! A hash table of the hashes of ids. It grows by a half, one shard at a time, so that it never needs much more memory than
//! its entries: a table that doubles needs up to three times as much while it grows.

use super::sorted_runs::Seen;

/// A power of two.
const SHARDS: usize = 8;

/// The place of a free slot.
const FREE: u64 = u64::MAX;

/// The place of the row of each id.
#[derive(Default)]
pub(super) struct IdTable {
    shards: [Shard; SHARDS],
    len: usize,
}

#[derive(Default)]
struct Shard {
    /// Slots, of which at most seven eighths are in use. An entry is in the first free one at or after the position
    /// that its hash determines.
    slots: Vec<Seen>,
    len: usize,
}

impl IdTable {
    /// Adds an id, or returns the place of the row that has it.
    pub(super) fn insert(&mut self, seen: Seen) -> Option<u64> {
        let shard = (seen.hash[1] >> (u64::BITS - SHARDS.ilog2())) as usize;
        let first = self.shards[shard].insert(seen);
        self.len += usize::from(first.is_none());
        first
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.shards.iter().map(|shard| shard.slots.len()).sum()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Seen> {
        let slots = self.shards.iter().flat_map(|shard| &shard.slots);
        slots.filter(|slot| slot.place != FREE).copied()
    }

    /// Removes all ids, and keeps the memory.
    pub(super) fn clear(&mut self) {
        for shard in &mut self.shards {
            shard.slots.fill(Seen { hash: [0; 2], place: FREE });
            shard.len = 0;
        }
        self.len = 0;
    }
}

impl Shard {
    fn insert(&mut self, seen: Seen) -> Option<u64> {
        if 8 * (self.len + 1) > 7 * self.slots.len() {
            self.grow();
        }
        let mut slot = self.first_slot(seen.hash[0]);
        loop {
            match &mut self.slots[slot] {
                free if free.place == FREE => {
                    *free = seen;
                    self.len += 1;
                    return None;
                }
                other if other.hash == seen.hash => return Some(other.place),
                _ => slot = (slot + 1) % self.slots.len(),
            }
        }
    }

    /// Scales a hash to the number of slots.
    fn first_slot(&self, hash: u64) -> usize {
        ((u128::from(hash) * self.slots.len() as u128) >> u64::BITS) as usize
    }

    fn grow(&mut self) {
        let free = Seen { hash: [0; 2], place: FREE };
        let grown = vec![free; (self.slots.len() / 2 * 3).max(4)];
        let slots = std::mem::replace(&mut self.slots, grown);
        self.len = 0;
        slots.into_iter().filter(|slot| slot.place != FREE).for_each(|slot| _ = self.insert(slot));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_finds_what_a_map_finds(
            ids in prop::collection::vec(prop_oneof![0..20_u64, any::<u64>(), Just(u64::MAX)], 0..300),
            spread in any::<bool>(),
        ) {
            let (mut table, mut map) = (IdTable::default(), HashMap::new());
            for (place, id) in (1..).zip(ids) {
                // Also hashes that are all in one shard, at one slot.
                let hash = if spread { [id.wrapping_mul(0x9e37_79b9_7f4a_7c15); 2] } else { [1, id >> 8] };
                let first = map.get(&hash).copied();
                map.entry(hash).or_insert(place);
                prop_assert_eq!(table.insert(Seen { hash, place }), first);
            }
            prop_assert_eq!(table.len(), map.len());
            let found: HashMap<_, _> = table.iter().map(|seen| (seen.hash, seen.place)).collect();
            prop_assert_eq!(found, map);
            table.clear();
            prop_assert_eq!((table.len(), table.iter().count()), (0, 0));
        }
    }

    #[test]
    fn a_million_ids_need_at_most_forty_five_bytes_each() {
        let mut table = IdTable::default();
        let mut most = 0;
        for place in 0..1_u64 << 20 {
            let hash = place.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            table.insert(Seen { hash: [hash, hash.rotate_left(32)], place });
            most = most.max(table.capacity());
        }
        assert_eq!(table.len(), 1 << 20);
        assert!(most * size_of::<Seen>() <= 45 << 20, "{most} slots");
    }
}
