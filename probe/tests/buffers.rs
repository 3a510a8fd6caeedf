//! Circular buffers and semaphores of kernels, by words of a tile and waypoints of its cores.

use crate::common;
use decode::inspect::ReadSet;
use decode::state::{Activity, CircularBuffers, LaunchState, MeshState};
use diagnosis::{Look, diagnose, wanted};
use images::Reading;
use images::inspector::{GlobalSemaphore, LogicalRange, SocketEnd, Told};
use layouts::{ChipId, CoreId, CoreKind, NocAddr, NocXy};
use machine::place::Place;
use machine::snapshot::{Piece, Snapshot};
use machine::target::{Allow, Mesh};
use probe::session::Session;
use std::sync::Arc;

const TILE: NocXy = NocXy { x: 1, y: 2 };
/// Two semaphores, and behind them the configuration of the circular buffers.
const SEMAPHORES: u64 = 0x9000;
const CONFIG: u64 = SEMAPHORES + 0x20;

/// Returns an idle n300 on which two kernels of a program with circular buffers 0 and 3 run, each at a
/// waypoint.
fn program(waypoints: [(CoreKind, &str); 2]) -> (Mesh, MeshState) {
    let mut session =
        Session::open("emulator:n300,run=idle", &common::host(), Allow::default()).unwrap();
    let tile = Some((ChipId(0), TILE));
    let mut state = session.inspect(&ReadSet { tile, ..ReadSet::default() }).state;
    for chip in &mut state.chips {
        for core in chip.tiles.iter_mut().flat_map(|tile| &mut tile.cores) {
            let on = |(kind, _): &&(CoreKind, &str)| {
                core.id == CoreId { chip: ChipId(0), tile: TILE, core: *kind }
            };
            let Some((_, waypoint)) = waypoints.iter().find(on) else {
                core.activity = Reading::Absent;
                continue;
            };
            core.activity = Reading::Known(Activity::Running);
            core.waypoint = Reading::Known((*waypoint).to_owned());
            core.launch = Reading::Known(LaunchState {
                rd_ptr: 0,
                enables: 3,
                mode: 1,
                host_assigned_id: 7,
                kernel_id: 5,
                semaphores: Some(SEMAPHORES),
                arguments: None,
                noc: None,
                circular_buffers: Some(CircularBuffers { config: CONFIG, mask: 0b1001 }),
            });
        }
    }
    (session.target().mesh().clone(), state)
}

/// Returns a snapshot with the words of buffers: number, pages received, acknowledged, and pages in all;
/// and with the values of the semaphores.
fn snapshot(mesh: &Mesh, buffers: &[(u64, u16, u16, u32)], semaphores: [u32; 2]) -> Snapshot {
    let piece = |offset: u64, bytes: Vec<u8>| Piece {
        addr: NocAddr { chip: ChipId(0), tile: TILE, offset },
        target_cycles: 0,
        host_micros: 0,
        bytes: bytes.into(),
    };
    let word = |value: u32| value.to_le_bytes().to_vec();
    let layout = mesh.layout();
    let mut pieces = Vec::new();
    for &(number, received, acknowledged, pages) in buffers {
        let stream = layout.blocks.tensix_stream + number * layout.stream.bytes;
        let counters = [word(acknowledged.into()), word(received.into())].concat();
        pieces.push(piece(stream + layout.stream.buffer_start.at, counters));
        pieces.push(piece(CONFIG + 16 * number + 8, word(pages)));
    }
    for (at, value) in (SEMAPHORES..).step_by(16).zip(semaphores) {
        pieces.push(piece(at, word(value)));
    }
    pieces.sort_by_key(|piece| piece.addr);
    Snapshot { pieces, ..Snapshot::default() }
}

/// A wait may be for pages of any buffer that is not full, and for room in any that is not empty.
#[test]
fn a_kernel_waits_for_a_buffer_that_can_make_it_wait() {
    let (mesh, state) = program([(CoreKind::Brisc, "CWFW"), (CoreKind::Ncrisc, "CRBW")]);
    let shown = |buffers: &[(u64, u16, u16, u32)]| {
        let snapshot = snapshot(&mesh, buffers, [0, 0]);
        let found = diagnose(&mesh, &[Look::new(&snapshot, &state)]).circular_buffers;
        let line = |buffer: diagnosis::CircularBuffer| {
            let wait = |wait: &diagnosis::BufferWait| {
                assert!(!wait.certain && wait.awaited.is_none(), "no sample tells it");
                format!(
                    " {} {}",
                    wait.core.core.name(),
                    if wait.for_room { "room" } else { "pages" }
                )
            };
            let waiting: String = buffer.waiting.iter().map(wait).collect();
            format!("{}: {} of {}{waiting}", buffer.number, buffer.held, buffer.pages)
        };
        found.into_iter().map(line).collect::<Vec<_>>()
    };
    assert_eq!(
        shown(&[(0, 4, 4, 4), (3, 9, 5, 4)]),
        ["0: 0 of 4 brisc pages", "3: 4 of 4 ncrisc room"]
    );
    // The counters wrap.
    assert_eq!(shown(&[(0, 1, 0xFFFF, 4)]), ["0: 2 of 4 brisc pages ncrisc room"]);
    assert!(shown(&[]).is_empty(), "what was not read is not shown");
}

#[test]
fn a_semaphore_is_shown_with_the_kernels_of_its_tile_that_wait() {
    let shown = |waypoints, values| {
        let (mesh, state) = program(waypoints);
        let snapshot = snapshot(&mesh, &[], values);
        let found = diagnose(&mesh, &[Look::new(&snapshot, &state)]).semaphores.into_iter();
        let waiting = |it: &diagnosis::Semaphore| {
            it.waiting.iter().map(|wait| (wait.core.core, wait.certain)).collect::<Vec<_>>()
        };
        found.map(|it| (it.addr, it.value, waiting(&it))).collect::<Vec<_>>()
    };
    // Of two no word tells which one it is.
    let brisc = vec![(CoreKind::Brisc, false)];
    let found = shown([(CoreKind::Brisc, "NSW"), (CoreKind::Ncrisc, "CRBW")], [0, 6]);
    assert_eq!(found, [(SEMAPHORES, 0, brisc.clone()), (SEMAPHORES + 16, 6, brisc)]);
    let both = vec![(CoreKind::Brisc, false), (CoreKind::Ncrisc, false)];
    let found = shown([(CoreKind::Brisc, "NSW"), (CoreKind::Ncrisc, "NSMW")], [1, 2]);
    assert_eq!(found, [(SEMAPHORES, 1, both.clone()), (SEMAPHORES + 16, 2, both)]);
    assert_eq!(shown([(CoreKind::Brisc, "CWFW"), (CoreKind::Ncrisc, "CRBW")], [1, 2]), []);
}

#[test]
fn global_semaphores_and_sockets_are_those_of_which_inspector_tells() {
    let (mesh, mut state) = program([(CoreKind::Brisc, "CWFW"), (CoreKind::Ncrisc, "CRBW")]);
    let [x, y] = mesh.logical(Place { chip: ChipId(0), tile: TILE }).unwrap();
    let range = |start, end| vec![LogicalRange { start, end }];
    let semaphore = |addr, cores, chips: &[u32], reset| GlobalSemaphore {
        addr,
        cores,
        chips: chips.to_vec(),
        reset,
    };
    let (first, second) = (SEMAPHORES, SEMAPHORES + 16);
    let end = |sends, config| SocketEnd {
        chip: 0,
        core: [x as u32, y as u32],
        sends,
        config,
        fifo_bytes: 4096,
        acknowledged: [16, 16],
        peers: vec![[1, 0, 0]],
    };
    state.objects = Arc::new(Told {
        operations: Vec::new(),
        semaphores: vec![
            semaphore(first, range([0, 0], [x, y]), &[0], Some(0)),
            semaphore(second, range([0, 0], [u64::MAX, u64::MAX]), &[0, 1, u32::MAX], Some(2)),
            // Of another chip, and of other tiles.
            semaphore(second, range([0, 0], [x, y]), &[1], Some(0)),
            semaphore(second, range([x + 1, 0], [9, y]), &[0], Some(0)),
        ],
        // The second one's configuration cannot be in L1.
        sockets: vec![end(true, first), end(false, second), end(false, 1 << 40)],
    });
    let snapshot = snapshot(&mesh, &[], [0, 6]);
    let look = Look::new(&snapshot, &state);
    let wanted: Vec<u64> = wanted(&mesh, look).iter().map(|span| span.addr.offset).collect();
    assert!(wanted.contains(&first) && wanted.contains(&second) && !wanted.contains(&(1 << 40)));
    let found = diagnose(&mesh, &[look]);
    // The first one has the value that the host gave it, and nobody waits for it.
    let all: Vec<_> = found.semaphores.iter().map(|it| (it.words(), it.value_words())).collect();
    assert_eq!(all, [("global 0x9010".to_owned(), "6 (set to 2)".to_owned())]);
    let all: Vec<_> = found.sockets.iter().map(|it| (it.addr, it.words())).collect();
    let words = ["6 bytes acknowledged", "6 bytes sent to it"].map(str::to_owned);
    assert_eq!(all, [first, second].into_iter().zip(words).collect::<Vec<_>>());
}
