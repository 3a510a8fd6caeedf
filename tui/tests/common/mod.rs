//! A made-up mesh for tests of frames: an n300 in ring ping with one of each missing reason.

mod fabric;

use console::feed::{MeshSnapshot, Traffic};
use console::run::Board;
use decode::state::{
    Activity, ChannelMeaning, ChannelState, ChipState, CoreState, EthState, ImageUse, LaunchState,
    LinkCondition, LinkState, MemberState, MeshState, TileState,
};
use images::{Comparison, GoSignal, ImageRole, Provenance, Reading, SourceLine};
use layouts::{ChipCoord, ChipId, CoreId, CoreKind, EthId, NocAddr, NocXy, TileKind};
use machine::clients::ServedHistory;
use machine::snapshot::{AccessError, Gap, Piece, Snapshot, Span};
use machine::target::{Chip, Link};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, OnceLock};

/// Columns of the Ethernet channels 0 to 7 in row 0, and of 8 to 15 in row 6 (wormhole.md 3.1).
const ETH_X: [u8; 8] = [9, 1, 8, 2, 7, 3, 6, 4];

pub(crate) const TAKEN: u64 = 1_000_000_000_000;

/// Runs the program without input.
pub(crate) fn meshscope(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    command.args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// Runs a verb on a target.
pub(crate) fn on(target: &str, arguments: &[&str]) -> Output {
    meshscope(&[&["--target", target], arguments].concat())
}

/// The same for a verb that changes the target, with an audit log of these tests.
pub(crate) fn logged(target: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_meshscope"));
    let log = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}.jsonl", std::process::id()));
    command.env("MESHSCOPE_AUDIT_LOG", log);
    command.args(["--target", target]).args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// The standard error of a verb.
pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

pub(crate) fn end(chip: u16, channel: u8) -> EthId {
    EthId { chip: ChipId(chip), channel }
}

pub(crate) fn eth_xy(channel: u8) -> NocXy {
    NocXy { x: ETH_X[usize::from(channel % 8)], y: if channel < 8 { 0 } else { 6 } }
}

/// The whole mesh at step `n` of the ring: the packet is on link `n % 2`.
pub(crate) fn mesh(n: u64) -> MeshState {
    let links = [(8, 0), (9, 1)].into_iter().enumerate().map(|(i, (a, b))| LinkState {
        link: Link { a: end(0, a), b: end(1, b) },
        condition: LinkCondition::Up,
        a_to_b: Some(if i == 0 && n.is_multiple_of(2) { 1024 } else { 0 }),
        b_to_a: Some(if i == 1 && !n.is_multiple_of(2) { 1024 } else { 0 }),
        apart_cycles: Some(0),
    });
    let gap = |x, y, offset, len, reason| Gap {
        span: Span { addr: NocAddr { chip: ChipId(1), tile: NocXy { x, y }, offset }, len },
        reason,
    };
    MeshState {
        kind: layouts::ChipKind::Wormhole,
        cycles: 2_000_000 + n * 50_000,
        chips: vec![chip(0, true, n), chip(1, false, n)],
        links: links.collect(),
        fabric: fabric::fabric(),
        gaps: vec![
            gap(2, 2, 0x10, 288, AccessError::TimedOut { deadline_cycles: 100_000 }),
            gap(3, 3, 0x10, 288, AccessError::Refused("the tile is held in reset".into())),
        ],
        problems: vec![],
        damage: 0,
        transactions: 412,
        processes: vec![],
        usual_places: vec![],
        operations: Arc::default(),
        objects: Arc::default(),
        before: ServedHistory::default(),
    }
}

fn chip(id: u16, pcie: bool, n: u64) -> ChipState {
    let mut tiles = Vec::new();
    for y in 0..12 {
        for x in 0..10 {
            tiles.push(tile(id, NocXy { x, y }, n));
        }
    }
    ChipState {
        chip: Chip {
            id: ChipId(id),
            coord: Some(ChipCoord { x: id as u8, y: 0, rack: 0, shelf: 0 }),
            pcie,
            unique_id: Some(0x0100_0140_0000_0001),
            board: Some(if pcie { "n300 L" } else { "n300 R" }.into()),
            gateway: (!pcie).then(|| vec![end(0, 8), end(0, 9)]),
            harvested_rows: Some(vec![11]),
            seat: None,
        },
        gateways: if pcie { Vec::new() } else { vec![end(0, 8), end(0, 9)] },
        cycles: Some(2_000_000 + n * 50_000),
        holders: Vec::new(),
        tiles,
    }
}

fn tile(chip: u16, xy: NocXy, n: u64) -> TileState {
    let kind = match (xy.x, xy.y) {
        (0, 10) => TileKind::Arc,
        (0, 3) => TileKind::Pcie,
        (0, 2 | 4 | 8 | 9) => TileKind::Router,
        (0 | 5, _) => TileKind::Dram,
        (_, 0 | 6) => TileKind::Eth,
        _ => TileKind::Tensix,
    };
    let channel =
        ETH_X.iter().position(|x| *x == xy.x).map(|i| i as u8 + if xy.y == 6 { 8 } else { 0 });
    let eth = (kind == TileKind::Eth).then_some(channel).flatten().map(|c| eth(chip, c, n));
    let harvested = kind == TileKind::Tensix && xy.y == 11;
    let cores = if harvested { &[] } else { kind.cores() };
    let cores = cores.iter().map(|core| self::core(chip, xy, *core, channel, n)).collect();
    TileState { xy, kind, harvested, eth, cores }
}

fn linked(chip: u16, channel: u8) -> bool {
    matches!((chip, channel), (0, 8 | 9) | (1, 0 | 1))
}

fn eth(chip: u16, channel: u8, n: u64) -> EthState {
    let up = linked(chip, channel);
    let count = |v: u64| if up { Reading::Known(v) } else { Reading::Absent };
    let mut eth = EthState::unread(channel, &AccessError::NotRequested);
    eth.train_status = Reading::Known(if up { 1 } else { 3 });
    eth.link_status = Reading::Known(if up { 6 } else { 0 });
    eth.retrain_count = Reading::Known(0);
    eth.crc_errors = Reading::Known(0);
    eth.corrected_codewords = count(3);
    eth.uncorrected_codewords = count(0);
    eth.packets_sent = count(120 + n);
    eth.packets_received = count(119 + n);
    eth.firmware_version = Reading::Known((6, 14, 0));
    eth
}

fn core(chip: u16, tile: NocXy, kind: CoreKind, channel: Option<u8>, n: u64) -> CoreState {
    let id = CoreId { chip: ChipId(chip), tile, core: kind };
    match (kind, (tile.x, tile.y)) {
        (CoreKind::Erisc, _) => erisc(id, channel.unwrap_or(0), n),
        (_, (2, 2)) if chip == 1 => {
            missing(id, &AccessError::TimedOut { deadline_cycles: 100_000 })
        }
        (_, (3, 3)) if chip == 1 => missing(id, &AccessError::InReset),
        (_, (4, 4)) if chip == 1 => missing(id, &AccessError::NotRequested),
        _ => tensix(id, n),
    }
}

fn missing(id: CoreId, why: &AccessError) -> CoreState {
    CoreState {
        id,
        activity: Reading::Unread(why.clone()),
        waypoint: Reading::Unread(why.clone()),
        location: vec![],
        candidates: vec![],
        go: Reading::Unread(why.clone()),
        launch: Reading::Unread(why.clone()),
        heartbeat: Reading::Unread(why.clone()),
        images: vec![],
        findings: vec![],
        channels: vec![],
        outlines: vec![],
        words: vec![],
    }
}

fn line(file: &str, line: u32, function: &str) -> SourceLine {
    SourceLine { function: Some(function.into()), file: Some(file.into()), line: Some(line) }
}

fn tensix(id: CoreId, n: u64) -> CoreState {
    let runs = id.core == CoreKind::Brisc;
    let waypoint = match (runs, n % 2) {
        (true, 0) => "CRBW",
        (true, _) => "CRBD",
        (false, _) => "GW",
    };
    CoreState {
        id,
        activity: Reading::Known(if runs { Activity::Running } else { Activity::Waiting }),
        waypoint: Reading::Known(waypoint.into()),
        location: vec![line("firmware/src/tensix/worker.cc", 41, "kernel_main")],
        candidates: vec![],
        go: Reading::Known(if runs { GoSignal::Go } else { GoSignal::Done }),
        launch: Reading::Known(LaunchState {
            semaphores: None,
            arguments: None,
            noc: None,
            circular_buffers: None,
            rd_ptr: 0,
            enables: 1,
            mode: 1,
            host_assigned_id: 7,
            kernel_id: 3,
        }),
        heartbeat: Reading::Absent,
        images: vec![image(ImageRole::BaseFirmware, "tensix_brisc", 0x3A20, Provenance::Verified)],
        findings: vec![],
        channels: vec![],
        outlines: vec![],
        words: vec![word("mailboxes.go_messages[0].signal", 0x3B3, 1, Reading::Known(0x80))],
    }
}

fn image(role: ImageRole, name: &str, load_addr: u32, evidence: Provenance) -> ImageUse {
    ImageUse {
        role,
        name: name.into(),
        load_addr,
        run_addr: load_addr,
        evidence,
        path: None,
        attached: false,
        bias: 0,
        comparison: Comparison::default(),
        also: vec![],
    }
}

fn word(name: &str, addr: u64, size: u32, value: Reading<u64>) -> MemberState {
    MemberState { name: name.into(), addr, size, value }
}

fn erisc(id: CoreId, channel: u8, n: u64) -> CoreState {
    let runs = linked(id.chip.0, channel);
    if !runs {
        return CoreState {
            activity: Reading::Known(Activity::BaseFirmware),
            waypoint: Reading::Absent,
            location: vec![],
            candidates: vec![],
            go: Reading::Absent,
            launch: Reading::Absent,
            heartbeat: Reading::Known(0xABCD_0000 + n as u32),
            images: vec![image(
                ImageRole::BaseFirmware,
                "erisc_base",
                0x2000,
                Provenance::Verified,
            )],
            ..missing(id, &AccessError::NotRequested)
        };
    }
    let sends = channel == 8 || channel == 1;
    let busy = sends == n.is_multiple_of(2);
    let waypoint = match (sends, busy) {
        (true, true) => "SACK",
        (true, false) => "SIDL",
        (false, true) => "RCVW",
        (false, false) => "RDON",
    };
    let channels = (0..8).map(|index| ChannelState {
        index,
        bytes_sent: if index == 0 && busy { 1024 } else { 0 },
        receiver_ack: u32::from(index == 1),
        src_id: if index == 0 { 3 } else { 0 },
        meaning: match index {
            0 if busy => ChannelMeaning::SentUnacknowledged,
            1 => ChannelMeaning::AcknowledgedNotDone,
            _ => ChannelMeaning::Idle,
        },
    });
    CoreState {
        id,
        activity: Reading::Known(Activity::Running),
        waypoint: Reading::Known(waypoint.into()),
        candidates: vec![],
        location: vec![
            line("firmware/src/erisc/flow.h", 58, "eth_wait_receiver_acknowledge"),
            line("firmware/src/erisc/ring_ping.cc", 92, "kernel_main"),
        ],
        go: Reading::Known(GoSignal::Go),
        launch: Reading::Known(LaunchState {
            semaphores: None,
            arguments: None,
            noc: None,
            circular_buffers: None,
            rd_ptr: 1,
            enables: 1,
            mode: 1,
            host_assigned_id: 1,
            kernel_id: 2,
        }),
        heartbeat: Reading::Known(0xABCD_0000 + n as u32),
        images: vec![
            image(ImageRole::BaseFirmware, "erisc_base", 0x2000, Provenance::Verified),
            image(ImageRole::Application, "erisc_app", 0x9040, Provenance::Verified),
            image(ImageRole::Kernel, "ring_ping_sender", 0xD000, Provenance::Stated),
        ],
        findings: vec![],
        channels: channels.collect(),
        outlines: vec![],
        words: erisc_words(n, busy),
    }
}

fn erisc_words(n: u64, busy: bool) -> Vec<MemberState> {
    let mut words = vec![
        word("mailboxes.launch_msg_rd_ptr", 0x3DDD0, 4, Reading::Known(1)),
        word("mailboxes.go_messages[0].signal", 0x3E273, 1, Reading::Known(0x80)),
        word("mailboxes.watcher.enable", 0x3E280, 4, Reading::Unknown(0x17)),
        word("mailboxes.watcher.debug_waypoint[0]", 0x3E284, 4, Reading::Known(0x4B43_4153)),
        word("mailboxes.aerisc_run_flag", 0x3E290, 4, Reading::Unread(AccessError::NotRequested)),
    ];
    for i in 0..8 {
        let base = 0x3DC30 + i * 32;
        let sent = if i == 0 && busy { 1024 } else { 0 };
        let name = |member| format!("erisc_info.channels[{i}].{member}");
        words.push(word(&name("bytes_sent"), base, 4, Reading::Known(sent)));
        words.push(word(&name("receiver_ack"), base + 4, 4, Reading::Known(u64::from(i == 1))));
        words.push(word(&name("src_id"), base + 8, 4, Reading::Known(if i == 0 { 3 } else { 0 })));
    }
    words.push(word("erisc_info.laps", 0x3DD34, 4, Reading::Known(40 + n)));
    words
}

/// The bytes of an Ethernet tile's L1 around `erisc_info`, with a hole in them.
pub(crate) fn memory(chip: u16, tile: NocXy) -> Snapshot {
    let at = |offset| NocAddr { chip: ChipId(chip), tile, offset };
    let piece = |offset, len: u32| Piece {
        addr: at(offset),
        target_cycles: 2_000_000,
        host_micros: TAKEN,
        bytes: (0..len).map(|i| if i % 16 < 4 { (i / 16) as u8 } else { 0 }).collect(),
    };
    Snapshot {
        pieces: vec![piece(0x3DC00, 128), piece(0x3DCA0, 1376)],
        gaps: vec![Gap {
            span: Span { addr: at(0x3DC80), len: 32 },
            reason: AccessError::TimedOut { deadline_cycles: 100_000 },
        }],
        transactions: 3,
        ..Snapshot::default()
    }
}

/// The snapshot at step `n`.
pub(crate) fn snapshot(n: u64) -> Arc<MeshSnapshot> {
    Arc::new(MeshSnapshot {
        target: "emulator:n300".into(),
        read_only: true,
        traffic: Traffic { total: 5_700 + 142 * n, per_second: 1_420, budget: Some(20_000) },
        quarantined: vec![],
        state: mesh(n),
        memory: memory(0, eth_xy(8)),
        taken_micros: TAKEN + n * 100_000,
        number: n + 1,
        board: Arc::new(Board::default()),
        stages: Arc::default(),
        verdict: None,
        seen: Arc::default(),
        seen_micros: Arc::default(),
        past: None,
        timeline: None,
        reading: None,
        waits: OnceLock::new(),
    })
}

/// A torus of columns and rows of chips without tiles: one link to the right and one down from
/// each.
pub(crate) fn torus(columns: u8, rows: u8) -> Arc<MeshSnapshot> {
    let id = |x: u8, y: u8| u16::from(y % rows) * u16::from(columns) + u16::from(x % columns);
    let (mut chips, mut links) = (Vec::new(), Vec::new());
    for (y, x) in (0..rows).flat_map(|y| (0..columns).map(move |x| (y, x))) {
        let mut chip = chip(id(x, y), true, 0);
        chip.chip.coord = Some(ChipCoord { x, y, rack: 0, shelf: 0 });
        chip.tiles.clear();
        chips.push(chip);
        for (to, a, b) in [(id(x + 1, y), 0, 1), (id(x, y + 1), 2, 3)] {
            let bytes = u64::from(x == y) * 4096;
            let down = x == 1 && y == 1;
            links.push(LinkState {
                link: Link { a: end(id(x, y), a), b: end(to, b) },
                condition: if down { LinkCondition::Down } else { LinkCondition::Up },
                a_to_b: Some(if down { 0 } else { bytes }),
                b_to_a: Some(0),
                apart_cycles: Some(0),
            });
        }
    }
    let state = MeshState { chips, links, gaps: vec![], ..mesh(0) };
    Arc::new(MeshSnapshot { state, ..(*snapshot(0)).clone() })
}
