//! The requests of a command buffer: its fields decoded, split into packets of at most 8192 bytes.

use super::grid::{self, Xy};
use super::niu::{Niu, counter, field};
use crate::condition::Refusal;
use crate::memory::{REGISTERS, TENSIX_L1_BYTES};

/// Maximum payload bytes of one packet (wormhole.md 3.3).
pub(crate) const MAX_PACKET: u32 = 8192;
/// Bytes of a flit.
pub(crate) const FLIT: u64 = 32;

/// The target of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NocTarget {
    /// One tile, in NOC 0 coordinates.
    One(Xy),
    /// A rectangle with both corners in the numbering of the NoC that carries the packet.
    Rectangle { start: Xy, end: Xy, sender_too: bool },
}

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Reads `len` bytes at the target and delivers them to an address of a tile (normally the
    /// initiator).
    Read { len: u32, to: Xy, to_addr: u64 },
    /// Writes `len` bytes from the initiator's address `from`; `mask` selects among at most 32
    /// bytes.
    Write { len: u32, from: u64, mask: Option<u32> },
    /// Writes 4 bytes held in the request.
    Inline { value: u32, mask: u32 },
    /// Changes a word in L1; the old value may go to an address of a tile (normally the initiator).
    Atomic { opcode: u32, operand: u32, to: Xy, to_addr: u64 },
}

/// A request as it leaves the NIU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NocRequest {
    pub(crate) action: Action,
    pub(crate) target: NocTarget,
    /// Address at the target.
    pub(crate) addr: u64,
    /// The tile that receives the acknowledgement of a write, if one was requested.
    pub(crate) ack: Option<Xy>,
    /// Whether an answer was requested.
    pub(crate) marked: bool,
    /// Transaction id.
    pub(crate) id: u8,
    pub(crate) path_reserve: bool,
}

/// CTRL bits.
mod ctrl {
    pub(super) const ATOMIC: u32 = 1;
    pub(super) const WRITE: u32 = 1 << 1;
    pub(super) const BYTE_ENABLE: u32 = 1 << 2;
    pub(super) const INLINE: u32 = 1 << 3;
    pub(super) const MARKED: u32 = 1 << 4;
    pub(super) const MULTICAST: u32 = 1 << 5;
    pub(super) const PATH_RESERVE: u32 = 1 << 8;
    pub(super) const SENDER_TOO: u32 = 1 << 17;
}

impl NocRequest {
    /// Returns the flits for which the request occupies the NIU's output.
    pub(crate) fn flits(&self) -> u64 {
        match self.action {
            Action::Write { len, .. } => 1 + data_flits(len),
            _ => 1,
        }
    }

    /// Returns the change of the transaction id's counters.
    fn packets(len: u32) -> u32 {
        len.div_ceil(MAX_PACKET).max(1)
    }
}

/// Returns the flits of this many payload bytes.
pub(crate) fn data_flits(len: u32) -> u64 {
    u64::from(len).div_ceil(FLIT).max(1)
}

/// Whether both addresses agree modulo 16 between memories, otherwise modulo 4 (wormhole.md 3.3).
/// Silicon delivers wrong data if they do not.
fn aligned(targ: u64, ret: u64) -> bool {
    let memories = targ < u64::from(REGISTERS) && ret < u64::from(REGISTERS);
    (targ ^ ret) & if memories { 15 } else { 3 } == 0
}

/// Returns the 36-bit address and the two corner coordinates of a LO/MID pair.
fn address(lo: u32, mid: u32) -> (u64, Xy, Xy) {
    let coordinate = |at: u32| (mid >> at & 63) as u8;
    let addr = u64::from(lo) | u64::from(mid & 15) << 32;
    (addr, (coordinate(4), coordinate(10)), (coordinate(16), coordinate(22)))
}

impl Niu {
    /// Replaces the coordinates of TARG_MID and RET_MID by the translated ones, as silicon does at
    /// the start of a command.
    fn translate_fields(&mut self, buf: usize) {
        for word in [field::TARG_MID, field::RET_MID] {
            let mid = self.commands[buf][word];
            let (_, end, start) = address(0, mid);
            let (end, start) = (self.translate(end), self.translate(start));
            let place = |(x, y): Xy, at: u32| u32::from(x) << at | u32::from(y) << (at + 6);
            // Start corners are zero in unicast requests and stay zero: 0 translates to itself.
            self.commands[buf][word] = mid & 0xF000_000F | place(end, 4) | place(start, 16);
        }
    }

    /// Decodes the buffer in its present state: its next packet, if it is split.
    pub(crate) fn request(&self, buf: usize) -> Result<NocRequest, Refusal> {
        let words = &self.commands[buf];
        let bits = words[field::CTRL];
        let (targ, targ_end, targ_start) = address(words[field::TARG_LO], words[field::TARG_MID]);
        let (ret, ret_end, ret_start) = address(words[field::RET_LO], words[field::RET_MID]);
        let (targ_tile, ret_tile) =
            (grid::flip_checked(self.noc, targ_end), grid::flip_checked(self.noc, ret_end));
        let (len, value) = (words[field::AT_LEN_BE], words[field::AT_DATA]);
        let write = bits & ctrl::WRITE != 0;
        let inline = write && bits & ctrl::INLINE != 0;
        let masked = write && bits & ctrl::BYTE_ENABLE != 0;
        let marked = bits & ctrl::MARKED != 0;
        let atomic = bits & ctrl::ATOMIC != 0;
        let (action, addr, end, start, ack) = if atomic && write {
            return Err(Refusal::refused("reserved-request-type"));
        } else if atomic {
            let action = Action::Atomic { opcode: len, operand: value, to: ret_tile, to_addr: ret };
            (action, targ, targ_end, targ_start, None)
        } else if inline {
            (Action::Inline { value, mask: len }, targ, targ_end, targ_start, Some(self.at))
        } else if !masked && len > TENSIX_L1_BYTES {
            // One end is the initiator's L1, so a longer request is invalid; it would keep the NIU
            // busy for very long.
            return Err(Refusal::refused("noc-length"));
        } else if !masked && !aligned(targ, ret) {
            return Err(Refusal::refused("noc-alignment"));
        } else if write {
            let (len, mask) = if masked { (32, Some(len)) } else { (len.min(MAX_PACKET), None) };
            (Action::Write { len, from: targ, mask }, ret, ret_end, ret_start, Some(targ_tile))
        } else {
            let action = Action::Read { len: len.min(MAX_PACKET), to: ret_tile, to_addr: ret };
            (action, targ, targ_end, targ_start, None)
        };
        let target = if bits & ctrl::MULTICAST == 0 {
            NocTarget::One(grid::flip_checked(self.noc, end))
        } else if write || atomic {
            NocTarget::Rectangle { start, end, sender_too: bits & ctrl::SENDER_TOO != 0 }
        } else {
            return Err(Refusal::refused("multicast-read"));
        };
        Ok(NocRequest {
            action,
            target,
            addr,
            ack: ack.filter(|_| marked),
            marked,
            id: (words[field::TAG] >> 10 & 15) as u8,
            path_reserve: bits & ctrl::PATH_RESERVE != 0,
        })
    }

    /// Accepts a started buffer: translates it and counts its transaction id. Returns the flits it
    /// will send.
    pub(crate) fn accept(&mut self, buf: usize) -> Result<u64, Refusal> {
        self.translate_fields(buf);
        let request = self.request(buf).inspect_err(|_| self.commands[buf][field::CMD_CTRL] = 0)?;
        let len = self.commands[buf][field::AT_LEN_BE];
        let id = usize::from(request.id);
        let (packets, answered) = match request.action {
            Action::Read { .. } => (NocRequest::packets(len), true),
            Action::Write { mask: None, .. } => (NocRequest::packets(len), request.marked),
            _ => (1, request.marked),
        };
        if answered {
            self.count(counter::OUTSTANDING + id, packets);
        }
        if let Action::Write { mask, .. } = request.action {
            self.count(counter::OUTGOING + id, packets);
            if mask.is_none() {
                return Ok(u64::from(packets) + data_flits(len));
            }
        }
        Ok(request.flits() * u64::from(packets))
    }

    /// Counts the buffer's next packet, which got its virtual channel, and clears CMD_CTRL or
    /// advances by 8192 bytes.
    pub(crate) fn begin(&mut self, buf: usize) -> Result<(NocRequest, bool), Refusal> {
        let request = self.request(buf)?;
        self.count(counter::COMMANDS, 1);
        let posted = u32::from(!request.marked) as usize;
        match request.action {
            Action::Read { .. } => {
                self.count(counter::READS_STARTED, 1);
                self.count(counter::READS_SENT, 1);
            }
            Action::Write { .. } => self.count(counter::WRITES_STARTED + posted, 1),
            Action::Inline { .. } => {
                self.count(counter::WRITES_STARTED + posted, 1);
                self.count(counter::WRITES_SENT + posted, 1);
            }
            Action::Atomic { .. } => {
                if request.marked {
                    self.count(counter::ATOMICS_STARTED, 1);
                }
                self.count(counter::ATOMICS_SENT + posted, 1);
            }
        }
        Ok((request, self.advance(buf, &request)))
    }

    /// Advances the buffer past one packet; returns true if more follow.
    fn advance(&mut self, buf: usize, request: &NocRequest) -> bool {
        let words = &mut self.commands[buf];
        let splittable =
            matches!(request.action, Action::Read { .. } | Action::Write { mask: None, .. });
        if splittable && words[field::AT_LEN_BE] > MAX_PACKET {
            words[field::AT_LEN_BE] -= MAX_PACKET;
            words[field::TARG_LO] = words[field::TARG_LO].wrapping_add(MAX_PACKET);
            words[field::RET_LO] = words[field::RET_LO].wrapping_add(MAX_PACKET);
            return true;
        }
        words[field::CMD_CTRL] = 0;
        false
    }
}
