//! What the launch messages say was loaded (tt-metal.md 1.2, tt-metal.md 8.7), by the names of the firmware's own ELF.

use super::plan;
use crate::images::kinds::ImageRole;
use crate::images::{Image, ImageMap, Mailbox, Spot};
use layouts::{CoreId, NocAddr, TileKind};
use machine::snapshot::Snapshot;
use machine::target::Target;
use symbols::Kind;

/// A kernel that a launch message speaks of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Launched {
    /// Its number; not 0.
    pub(super) id: u16,
    /// Where in L1 its text was loaded.
    pub(super) at: u32,
    /// tt-metal's name of what it was built for.
    pub(super) target: &'static str,
    /// It has ended and its place may hold the next one.
    pub(super) released: bool,
}

/// The launches of these cores, as far as their mailboxes are known and can be read.
pub(super) fn read(
    target: &mut dyn Target,
    images: &ImageMap,
    cores: &[CoreId],
) -> Vec<(CoreId, Launched)> {
    let seats: Vec<_> = cores.iter().filter_map(|&core| Seat::of(images, core)).collect();
    let first = target.read(&plan(seats.iter().flat_map(|seat| [seat.rd_ptr(), seat.entry(0)])));
    let others = seats.iter().flat_map(|seat| seat.others(&first));
    let more = plan(others);
    let more = if more.spans.is_empty() { Snapshot::default() } else { target.read(&more) };
    let launched = |seat: &Seat<'_>| Some((seat.core, seat.launched(&first, &more)?));
    seats.iter().filter_map(launched).collect()
}

/// A core's place in a mailbox.
struct Seat<'a> {
    core: CoreId,
    mailbox: &'a Mailbox,
    /// The image that has it.
    owner: &'a Image,
}

impl<'a> Seat<'a> {
    fn of(images: &'a ImageMap, core: CoreId) -> Option<Self> {
        let (mailbox, owner) = images.mailbox_of(core)?;
        Some(Self { core, mailbox, owner })
    }

    fn place(&self, offset: u64, len: u64) -> (NocAddr, u32) {
        (NocAddr { chip: self.core.chip, tile: self.core.tile, offset }, len as u32)
    }

    fn rd_ptr(&self) -> (NocAddr, u32) {
        self.place(self.mailbox.rd_ptr, 4)
    }

    fn entry(&self, index: u64) -> (NocAddr, u32) {
        let start = self.mailbox.launch + index * self.mailbox.launch_bytes;
        self.place(start, self.mailbox.launch_bytes)
    }

    /// The entry that the core looks at, and the one before.
    fn indexes(&self, snapshot: &Snapshot) -> Option<[u64; 2]> {
        let (addr, len) = self.rd_ptr();
        let (now, count) =
            (Spot::value(snapshot.bytes(addr, len).ok()?), self.mailbox.launch_count);
        (now < count).then(|| [now, (now + count - 1) % count])
    }

    /// The entries that matter and were not read at first.
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
        snapshot.bytes(addr, len).ok().map(Spot::value)
    }

    fn launched(&self, first: &Snapshot, more: &Snapshot) -> Option<Launched> {
        let [now, before] = self.indexes(first)?;
        let value = |index: u64, member: u64, len: u64| {
            let snapshot = if index == 0 { first } else { more };
            self.value(snapshot, index, member, len)
        };
        // With enables cleared the last program is in the entry before.
        let released = value(now, self.mailbox.enables, 4)? == 0;
        let index = if released { before } else { now };
        let core = self.core.core;
        let id_bytes = self.mailbox.kernel_id_bytes;
        let id = value(index, self.mailbox.kernel_id(core), id_bytes)? as u16;
        if id == 0 {
            return None;
        }
        let (at, target) = match self.kind() {
            // Its firmware takes no account of the message's offset.
            TypeOfCore::ActiveEth => (self.owner.layout.eth.l1.kernel_text.at as u32, "erisc"),
            kind => {
                let base = self.mailbox.config_bases? + 4 * self.number_of(kind);
                let base = value(index, base, 4)? as u32;
                let offset = self.mailbox.text_offsets? + 4 * self.mailbox.processor(core);
                let offset = value(index, offset, 4)? as u32;
                let idle = kind == TypeOfCore::IdleEth;
                let target = if idle { "idle_erisc" } else { self.core.core.name() };
                (base.wrapping_add(offset), target)
            }
        };
        Some(Launched { id, at, target, released })
    }

    /// On an Ethernet tile the application's mailbox is that of a link in use.
    fn kind(&self) -> TypeOfCore {
        match (self.owner.layout.kind_at(self.core.tile), self.owner.role) {
            (TileKind::Eth, ImageRole::Application) => TypeOfCore::ActiveEth,
            (TileKind::Eth, _) => TypeOfCore::IdleEth,
            _ => TypeOfCore::Tensix,
        }
    }

    /// `ProgrammableCoreType`, where the firmware's DWARF has it; else as tt-metal.md 1.2 has it.
    fn number_of(&self, kind: TypeOfCore) -> u64 {
        let (name, usual) = match kind {
            TypeOfCore::Tensix => ("TENSIX", 0),
            TypeOfCore::ActiveEth => ("ACTIVE_ETH", 1),
            TypeOfCore::IdleEth => ("IDLE_ETH", 2),
        };
        let ty = self.owner.symbols.type_named("ProgrammableCoreType");
        let named = ty.and_then(|ty| match ty.plain().kind() {
            Kind::Enum(of) => of.enumerators.iter().find(|e| &*e.name == name).map(|e| e.value),
            _ => None,
        });
        named.and_then(|value| u64::try_from(value).ok()).unwrap_or(usual)
    }
}

/// `ProgrammableCoreType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TypeOfCore {
    Tensix,
    ActiveEth,
    IdleEth,
}
