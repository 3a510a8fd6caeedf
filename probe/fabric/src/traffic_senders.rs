//! What has come of the packets of each sender, by the counts of their receivers.

use super::mux::offset;
use super::traffic::{Traffic, Worker};
use super::traffic_lists::{KERNEL, SOURCES};
use images::{ImageMap, Member};
use launch::records::{bytes_read, size};
use launch::{ControlError, image};
use machine::fabric::FabricNode;
use machine::place::Place;
use machine::snapshot::{Plan, Span};
use machine::target::Target;
use std::collections::BTreeSet;

/// What has come of the packets of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderOutcome {
    /// Its node.
    pub node: FabricNode,
    /// Its tile.
    pub place: Place,
    /// Its packets.
    pub packets: u64,
    /// Their payloads, in bytes.
    pub bytes: u64,
    /// Those that have arrived whole, as their receivers have counted so far.
    pub arrived: u64,
    /// Words with wrong contents at their receivers.
    pub wrong_words: u64,
}

impl Traffic {
    /// Reads what has come of the packets of each worker, in the order of the workers.
    ///
    /// # Errors
    /// When a receiver cannot be read, or the image lacks a member.
    pub fn senders(
        &self,
        target: &mut dyn Target,
        images: &ImageMap,
    ) -> Result<Vec<SenderOutcome>, ControlError> {
        let kernel = image(images, KERNEL)?;
        let source_bytes = size(&kernel, "fabric_traffic_source_t")?;
        let member = |name: &str| offset(&kernel, &format!("fabric_traffic_source_t.{name}"));
        let (checked, wrong) = (member("checked")?, member("wrong_words")?);
        let own = |worker: &Worker| SenderOutcome {
            node: worker.node,
            place: worker.place,
            packets: worker.packets.len() as u64,
            bytes: worker.packets.iter().map(|packet| u64::from(packet.shipment.bytes)).sum(),
            arrived: 0,
            wrong_words: 0,
        };
        let mut senders: Vec<SenderOutcome> = self.workers.iter().map(own).collect();
        let span = |worker: &Worker| Span {
            addr: worker.place.at(SOURCES.into()),
            len: worker.arrivals.len() as u32 * source_bytes as u32,
        };
        let spans: Vec<Span> = self.workers.iter().map(span).collect();
        let read = spans.iter().copied().filter(|span| span.len > 0).collect();
        let snapshot = target.read(&Plan { spans: read });
        for (worker, span) in self.workers.iter().zip(spans).filter(|(_, span)| span.len > 0) {
            let records = bytes_read(&snapshot, span)?.chunks_exact(source_bytes as usize);
            for ((arrivals, record), sender) in
                worker.arrivals.iter().zip(records).zip(&mut senders)
            {
                let word = |at: u32| {
                    let bytes = record.get(at as usize..at as usize + 4);
                    bytes.map_or(0, Member::value)
                };
                let whole = arrivals.iter().take(word(checked) as usize);
                let numbers: BTreeSet<u32> = whole.map(|arrival| arrival.number).collect();
                sender.arrived += numbers.len() as u64;
                sender.wrong_words += word(wrong);
            }
        }
        Ok(senders)
    }
}
