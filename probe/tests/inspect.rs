//! Inspection handles any memory contents and never panics.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use decode::inspect::{ReadSet, inspect, plan};
use decode::state::{Activity, LinkCondition};
use images::{ImageMap, Provenance, Reading, TextCheck};
use layouts::{ChipCoord, ChipId, CoreId, CoreKind, EthId, NocAddr, NocXy};
use machine::snapshot::{AccessError, Gap, Piece, Snapshot};
use machine::target::{Chip, Link, Mesh};

fn mesh() -> Mesh {
    let chip = |id| Chip {
        id: ChipId(id),
        coord: Some(ChipCoord { x: id as u8, y: 0, rack: 0, shelf: 0 }),
        pcie: id == 0,
        unique_id: None,
        board: None,
        gateway: None,
        harvested_rows: Some(vec![1]),
        seat: None,
    };
    let end = |chip, channel| EthId { chip: ChipId(chip), channel };
    let links = vec![Link { a: end(0, 8), b: end(1, 0) }];
    Mesh {
        kind: layouts::ChipKind::Wormhole,
        chips: vec![chip(0), chip(1)],
        links,
        problems: vec!["a problem".into()],
        ..Mesh::default()
    }
}

/// Returns a snapshot of everything in a plan, filled by address.
fn filled(mesh: &Mesh, images: &ImageMap, fill: impl Fn(u64) -> u8) -> Snapshot {
    let mut spans = plan(mesh, images, &ReadSet::everything(mesh)).spans;
    spans.sort();
    let mut pieces: Vec<Piece> = Vec::new();
    for span in spans {
        let end = span.addr.offset + u64::from(span.len);
        let bytes = |from: u64| (from..end).map(&fill).collect::<Vec<u8>>();
        match pieces.last_mut() {
            Some(last)
                if (last.addr.chip, last.addr.tile) == (span.addr.chip, span.addr.tile)
                    && span.addr.offset <= last.addr.offset + last.bytes.len() as u64 =>
            {
                let known = last.addr.offset + last.bytes.len() as u64;
                last.bytes.extend(bytes(known));
            }
            _ => pieces.push(Piece {
                addr: span.addr,
                target_cycles: 7,
                host_micros: 0,
                bytes: bytes(span.addr.offset).into(),
            }),
        }
    }
    Snapshot { pieces, gaps: Vec::new(), transactions: 1, ..Snapshot::default() }
}

fn brisc() -> CoreId {
    CoreId { chip: ChipId(0), tile: NocXy { x: 1, y: 2 }, core: CoreKind::Brisc }
}

#[test]
fn nothing_read_is_nothing_known() {
    let (images, _) = ImageMap::firmware();
    let state = inspect(&Snapshot::default(), &mesh(), &images);
    assert_eq!(state.problems, ["a problem"]);
    assert_eq!(state.links[0].condition, LinkCondition::Unread);
    let core = state.core(brisc()).unwrap();
    assert_eq!(core.activity, Reading::Unread(AccessError::NotRequested));
    // No image is known on this core, so there is no mailbox.
    assert_eq!(core.waypoint, Reading::Absent);
    let harvested = state.tile(ChipId(0), NocXy { x: 1, y: 1 }).unwrap();
    assert!(harvested.harvested && harvested.cores.is_empty());
}

#[test]
fn a_gap_says_why() {
    let (mut images, _) = ImageMap::firmware();
    images.declare(brisc(), "tensix_brisc", Provenance::Stated);
    let mesh = mesh();
    let gone = AccessError::TimedOut { deadline_cycles: 5 };
    let spans = plan(&mesh, &images, &ReadSet::everything(&mesh)).spans;
    let gaps = spans.into_iter().map(|span| Gap { span, reason: gone.clone() }).collect();
    let state = inspect(&Snapshot { gaps, ..Snapshot::default() }, &mesh, &images);
    let core = state.core(brisc()).unwrap();
    assert_eq!(core.waypoint, Reading::Unread(gone.clone()));
    assert_eq!(core.activity, Reading::Unread(gone));
    assert_eq!(core.images[0].evidence, Provenance::Stated);
}

#[test]
fn stated_images_that_are_absent_are_a_mismatch() {
    let (mut images, _) = ImageMap::firmware();
    images.declare(brisc(), "tensix_brisc", Provenance::Stated);
    let mesh = mesh();
    let snapshot = filled(&mesh, &images, |_| 0);
    let state = inspect(&snapshot, &mesh, &images);
    let core = state.core(brisc()).unwrap();
    assert_eq!(core.images[0].evidence, Provenance::Mismatch);
    assert_eq!(core.waypoint, Reading::Absent);
    assert_eq!(state.cycles, 7);
}

#[test]
fn an_image_that_is_being_loaded_is_no_fault() {
    let (mut images, _) = ImageMap::firmware();
    images.declare(brisc(), "tensix_brisc", Provenance::Stated);
    let mesh = mesh();
    let overwritten = |images: &ImageMap, snapshot: &Snapshot| {
        let state = inspect(snapshot, &mesh, images);
        let core = state.core(brisc()).unwrap();
        let differs = matches!(core.images[0].comparison.check, TextCheck::Differs(_));
        assert_eq!(differs, !core.findings.is_empty(), "{core:?}");
        differs
    };
    // All cores are held in reset: nothing was loaded yet.
    let held = filled(&mesh, &images, |_| 0xFF);
    images.learn(&mesh, &held);
    assert!(!overwritten(&images, &held));
    // They run.
    let runs = filled(&mesh, &images, |_| 0);
    assert!(overwritten(&images, &runs));
    // It was loaded, and what was read before is forgotten.
    let (at, id) = images.named("tensix_brisc").unwrap().build_id.clone().unwrap();
    let addr = NocAddr { chip: brisc().chip, tile: brisc().tile, offset: at };
    let piece = Piece { addr, target_cycles: 7, host_micros: 0, bytes: id.into() };
    let loaded = Snapshot { pieces: vec![piece], ..Snapshot::default() }.completed_by(&runs);
    images.learn(&mesh, &loaded);
    assert!(!overwritten(&images, &loaded));
    assert_eq!(images.on(brisc())[0].1, Provenance::Verified);
}

#[test]
fn any_bytes_are_decoded_without_a_panic() {
    let (mut images, _) = ImageMap::firmware();
    let mesh = mesh();
    let erisc = CoreId { chip: ChipId(0), tile: NocXy { x: 9, y: 6 }, core: CoreKind::Erisc };
    for fill in [
        (|_| 0xFF) as fn(u64) -> u8,
        |at| at as u8,
        |at| (at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8,
    ] {
        for name in ["erisc_base", "erisc_app", "ring_ping"] {
            images.declare(erisc, name, Provenance::Stated);
        }
        images.declare(brisc(), "tensix_brisc", Provenance::Stated);
        let snapshot = filled(&mesh, &images, fill);
        images.learn(&mesh, &snapshot);
        let state = inspect(&snapshot, &mesh, &images);
        assert_eq!(state.chips.len(), 2);
    }
    // All reset bits are set, so every core is held.
    let snapshot = filled(&mesh, &images, |_| 0xFF);
    let state = inspect(&snapshot, &mesh, &images);
    assert_eq!(state.core(erisc).unwrap().activity, Reading::Known(Activity::InReset));
    let none = NocAddr { chip: ChipId(9), tile: NocXy { x: 0, y: 0 }, offset: 0 };
    assert_eq!(snapshot.word(none), Err(AccessError::NotRequested));
}
