//! The kernels that launch messages name (tt-metal.md 1.2, tt-metal.md 8.7), by the firmware's
//! DWARF.

use super::{Reader, plan};
use crate::kinds::ImageRole;
use crate::{Image, ImageMap, Mailbox, Member};
use layouts::{CoreId, NocAddr, TileKind};
use machine::snapshot::Snapshot;
use symbols::Kind;

/// A kernel in a launch message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Launched {
    /// The kernel's number; not 0.
    pub(super) id: u16,
    /// L1 address of the text.
    pub(super) at: u32,
    /// The tt-metal target it was built for.
    pub(super) target: &'static str,
    /// Whether it has ended: its L1 range can hold the next kernel.
    pub(super) released: bool,
}

/// Reads the launches of the cores whose mailboxes are known and readable.
pub(super) fn read(
    reader: &mut Reader<'_>,
    images: &ImageMap,
    cores: &[CoreId],
) -> Vec<(CoreId, Launched)> {
    let readers: Vec<_> = cores.iter().filter_map(|&core| LaunchReader::of(images, core)).collect();
    // The snapshot that follows has the other words of a mailbox: read at once, they cost less.
    let first = readers.iter().flat_map(|reader| reader.mailbox.words_on(reader.core));
    let first = reader(&plan(first));
    let others = readers.iter().flat_map(|reader| reader.others(&first));
    let more = plan(others);
    let more = if more.spans.is_empty() { Snapshot::default() } else { reader(&more) };
    let launched = |reader: &LaunchReader<'_>| Some((reader.core, reader.launched(&first, &more)?));
    readers.iter().filter_map(launched).collect()
}

/// Reads the launch messages of a core's mailbox.
struct LaunchReader<'a> {
    core: CoreId,
    mailbox: &'a Mailbox,
    /// The image that describes the mailbox.
    owner: &'a Image,
}

impl<'a> LaunchReader<'a> {
    fn of(images: &'a ImageMap, core: CoreId) -> Option<Self> {
        let (mailbox, owner) = images.mailbox_of(core)?;
        Some(Self { core, mailbox, owner })
    }

    fn place(&self, offset: u64, len: u64) -> (NocAddr, u32) {
        Mailbox::place_on(self.core, offset, len)
    }

    fn rd_ptr(&self) -> (NocAddr, u32) {
        self.place(self.mailbox.rd_ptr, 4)
    }

    fn entry(&self, index: u64) -> (NocAddr, u32) {
        let start = self.mailbox.launch + index * self.mailbox.launch_bytes;
        self.place(start, self.mailbox.launch_bytes)
    }

    /// Returns the index at the read pointer, and the previous one.
    fn indexes(&self, snapshot: &Snapshot) -> Option<[u64; 2]> {
        let (addr, len) = self.rd_ptr();
        let (now, count) =
            (Member::value(snapshot.bytes(addr, len).ok()?), self.mailbox.launch_count);
        (now < count).then(|| [now, (now + count - 1) % count])
    }

    /// Returns the entries that the first read did not have and that are needed.
    fn others(&self, first: &Snapshot) -> Vec<(NocAddr, u32)> {
        let Some(indexes) = self.indexes(first) else { return Vec::new() };
        let [now, before] = indexes.map(|index| self.entry(index));
        if indexes[0] != 0 {
            return vec![now, before];
        }
        let enables = self.value(first, 0, self.mailbox.enables, 4);
        if enables.is_some_and(|enables| enables != 0) { Vec::new() } else { vec![before] }
    }

    fn value(&self, snapshot: &Snapshot, index: u64, member: u64, len: u64) -> Option<u64> {
        let (addr, _) = self.entry(index);
        let (addr, len) = self.place(addr.offset + member, len);
        snapshot.bytes(addr, len).ok().map(Member::value)
    }

    fn launched(&self, first: &Snapshot, more: &Snapshot) -> Option<Launched> {
        let [now, before] = self.indexes(first)?;
        let value = |index: u64, member: u64, len: u64| {
            let snapshot = if index == 0 { first } else { more };
            self.value(snapshot, index, member, len)
        };
        // With enables cleared, the last program is in the previous entry.
        let released = value(now, self.mailbox.enables, 4)? == 0;
        let index = if released { before } else { now };
        let core = self.core.core;
        let id_bytes = self.mailbox.kernel_id_bytes;
        let id = value(index, self.mailbox.kernel_id(core), id_bytes)? as u16;
        if id == 0 {
            return None;
        }
        let (at, target) = match self.kind() {
            // Active Ethernet firmware ignores the message's offset.
            CoreType::ActiveEth => (self.owner.layout.eth.l1.kernel_text.at as u32, "erisc"),
            kind => {
                let base = self.mailbox.config_bases? + 4 * self.number_of(kind);
                let base = value(index, base, 4)? as u32;
                let offset = self.mailbox.text_offsets? + 4 * self.mailbox.processor(core);
                let offset = value(index, offset, 4)? as u32;
                let idle = kind == CoreType::IdleEth;
                let target = if idle { "idle_erisc" } else { self.core.core.name() };
                (base.wrapping_add(offset), target)
            }
        };
        Some(Launched { id, at, target, released })
    }

    /// Returns the programmable core type: on an Ethernet tile, an application's mailbox means
    /// active Ethernet.
    fn kind(&self) -> CoreType {
        match (self.owner.layout.kind_at(self.core.tile), self.owner.role) {
            (TileKind::Eth, ImageRole::Application) => CoreType::ActiveEth,
            (TileKind::Eth, _) => CoreType::IdleEth,
            _ => CoreType::Tensix,
        }
    }

    /// Returns the value in `ProgrammableCoreType` of the firmware's DWARF, else that of
    /// tt-metal.md 1.2.
    fn number_of(&self, kind: CoreType) -> u64 {
        let (name, usual) = match kind {
            CoreType::Tensix => ("TENSIX", 0),
            CoreType::ActiveEth => ("ACTIVE_ETH", 1),
            CoreType::IdleEth => ("IDLE_ETH", 2),
        };
        let ty = self.owner.symbols.type_named("ProgrammableCoreType");
        let named = ty.and_then(|ty| match ty.plain().kind() {
            Kind::Enum(all) => all.enumerators.iter().find(|e| &*e.name == name).map(|e| e.value),
            _ => None,
        });
        named.and_then(|value| u64::try_from(value).ok()).unwrap_or(usual)
    }
}

/// `ProgrammableCoreType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CoreType {
    Tensix,
    ActiveEth,
    IdleEth,
}
