//! tt-metal's fabric snapshots: bytes at their addresses, gaps with their reasons, and what is
//! refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use layouts::{ChipId, ChipKind, EthId, NocAddr, TileKind};
use machine::history::History;
use machine::snapshot::{AccessError, Piece, Plan, Span};
use machine::target::Target as _;
use recordings::{FabricSnapshot, FabricSnapshotTarget, FabricWords, RouterWords, sha256};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const END: EthId = EthId { chip: ChipId(3), channel: 8 };
const L1: u64 = 0x18000;
const STATUS: u64 = 0x18090;
/// Addresses as tt-metal's tool computes them (fabric_erisc_constants.py).
const RESET: u64 = 0xFFB1_21B0;
const CLOCK: u64 = 0xFFB1_21F0;
const fn stream(id: u64) -> u64 {
    0xFFB4_0000 + id * 0x1000 + (64 << 2)
}

/// A snapshot in a folder of its own.
struct Kept {
    folder: PathBuf,
    document: Value,
    raw: Vec<u8>,
}

impl Kept {
    fn new(test: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fabric-snapshot").join(test);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let raw: Vec<u8> = (0..=255).cycle().take(0x200 + 16).collect();
        let document = json!({
            "snapshot_version": 1,
            "kind": "fabric_snapshot",
            "captured_at": "2026-09-15T00:00:09Z",
            "manifest": {
                "path": "/logs/generated/fabric/fabric_manifest_rank_1_of_1.json",
                "manifest_version": 1,
                "sha256": sha256(b"manifest"),
                "run": { "arch": "WORMHOLE_B0", "fabric_config": "FABRIC_2D", "host_rank": 0, "mpi_rank": 0, "world_size": 1 },
            },
            "raw": { "file": "run.bin", "size": raw.len(), "sha256": sha256(&raw) },
            "samples": [{ "capture_time": "2000-03-01T00:00:00Z", "routers": [router(&raw)] }],
        });
        Self { folder, document, raw }
    }

    fn router(&mut self) -> &mut Value {
        &mut self.document["samples"][0]["routers"][0]
    }

    fn path(&self) -> PathBuf {
        self.folder.join("run.json")
    }

    fn write(&self) -> PathBuf {
        std::fs::write(self.folder.join("run.bin"), &self.raw).unwrap();
        std::fs::write(self.path(), serde_json::to_vec(&self.document).unwrap()).unwrap();
        self.path()
    }

    fn open(&self) -> FabricSnapshotTarget {
        opened(&self.write())
    }

    fn refusal(&self) -> String {
        let text = FabricSnapshot::read(&self.write()).unwrap_err().to_string();
        text.strip_prefix(&format!("{}: ", self.path().display())).unwrap().to_owned()
    }
}

fn opened(path: &Path) -> FabricSnapshotTarget {
    let snapshot = FabricSnapshot::read(path).unwrap();
    let mesh = snapshot.mesh();
    let words = RouterWords { status: Some(STATUS), termination: Some(0x180A0) };
    let words = FabricWords { go_message: Some(0x3E1E0), routers: [(END, words)].into() };
    snapshot.into_target(mesh, &words)
}

fn blob(raw: &[u8], address: u64, range: std::ops::Range<usize>) -> Value {
    json!({
        "address": address, "size": range.len(), "offset": range.start,
        "sha256": sha256(&raw[range]), "status": "ok", "error": null,
    })
}

fn router(raw: &[u8]) -> Value {
    let beat = |second: u64, beat: u32| {
        let t = format!("2026-09-15T00:00:0{second}Z");
        json!({ "t": t, "heartbeat": beat, "wall_clock": 1_000 * second })
    };
    let streams =
        json!({ "4": { "buf_space_available": 7 }, "13": { "buf_space_available": 0x1FFFF } });
    json!({
        "id": { "mesh_id": 0, "chip_id": 1, "eth_chan": 8 },
        "physical_chip_id": 3,
        "asic_id": "0x00000000000000aa",
        "asic_id_matches_physical": true,
        "status": "ok",
        "error": null,
        "health": { "reset": 0x4_7000, "reset_bits": { "erisc0": false, "erisc1": null }, "wall_clock": 0x1_0000_2000_u64 },
        "lifecycle": { "edm_status": 0xA3B3_C3D3_u32, "termination_signal": 1, "go_signal": 0x80 },
        "liveness": [beat(1, 0xDCBA_0040), beat(2, 0xABCD_0001), beat(3, 0xDCBA_0050)],
        "streams": { "pre": streams, "post": streams, "torn": false },
        "blobs": { "unreserved": blob(raw, L1, 0..0x200), "routing_table": blob(raw, 0x3F440, 0x200..0x210) },
        "identity": { "my_mesh_id": 0, "my_device_id": 1, "matches_manifest": true },
    })
}

fn at(offset: u64) -> NocAddr {
    let tile = ChipKind::Wormhole.layout().eth_channel(END.channel).unwrap();
    NocAddr { chip: END.chip, tile, offset }
}

fn read(target: &mut FabricSnapshotTarget, offset: u64, len: u32) -> Result<Vec<u8>, AccessError> {
    let snapshot = target.read(&Plan { spans: vec![Span { addr: at(offset), len }] });
    snapshot.bytes(at(offset), len).map(<[u8]>::to_vec)
}

fn word(target: &mut FabricSnapshotTarget, offset: u64) -> Result<u32, AccessError> {
    read(target, offset, 4).map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap()))
}

#[test]
fn bytes_are_where_they_were_read() {
    let kept = Kept::new("addresses");
    let mut target = kept.open();
    let chip = target.mesh().chip(END.chip).unwrap();
    assert_eq!((target.mesh().chips.len(), chip.unique_id), (1, Some(0xAA)));
    assert_eq!(target.mesh().problems, [""; 0]);
    assert_eq!(read(&mut target, L1 + 2, 3), Ok(vec![2, 3, 4]));
    assert_eq!(read(&mut target, 0x3F440, 16), Ok(kept.raw[0x200..].to_vec()));
    assert_eq!(word(&mut target, stream(4)), Ok(7));
    assert_eq!(word(&mut target, stream(13)), Ok(0x1FFFF));
    assert_eq!(word(&mut target, RESET), Ok(0x4_7000));
    assert_eq!((word(&mut target, CLOCK), word(&mut target, CLOCK + 4)), (Ok(0x2000), Ok(1)));
    assert_eq!(word(&mut target, 0x1F80), Ok(0xDCBA_0050));
    // The memory was read after the words.
    assert_eq!(word(&mut target, STATUS), Ok(0x9392_9190));
    assert_eq!(read(&mut target, 0x3E1E3, 1), Ok(vec![0x80]));
    for absent in [0, L1 + 0x200, stream(5), 0x3E1E0] {
        assert_eq!(word(&mut target, absent), Err(AccessError::NotRecorded), "{absent:#x}");
    }
    assert_eq!(target.now(), Ok(0x1_0000_2000));
    let snapshot = target.read(&Plan { spans: vec![Span { addr: at(L1), len: 4 }] });
    let [Piece { target_cycles, host_micros, .. }] = snapshot.pieces[..] else { panic!() };
    assert_eq!((target_cycles, host_micros), (0x1_0000_2000, 951_868_800_000_000));
    assert!(target.write(at(L1), &[0]).is_err() && target.abilities().allow.is_nothing());
}

#[test]
fn words_stand_in_where_the_memory_was_not_captured() {
    let mut kept = Kept::new("no-image");
    let blob = &mut kept.router()["blobs"]["unreserved"];
    (blob["status"], blob["offset"], blob["sha256"]) =
        (json!("unsupported"), Value::Null, Value::Null);
    let mut target = kept.open();
    assert_eq!(word(&mut target, STATUS), Ok(0xA3B3_C3D3));
    assert_eq!(word(&mut target, 0x180A0), Ok(1));
    assert_eq!(word(&mut target, L1), Err(AccessError::NotRecorded));
}

#[test]
fn a_damaged_file_of_bytes_leaves_gaps() {
    let mut kept = Kept::new("damaged");
    kept.raw[0x10] ^= 1;
    let mut target = kept.open();
    let problems = &target.mesh().problems;
    assert_eq!(problems, &["run.bin is not as it was captured: its SHA-256 differs"]);
    let reason = word(&mut target, L1 + 0x100).unwrap_err().to_string();
    assert_eq!(reason, "unreachable: its bytes in run.bin have another SHA-256");
    assert!(word(&mut target, 0x3F440).is_ok(), "the other blob is intact");
    kept.raw[0x10] ^= 1;
    kept.raw.truncate(0x208);
    let mut target = kept.open();
    let problems = &target.mesh().problems;
    assert_eq!(problems, &["run.bin has 520 bytes, and the snapshot's had 528"]);
    let reason = word(&mut target, 0x3F440).unwrap_err().to_string();
    assert_eq!(reason, "unreachable: run.bin ends before it");
    assert!(word(&mut target, L1).is_ok());
}

#[test]
fn a_missing_file_of_bytes_leaves_gaps() {
    let kept = Kept::new("missing");
    let path = kept.write();
    std::fs::remove_file(kept.folder.join("run.bin")).unwrap();
    let mut target = opened(&path);
    let [problem] = &target.mesh().problems[..] else { panic!() };
    assert!(problem.ends_with("(os error 2): the snapshot's memory is in it"), "{problem}");
    let reason = word(&mut target, L1).unwrap_err().to_string();
    assert!(reason.starts_with("unreachable: run.bin: No such file"), "{reason}");
    assert_eq!(word(&mut target, STATUS), Ok(0xA3B3_C3D3), "the JSON has this word");
}

#[test]
fn bytes_are_taken_from_the_folder_of_the_snapshot_only() {
    let mut kept = Kept::new("elsewhere");
    for name in ["../elsewhere/run.bin", "/etc/passwd", "..", ""] {
        kept.document["raw"]["file"] = json!(name);
        let mut target = kept.open();
        let expected = format!("{name:?} is no name of a file beside the snapshot");
        assert_eq!(target.mesh().problems, [expected]);
        assert!(word(&mut target, L1).is_err());
    }
}

#[test]
fn the_status_of_a_router_is_said_and_is_the_reason_of_its_gaps() {
    let mut kept = Kept::new("status");
    let router = kept.router();
    router["status"] = json!("torn");
    router["streams"]["post"]["4"]["buf_space_available"] = json!(9);
    let mut target = kept.open();
    assert_eq!(word(&mut target, stream(4)), Ok(9));
    let torn = "3:e8: moved while it was captured; streams are shown as read last (streams 4)";
    assert_eq!(target.mesh().problems, [torn]);

    let router = kept.router();
    (router["status"], router["error"]) = (json!("unreadable"), json!("unreserved unreadable"));
    router["health"]["reset"] = Value::Null;
    let blob = &mut router["blobs"]["unreserved"];
    (blob["status"], blob["error"]) = (json!("unreadable"), json!("chunk at +0 unreadable"));
    let mut target = kept.open();
    let reason = word(&mut target, L1).unwrap_err().to_string();
    assert_eq!(reason, "the capture could not read it: chunk at +0 unreadable");
    let reason = word(&mut target, RESET).unwrap_err().to_string();
    assert_eq!(reason, "the capture could not read it");
    let unreadable = "3:e8: in part unreadable when it was captured (unreserved unreadable)";
    assert_eq!(target.mesh().problems, [unreadable]);
    assert!(word(&mut target, 0x3F440).is_ok());

    let router = kept.router();
    (router["status"], router["error"]) = (json!("unknown"), json!("ASIC 0xaa is not visible"));
    (router["blobs"], router["health"]["wall_clock"]) = (json!({}), Value::Null);
    let reason = word(&mut kept.open(), CLOCK).unwrap_err().to_string();
    assert_eq!(reason, "unreachable: ASIC 0xaa is not visible");
}

#[test]
fn a_router_advances_only_by_heartbeats_of_its_own() {
    let mut kept = Kept::new("liveness");
    kept.router()["liveness"][2]["heartbeat"] = json!(0xDCBA_0040_u32);
    let stayed = "3:e8: its heartbeat stayed 0xdcba0040 for 3 rounds: it did not advance";
    assert_eq!(kept.open().mesh().problems, [stayed]);
    kept.router()["liveness"][2]["heartbeat"] = json!(0xABCD_0002_u32);
    let unknown =
        "3:e8: whether it advances is not known: of its 3 heartbeats fewer than two are a router's";
    assert_eq!(kept.open().mesh().problems, [unknown]);
}

#[test]
fn several_samples_are_moments() {
    let mut kept = Kept::new("samples");
    let mut later = kept.document["samples"][0].clone();
    later["routers"][0]["health"]["wall_clock"] = json!(0x1_0000_3000_u64);
    later["routers"][0]["streams"]["post"]["4"]["buf_space_available"] = json!(8);
    kept.document["samples"].as_array_mut().unwrap().push(later);
    let mut target = kept.open();
    assert_eq!((target.moments(), target.position()), (&[0x1_0000_2000, 0x1_0000_3000][..], 1));
    target.seek(0);
    target.pass(0xFFF).unwrap();
    assert_eq!(word(&mut target, stream(4)), Ok(7));
    target.pass(0x1000).unwrap();
    assert_eq!((target.now(), word(&mut target, stream(4))), (Ok(0x1_0000_3000), Ok(8)));
}

#[test]
fn other_files_are_refused_in_one_sentence() {
    let mut kept = Kept::new("refused");
    let text = serde_json::to_vec(&kept.document).unwrap();
    let mut refused = |key: &str, value: Value, expected: &str| {
        let whole = kept.document.clone();
        *kept.document.pointer_mut(key).unwrap() = value;
        assert_eq!(kept.refusal(), expected);
        kept.document = whole;
    };
    let kinds = [
        ("fabric_debug_snapshot", "which is of an earlier format"),
        (
            "fabric_snapshot_decoded",
            "which is what tt-metal's decoder made of a snapshot, without its bytes",
        ),
        ("fabric_manifest", "which is a manifest, for --manifest"),
        ("fabric_debug_manifest", "which is a manifest of an earlier format"),
        ("recipe", "which is unknown"),
    ];
    for (kind, what) in kinds {
        let expected = format!("its kind is {kind:?}, {what}; only \"fabric_snapshot\" opens");
        refused("/kind", json!(kind), &expected);
    }
    let version = "snapshot_version is 2, and only version 1 is supported";
    refused("/snapshot_version", json!(2), version);
    let chip = "it is of \"blackhole\" chips, and only Wormhole is supported";
    refused("/manifest/run/arch", json!("blackhole"), chip);
    refused("/samples", json!([]), "it has no sample");
    refused(
        "/samples/0/routers/0/status",
        json!("fine"),
        "it does not have the form of a fabric_snapshot, version 1: unknown variant `fine`, \
         expected one of `ok`, `unreadable`, `reset`, `torn`, `unknown`, `unsupported`",
    );
    let path = kept.path();
    for end in [0, 1, 100, text.len() - 1] {
        std::fs::write(&path, &text[..end]).unwrap();
        let error = FabricSnapshot::read(&path).unwrap_err().to_string();
        let expected = format!("{}: no JSON: EOF while parsing", path.display());
        assert!(error.starts_with(&expected), "{error}");
    }
    std::fs::write(&path, "[1]").unwrap();
    let error = FabricSnapshot::read(&path).unwrap_err().to_string();
    assert!(error.ends_with(": no fabric_snapshot of tt-metal: it has no `kind`"), "{error}");
}

/// Numbers from outside at the ends of their ranges.
#[test]
fn absurd_numbers_are_gaps() {
    let mut kept = Kept::new("absurd");
    for (key, value) in [
        ("blobs/unreserved/address", json!(u64::MAX - 1)),
        ("blobs/unreserved/size", json!(u32::MAX)),
        ("blobs/unreserved/offset", json!(u64::MAX)),
        ("health/wall_clock", json!(u64::MAX)),
        ("id/eth_chan", json!(255)),
        ("physical_chip_id", json!(65535)),
        ("liveness", json!([])),
    ] {
        let whole = kept.document.clone();
        *kept.router().pointer_mut(&format!("/{key}")).unwrap() = value;
        let mut target = kept.open();
        let tile = ChipKind::Wormhole.layout().grid().iter().find(|it| it.kind == TileKind::Eth);
        let addr = NocAddr { tile: tile.unwrap().xy, ..at(0) };
        for addr in [addr, at(0)] {
            target.read(&Plan { spans: vec![Span { addr, len: u32::MAX }] });
        }
        target.pass(u64::MAX).unwrap();
        kept.document = whole;
    }
}

/// Every blob may name the whole file.
#[test]
fn blobs_that_overlap_are_bounded_in_sum() {
    let mut kept = Kept::new("overlap");
    let whole = |n: u64| (format!("b{n:03}"), blob(&kept.raw.clone(), n << 12, 0..kept.raw.len()));
    let blobs: serde_json::Map<String, Value> = (0..100).map(whole).collect();
    kept.router()["blobs"] = blobs.into();
    let mut target = kept.open();
    let read = (0..100).filter(|n| read(&mut target, n << 12, 4).is_ok()).count();
    assert_eq!(read, 4);
    let why = word(&mut target, 50 << 12).unwrap_err().to_string();
    assert!(why.contains("too many blobs of run.bin overlap"), "{why}");
}
