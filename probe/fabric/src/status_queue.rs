//! Fabric node status queues: one for each router, in the DRAM of its chip. Routers write the
//! entries; reading them changes no word.

mod report;
mod whole;

pub use report::{StatusEntry, StatusReport, read_status};
pub use whole::read_all_status;

use super::words::RouterImage;
use super::{FabricPlan, FabricSettings, Router};
use images::fabric::{STATUS_MAGIC, StatusLayout};
use images::{ImageMap, Member};
use launch::records::bytes_read;
use launch::{ControlError, Operation};
use layouts::{EthId, NocXy};
use machine::place::Place;
use machine::snapshot::{Plan, Span};
use machine::target::Target;

/// Start of the queues in DRAM channel 0, below the tensors of collectives.
const BASE: u64 = 8 << 20;
/// The port of the channel: on NoC 1, port 0 broke the NoC (wormhole.md 1.7).
const PORT: usize = 1;
/// Alignment of queues.
const ALIGN: u64 = 4096;

/// A router's status queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusQueue {
    /// The router.
    pub router: EthId,
    /// The router's tile.
    pub router_place: Place,
    /// Number of the bring-up: each bring-up counts entries from 0.
    pub run_id: u32,
    /// The DRAM tile.
    pub place: Place,
    /// Address of the header in the DRAM tile.
    pub address: u64,
    image: &'static str,
}

const HEADER: &str = "fabric_status_queue_t";
const ARGUMENTS: &str = "fabric_router_args_t";

impl StatusQueue {
    /// Places the queue of a router, if the settings have one.
    ///
    /// # Errors
    /// `NoImage` or `NoMember`, or `Settings` for more entries than fit.
    pub(super) fn placed(
        images: &ImageMap,
        plan: &FabricPlan,
        router: &Router,
        settings: &FabricSettings,
        run_id: u32,
    ) -> Result<Option<Self>, ControlError> {
        let entries = settings.status_entries;
        if entries == 0 {
            return Ok(None);
        }
        let kernel = RouterImage::of(images, plan.router_image())?;
        let status = kernel.status()?;
        let bytes = status.head_bytes + u64::from(entries) * status.entry_bytes;
        let stride = bytes.next_multiple_of(ALIGN);
        let address = BASE + stride * u64::from(router.eth.channel);
        let dram = &images.layout().tiles.dram;
        let tile = dram.channels.first().and_then(|ports| ports.get(PORT));
        let tile = tile.filter(|_| address + bytes <= 2 * BASE);
        let Some(&(x, y)) = tile else {
            let why = format!("{entries} entries for each status queue do not fit into DRAM");
            return Err(ControlError::Settings(why));
        };
        let place = Place { chip: router.eth.chip, tile: NocXy { x, y } };
        Ok(Some(Self {
            router: router.eth,
            router_place: router.place,
            run_id,
            place,
            address,
            image: plan.router_image(),
        }))
    }

    /// Returns the operation that makes the queue empty, before its router is launched.
    ///
    /// # Errors
    /// `NoImage` or `NoMember`.
    pub(super) fn fresh(&self, images: &ImageMap, entries: u32) -> Result<Operation, ControlError> {
        let kernel = RouterImage::of(images, self.image)?;
        let mut header = vec![0; kernel.size(HEADER)? as usize];
        for (member, value) in [("magic", STATUS_MAGIC), ("entries", entries)] {
            let at = kernel.field(&format!("{HEADER}.{member}"))?.0 as usize;
            if let Some(place) = header.get_mut(at..at + 4) {
                place.copy_from_slice(&value.to_le_bytes());
            }
        }
        let mut operation = Operation::new(format!("make the status queue of {}", self.router));
        operation.write(self.place.at(self.address), header);
        Ok(operation)
    }
}

/// Reads the status queues of a running fabric from its routers' arguments; routers without one are
/// left out. Nothing is written.
///
/// # Errors
/// When a router cannot be read, or its image lacks a member.
pub fn status_queues(
    target: &mut dyn Target,
    images: &ImageMap,
    plan: &FabricPlan,
) -> Result<Vec<StatusQueue>, ControlError> {
    let kernel = RouterImage::of(images, plan.router_image())?;
    let args_at = kernel.state("args")?;
    let members = ["run_id", "status_queue_xy", "status_queue_address"];
    let mut fields = Vec::new();
    for member in members {
        fields.push(kernel.field(&format!("{ARGUMENTS}.{member}"))?);
    }
    let span = |router: &Router, (at, size): (u64, u64)| Span {
        addr: router.place.at(args_at + at),
        len: size as u32,
    };
    let spans = plan.routers.iter().flat_map(|router| fields.iter().map(|&it| span(router, it)));
    let snapshot = target.read(&Plan { spans: spans.collect() });
    let mut queues = Vec::new();
    for router in &plan.routers {
        let mut args = [0; 3];
        for (arg, &field) in args.iter_mut().zip(&fields) {
            *arg = Member::value(bytes_read(&snapshot, span(router, field))?) as u32;
        }
        let [run_id, xy, address] = args;
        if let Some(tile) = StatusLayout::tile_of(xy) {
            queues.push(StatusQueue {
                router: router.eth,
                router_place: router.place,
                run_id,
                place: Place { chip: router.eth.chip, tile },
                address: address.into(),
                image: plan.router_image(),
            });
        }
    }
    Ok(queues)
}
