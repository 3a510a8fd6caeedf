//! A router's sender channel that a test plays: it takes packets out of the slots as a router does
//! and delivers them on its own chip.
#![allow(unreachable_pub, dead_code, reason = "a module of a test")]

pub use crate::common::{read as bytes, word};
use access::bar_target::BarTarget;
use fabric::client::Connection;
use layouts::{NocAddr, NocXy};
use machine::place::Place;
use machine::target::Target;

const BUFFERS: u64 = 0x3_0000;
const HANDSHAKE: u64 = 0x2_8000;
const INFO: u64 = 0x2_8040;
const INDEX: u64 = 0x2_8080;
const STATUS: u64 = 0x2_80C0;
const STREAM: u32 = 5;
const READY_FOR_TRAFFIC: u32 = 0xA3B3_C3D3;

fn put(target: &mut BarTarget, addr: NocAddr, value: u32) {
    target.write(addr, &value.to_le_bytes()).unwrap();
}

fn number(bytes: &[u8], at: usize, len: usize) -> u64 {
    bytes[at..at + len].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

pub struct Played {
    place: Place,
    client: Place,
    slots: u32,
    slot_bytes: u32,
    taken: u32,
    open: bool,
    /// Sender and number of each packet.
    pub seen: Vec<(u16, u32)>,
    pub closes: u32,
}

impl Played {
    /// Makes a ready channel on an idle tile.
    pub fn new(
        target: &mut BarTarget,
        place: Place,
        client: Place,
        slots: u32,
        slot_bytes: u32,
    ) -> Self {
        target.write(place.at(HANDSHAKE), &[0; 0xD0]).unwrap();
        put(target, place.at(0xFFB4_0010 + u64::from(STREAM) * 0x1000), slots);
        put(target, place.at(STATUS), READY_FOR_TRAFFIC);
        let (taken, open, closes) = (0, false, 0);
        Self { place, client, slots, slot_bytes, taken, open, seen: Vec::new(), closes }
    }

    pub fn connection(&self) -> Connection {
        Connection {
            place: self.place,
            direction: 0,
            buffers: BUFFERS as u32,
            buffer_bytes: self.slot_bytes,
            buffer_count: self.slots,
            handshake: HANDSHAKE as u32,
            location_info: INFO as u32,
            buffer_index: INDEX as u32,
            stream: STREAM,
            status: STATUS as u32,
        }
    }

    fn publish_taken(&self, target: &mut BarTarget) {
        put(target, self.place.at(INFO + 48), self.taken);
        if self.open {
            let counter = word(target, self.place.at(INFO));
            put(target, self.client.at(counter.into()), self.taken);
        }
    }

    /// Opens or closes the channel on request and takes at most one packet.
    pub fn step(&mut self, target: &mut BarTarget) {
        match word(target, self.place.at(HANDSHAKE)) {
            1 if !self.open => {
                self.open = true;
                self.publish_taken(target);
            }
            2 => {
                self.open = false;
                self.closes += 1;
                put(target, self.place.at(HANDSHAKE), 0);
                let teardown = word(target, self.place.at(INFO + 16));
                put(target, self.client.at(teardown.into()), 1);
            }
            _ => {}
        }
        let stream = 0xFFB4_0000 + u64::from(STREAM) * 0x1000;
        let free = word(target, self.place.at(stream + 0x100));
        assert!(free <= self.slots, "{free}");
        if free < self.slots {
            let slot = BUFFERS + u64::from(self.taken % self.slots * self.slot_bytes);
            let packet = bytes(target, self.place.at(slot), self.slot_bytes);
            self.deliver(target, &packet);
            self.taken += 1;
            put(target, self.place.at(stream + 0x88), 1 << 6);
            self.publish_taken(target);
        }
    }

    fn deliver(&mut self, target: &mut BarTarget, packet: &[u8]) {
        let chip = self.place.chip;
        let at = |offset: usize| {
            let address = number(packet, offset, 8);
            let tile = NocXy { x: (address >> 36 & 63) as u8, y: (address >> 42 & 63) as u8 };
            Place { chip, tile }.at(address & 0xF_FFFF_FFFF)
        };
        let count = |target: &mut BarTarget, offset: usize, by: usize| {
            let value = word(target, at(offset)) + number(packet, by, 4) as u32;
            put(target, at(offset), value);
        };
        let bytes = number(packet, 40, 2) as usize;
        let payload = &packet[64..64 + bytes];
        assert_eq!(number(packet, 44, 4), 0b01, "one hop, then a write");
        assert_eq!(packet[48], 3, "ttl");
        self.seen.push((number(packet, 50, 2) as u16, number(packet, 60, 4) as u32));
        match packet[42] {
            0 => target.write(at(0), payload).unwrap(),
            1 => put(target, at(0), number(packet, 8, 4) as u32),
            2 => count(target, 0, 8),
            3 => {
                target.write(at(0), payload).unwrap();
                count(target, 8, 16);
            }
            4 => {
                let (chunks, mut start) = (packet[38] as usize, 0);
                for chunk in 0..chunks {
                    let size = number(packet, 32 + 2 * chunk, 2) as usize;
                    let end = if chunk + 1 == chunks { bytes } else { start + size };
                    target.write(at(8 * chunk), &payload[start..end]).unwrap();
                    start = end;
                }
            }
            other => panic!("send type {other}"),
        }
    }
}
