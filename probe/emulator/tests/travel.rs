//! Time travel: the mesh of the past is the mesh that ran forward, byte for byte.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::{Host, deep};
use crate::determinism::{busy_mesh, disrupted};
use emulator::{
    Checkpoint, Counts, Disruption, EthPacket, History, HistoryLimits, HostTape, Journal, Mesh,
    Progress, RunLost, TileRange, TravelError,
};
use std::time::Duration;

/// Fails if two meshes differ.
fn same(a: &mut Mesh, b: &mut Mesh) {
    if let Some(difference) = a.difference(b) {
        panic!("at cycle {}: {difference}", a.now());
    }
}

/// Limits with a checkpoint every few cycles, whatever the speed of the host.
pub(crate) fn often(interval_cycles: u64) -> HistoryLimits {
    HistoryLimits { interval: Duration::ZERO, interval_cycles, ..HistoryLimits::default() }
}

pub(crate) fn go_on(_: Progress) -> bool {
    true
}

#[test]
fn a_copy_runs_on_like_its_original() {
    let mut random = fastrand::Rng::with_seed(1);
    for (sleep, threads) in [(true, 1), (false, 2)] {
        let mut mesh = disrupted(busy_mesh(5, sleep, threads));
        let mut forward = disrupted(busy_mesh(5, sleep, 1));
        let mut copies = Vec::new();
        for _ in 0..6 {
            let cycles = random.u64(1..5000);
            mesh.clock(cycles);
            forward.clock(cycles);
            copies.push(mesh.checkpoint());
        }
        same(&mut mesh, &mut forward);
        for checkpoint in copies {
            let mut copy = Mesh::from_checkpoint(&checkpoint);
            let left = mesh.now() - copy.now();
            copy.clock(left / 3);
            // A copy of a copy.
            let mut copy = Mesh::from_checkpoint(&copy.checkpoint());
            copy.clock(left - left / 3);
            same(&mut copy, &mut forward);
        }
    }
}

/// Uses the mesh as a host does, with faults and a reset, up to a cycle. Returns copies of it from
/// between the host's actions.
fn use_mesh(mesh: Mesh, seed: u64, until: u64) -> (Mesh, Vec<Checkpoint>) {
    let (mut host, mut copies) = (Host { mesh }, Vec::new());
    let mut random = fastrand::Rng::with_seed(seed);
    while host.mesh.now() < until {
        let now = host.mesh.now();
        match random.u32(0..10) {
            0..4 => {
                host.mesh.clock(random.u64(1..800));
                copies.push(host.mesh.checkpoint());
                host.mesh.clock(1);
            }
            4 | 5 => drop(host.read_tile((9, 6), 0x3000, random.usize(1..300))),
            6 => host.write_tile((1, 1), 0x3000, &random.u64(..).to_le_bytes()),
            7 => {
                host.mesh.config_read(0, 0);
                host.mesh.config_write(0, 4, 6);
            }
            8 => {
                let what = Disruption::LinkFlap { link: 0, period_cycles: 901 };
                host.mesh.disrupt(what, now + 100, Some(now + 2000));
            }
            _ if random.u32(0..20) == 0 => host.mesh.reset_chip(1),
            _ => host.mesh.bus_read(0x55, &mut [0; 4]),
        }
    }
    (host.mesh, copies)
}

#[test]
fn any_cycle_of_the_past_comes_back() {
    let kinds = [(2, true, 2), (3, false, 1), (1, true, 1)];
    for &(seed, sleep, threads) in &kinds[..if deep() { 3 } else { 2 }] {
        let mut mesh = busy_mesh(seed, sleep, threads);
        mesh.keep_history(Some(often(2500)));
        let (mut mesh, copies) = use_mesh(mesh, seed, 20_000);
        let history = mesh.history().unwrap();
        assert!(history.checkpoints().count() > 4);
        for copy in copies.iter().step_by(copies.len().div_ceil(6)) {
            let mut past = history.at(copy.cycle(), &mut go_on).unwrap();
            same(&mut past, &mut Mesh::from_checkpoint(copy));
        }
        same(&mut history.at(mesh.now(), &mut go_on).unwrap(), &mut mesh);
    }
}

/// Also within an access, and without the checkpoints in between.
#[test]
fn checkpoints_in_between_do_not_show() {
    let with = |interval| {
        let mut mesh = disrupted(busy_mesh(8, true, 1));
        mesh.keep_history(Some(often(interval)));
        use_mesh(mesh, 8, 20_000).0.history().unwrap()
    };
    let (many, one) = (with(700), with(u64::MAX));
    assert_eq!(one.checkpoints().count(), 1);
    assert!(many.journal() == one.journal());
    let mut random = fastrand::Rng::with_seed(8);
    for _ in 0..5 {
        let cycle = random.u64(0..many.end());
        let mut past = many.at(cycle, &mut go_on).unwrap();
        assert_eq!(past.now(), cycle);
        same(&mut past, &mut one.at(cycle, &mut go_on).unwrap());
    }
    let (from, to) = (5000, many.end());
    let packets = many.eth_packets(from, to, &mut go_on).unwrap();
    assert_eq!(packets, one.eth_packets(from, to, &mut go_on).unwrap());
    let takes_time = |it: &EthPacket| it.sent >= from && it.sent < it.arrives && it.from != it.to;
    assert!(packets.len() > 3 && packets.iter().all(takes_time), "{packets:?}");
}

/// Nor do visits and searches, also of cycles in which the host acts.
#[test]
fn visits_do_not_show() {
    let mut mesh = disrupted(busy_mesh(8, true, 1));
    mesh.keep_history(Some(often(2500)));
    let history = use_mesh(mesh, 8, 20_000).0.history().unwrap();
    let acts: Vec<u64> = history.journal().entries().map(|entry| entry.cycle).collect();
    let (mut visited, mut random) = (history.clone(), fastrand::Rng::with_seed(5));
    let range = TileRange { chip: 0, tile: (9, 6), addr: 0x3000, len: 300 };
    for visit in 0..if deep() { 24 } else { 8 } {
        let cycle = match visit % 2 {
            0 => acts[random.usize(0..acts.len())],
            _ => random.u64(0..history.end()),
        };
        let mut mesh = visited.visit(cycle, &mut go_on).unwrap();
        same(&mut mesh, &mut history.at(cycle, &mut go_on).unwrap());
        for before in [cycle, cycle + 1] {
            let mut writes = [&mut history.clone(), &mut visited].map(|history| {
                history.last_write(range, Counts::AllWrites, before.max(1), &mut go_on).unwrap()
            });
            assert_eq!(writes[0].take(), writes[1].take(), "before {before}");
        }
    }
    assert!(visited.checkpoints().count() <= history.checkpoints().count() + 16);
}

/// A visit far from a checkpoint leaves some on the way, from which the next search begins; so does a
/// search.
#[test]
fn visits_and_searches_leave_checkpoints() {
    let mut mesh = busy_mesh(8, true, 1);
    mesh.keep_history(Some(often(u64::MAX)));
    mesh.clock(400_000);
    let history = mesh.history().unwrap();
    let mut visited = history.clone();
    for cycle in [390_000, 389_000] {
        let mut mesh = visited.visit(cycle, &mut go_on).unwrap();
        same(&mut mesh, &mut history.at(cycle, &mut go_on).unwrap());
    }
    let cycles = |of: &History| of.checkpoints().collect::<Vec<_>>();
    let expected = [0, 97_500, 195_000, 292_500, 389_000, 390_000];
    assert_eq!(cycles(&visited), expected);
    assert!(visited.bytes() > history.bytes(), "their memory counts");
    let range = TileRange { chip: 0, tile: (9, 6), addr: 0x3000, len: 300 };
    let mut searched = history.clone();
    let ranges = &[range];
    let changes =
        |history: &mut History| history.last_changes(ranges, 390_000, &mut go_on).unwrap();
    assert!(changes(&mut searched).changes.ends_with(&changes(&mut visited.clone()).changes));
    assert_eq!(cycles(&searched), expected[..4]);
    let mut learned = history.clone();
    learned.learn(&searched);
    assert_eq!(cycles(&learned), cycles(&searched));
    assert_eq!(learned.bytes(), searched.bytes());
    same(
        &mut learned.at(380_000, &mut go_on).unwrap(),
        &mut history.at(380_000, &mut go_on).unwrap(),
    );
    let mut past = visited.at(300_000, &mut go_on).unwrap();
    same(&mut past, &mut history.at(300_000, &mut go_on).unwrap());
}

/// What the host does in the cycle of the present is part of it, with a checkpoint there and without.
#[test]
fn the_present_has_a_checkpoint() {
    for acts_before in [false, true] {
        let mut mesh = busy_mesh(8, true, 1);
        mesh.keep_history(Some(often(u64::MAX)));
        mesh.clock(200_000);
        if acts_before {
            mesh.set_link(0, false);
        }
        mesh.keep_present();
        if !acts_before {
            mesh.set_link(0, false);
        }
        let history = mesh.history().unwrap();
        assert_eq!(history.checkpoints().count(), if acts_before { 1 } else { 2 });
        same(&mut history.at(mesh.now(), &mut go_on).unwrap(), &mut mesh);
        mesh.keep_present();
        assert_eq!(mesh.history().unwrap().checkpoints().count(), history.checkpoints().count());
    }
}

/// As recordings keep a run: the actions of the host in bytes, and a checksum of its end.
#[test]
fn a_run_is_executed_again_by_a_mesh_that_starts_alike() {
    let start = |seed| {
        let mut mesh = disrupted(busy_mesh(seed, true, 1));
        mesh.keep_history(Some(often(2500)));
        mesh
    };
    let mut mesh = use_mesh(start(8), 8, 20_000).0;
    let history = mesh.history().unwrap();
    let journal = mesh.whole_journal().unwrap().unwrap().0.to_bytes(0);
    let journal = Journal::from_bytes(&journal).unwrap();
    let no_answers = || HostTape::from_bytes(&[]).unwrap();
    let execute = |seed| {
        let before = start(seed).history().unwrap();
        let run = (&journal, no_answers());
        before.execute(run, history.end(), often(900), &mut go_on).unwrap()
    };
    let (again, checksum) = execute(8);
    assert_eq!(checksum, mesh.l1_checksum());
    assert_ne!(execute(9).1, checksum);
    let mut random = fastrand::Rng::with_seed(3);
    for _ in 0..5 {
        let cycle = random.u64(0..history.end());
        same(
            &mut again.at(cycle, &mut go_on).unwrap(),
            &mut history.at(cycle, &mut go_on).unwrap(),
        );
    }
}

/// Without checkpoints the journal alone is kept, and given up when it needs too much memory.
#[test]
fn a_journal_without_checkpoints() {
    let run = |bytes| {
        let mut mesh = disrupted(busy_mesh(8, true, 1));
        let limits = HistoryLimits { bytes, interval: Duration::MAX, ..often(900) };
        mesh.keep_history(Some(limits));
        use_mesh(mesh, 8, 20_000).0
    };
    let mesh = run(1 << 20);
    assert_eq!(mesh.history().unwrap().checkpoints().count(), 1);
    let (journal, _) = mesh.whole_journal().unwrap().unwrap();
    assert_eq!(mesh.history().unwrap().journal().to_bytes(0), journal.to_bytes(0));
    let full = run(100);
    assert_eq!(full.whole_journal().unwrap().err(), Some(RunLost));
    assert!(full.history().is_none());
}

#[test]
fn the_past_is_left_alone() {
    let mut mesh = busy_mesh(4, true, 1);
    mesh.keep_history(Some(often(3000)));
    let (mesh, _) = use_mesh(mesh, 4, 12_000);
    let history = mesh.history().unwrap();
    let past = history.at(5000, &mut go_on).unwrap();
    // Another future of the past.
    let mut host = Host { mesh: past };
    host.write_tile((9, 6), 0x3000, &[0xEE; 64]);
    host.mesh.clock(3000);
    let mut again = history.at(5000, &mut go_on).unwrap();
    let mut once_more = mesh.history().unwrap().at(5000, &mut go_on).unwrap();
    same(&mut again, &mut once_more);
}

#[test]
fn a_search_is_cancelled_and_the_future_refused() {
    let mut mesh = busy_mesh(4, true, 1);
    mesh.clock(1000);
    mesh.keep_history(Some(often(3000)));
    mesh.clock(300_000);
    let history = mesh.history().unwrap();
    let outside = TravelError::Outside { first: 1000, last: 301_000 };
    assert_eq!(history.at(999, &mut go_on).err(), Some(outside));
    assert_eq!(history.at(301_001, &mut go_on).err(), Some(outside));
    let mut asked = 0;
    let cancelled = history.at(2000, &mut |progress| {
        asked += 1;
        assert_eq!((progress.from, progress.to, progress.cycle), (1000, 2000, 1000));
        false
    });
    assert_eq!((cancelled.err(), asked), (Some(TravelError::Cancelled), 1));
}

#[test]
fn limits_of_memory_forget_the_oldest_moments() {
    let mut mesh = busy_mesh(4, true, 1);
    let limits = HistoryLimits { bytes: 24 << 20, checkpoints: 10, ..often(1000) };
    mesh.keep_history(Some(limits));
    let (mut mesh, _) = use_mesh(mesh, 9, 60_000);
    let history = mesh.history().unwrap();
    assert!(history.bytes() <= 24 << 20, "{}", history.bytes());
    assert!(history.checkpoints().count() <= 10);
    let first = history.first();
    same(&mut history.at(mesh.now(), &mut go_on).unwrap(), &mut mesh);
    assert_eq!(history.at(first, &mut go_on).unwrap().now(), first);
}
