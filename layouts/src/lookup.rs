//! Lookups in the allow-list: whether an address may be read or written, its name, and the register
//! of a name.

use crate::chip::{ChipLayout, Located, private, refusal};
use crate::entry::{AnyGroup, Entry, ReadAccess, WritePermission};
use crate::map::ReadMode;
use crate::ranges::{Range, Reason, Space};

/// Registers are read as words of this many bytes.
const WORD: u64 = 4;

impl ChipLayout {
    /// Returns whether the `len` bytes at `offset` of this space are memory or registers, if a
    /// passive client may read all of them. One binary search; [`ChipLayout::readable`] has the
    /// reason against it.
    pub fn read_mode(&self, space: Space, offset: u64, len: u64) -> Option<ReadMode> {
        self.maps.of(space).stand(offset, len)
    }

    /// Checks that a passive client may read `len` bytes at `offset` of this space.
    ///
    /// # Errors
    /// The first reason against it.
    pub fn readable(&self, space: Space, offset: u64, len: u64) -> Result<ReadMode, Reason> {
        match self.read_mode(space, offset, len) {
            Some(stand) => Ok(stand),
            None => Err(self.against(space, offset, len)),
        }
    }

    /// Returns the first reason against the read.
    fn against(&self, space: Space, offset: u64, len: u64) -> Reason {
        self.judge(space, offset, len).err().unwrap_or(Reason::Unmapped { offset })
    }

    fn judge(&self, space: Space, offset: u64, len: u64) -> Result<(), Reason> {
        let range = self.ranges.at(space, offset).ok_or_else(|| self.nothing(space, offset))?;
        if range.private {
            return Err(private(range));
        }
        if let Some(reason) = refusal(range.name.clone(), range.access, range.why.as_ref()) {
            return Err(reason);
        }
        if offset.checked_add(len).is_none_or(|end| end > range.end()) {
            return Err(Reason::PastEnd { range: range.name.clone(), end: range.end() });
        }
        if range.memory { Ok(()) } else { self.readable_registers(range, offset, len) }
    }

    /// Returns the reason for an address that is in no range.
    fn nothing(&self, space: Space, offset: u64) -> Reason {
        match self.ranges.below(space, offset) {
            _ if space == Space::Harvested => Reason::FusedOff,
            Some(range) if range.memory => {
                Reason::Beyond { offset, range: range.name.clone(), end: range.end() }
            }
            _ => Reason::Unmapped { offset },
        }
    }

    fn readable_registers(&self, range: &Range, offset: u64, len: u64) -> Result<(), Reason> {
        if !offset.is_multiple_of(WORD) || !len.is_multiple_of(WORD) {
            return Err(Reason::Unaligned { range: range.name.clone() });
        }
        let entries = self.entries_of(range);
        for word in (offset..offset + len).step_by(WORD as usize) {
            let (_, inside) = split(range, word);
            let found = entries.iter().find(|(_, entry)| entry.locate(inside).is_some());
            let (name, entry) = found.ok_or(Reason::Unmapped { offset: word })?;
            if let Some(reason) =
                refusal(format!("{}.{name}", range.name), entry.access, entry.why.as_ref())
            {
                return Err(reason);
            }
        }
        Ok(())
    }

    /// Returns the permissions that writing `len` bytes at `offset` of this space needs, each once.
    ///
    /// # Errors
    /// The first reason why the range must never be written.
    pub fn write_permission(
        &self,
        space: Space,
        offset: u64,
        len: u64,
    ) -> Result<Vec<WritePermission>, Reason> {
        let range = self.ranges.at(space, offset).ok_or_else(|| self.nothing(space, offset))?;
        if range.private
            || range.access == ReadAccess::Never
            || range.write == WritePermission::Never
        {
            return Err(Reason::NotWritable { name: range.name.clone() });
        }
        let end = offset.checked_add(len).filter(|end| *end <= range.end());
        let past = || Reason::PastEnd { range: range.name.clone(), end: range.end() };
        let end = end.ok_or_else(past)?;
        if !(range.memory || offset.is_multiple_of(WORD) && len.is_multiple_of(WORD)) {
            return Err(Reason::Unaligned { range: range.name.clone() });
        }
        let mut needs = if range.memory {
            self.writing_memory(range, offset..end)
        } else {
            let words = (offset..end).step_by(WORD as usize);
            words.map(|word| self.writing_register(range, word)).collect::<Result<_, _>>()?
        };
        needs.sort_unstable();
        needs.dedup();
        Ok(needs)
    }

    /// Returns the permissions of the words that the span touches, and the memory's own unless one
    /// word contains the span.
    fn writing_memory(&self, range: &Range, span: std::ops::Range<u64>) -> Vec<WritePermission> {
        let words = self.entries_of(range).into_iter().map(|(_, entry)| entry);
        let place = |entry: &Entry| range.start + entry.at..range.start + entry.end();
        let hit =
            words.filter(|entry| place(entry).start < span.end && span.start < place(entry).end);
        let hit: Vec<&Entry> = hit.collect();
        let inside =
            |entry: &Entry| place(entry).start <= span.start && span.end <= place(entry).end;
        let whole = hit.first().is_some_and(|entry| inside(entry));
        let own = (!whole).then_some(range.write);
        own.into_iter().chain(hit.into_iter().map(|entry| entry.write)).collect()
    }

    fn writing_register(&self, range: &Range, offset: u64) -> Result<WritePermission, Reason> {
        let (_, inside) = split(range, offset);
        let entries = self.entries_of(range);
        let found = entries.iter().find(|(_, entry)| entry.locate(inside).is_some());
        let (name, entry) = found.ok_or(Reason::Unmapped { offset })?;
        if entry.write == WritePermission::Never {
            return Err(Reason::NotWritable { name: format!("{}.{name}", range.name) });
        }
        Ok(entry.write)
    }

    /// Returns the name of the register or memory at this byte: `l1`, `niu0.node_id`,
    /// `stream[3].space_available`, `eth_l1` words included.
    pub fn name_of(&self, space: Space, offset: u64) -> Option<String> {
        let range = self.ranges.at(space, offset)?;
        let (instance, inside) = split(range, offset);
        let index = |count: u64, i: u64| if count > 1 { format!("[{i}]") } else { String::new() };
        let block = format!("{}{}", range.name, index(u64::from(range.instances), instance));
        for (name, entry) in self.entries_of(range) {
            if let Some((element, rest)) = entry.locate(inside) {
                let past = if rest > 0 { format!("+{rest:#x}") } else { String::new() };
                return Some(format!("{block}.{name}{}{past}", index(entry.count, element)));
            }
        }
        Some(block)
    }

    /// Returns the register with a name of [`ChipLayout::name_of`], such as `niu0.counter[5]`.
    pub fn register(&self, space: Space, name: &str) -> Option<Located<'_>> {
        let (block, register) = name.split_once('.')?;
        let (block, instance) = indexed(block)?;
        let (register, element) = indexed(register)?;
        let range = self.ranges.of(space).iter().find(|range| range.name == block)?;
        let group = self.group(range.group.as_deref()?)?;
        let (_, entry) = group.entries().into_iter().find(|(known, _)| *known == register)?;
        if instance >= u64::from(range.instances) || element >= entry.count {
            return None;
        }
        let offset = range.start + instance * range.instance_bytes() + entry.nth(element);
        Some(Located { offset, entry, source: group.source_of(entry) })
    }

    fn entries_of(&self, range: &Range) -> Vec<(&'static str, &Entry)> {
        range
            .group
            .as_deref()
            .and_then(|name| self.group(name))
            .map(AnyGroup::entries)
            .unwrap_or_default()
    }
}

/// Returns the instance of a range that contains the byte, and the offset in it.
fn split(range: &Range, offset: u64) -> (u64, u64) {
    let past = offset.saturating_sub(range.start);
    let size = range.instance_bytes().max(1);
    (past / size, past % size)
}

/// Parses `name` or `name[3]`.
fn indexed(text: &str) -> Option<(&str, u64)> {
    match text.split_once('[') {
        None => Some((text, 0)),
        Some((name, index)) => Some((name, index.strip_suffix(']')?.parse().ok()?)),
    }
}

#[cfg(test)]
mod tests {
    use crate::{ChipKind, Ranges};

    /// The lookup and the check with a reason use the same data in two ways.
    #[test]
    fn lookup_and_check_agree_at_every_register() {
        for space in Ranges::spaces() {
            for range in ChipKind::Wormhole.layout().ranges.of(space) {
                let words = range.start.saturating_sub(8)..range.end().min(range.start + 0x2_0000);
                let ends = [range.end() - 4, range.end(), range.end() - 2];
                for at in words.step_by(4).chain(ends) {
                    for len in [2, 4, 8, 0x40] {
                        let quick = ChipKind::Wormhole.layout().read_mode(space, at, len).is_some();
                        let slow = ChipKind::Wormhole.layout().judge(space, at, len);
                        assert_eq!(quick, slow.is_ok(), "{space:?} {at:#x} {len}: {slow:?}");
                    }
                }
            }
        }
    }
}
