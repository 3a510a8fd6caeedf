//! Locations by the manifest of a line of three chips, and its place on a mesh.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::Reading;
use crate::fabric::location::{Locations as _, Memory, Reader};
use crate::fabric::manifest::tests::sample;
use crate::fabric::standing::disagreements;
use machine::fabric::Direction;
use serde_json::{Value, json};

fn parse(manifest: &Value) -> FabricManifest {
    FabricManifest::parse("m.json", &serde_json::to_vec(manifest).unwrap()).unwrap()
}

/// Returns the layout of the router to the east of the middle chip.
fn layout(manifest: &Value) -> RouterLayout {
    let manifest = parse(manifest);
    let (_, chip) = manifest.chip(0xB).unwrap();
    manifest.layout(chip, chip.routers.iter().find(|it| it.eth_channel == 9).unwrap())
}

fn middle(manifest: &mut Value) -> &mut Value {
    &mut manifest["meshes"]["M0"]["chips"]["C1"]["routers"]["E0"]
}

/// Memory in which every word holds its address.
struct Addresses;

impl Memory for Addresses {
    fn word(&self, word: Word) -> Reading<u64> {
        Reading::Known(word.addr)
    }
}

fn number(located: &Located) -> Reading<u64> {
    Reader(&Addresses).fact(located.location())
}

#[test]
fn facts_stand_where_the_manifest_says() {
    let found = layout(&sample::manifest());
    for (located, at) in [
        (&found.facts.status, 0xF010),
        (&found.facts.termination, 0xF020),
        (&found.facts.local_sync, 0xF030),
        (&found.facts.image_channel, 9),
        (&found.facts.master_channel, 9),
        (&found.facts.local_channels, 0x201),
        (&found.facts.local_routers, 2),
        (&found.senders[1].facts.slots_address, 0x10000 + 8 * 4400),
        (&found.senders[1].facts.slot_bytes, 4400),
        (&found.senders[1].facts.free_slots, 0xFFB4_0100 + 0x1000 * 22),
        (&found.senders[1].facts.completions, 0xFFB4_0100 + 0x1000 * 5),
        (&found.senders[1].facts.connection, 0xF124),
        (&found.senders[1].facts.read_counter, 0xF240 + 48),
        (&found.senders[1].facts.write_counter, 0xF150),
        (&found.receivers[0].facts.arrived, 0xFFB4_0100),
        (&found.downstream[0].facts.credits, 0xFFB4_0100 + 0x1000 * 15),
    ] {
        assert_eq!(number(located), Reading::Known(at));
    }
    let status = found.facts.status.location().unwrap().names.as_ref().unwrap();
    assert_eq!(status.of_value(0xA3B3_C3D3).name.as_deref(), Some("READY_FOR_TRAFFIC"));
    assert_eq!(found.downstream[0].direction, Direction::West);
    assert_eq!(found.header.unwrap().bytes, 48);
    assert!(found.tables.is_none() && found.static_info.is_none());
}

#[test]
fn what_the_manifest_lacks_is_unknown_with_the_reason() {
    let mut manifest = sample::manifest();
    let router = middle(&mut manifest);
    router["fields"]["edm_status"] = Value::Null;
    let sender = &mut router["channels"]["senders"]["vc0"]["ch1"];
    sender["fields"]["free_slots"]["stream_id"] = json!(32);
    sender["credits"]["completed"] =
        json!({ "array": "credit_counters/to_sender_completion", "index": 1 });
    let found = layout(&manifest);
    let unknown = found.facts.unknown();
    // Its areas are bytes without a struct.
    for fact in ["status", "state", "command", "postcode", "node", "tx_heartbeat"] {
        assert_eq!(unknown[fact], NOT_DESCRIBED, "{fact}");
    }
    let sender = &found.senders[1].facts;
    let unknown = sender.unknown();
    assert_eq!([unknown["free_slots"], unknown["queued"]], [NO_STREAM; 2]);
    assert!(unknown["completions"].starts_with("credits are counted in L1"));
    assert_eq!(number(&sender.completed), Reading::Known(0xF424));
}

#[test]
fn sources_are_compared_fact_by_fact() {
    let compare = |change: &dyn Fn(&mut Value)| {
        let mut changed = sample::manifest();
        change(middle(&mut changed));
        let both = [&layout(&sample::manifest()), &layout(&changed)];
        let chip = layouts::ChipKind::default().layout();
        let found = disagreements(chip, &Addresses, both).into_iter();
        found.map(|it| format!("{}: {}", it.fact, it.said.join(" / "))).collect::<Vec<_>>()
    };
    assert_eq!(compare(&|_| ()), [""; 0]);
    let found = compare(&|router| {
        router["fields"]["termination_signal"]["address"] = json!(0xF028);
        router["fields"]["my_direction"]["value"] = json!(2);
        let sender = &mut router["channels"]["senders"]["vc0"]["ch0"];
        sender["ring_buffer"]["size_per_element"] = json!(2200);
        sender["ring_buffer"]["num_elements"] = json!(16);
        sender["fields"]["conn_info"]["address"] = json!(0xF300);
        router["channels"]["receivers"]["vc0"]["ch0"]["fields"]["pkts_sent"]["stream_id"] =
            json!(3);
    });
    let expected = [
        "direction: EAST / NORTH",
        "termination: 0xf020 / 0xf028",
        "senders[0].slots: 8 / 16",
        "senders[0].slot_bytes: 4400 / 2200",
        "senders[0].last_client: 0xf220, 0xf222 / 0xf320, 0xf322",
        "senders[0].read_counter: 0xf230 / 0xf330",
        "receivers[0].arrived: stream 0 / stream 3",
    ];
    let found: Vec<_> = found.iter().filter(|line| !line.contains("client_")).collect();
    assert_eq!(found, expected.iter().collect::<Vec<_>>());
}
