//! The interface that silicon, simulators, the emulator and recordings share.

mod past;

pub use past::Past;

use crate::clients::{Client, Holder, MetalProcess};
use crate::fault::{Fault, FaultError, FaultKind};
use crate::history::History;
use crate::notes::AuditLine;
use crate::past::{KeptPast, RecordedRun, not_kept};
use crate::place::Place;
use crate::progress::ChipCount;
use crate::snapshot::{AccessError, Gap, Plan, Snapshot, Span};
pub use layouts::Refusal;
use layouts::{
    ChipCoord, ChipId, ChipKind, ChipLayout, ClusterDescriptor, CoreId, EthId, NoChannel, NocAddr,
    NocXy, OutwardLink, Seat, TileKind, WritePermission,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// What a target supports, and what must not be touched on it. A server sends it to its clients.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abilities {
    /// What the user allowed to change; never set by a server.
    #[serde(skip)]
    pub allow: Allow,
    /// Whether time passes only by [`Target::pass`].
    pub stepped_time: bool,
    /// Whether it is fast enough to run at the pace that the user requests.
    pub paced: bool,
    /// Bus transactions per second that monitoring should not exceed; none where the bus is not
    /// shared.
    pub budget: Option<u32>,
    /// Ranges that must not be read from this target, with the reason.
    pub refusals: Vec<Refusal>,
    /// Whether the machine is emulated: [`Target::disrupt`] can inject faults, and program counters
    /// may be sampled whatever [`Abilities::allow`] says.
    pub emulated: bool,
    /// Why nothing can be changed, regardless of [`Abilities::allow`], in one sentence; none if
    /// `allow` decides.
    pub unchangeable: Option<String>,
}

/// What the user allowed to change on a machine; nothing by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent permissions of the user")]
pub struct Allow {
    /// Writing memory and plain registers.
    pub write: bool,
    /// Reading program counters: a write to the debug bus, which changes no core.
    pub sample: bool,
    /// Stopping, stepping and inspecting cores by the debug registers.
    pub halt: bool,
    /// Starting firmware and kernels.
    pub launch: bool,
    /// Resetting cores, tiles and chips, and retraining links.
    pub reset: bool,
}

impl Allow {
    /// Everything, for a private mesh.
    pub const ALL: Self = Self { write: true, sample: true, halt: true, launch: true, reset: true };

    /// Parses words such as `write,sample,halt,launch,reset`.
    ///
    /// # Errors
    /// The first unknown word, in one sentence.
    pub fn parse(words: &str) -> Result<Self, String> {
        let mut allow = Self::default();
        for word in words.split(',').map(str::trim) {
            match word {
                "write" => allow.write = true,
                "sample" => allow.sample = true,
                "halt" => allow.halt = true,
                "launch" => allow.launch = true,
                "reset" => allow.reset = true,
                _ => {
                    return Err(format!(
                        "`{word}` is not a permission: write, sample, halt, launch, reset"
                    ));
                }
            }
        }
        Ok(allow)
    }

    /// Whether nothing may be changed.
    pub fn is_nothing(self) -> bool {
        self == Self::default()
    }

    /// Returns what both permit.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            write: self.write && other.write,
            sample: self.sample && other.sample,
            halt: self.halt && other.halt,
            launch: self.launch && other.launch,
            reset: self.reset && other.reset,
        }
    }

    /// Whether it permits a kind of write.
    pub fn covers(self, writing: WritePermission) -> bool {
        match writing {
            WritePermission::Write => self.write,
            WritePermission::Sample => self.sample,
            WritePermission::Halt => self.halt,
            WritePermission::Launch => self.launch,
            WritePermission::Reset => self.reset,
            WritePermission::Never => false,
        }
    }
}

impl fmt::Display for Allow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use WritePermission::{Halt, Launch, Reset, Sample, Write};
        let words = [Write, Sample, Halt, Launch, Reset].into_iter().filter(|w| self.covers(*w));
        let words: Vec<_> = words.map(WritePermission::word).collect();
        f.write_str(if words.is_empty() { "nothing" } else { "" })?;
        f.write_str(&words.join(","))
    }
}

/// The bytes before a write, or why they could not be read.
pub type OldBytes = Result<Vec<u8>, AccessError>;

/// The route of an access to its tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(with = "String", inline)]
pub enum AccessRoute {
    /// Through a TLB window of the chip's own PCIe function.
    Window,
    /// Through the routing queue of another chip's Ethernet tile.
    Queue,
}

/// An access that would be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PlannedAccess {
    /// The range.
    #[serde(flatten)]
    pub span: Span,
    /// window (a TLB window of a PCIe device) or queue (a routing queue of Ethernet base firmware).
    pub route: AccessRoute,
    /// Whether it writes.
    pub write: bool,
    /// Its bus transactions: exact through a window, a lower bound through a queue,
    /// where answers are polled for.
    pub transactions: u64,
}

/// The accesses that a command would make, and those that would be refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    /// The accesses, in order.
    pub accesses: Vec<PlannedAccess>,
    /// Ranges that would not be accessed, and why.
    pub gaps: Vec<Gap>,
}

/// A chip as discovery found it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Chip {
    /// Its number: chips with PCIe in the order of their devices, then the others by rack, shelf, y
    /// and x.
    pub id: ChipId,
    /// Its position by its base firmware: x, y, rack, shelf. Null if that is not known.
    pub coord: Option<ChipCoord>,
    /// Whether it is a PCIe device itself.
    pub pcie: bool,
    /// Its 64-bit board id, as its firmware publishes it (high, low).
    pub unique_id: Option<u64>,
    /// Name of its board, such as `n300 L`, if the id identifies it.
    pub board: Option<String>,
    /// The PCIe chip and the Ethernet tiles through which it is reached, if it is remote.
    #[serde(skip)]
    pub gateway: Option<Vec<EthId>>,
    /// NOC 0 rows of Tensix tiles that are fused off; null where they could not be read.
    pub harvested_rows: Option<Vec<u8>>,
    /// Where it stands: with --places, if that is known.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub seat: Option<Arc<Seat>>,
}

impl Chip {
    /// Is this row of Tensix tiles fused off? None where that is not known.
    pub fn is_fused_off(&self, row: u8) -> Option<bool> {
        self.harvested_rows.as_ref().map(|rows| rows.contains(&row))
    }
}

/// A link as discovery found it, the lower end first.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Link {
    /// One end, the lower one.
    pub a: EthId,
    /// The other end.
    pub b: EthId,
}

impl Link {
    /// Returns the end opposite to `of`; none if `of` is not an end of this link.
    pub fn other_end(&self, of: EthId) -> Option<EthId> {
        match (self.a == of, self.b == of) {
            (true, _) => Some(self.b),
            (_, true) => Some(self.a),
            _ => None,
        }
    }
}

/// The mesh as discovery found it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mesh {
    /// The kind of its chips.
    pub kind: ChipKind,
    /// All chips, by id.
    pub chips: Vec<Chip>,
    /// All links, sorted.
    pub links: Vec<Link>,
    /// What discovery could not determine, one sentence each.
    pub problems: Vec<String>,
    /// Links that are up and lead to chips that were not found, those of other hosts, each with the
    /// sentence of `problems` that says so.
    pub outward: Vec<(OutwardLink, String)>,
}

impl Mesh {
    /// Checks that the mesh has the link or core of a fault.
    ///
    /// # Errors
    /// What is missing, in one sentence.
    pub fn check_fault(&self, fault: &Fault) -> Result<(), FaultError> {
        let absent = |what: String| Err(FaultError(format!("{fault}: {what}")));
        let id = fault.chip();
        let Some(chip) = self.chip(id) else {
            return absent(format!("there is no chip {id}"));
        };
        match fault.kind {
            FaultKind::Link(end, _) if !self.links.iter().any(|l| l.a == end || l.b == end) => {
                absent(format!("no link ends at {end}"))
            }
            FaultKind::Core(CoreId { tile, .. }, _) | FaultKind::Stream(Place { tile, .. }, ..)
                if chip.is_fused_off(tile.y) == Some(true) =>
            {
                absent(format!("tile {tile} of chip {id} is fused off"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the layout of its chips.
    pub fn layout(&self) -> &'static ChipLayout {
        self.kind.layout()
    }

    /// Returns the tile of a link's end.
    ///
    /// # Errors
    /// A channel that the chips do not have.
    pub fn place(&self, end: EthId) -> Result<Place, NoChannel> {
        Place::of(self.layout(), end)
    }

    /// The compute tiles of a chip that are not fused off, in the order in which scenes start firmware on them; none of a
    /// chip that is not there, or of which that is not known.
    pub fn compute_tiles(&self, chip: ChipId) -> impl Iterator<Item = Place> {
        let tiles = self.layout().grid().iter().filter(|tile| tile.kind == TileKind::Tensix);
        let found = self.chip(chip);
        let alive = move |row| found.and_then(|chip| chip.is_fused_off(row)) == Some(false);
        let tiles = tiles.filter(move |tile| alive(tile.xy.y));
        tiles.map(move |tile| Place { chip, tile: tile.xy })
    }

    /// Returns the logical coordinates of a compute tile, in which tt-metal counts the columns and rows
    /// that work.
    #[must_use]
    pub fn logical(&self, place: Place) -> Option<[u64; 2]> {
        let tiles: Vec<NocXy> = self.compute_tiles(place.chip).map(|it| it.tile).collect();
        tiles.contains(&place.tile).then_some(())?;
        let rank = |own: u8, all: BTreeSet<u8>| all.range(..own).count() as u64;
        let x = rank(place.tile.x, tiles.iter().map(|it| it.x).collect());
        let y = rank(place.tile.y, tiles.iter().map(|it| it.y).collect());
        Some([x, y])
    }

    /// Returns the mesh of a cluster descriptor, as discovery would find it.
    pub fn from_descriptor(descriptor: &ClusterDescriptor) -> Self {
        let chips = descriptor.chips.iter().map(|chip| Chip {
            id: chip.id,
            coord: chip.coord,
            pcie: chip.pcie.is_some(),
            unique_id: chip.unique_id,
            board: None,
            gateway: None,
            harvested_rows: Some(chip.harvested_rows.clone()),
            seat: chip.seat.clone().map(Arc::new),
        });
        let links = descriptor.links.iter().map(|&(a, b)| Link { a, b });
        Self {
            kind: descriptor.kind,
            chips: chips.collect(),
            links: links.collect(),
            ..Self::default()
        }
    }

    /// Returns the chip with this id.
    pub fn chip(&self, id: ChipId) -> Option<&Chip> {
        self.chips.iter().find(|c| c.id == id)
    }
}

/// An entry of the [`Quarantine`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quarantined {
    /// The quarantined chip, or the chip of the tile.
    pub chip: ChipId,
    /// The tile, if only a tile is quarantined.
    pub tile: Option<NocXy>,
    /// For a gateway: the chip to which it does not lead. Other accesses to its tile continue.
    pub towards: Option<ChipId>,
    /// Why.
    pub reason: AccessError,
}

/// A snapshot that is still being read, shown after each chip, and from time to time while others
/// are awaited.
#[derive(Clone, Copy)]
pub struct Arrived<'a> {
    /// The mesh of the target.
    pub mesh: &'a Mesh,
    /// What was read so far, in no order.
    pub snapshot: &'a Snapshot,
    /// The chips that have answered.
    pub chips: ChipCount,
    /// Whether anything was added since it was last shown.
    pub fresh: bool,
}

/// A mesh that can be read. What only some can do is a part that they lend.
pub trait Target: Send {
    /// Returns the argument that opened it, such as `emulator:n300`.
    fn name(&self) -> &str;
    /// Returns what it supports.
    fn abilities(&self) -> &Abilities;
    /// Returns the mesh as discovery found it when the target was opened.
    fn mesh(&self) -> &Mesh;
    /// Reads as much of the plan as possible; the rest becomes gaps.
    fn read(&mut self, plan: &Plan) -> Snapshot;

    /// Reads one word.
    ///
    /// # Errors
    /// Why it was not read.
    fn read_word(&mut self, addr: NocAddr) -> Result<u32, AccessError> {
        self.read(&Plan { spans: vec![Span { addr, len: 4 }] }).word(addr)
    }

    /// Writes memory or registers, at the user's command. Writes to one chip arrive in order, and
    /// before later reads and before any later passing of time.
    ///
    /// # Errors
    /// What kept the bytes from being written.
    fn write(&mut self, addr: NocAddr, bytes: &[u8]) -> Result<(), AccessError>;
    /// Returns the target's own time, in device cycles.
    ///
    /// # Errors
    /// When the device is gone.
    fn now(&mut self) -> Result<u64, AccessError>;
    /// Lets time pass, in device cycles.
    ///
    /// # Errors
    /// When the device is gone.
    fn pass(&mut self, cycles: u64) -> Result<(), AccessError>;
    /// Injects a fault, at the user's command. The fault's times are the target's own; a fault
    /// whose beginning has passed begins at once.
    ///
    /// # Errors
    /// `Refused` on a target without fault injection, and for a link or core that does not exist.
    fn disrupt(&mut self, _fault: &Fault) -> Result<(), AccessError> {
        Err(Fault::unsupported())
    }
    /// Lends the bus over which it is reached; a recording has none.
    fn bus(&mut self) -> Option<&mut dyn TargetBus> {
        None
    }
    /// Lends the ELFs that run on it, if other hosts find them.
    fn elfs(&mut self) -> Option<&mut dyn FarElfs> {
        None
    }
    /// Lends the log of the writes to it.
    fn audit(&mut self) -> Option<&mut dyn Audit> {
        None
    }
    /// Lends the quarantine of what is not accessed.
    fn quarantine(&mut self) -> Option<&mut dyn Quarantine> {
        None
    }
    /// Lends its run since power-on, if it keeps it.
    fn run(&mut self) -> Option<&mut dyn KeptRun> {
        None
    }
    /// Lends the moments of a recording, which can be visited.
    fn history(&mut self) -> Option<&mut dyn History> {
        None
    }
}

impl dyn Target + '_ {
    /// Names the command of the following writes, for the audit log.
    pub fn commanded_by(&mut self, command: &str) {
        if let Some(audit) = self.audit() {
            audit.command(command);
        }
    }

    /// Makes the following writes also if they cannot be logged.
    pub fn never_stop_for_audit(&mut self) {
        if let Some(audit) = self.audit() {
            audit.must_not_stop();
        }
    }

    /// Returns the number of bus transactions since it was opened; 0 if it has no bus.
    pub fn transactions(&mut self) -> u64 {
        self.bus().map_or(0, |bus| bus.transactions())
    }

    /// Returns the accesses that reads of these plans would make now; none without a bus.
    pub fn preview(&mut self, plans: &[Plan]) -> Preview {
        self.bus().map_or_else(Preview::default, |bus| bus.preview(plans))
    }

    /// Returns the accesses that a write of a range would make; none without a bus.
    pub fn preview_write(&mut self, span: Span) -> Preview {
        self.bus().map_or_else(Preview::default, |bus| bus.preview_write(span))
    }

    /// Returns what is quarantined.
    pub fn quarantined(&mut self) -> Vec<Quarantined> {
        self.quarantine().map_or_else(Vec::new, |quarantine| quarantine.quarantined())
    }

    /// Returns its past up to now.
    ///
    /// # Errors
    /// `Refused` on a target that does not keep it.
    pub fn past(&mut self) -> Result<Box<dyn Past>, AccessError> {
        self.run().and_then(KeptRun::past).ok_or_else(not_kept)
    }
}

/// The bus over which a target is reached.
pub trait TargetBus {
    /// Reads as [`Target::read`] does, and shows what was read so far after each chip, so that a
    /// chip that does not answer keeps nobody from seeing the others.
    fn read_by_chip(&mut self, plan: &Plan, arrived: &mut dyn FnMut(Arrived<'_>)) -> Snapshot;
    /// Writes as [`Target::write`] does, and returns the bytes before the write.
    ///
    /// # Errors
    /// What kept the bytes from being written.
    fn replace(&mut self, addr: NocAddr, bytes: &[u8]) -> Result<OldBytes, AccessError>;
    /// Returns the number of bus transactions since the target was opened.
    fn transactions(&self) -> u64;
    /// Returns the accesses that [`Target::read`] of these plans would make now, without making
    /// them.
    fn preview(&mut self, plans: &[Plan]) -> Preview;
    /// Returns the accesses that [`Target::write`] of a range would make.
    fn preview_write(&mut self, span: Span) -> Preview;
    /// Returns the other processes that have a chip's device open.
    fn holders(&mut self) -> Vec<(ChipId, Holder)>;
    /// Returns the chips that are devices of this host's driver, with the numbers of their files.
    fn cards(&mut self) -> Vec<(ChipId, u16)> {
        Vec::new()
    }
    /// Closes the machine's devices until the next access, so that others can reset or flash them. A
    /// card that was reset meanwhile is gone.
    fn give_back(&mut self) {}
    /// Lets the hosts of the machine leave tiles alone that owe an answer, and returns whether they look
    /// for them: from here it would take a round trip for each tile of a chip.
    fn leave_silent_tiles_alone(&mut self) -> bool {
        false
    }
    /// Returns the other client that may change the machine now, if it has one.
    fn writer(&mut self) -> Option<Client>;
    /// Returns the problems that the machine found since it was opened, one sentence each.
    fn remarks(&mut self) -> Vec<String>;
}

/// The ELFs that run on a target of other hosts, and tt-metal's processes there, which the hosts find.
pub trait FarElfs {
    /// Asks the hosts what they have found. The first call asks only hosts that had found some when they
    /// were opened.
    fn found(&mut self) -> FarFound;
    /// Asks the Inspector of a process for what it tells, and returns that with the chips by their numbers
    /// on the host.
    ///
    /// # Errors
    /// Why it or its host does not answer.
    fn inspector(&mut self, host: &str, pid: u32) -> Result<(Vec<u8>, Vec<ChipId>), AccessError>;
    /// Fetches an ELF that was found.
    ///
    /// # Errors
    /// Why its host does not send it.
    fn fetch(&mut self, elf: &FarElf) -> Result<Vec<u8>, AccessError>;
}

/// What hosts have found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FarFound {
    /// The ELFs that run on their machines.
    pub elfs: Vec<FarElf>,
    /// The processes that run tt-metal on them.
    pub processes: Vec<MetalProcess>,
    /// Their problems with that, one sentence each.
    pub problems: Vec<String>,
}

/// An ELF that a host has found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FarElf {
    /// The host, as messages name it; a host does not send it.
    #[serde(skip)]
    pub host: String,
    /// Its name there.
    pub name: String,
    /// The SHA-256 of its bytes, as hexadecimal digits.
    pub sha256: String,
    /// Its length in bytes.
    pub bytes: u64,
}

/// The audit log of a target, to which a write is appended before it is made.
pub trait Audit {
    /// Names the command of the following writes.
    fn command(&mut self, name: &str);
    /// Reserves room for a launch and its teardown. From then on a write that cannot be logged is
    /// made and counted, so that what was launched can be ended.
    ///
    /// # Errors
    /// `Refused` if there is no room; nothing was written to the machine.
    fn reserve(&mut self) -> Result<(), AccessError>;
    /// Makes the following writes also if they cannot be logged, and counts them: a teardown must
    /// not stop halfway.
    fn must_not_stop(&mut self);
    /// Returns the lines that were appended since the last call, and how many more there were before
    /// them, which are no longer in memory.
    fn take(&mut self) -> (Vec<AuditLine>, u64);
    /// Returns a sentence about the writes that could not be logged, if there are any.
    fn remark(&self) -> Option<String>;
}

/// The chips, tiles and gateways of a target that are not accessed until the user clears them.
pub trait Quarantine {
    /// Returns what is quarantined.
    fn quarantined(&self) -> Vec<Quarantined>;
    /// Puts a tile into quarantine that was not accessed: to read it could take its chip along.
    fn leave_alone(&mut self, place: Place, reason: AccessError);
    /// Clears all, at the user's command.
    fn clear(&mut self);
    /// Allows far chips again that did not answer, and the gateways on the way there: a teardown
    /// waits for lost links. What could hang the host stays in quarantine.
    fn retry_far(&mut self);
}

/// The run of a target since power-on, as far as it is kept.
pub trait KeptRun {
    /// Returns the past up to now; none if no moment of it can be shown again.
    fn past(&mut self) -> Option<Box<dyn Past>>;
    /// Returns how much of the past is kept; none if [`KeptRun::past`] is none.
    fn kept(&self) -> Option<KeptPast>;
    /// Returns the run for a recording; none if it is not kept.
    ///
    /// # Errors
    /// Why the run cannot be executed again, as a clause.
    fn recorded(&mut self) -> Option<Result<RecordedRun, String>>;
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn permissions_parse_and_print_alike() {
        let allow = Allow::parse("write, reset").unwrap();
        assert_eq!(allow, Allow { write: true, reset: true, ..Allow::default() });
        assert_eq!(allow.to_string(), "write,reset");
        assert_eq!(Allow::parse("write,sample,halt,launch,reset"), Ok(Allow::ALL));
        assert_eq!(Allow::default().to_string(), "nothing");
        let error = Allow::parse("write,fly").unwrap_err();
        assert_eq!(error, "`fly` is not a permission: write, sample, halt, launch, reset");
        assert!(!Allow::ALL.covers(WritePermission::Never));
    }
}
