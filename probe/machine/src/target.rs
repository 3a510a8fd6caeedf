//! A machine is a machine: what silicon, simulators, the emulator and recordings have in common.

use crate::bar::Holder;
use crate::fault::{Fault, FaultError, What};
use crate::place::Place;
use crate::snapshot::{AccessError, Gap, Plan, Snapshot, Span};
pub use layouts::Refusal;
use layouts::{
    ChipCoord, ChipId, ChipKind, ChipLayout, ClusterDescriptor, EthId, NoChannel, NocAddr, NocXy,
    TileKind, Writing,
};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What a target can do, and what must not be touched on it. Data, never a question for its kind: a server tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Abilities {
    /// What may be changed on it: a person decides this, and no server.
    #[serde(skip)]
    pub allow: Allow,
    /// Time passes by [`Target::pass`] only, and can be made to pass.
    pub stepped_time: bool,
    /// It is fast enough for time to pass at the pace that a person asks for.
    pub paced: bool,
    /// Bus transactions per second that watching it should not exceed; none where they cost nobody
    /// anything.
    pub budget: Option<u32>,
    /// Ranges that this target must not be asked for, with the reason.
    pub refusals: Vec<Refusal>,
    /// [`Target::disrupt`] can make something go wrong there.
    pub faults: bool,
    /// Why nothing there can be changed whatever is allowed, in one sentence; none where [`Abilities::allow`] decides.
    pub unchangeable: Option<String>,
}

/// What a person allowed to be done to a machine; nothing unless told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "four things that a person allows one by one")]
pub struct Allow {
    /// Memory and plain registers may be written.
    pub write: bool,
    /// Cores may be stopped, stepped and looked into by the debug registers.
    pub halt: bool,
    /// Firmware and kernels may be started.
    pub launch: bool,
    /// Cores, tiles and chips may be reset, and links retrained.
    pub reset: bool,
}

impl Allow {
    /// Everything: for a mesh that is one's own.
    pub const ALL: Self = Self { write: true, halt: true, launch: true, reset: true };

    /// Understands words such as `write,halt,launch,reset`.
    ///
    /// # Errors
    /// The first word that allows nothing, in one sentence.
    pub fn parse(words: &str) -> Result<Self, String> {
        let mut allow = Self::default();
        for word in words.split(',').map(str::trim) {
            match word {
                "write" => allow.write = true,
                "halt" => allow.halt = true,
                "launch" => allow.launch = true,
                "reset" => allow.reset = true,
                _ => {
                    return Err(format!(
                        "`{word}` is nothing to allow: write, halt, launch, reset"
                    ));
                }
            }
        }
        Ok(allow)
    }

    /// Nothing may be changed.
    pub fn is_nothing(self) -> bool {
        self == Self::default()
    }

    /// Does it cover what must be allowed for a write?
    pub fn covers(self, writing: Writing) -> bool {
        match writing {
            Writing::Write => self.write,
            Writing::Halt => self.halt,
            Writing::Launch => self.launch,
            Writing::Reset => self.reset,
            Writing::Never => false,
        }
    }
}

impl fmt::Display for Allow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use Writing::{Halt, Launch, Reset, Write};
        let words = [Write, Halt, Launch, Reset].into_iter().filter(|w| self.covers(*w));
        let words: Vec<_> = words.map(Writing::word).collect();
        f.write_str(if words.is_empty() { "nothing" } else { "" })?;
        f.write_str(&words.join(","))
    }
}

/// What stood where something was written, or why it must not be read.
pub type Old = Result<Vec<u8>, AccessError>;

/// How an access gets to its tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessRoute {
    /// Through a TLB window of the chip's own PCIe function.
    Window,
    /// Through the routing queue of another chip's Ethernet tile.
    Queue,
}

/// An access that would be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedAccess {
    /// What would be touched.
    pub span: Span,
    /// How.
    pub route: AccessRoute,
    /// It would be written; otherwise read.
    pub write: bool,
    /// Bus transactions that it would cost: exact through a window, at least so many through a
    /// queue, where answers are waited for.
    pub transactions: u64,
}

/// What a command would touch, and what it would be refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    /// The accesses, in their order.
    pub visits: Vec<PlannedAccess>,
    /// What would not be touched, and why.
    pub gaps: Vec<Gap>,
}

/// A chip as discovery found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chip {
    /// Its number here.
    pub id: ChipId,
    /// Where its base firmware says that it stands.
    pub coord: Option<ChipCoord>,
    /// Reachable over PCIe by itself.
    pub pcie: bool,
    /// The 64-bit board id its firmware publishes, in the form of the results block (high, low).
    pub unique_id: Option<u64>,
    /// Name of the board, such as `n300 L`, where the id tells.
    pub board: Option<String>,
    /// The PCIe chip and the Ethernet tiles through which it is reached, if it is remote.
    pub gateway: Option<Vec<EthId>>,
    /// NOC 0 rows of Tensix tiles that are fused off; none where that could not be read.
    pub harvested_rows: Option<Vec<u8>>,
}

impl Chip {
    /// Is this row of Tensix tiles fused off? None where that is not known.
    pub fn is_fused_off(&self, row: u8) -> Option<bool> {
        self.harvested_rows.as_ref().map(|rows| rows.contains(&row))
    }
}

/// A link as discovery found it: both ends always together, the lower end first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link {
    /// One end.
    pub a: EthId,
    /// The other.
    pub b: EthId,
}

impl Link {
    /// The end that is not this one; none if it is no end of this link.
    pub fn other_end(&self, of: EthId) -> Option<EthId> {
        match (self.a == of, self.b == of) {
            (true, _) => Some(self.b),
            (_, true) => Some(self.a),
            _ => None,
        }
    }
}

/// The mesh as discovery walked it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mesh {
    /// The kind of its chips.
    pub kind: ChipKind,
    /// All chips, by id.
    pub chips: Vec<Chip>,
    /// All links, sorted.
    pub links: Vec<Link>,
    /// What discovery could not learn, one sentence each.
    pub problems: Vec<String>,
}

impl Mesh {
    /// Does the mesh have the link or core of a fault?
    ///
    /// # Errors
    /// What is not there, in one sentence.
    pub fn check_fault(&self, fault: &Fault) -> Result<(), FaultError> {
        let absent = |what: String| Err(FaultError(format!("{fault}: {what}")));
        let id = fault.chip();
        let Some(chip) = self.chip(id) else {
            return absent(format!("there is no chip {id}"));
        };
        match fault.what {
            What::Link(end, _) if !self.links.iter().any(|l| l.a == end || l.b == end) => {
                absent(format!("no link ends at {end}"))
            }
            What::Core(core, _) if chip.is_fused_off(core.tile.y) == Some(true) => {
                absent(format!("tile {} of chip {id} is fused off", core.tile))
            }
            _ => Ok(()),
        }
    }

    /// What is where on its chips.
    pub fn layout(&self) -> &'static ChipLayout {
        self.kind.layout()
    }

    /// The tile of a link's end.
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

    /// The mesh of a cluster descriptor, as discovery would find it.
    pub fn described_by(descriptor: &ClusterDescriptor) -> Self {
        let chips = descriptor.chips.iter().map(|chip| Chip {
            id: chip.id,
            coord: chip.coord,
            pcie: chip.pcie.is_some(),
            unique_id: chip.unique_id,
            board: None,
            gateway: None,
            harvested_rows: Some(chip.harvested_rows.clone()),
        });
        let links = descriptor.links.iter().map(|&(a, b)| Link { a, b });
        Self {
            kind: descriptor.kind,
            chips: chips.collect(),
            links: links.collect(),
            problems: Vec::new(),
        }
    }

    /// The chip with this id.
    pub fn chip(&self, id: ChipId) -> Option<&Chip> {
        self.chips.iter().find(|c| c.id == id)
    }
}

/// Something that is not touched until a person clears it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quarantined {
    /// The chip that it belongs to, or that it is.
    pub chip: ChipId,
    /// The tile, if it is one tile only.
    pub tile: Option<NocXy>,
    /// Of a gateway that is passed over: the chip to which it does not lead. All else of its tile is touched.
    pub towards: Option<ChipId>,
    /// Why.
    pub reason: AccessError,
}

/// A mesh that can be looked at.
pub trait Target: Send {
    /// The words that opened it, such as `emulator:n300`.
    fn name(&self) -> &str;
    /// What can be asked of it.
    fn abilities(&self) -> &Abilities;
    /// The mesh as discovery found it when the target was opened.
    fn mesh(&self) -> &Mesh;
    /// Reads as much of the plan as can be read; the rest are gaps.
    fn read(&mut self, plan: &Plan) -> Snapshot;
    /// Writes memory or registers: a command that a person gave. Writes to one chip arrive in
    /// order, and before anything that is read or any time that passes later.
    ///
    /// # Errors
    /// What kept the bytes from being written.
    fn write(&mut self, addr: NocAddr, bytes: &[u8]) -> Result<(), AccessError>;
    /// Writes as [`Target::write`] does, and tells what stood there before.
    ///
    /// # Errors
    /// What kept the bytes from being written.
    fn replace(&mut self, addr: NocAddr, bytes: &[u8]) -> Result<Old, AccessError> {
        let span = Span { addr, len: bytes.len() as u32 };
        let snapshot = self.read(&Plan { spans: vec![span] });
        self.write(addr, bytes)?;
        Ok(snapshot.bytes(addr, span.len).map(<[u8]>::to_vec))
    }
    /// Names the command that the writes to come belong to, for the audit log.
    fn commanded_by(&mut self, _command: &str) {}
    /// The target's own time, in device cycles.
    ///
    /// # Errors
    /// When the device is gone.
    fn now(&mut self) -> Result<u64, AccessError>;
    /// Lets time pass, in device cycles.
    ///
    /// # Errors
    /// When the device is gone.
    fn pass(&mut self, cycles: u64) -> Result<(), AccessError>;
    /// Makes something go wrong: a command that a person gave. The fault's times are the target's own; one whose beginning
    /// is over begins at once.
    ///
    /// # Errors
    /// `Refused` where nobody can break anything, and for a link or core that is not there.
    fn disrupt(&mut self, _fault: &Fault) -> Result<(), AccessError> {
        Err(Fault::refused())
    }
    /// Who else has a chip's device open, by chip.
    fn holders(&mut self) -> Vec<(ChipId, Holder)> {
        Vec::new()
    }
    /// Bus transactions since it was opened; none where there is no bus.
    fn transactions(&self) -> u64 {
        0
    }
    /// What [`Target::read`] of these plans would touch now; nothing is touched. Empty where there is
    /// no bus.
    fn preview(&mut self, _plans: &[Plan]) -> Preview {
        Preview::default()
    }
    /// The same for [`Target::write`] of a range.
    fn preview_write(&mut self, _span: Span) -> Preview {
        Preview::default()
    }
    /// What hung, and is not touched until [`Target::clear_latch`].
    fn quarantined(&self) -> Vec<Quarantined> {
        Vec::new()
    }
    /// Lets everything that is latched be tried again: a command that a person gave.
    fn clear_quarantine(&mut self) {}
    /// What the machine itself found wrong since it was opened, one sentence each.
    fn remarks(&mut self) -> Vec<String> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn what_may_be_done_is_told_in_words() {
        let allow = Allow::parse("write, reset").unwrap();
        assert_eq!(allow, Allow { write: true, reset: true, ..Allow::default() });
        assert_eq!(allow.to_string(), "write,reset");
        assert_eq!(Allow::parse("write,halt,launch,reset"), Ok(Allow::ALL));
        assert_eq!(Allow::default().to_string(), "nothing");
        let error = Allow::parse("write,fly").unwrap_err();
        assert_eq!(error, "`fly` is nothing to allow: write, halt, launch, reset");
        assert!(!Allow::ALL.covers(Writing::Never));
    }
}
