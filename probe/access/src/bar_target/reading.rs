//! Reads the ranges of a checked plan: devices in parallel, the chips behind one device in
//! sequence.

use crate::access::{Access, Route};
use crate::guard::{FarPlace, read_near};
use crate::parallel::{DeviceWork, in_parallel};
use crate::planner::MergedRange;
use crate::queue::Stamped;
use layouts::ChipId;
use machine::bar::Bar;
use machine::clock::host_micros;
use machine::progress::ChipCount;
use machine::snapshot::{AccessError, Gap, Piece, Snapshot};
use machine::target::{Arrived, Mesh};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::mpsc::{Sender, channel};

/// A chip, the route to it, and its ranges.
pub(super) type ChipRead = (ChipId, Route, Vec<MergedRange>);

fn device(route: &Route) -> u8 {
    match route {
        Route::Pcie(device) | Route::Queue { device, .. } => *device,
    }
}

/// A snapshot that grows chip by chip.
pub(super) struct Growing<'a> {
    mesh: &'a Mesh,
    reads: &'a [ChipRead],
    snapshot: Snapshot,
    /// The gaps, each with the number of its read.
    gaps: Vec<(usize, Gap)>,
    /// The number of reads of each chip that are not done.
    left: BTreeMap<ChipId, usize>,
    chips: ChipCount,
    arrived: &'a mut dyn FnMut(Arrived<'_>),
}

impl<'a> Growing<'a> {
    pub(super) fn new(
        mesh: &'a Mesh,
        reads: &'a [ChipRead],
        arrived: &'a mut dyn FnMut(Arrived<'_>),
    ) -> Self {
        let mut left = BTreeMap::new();
        for (chip, ..) in reads {
            *left.entry(*chip).or_default() += 1;
        }
        let chips = ChipCount { done: 0, of: left.len() };
        let mut snapshot = Snapshot::default();
        snapshot.pieces.reserve(reads.iter().map(|(.., runs)| runs.len()).sum());
        Self { mesh, reads, snapshot, gaps: Vec::new(), left, chips, arrived }
    }

    /// Adds the result of a read, and shows it.
    fn add(&mut self, number: usize, mut part: Snapshot) {
        self.snapshot.pieces.append(&mut part.pieces);
        self.gaps.extend(part.gaps.iter().map(|gap| (number, gap.clone())));
        self.snapshot.gaps.append(&mut part.gaps);
        if let Some(left) = self.reads.get(number).and_then(|(chip, ..)| self.left.get_mut(chip)) {
            *left -= 1;
            self.chips.done += usize::from(*left == 0);
        }
        self.show(true);
    }

    fn show(&mut self, fresh: bool) {
        let Self { mesh, snapshot, chips, .. } = self;
        (self.arrived)(Arrived { mesh, snapshot, chips: *chips, fresh });
    }

    /// Returns the whole snapshot; the gaps are in the order of the devices.
    fn whole(mut self) -> Snapshot {
        self.gaps.sort_by_key(|(number, _)| {
            (self.reads.get(*number).map(|(_, route, _)| device(route)), *number)
        });
        self.snapshot.gaps = self.gaps.into_iter().map(|(_, gap)| gap).collect();
        self.snapshot
    }
}

/// One device's share of the work: its reads, with their numbers.
struct Share<'a> {
    access: Access,
    reads: Vec<(usize, &'a ChipRead)>,
    done: Sender<(usize, Snapshot)>,
}

/// Reads all chips; failed ranges become gaps.
pub(super) fn read_all(access: &mut Access, mut growing: Growing<'_>) -> Snapshot {
    let reads = growing.reads;
    let mut by_device: BTreeMap<u8, Vec<(usize, &ChipRead)>> = BTreeMap::new();
    for (number, read) in reads.iter().enumerate() {
        by_device.entry(device(&read.1)).or_default().push((number, read));
    }
    if by_device.len() < 2 {
        let reads: Vec<_> = reads.iter().enumerate().collect();
        read_chips(access, &reads, &mut |number, part| growing.add(number, part));
        return growing.whole();
    }
    let (done, parts_done) = channel();
    let mut shares: Vec<_> = by_device
        .into_iter()
        .map(|(device, reads)| {
            let access = access.part(device);
            (device, Share { access, reads, done: done.clone() })
        })
        .collect();
    let parts =
        shares.iter_mut().map(|(device, work)| DeviceWork { device: *device, work }).collect();
    let act = |bar: Box<dyn Bar>, Share { access, reads, done }: &mut Share<'_>| {
        access.bus.over(bar);
        // The receiver lives longer than the parts.
        read_chips(access, reads, &mut |number, part| drop(done.send((number, part))));
    };
    let mut gather = || {
        // What is done between two rounds does not depend on the host's scheduling, its order does.
        let mut all: Vec<_> = parts_done.try_iter().collect();
        all.sort_by_key(|(number, _)| *number);
        if all.is_empty() {
            growing.show(false);
        }
        for (number, part) in all {
            growing.add(number, part);
        }
    };
    in_parallel(access.bus.bar(), parts, act, &mut gather);
    gather();
    for (device, share) in shares {
        access.join(device, share.access);
    }
    growing.whole()
}

/// Reads chips in sequence, and hands over the result of each with its number. Chips whose gateway
/// did not lead to another chip are read last, so that the others need not wait for them.
fn read_chips(
    access: &mut Access,
    reads: &[(usize, &ChipRead)],
    done: &mut dyn FnMut(usize, Snapshot),
) {
    let queues = reads.iter().any(|(_, (_, route, _))| matches!(route, Route::Queue { .. }));
    if queues {
        // A queue that cannot be read fails again where it is used, with its reason.
        let _ = access.begin();
    }
    let (mut next, mut last): (VecDeque<_>, _) = (reads.iter().collect(), VecDeque::new());
    let mut silent = BTreeSet::new();
    while let Some(read) = next.pop_front().or_else(|| last.pop_front()) {
        let (number, (chip, route, runs)) = read;
        let mut part = Snapshot::default();
        match route {
            Route::Pcie(device) => near(access, *chip, *device, runs, &mut part),
            Route::Queue { tiles, .. } if !next.is_empty() && silent.contains(tiles) => {
                last.push_back(read);
                continue;
            }
            Route::Queue { device, coord, tiles, .. } => {
                if far(access, (*chip, route), (*device, *coord), runs, &mut part) {
                    silent.insert(tiles);
                }
            }
        }
        done(*number, part);
    }
    if queues {
        let _ = access.finish();
    }
}

/// Reads a near chip. All pieces of a batch carry the time at the end of the batch.
fn near(
    access: &mut Access,
    chip: ChipId,
    device: u8,
    runs: &[MergedRange],
    snapshot: &mut Snapshot,
) {
    let (mut stamp, mut host) = (0, 0);
    let Access { bus, quarantine, patience, .. } = access;
    read_near(bus, quarantine, *patience, device, runs, &mut |index, read| match read {
        Ok((bytes, target_cycles)) => {
            if stamp != target_cycles || host == 0 {
                (stamp, host) = (target_cycles, host_micros());
            }
            let addr = runs[index].span(chip).addr;
            snapshot.pieces.push(Piece { addr, target_cycles, host_micros: host, bytes });
        }
        Err(reason) => snapshot.gaps.push(Gap { span: runs[index].span(chip), reason }),
    });
}

/// Reads a far chip's ranges, as many in parallel as its gateways allow. A chip that does not
/// answer is put in quarantine; returns whether it just was.
fn far(
    access: &mut Access,
    (chip, route): (ChipId, &Route),
    place: FarPlace,
    runs: &[MergedRange],
    snapshot: &mut Snapshot,
) -> bool {
    let known = access.quarantine.far(place).is_some();
    let hung = |run: &MergedRange| access.quarantine.far_tile(place, run.tile).cloned();
    let refused: Vec<Option<AccessError>> = runs.iter().map(hung).collect();
    let asked = runs.iter().zip(&refused).filter(|(_, refused)| refused.is_none());
    let asked: Vec<MergedRange> = asked.map(|(run, _)| *run).collect();
    let mut reads = access.read_far(route, place, &asked).into_iter();
    let host_micros = host_micros();
    for (run, refused) in runs.iter().zip(refused) {
        let missing = || Err(AccessError::NotRequested);
        let read = refused.map_or_else(|| reads.next().unwrap_or_else(missing), Err);
        let span = run.span(chip);
        match read {
            Ok(Stamped { bytes, cycles: target_cycles }) => {
                let (addr, bytes) = (span.addr, bytes.into());
                snapshot.pieces.push(Piece { addr, target_cycles, host_micros, bytes });
            }
            Err(reason) => snapshot.gaps.push(Gap { span, reason }),
        }
    }
    !known && access.quarantine.far(place).is_some()
}
