//! Captures the routers of a target as tt-metal's tool does: rounds of heartbeats, then of each
//! router registers, streams, L1, and streams again.

use layouts::{EthId, NocAddr, TileKind};
use machine::place::Place;
use machine::snapshot::{Plan, Span};
use machine::target::Target;
use recordings::sha256;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

const ROUNDS: u64 = 3;
/// Time between two rounds of heartbeats.
const ROUND_CYCLES: u64 = 200_000;
/// The low bits of a stream's register that the tool keeps.
const STREAM_MASK: u32 = 0x1_FFFF;

/// What to capture.
pub(super) struct Capture<'a> {
    pub(super) routers: Vec<Captured>,
    /// Ranges of L1: name, address and size.
    pub(super) areas: Vec<(&'a str, u64, u32)>,
    /// The manifest's file and its bytes.
    pub(super) manifest: (&'a str, &'a [u8]),
    /// Number of samples, and the time between them.
    pub(super) samples: (usize, u64),
}

/// A router to capture.
pub(super) struct Captured {
    pub(super) at: EthId,
    /// Its device number in mesh 0.
    pub(super) device: u16,
    pub(super) asic: u64,
    pub(super) streams: Vec<u64>,
    pub(super) status: u64,
    pub(super) termination: u64,
}

impl Capture<'_> {
    /// Writes `snapshot.json`, its bytes and the manifest to a folder; returns the JSON's path.
    pub(super) fn write(&self, target: &mut dyn Target, folder: &Path) -> PathBuf {
        let mut raw = Vec::new();
        let (count, apart) = self.samples;
        let mut samples = Vec::new();
        for number in 0..count {
            if number > 0 {
                target.pass(apart).unwrap();
            }
            samples.push(self.sample(target, &mut raw));
        }
        let (name, manifest) = self.manifest;
        let snapshot = json!({
            "snapshot_version": 1,
            "kind": "fabric_snapshot",
            "captured_at": "2026-09-15T12:00:10Z",
            "manifest": {
                "path": format!("/home/someone/generated/fabric/{name}"),
                "manifest_version": 1,
                "sha256": sha256(manifest),
                "run": { "arch": "wormhole_b0", "fabric_config": "fabric_1d", "host_rank": 0, "mpi_rank": 0, "world_size": 1 },
            },
            "provenance": {
                "ttexalens_version": "0", "tt_umd_version": "0", "hostname": "h", "owner_alive": null, "argv": [],
            },
            "raw": { "file": "snapshot.bin", "size": raw.len(), "sha256": sha256(&raw) },
            "samples": samples,
        });
        std::fs::write(folder.join(name), manifest).unwrap();
        std::fs::write(folder.join("snapshot.bin"), raw).unwrap();
        let path = folder.join("snapshot.json");
        std::fs::write(&path, serde_json::to_vec_pretty(&snapshot).unwrap()).unwrap();
        path
    }

    fn sample(&self, target: &mut dyn Target, raw: &mut Vec<u8>) -> Value {
        let mut beats: Vec<Vec<Value>> = vec![Vec::new(); self.routers.len()];
        for round in 0..ROUNDS {
            for (router, beats) in self.routers.iter().zip(&mut beats) {
                let (heartbeat, clock) =
                    (Tile::of(target, router.at).word(0x1F80), clock(target, router.at));
                let t = format!("2026-09-15T12:00:0{round}Z");
                beats.push(json!({ "t": t, "heartbeat": heartbeat, "wall_clock": clock }));
            }
            target.pass(ROUND_CYCLES).unwrap();
        }
        let routers = self.routers.iter().zip(beats);
        let routers: Vec<_> =
            routers.map(|(it, beats)| self.router(target, it, &beats, raw)).collect();
        json!({ "capture_time": "2026-09-15T12:00:03Z", "routers": routers })
    }

    fn router(
        &self,
        target: &mut dyn Target,
        router: &Captured,
        beats: &[Value],
        raw: &mut Vec<u8>,
    ) -> Value {
        let clock = clock(target, router.at);
        let reset = target.mesh().layout().soft_reset(TileKind::Eth).unwrap();
        let mut tile = Tile::of(target, router.at);
        let reset = tile.word(reset);
        let lifecycle = json!({
            "edm_status": tile.word(router.status),
            "termination_signal": tile.word(router.termination),
            "go_signal": tile.word(0x3E1E0) >> 24,
        });
        let before = tile.streams(&router.streams);
        let mut blobs = Map::new();
        for &(name, address, size) in &self.areas {
            let bytes = tile.bytes(address, size);
            let blob = json!({
                "address": address, "size": size, "offset": raw.len(), "sha256": sha256(&bytes),
                "status": "ok", "error": null,
            });
            raw.extend(bytes);
            blobs.insert(name.to_owned(), blob);
        }
        let after = tile.streams(&router.streams);
        let torn = before != after;
        json!({
            "id": { "mesh_id": 0, "chip_id": router.device, "eth_chan": router.at.channel },
            "physical_chip_id": router.at.chip.0,
            "asic_id": format!("{:#018x}", router.asic),
            "asic_id_matches_physical": true,
            "status": if torn { "torn" } else { "ok" },
            "error": torn.then_some("stream values moved"),
            "health": { "reset": reset, "reset_bits": { "erisc0": false, "erisc1": null }, "wall_clock": clock },
            "lifecycle": lifecycle,
            "liveness": beats,
            "streams": { "pre": before, "post": after, "torn": torn },
            "blobs": blobs,
            "identity": { "my_mesh_id": 0, "my_device_id": router.device, "matches_manifest": true },
        })
    }
}

/// Returns the target's time: on the emulator, that of all chips but for an offset.
fn clock(target: &mut dyn Target, _at: EthId) -> u64 {
    target.now().unwrap()
}

/// An Ethernet tile of a target.
struct Tile<'a> {
    target: &'a mut dyn Target,
    place: Place,
}

impl<'a> Tile<'a> {
    fn of(target: &'a mut dyn Target, at: EthId) -> Self {
        let place = target.mesh().place(at).unwrap();
        Self { target, place }
    }

    fn bytes(&mut self, offset: u64, len: u32) -> Vec<u8> {
        let addr: NocAddr = self.place.at(offset);
        let snapshot = self.target.read(&Plan { spans: vec![Span { addr, len }] });
        snapshot.bytes(addr, len).unwrap().to_vec()
    }

    fn word(&mut self, offset: u64) -> u32 {
        u32::from_le_bytes(self.bytes(offset, 4).try_into().unwrap())
    }

    /// The tool computes a register's address so: fabric_erisc_utils.py of tt-metal.
    fn streams(&mut self, ids: &[u64]) -> Value {
        let register = |id: u64| 0xFFB4_0000 + id * 0x1000 + (64 << 2);
        let each = ids.iter().map(|&id| {
            let value = self.word(register(id)) & STREAM_MASK;
            (id.to_string(), json!({ "buf_space_available": value }))
        });
        each.collect::<Map<_, _>>().into()
    }
}
