//! What a program and its agent on another host say to each other, in the frames of [`crate::wire`]: plans go
//! out, snapshots come back.

use layouts::{ChipId, EthId, MOST_CHIPS, NocAddr, NocXy, OutwardLink};
use machine::clients::{Client, Holder};
use machine::snapshot::{AccessError, Gap, Piece, Snapshot, Span, StoppedCore};
use machine::target::{
    Abilities, AccessRoute, Allow, FarFound, Link, Mesh, PlannedAccess, Preview, Quarantined,
};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use std::sync::Arc;

/// Version of the messages; both sides must have the same.
pub(super) const VERSION: u32 = 3;

/// Most bytes that one request may ask for: the answer must fit in a frame.
pub(super) const MOST_BYTES: u64 = 64 << 20;

/// A range: chip, tile, offset, length in bytes.
pub(super) type Range = (ChipId, NocXy, u64, u32);

/// A request of the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Request {
    /// The first one.
    Hello {
        /// [`VERSION`] of the program.
        version: u32,
    },
    /// Asks only for the status.
    Status,
    /// Reads these ranges; answered by `Read` and their bytes.
    Read(Vec<Range>),
    /// Writes bytes from the beginning of a range; answered by `Written`.
    Write(Range, ByteBuf),
    /// Reserves room in the audit log; answered by `Done`.
    Reserve,
    /// Injects a fault; answered by `Done`.
    Disrupt(String),
    /// Asks for the accesses of reads of these ranges; answered by `Preview`.
    Preview(Vec<Range>),
    /// Asks for the accesses of a write; answered by `Preview`.
    PreviewWrite(Range),
    /// Searches the ELFs that run there, and the processes; answered by `Elfs`.
    Elfs,
    /// Asks for the bytes of one of these, by its SHA-256; answered by `Elf` and them.
    Elf(String),
    /// Lets time pass, in device cycles; what went wrong is in the next status. No answer.
    Pass(u64),
    /// Closes the devices until the next access. No answer.
    GiveBack,
    /// Names the command of the following writes. No answer.
    Command(String),
    /// Writes are made also if they cannot be logged. No answer.
    MustNotStop,
    /// Does not access a tile. No answer.
    LeaveAlone(ChipId, NocXy, AccessError),
    /// Searches tiles that owe an answer, and leaves them alone; answered by `Done`.
    LeaveSilentAlone,
    /// Asks the Inspector of a process that was found; answered by `Inspector`.
    Inspector(u32),
    /// Clears the quarantine. No answer.
    Clear,
    /// Allows far chips again. No answer.
    RetryFar,
}

/// An answer of the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Reply {
    /// It serves this machine.
    Welcome(Box<Welcome>),
    /// It does not, and why.
    Refused(String),
    /// Ranges that were read, whose bytes follow, and those that were not.
    Read(Box<ReadReply>, Box<Status>),
    /// The bytes before a write, or why they were not read; or why it was not made.
    Written(Result<Result<ByteBuf, AccessError>, AccessError>, Box<Status>),
    /// Done, or why not.
    Done(Result<(), AccessError>, Box<Status>),
    /// Accesses, each with whether it goes through a window, whether it writes and its
    /// transactions, and ranges that would not be accessed.
    Preview(Vec<(Range, bool, bool, u64)>, Vec<(Range, AccessError)>),
    /// What it has found.
    Elfs(FarFound),
    /// What an Inspector tells follows, or why it does not.
    Inspector(Result<(), AccessError>),
    /// Whether it has the ELF, whose bytes follow.
    Elf(bool),
}

/// The machine of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Welcome {
    /// [`VERSION`] of the agent.
    pub(super) version: u32,
    /// What it supports.
    pub(super) abilities: Abilities,
    /// What may be changed on it.
    pub(super) allow: Allow,
    /// Its mesh, with the chips as the agent numbers them.
    pub(super) mesh: Mesh,
    /// The gateways of its chips, which a chip in JSON does not have.
    pub(super) gateways: Vec<Option<Vec<EthId>>>,
    /// Whether ELFs of what runs there were found, or processes that run tt-metal.
    pub(super) has_found: bool,
    /// What is known of it beside its mesh.
    pub(super) status: Status,
}

/// What changes with each answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Status {
    /// The machine's own time, in device cycles, or why time could not pass.
    pub(super) now: Result<u64, AccessError>,
    /// Bus transactions so far.
    pub(super) transactions: u64,
    /// Other processes that have a chip's device open.
    pub(super) holders: Vec<(ChipId, Holder)>,
    /// The other client that may change the machine.
    pub(super) writer: Option<Client>,
    /// Problems that the machine found.
    pub(super) remarks: Vec<String>,
    /// What is quarantined.
    pub(super) quarantined: Vec<Quarantined>,
    /// Host time when the request came and when the answer went, in microseconds since the Unix epoch.
    pub(super) micros: [u64; 2],
}

/// A snapshot without its bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct ReadReply {
    /// Ranges that were read, each with target time and host time of its own read.
    pub(super) pieces: Vec<(Range, u64, u64)>,
    /// Ranges that were not.
    pub(super) gaps: Vec<(Range, AccessError)>,
    /// Bus transactions that it took.
    pub(super) transactions: u64,
    /// Cores that the machine has stopped.
    pub(super) stopped: Vec<(ChipId, StoppedCore)>,
}

/// Returns a range as it is sent.
pub(super) fn sent(Span { addr, len }: Span) -> Range {
    (addr.chip, addr.tile, addr.offset, len)
}

/// Returns a range that was sent.
pub(super) fn span((chip, tile, offset, len): Range) -> Span {
    Span { addr: NocAddr { chip, tile, offset }, len }
}

impl Welcome {
    /// Whether every end is on one of its chips, and names a channel that these have; if so, the chips get
    /// their gateways.
    pub(super) fn check(&mut self) -> bool {
        let Self { mesh, gateways, .. } = self;
        let (count, channels) = (mesh.chips.len(), mesh.layout().eth_channels());
        let sound = |end: &EthId| usize::from(end.chip.0) < count && end.channel < channels;
        let ends = mesh.links.iter().flat_map(|Link { a, b }| [a, b]);
        let outward =
            |(link, _): &(OutwardLink, String)| sound(&link.near) && link.far_channel < channels;
        let is_sound = count <= MOST_CHIPS
            && (0..).zip(&mesh.chips).all(|(id, chip)| chip.id == ChipId(id))
            && ends.chain(gateways.iter().flatten().flatten()).all(sound)
            && mesh.outward.iter().all(outward);
        for (chip, gateway) in mesh.chips.iter_mut().zip(std::mem::take(gateways)) {
            chip.gateway = gateway;
        }
        is_sound
    }
}

impl ReadReply {
    /// Takes the bytes of a snapshot, which are appended to `bytes`.
    pub(super) fn of(snapshot: Snapshot, bytes: &mut Vec<u8>) -> Self {
        let piece = |piece: Piece| {
            bytes.extend_from_slice(&piece.bytes);
            (sent(piece.span()), piece.target_cycles, piece.host_micros)
        };
        Self {
            pieces: snapshot.pieces.into_iter().map(piece).collect(),
            gaps: snapshot.gaps.into_iter().map(|gap| (sent(gap.span), gap.reason)).collect(),
            transactions: snapshot.transactions,
            stopped: snapshot.stopped,
        }
    }

    /// Returns the snapshot; none if the bytes are not those of its pieces.
    pub(super) fn snapshot(self, bytes: Vec<u8>) -> Option<Snapshot> {
        let (bytes, mut at) = (Arc::new(bytes), 0_usize);
        let mut pieces = Vec::with_capacity(self.pieces.len());
        for (range, target_cycles, host_micros) in self.pieces {
            let Span { addr, len } = span(range);
            let start = u32::try_from(at).ok()?;
            at = at.checked_add(len as usize).filter(|end| *end <= bytes.len())?;
            let bytes = machine::snapshot::Bytes::of(&bytes, start, len);
            pieces.push(Piece { addr, target_cycles, host_micros, bytes });
        }
        let gap = |(range, reason)| Gap { span: span(range), reason };
        (at == bytes.len()).then(|| Snapshot {
            pieces,
            gaps: self.gaps.into_iter().map(gap).collect(),
            sorted_gaps: false,
            transactions: self.transactions,
            stopped: self.stopped,
        })
    }
}

/// Returns a preview as it is sent.
pub(super) fn preview(preview: Preview) -> Reply {
    let access = |it: PlannedAccess| {
        (sent(it.span), it.route == AccessRoute::Window, it.write, it.transactions)
    };
    Reply::Preview(
        preview.accesses.into_iter().map(access).collect(),
        preview.gaps.into_iter().map(|gap| (sent(gap.span), gap.reason)).collect(),
    )
}

/// Returns a preview that was sent.
pub(super) fn previewed(
    accesses: Vec<(Range, bool, bool, u64)>,
    gaps: Vec<(Range, AccessError)>,
) -> Preview {
    let access = |(range, window, write, transactions)| {
        let route = if window { AccessRoute::Window } else { AccessRoute::Queue };
        PlannedAccess { span: span(range), route, write, transactions }
    };
    Preview {
        accesses: accesses.into_iter().map(access).collect(),
        gaps: gaps.into_iter().map(|(range, reason)| Gap { span: span(range), reason }).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::target::Chip;

    fn welcome() -> Welcome {
        let status = Status {
            now: Ok(0),
            transactions: 0,
            holders: Vec::new(),
            writer: None,
            remarks: Vec::new(),
            quarantined: Vec::new(),
            micros: [0, 0],
        };
        let chip = Chip {
            id: ChipId(0),
            coord: None,
            pcie: true,
            unique_id: Some(7),
            board: None,
            gateway: None,
            harvested_rows: Some(Vec::new()),
            seat: None,
        };
        Welcome {
            version: VERSION,
            abilities: Abilities::default(),
            allow: Allow::default(),
            mesh: Mesh { chips: vec![chip], ..Mesh::default() },
            gateways: vec![None],
            has_found: false,
            status,
        }
    }

    #[test]
    fn ends_that_no_chip_has_are_no_mesh() {
        assert!(welcome().check());
        let end = |chip, channel| EthId { chip: ChipId(chip), channel };
        for b in [end(1, 0), end(0, 16)] {
            let mut odd = welcome();
            odd.mesh.links.push(Link { a: end(0, 8), b });
            assert!(!odd.check(), "{b}");
        }
    }

    #[test]
    fn bytes_that_are_not_those_of_the_pieces_are_no_snapshot() {
        let range = (ChipId(0), NocXy { x: 1, y: 2 }, 0x100, 4);
        let pieces = vec![(range, 5, 6)];
        let read = ReadReply { pieces, gaps: Vec::new(), transactions: 1, stopped: Vec::new() };
        let snapshot = read.clone().snapshot(vec![1, 2, 3, 4]);
        assert_eq!(snapshot.map(|it| it.pieces.len()), Some(1));
        assert_eq!(read.clone().snapshot(vec![1, 2, 3]), None);
        assert_eq!(read.snapshot(vec![0; 5]), None);
    }
}
