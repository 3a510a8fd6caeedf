//! Reads the ranges of a checked plan: devices in parallel, the chips behind one device in
//! sequence.

use crate::access::{Access, Route};
use crate::guard::{FarPlace, read_near};
use crate::parallel::{DeviceWork, in_parallel};
use crate::planner::MergedRange;
use crate::queue::{Results, Stamped};
use layouts::ChipId;
use machine::clock::host_micros;
use machine::snapshot::{Gap, Piece, Snapshot};
use std::collections::BTreeMap;

/// A chip, the route to it, and its ranges.
pub(super) type ChipRead = (ChipId, Route, Vec<MergedRange>);

fn device(route: &Route) -> u8 {
    match route {
        Route::Pcie(device) | Route::Queue { device, .. } => *device,
    }
}

/// One device's share of the work.
struct Share<'a> {
    access: Access,
    chips: Vec<&'a ChipRead>,
    snapshot: Snapshot,
}

/// Reads all chips; failed ranges become gaps.
pub(super) fn read_all(access: &mut Access, chips: &[ChipRead], snapshot: &mut Snapshot) {
    let mut by_device: BTreeMap<u8, Vec<&ChipRead>> = BTreeMap::new();
    for chip in chips {
        by_device.entry(device(&chip.1)).or_default().push(chip);
    }
    if by_device.len() < 2 {
        return read_chips(access, chips.iter(), snapshot);
    }
    let mut shares: Vec<_> = by_device
        .into_iter()
        .map(|(device, chips)| {
            let access = access.part(device);
            (device, Share { access, chips, snapshot: Snapshot::default() })
        })
        .collect();
    let parts =
        shares.iter_mut().map(|(device, work)| DeviceWork { device: *device, work }).collect();
    in_parallel(access.bus.bar(), parts, |bar, Share { access, chips, snapshot }| {
        access.bus.over(bar);
        read_chips(access, chips.iter().copied(), snapshot);
    });
    for (device, mut share) in shares {
        access.join(device, share.access);
        snapshot.pieces.append(&mut share.snapshot.pieces);
        snapshot.gaps.append(&mut share.snapshot.gaps);
    }
}

/// Reads chips in sequence.
fn read_chips<'a>(
    access: &mut Access,
    chips: impl Iterator<Item = &'a ChipRead> + Clone,
    snapshot: &mut Snapshot,
) {
    let queues = chips.clone().any(|(_, route, _)| matches!(route, Route::Queue { .. }));
    if queues {
        // A queue that cannot be read fails again where it is used, with its reason.
        let _ = access.begin();
    }
    for (chip, route, runs) in chips {
        match route {
            Route::Pcie(device) => near(access, *chip, *device, runs, snapshot),
            Route::Queue { device, coord, .. } => {
                far(access, (*chip, route), (*device, *coord), runs, snapshot);
            }
        }
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
/// answer is put in quarantine.
fn far(
    access: &mut Access,
    (chip, route): (ChipId, &Route),
    place: FarPlace,
    runs: &[MergedRange],
    snapshot: &mut Snapshot,
) {
    let silent = access.quarantine.far(place).cloned();
    let reads = if let Some(reason) = silent {
        vec![Err(reason); runs.len()]
    } else {
        let Results { reads, silent, .. } = access.read_runs(route, runs);
        if let Some(reason) = silent {
            access.quarantine.lose_far(place, reason);
        }
        reads
    };
    let host_micros = host_micros();
    for (run, read) in runs.iter().zip(reads) {
        let span = run.span(chip);
        match read {
            Ok(Stamped { bytes, cycles: target_cycles }) => {
                let (addr, bytes) = (span.addr, bytes.into());
                snapshot.pieces.push(Piece { addr, target_cycles, host_micros, bytes });
            }
            Err(reason) => snapshot.gaps.push(Gap { span, reason }),
        }
    }
}
