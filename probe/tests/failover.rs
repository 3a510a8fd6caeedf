//! A far chip is reached over another link when the core at the far end of a link stands still, and
//! a silent tile does not delay other reads. All times are the mesh's own.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::{self, built, permitted};
use access::bar_target::BarTarget;
use decode::inspect::ReadSet;
use decode::state::MeshState;
use layouts::{ChipId, EthId, NocAddr, NocXy};
use machine::fault::Fault;
use machine::patience::Deadlines;
use machine::progress::{ChipCount, Progress};
use machine::snapshot::{AccessError, Plan, Snapshot, Span};
use probe::session::{Inspected, Session};
use std::collections::BTreeSet;
use workloads::scene::Scene;

/// A relay times out a request after one millisecond, and the host times out a queue after four.
const A_REFUSAL: u64 = 1_200_000;
/// A snapshot of a far chip that answers takes less.
const A_SNAPSHOT: u64 = 1_000_000;

/// Time after which a gateway that is passed over is tried again.
const RETRY: u64 = 20_000_000;

fn idle(mesh: &str) -> Session {
    let (target, images) = built(&Scene { tiles: Some(1), ..common::idle(mesh) });
    let patience = Deadlines { retry_cycles: RETRY, ..Deadlines::default() };
    let target = BarTarget::open(mesh, target.into_bar(), permitted(), patience).unwrap();
    Session::with_target(Box::new(target), images)
}

fn fault(session: &mut Session, words: &str) {
    let now = session.target().now().unwrap();
    let fault: Fault = words.parse().unwrap();
    session.target().disrupt(&fault.counted_from(now)).unwrap();
}

fn l1(chip: u16, offset: u64, len: u32) -> Span {
    let addr = NocAddr { chip: ChipId(chip), tile: NocXy { x: 1, y: 2 }, offset };
    Span { addr, len }
}

/// Returns the state of a snapshot and its duration.
fn read(session: &mut Session, spans: &[Span]) -> (Snapshot, u64) {
    let before = session.target().now().unwrap();
    let snapshot = session.target().read(&Plan { spans: spans.to_vec() });
    (snapshot, session.target().now().unwrap() - before)
}

fn inspected(session: &mut Session) -> (MeshState, u64) {
    let before = session.target().now().unwrap();
    let inspected = session.inspect(&ReadSet { links: true, proofs: true, ..ReadSet::default() });
    (inspected.state, session.target().now().unwrap() - before)
}

fn tile(channel: u8) -> Option<NocXy> {
    crate::common::layout().eth_channel(channel)
}

/// Returns the gateways that are passed over.
fn passed_over(session: &mut Session) -> Vec<(Option<NocXy>, Option<ChipId>)> {
    let quarantined = session.target().quarantined();
    quarantined.into_iter().map(|quarantined| (quarantined.tile, quarantined.towards)).collect()
}

#[test]
fn either_far_end_may_stand_still() {
    for (stuck, gateway) in [("core:1.e0:stuck", 8), ("core:1.e1:stuck", 9)] {
        let mut session = idle("n300");
        fault(&mut session, stuck);
        let spans: Vec<Span> = (0..40).map(|n| l1(1, 0x2_0000 + 0x1000 * n, 64)).collect();
        let (snapshot, took) = read(&mut session, &spans);
        assert_eq!(snapshot.gaps, [], "{stuck}");
        assert!(took < A_REFUSAL + A_SNAPSHOT, "{stuck}: {took} cycles");
        assert_eq!(passed_over(&mut session), [(tile(gateway), Some(ChipId(1)))], "{stuck}");
        // Later reads and writes do not wait for it again.
        let before = session.target().now().unwrap();
        session.target().write(spans[0].addr, &[7; 64]).unwrap();
        let (snapshot, _) = read(&mut session, &spans);
        assert_eq!(snapshot.bytes(spans[0].addr, 64), Ok(&[7; 64][..]));
        let took = session.target().now().unwrap() - before;
        assert!(took < A_SNAPSHOT, "{stuck}: {took} cycles");
    }
}

#[test]
fn a_gateway_is_tried_again_on_request_and_after_some_time() {
    let mut session = idle("n300");
    fault(&mut session, "core:1.e0:stuck");
    let word = [l1(1, 0x2_0000, 4)];
    for clear in [true, false] {
        assert_eq!(read(&mut session, &word).0.gaps, []);
        assert_eq!(passed_over(&mut session).len(), 1);
        if clear {
            session.target().quarantine().unwrap().clear();
        } else {
            session.target().pass(RETRY).unwrap();
        }
        let (snapshot, took) = read(&mut session, &word);
        assert_eq!(snapshot.gaps, []);
        assert!(took > A_SNAPSHOT, "it was tried again: {took} cycles");
    }
    fault(&mut session, "core:1.e0:released");
    session.target().quarantine().unwrap().clear();
    session.target().pass(5_000_000).unwrap();
    assert_eq!(read(&mut session, &word).0.gaps, []);
    assert_eq!(passed_over(&mut session), []);
}

/// The last remaining gateway is tried even if it was passed over.
#[test]
fn with_every_far_end_stuck_the_chip_times_out() {
    let mut session = idle("n300");
    fault(&mut session, "core:1.e0:stuck");
    let spans: Vec<Span> = (0..200).map(|n| l1(1, 0x1000 * n, 64)).collect();
    assert_eq!(read(&mut session, &spans).0.gaps, []);
    fault(&mut session, "core:1.e1:stuck");
    let (snapshot, took) = read(&mut session, &spans);
    assert_eq!(snapshot.gaps.len(), spans.len());
    assert!(took < 20_000_000, "{took} cycles");
    let (snapshot, took) = read(&mut session, &spans);
    assert_eq!(snapshot.gaps.len(), spans.len());
    assert_eq!((snapshot.transactions, took < 1_000), (0, true), "{took} cycles");
}

/// A relay that timed out answers a write only by its error counter. The loss is reported, and the
/// next write uses another gateway.
#[test]
fn a_lost_write_is_reported_and_never_sent_twice() {
    let mut session = idle("n300");
    let word = l1(1, 0x2_0000, 4);
    session.target().write(word.addr, &1_u32.to_le_bytes()).unwrap();
    session.target().now().unwrap();
    fault(&mut session, "core:1.e0:stuck");
    session.target().write(word.addr, &2_u32.to_le_bytes()).unwrap();
    let lost = session.target().now().unwrap_err();
    assert!(matches!(lost, AccessError::Unreachable(_)), "{lost}");
    session.target().write(word.addr, &3_u32.to_le_bytes()).unwrap();
    session.target().now().unwrap();
    let (snapshot, _) = read(&mut session, &[word]);
    assert_eq!(snapshot.word(word.addr), Ok(3));
    assert_eq!(passed_over(&mut session), [(tile(8), Some(ChipId(1)))]);
}

#[test]
fn one_stuck_far_core_does_not_delay_the_snapshots_of_eight_chips() {
    let mut session = idle("t3000");
    let (healthy, usual) = inspected(&mut session);
    assert_eq!(healthy.gaps, []);
    fault(&mut session, "core:5.e0:stuck");
    let (state, first) = inspected(&mut session);
    assert_eq!(state.gaps, []);
    assert!(first < usual + A_REFUSAL, "{first} cycles, usually {usual}");
    let (state, later) = inspected(&mut session);
    assert_eq!(state.gaps, []);
    assert!(later < usual + usual / 2, "{later} cycles, usually {usual}");
    let far = state.chips.iter().find(|chip| chip.chip.id == ChipId(5)).unwrap();
    let gateway = |channel| EthId { chip: far.chip.gateway.as_ref().unwrap()[0].chip, channel };
    assert_eq!(far.gateways.first(), Some(&gateway(9)), "e8 does not lead there");
    assert!(!far.gateways.contains(&gateway(8)), "{:?}", far.gateways);
}

/// A link that is down is no route to a chip, even if the far end cannot report it.
#[test]
fn a_link_that_is_down_leads_nowhere() {
    let mut session = idle("n300");
    let gateways = |session: &mut Session| {
        let (state, _) = inspected(session);
        state.chips.into_iter().map(|chip| chip.gateways).collect::<Vec<_>>()
    };
    let near = |channel| EthId { chip: ChipId(0), channel };
    assert_eq!(gateways(&mut session)[1][..2], [near(8), near(9)]);
    fault(&mut session, "link:0.8:down");
    assert_eq!(gateways(&mut session)[1].first(), Some(&near(9)));
    fault(&mut session, "link:0.9:down");
    assert_eq!(gateways(&mut session), [vec![], vec![]]);
    // A snapshot without any data has a time too.
    let far = ReadSet { tile: Some((ChipId(1), NocXy { x: 1, y: 2 })), ..ReadSet::default() };
    let before = session.target().now().unwrap();
    let inspected = session.inspect(&far);
    assert!(
        inspected.snapshot.pieces.is_empty() && inspected.state.cycles >= before,
        "{}",
        inspected.state.cycles
    );
}

/// A gateway and a row of two Galaxy chips behind each of its two links.
const TWO_ROWS: &str = "
arch: {0: wormhole_b0, 1: wormhole_b0, 2: wormhole_b0, 3: wormhole_b0, 4: wormhole_b0}
chips: {0: [0, 0, 0, 0], 1: [0, 0, 0, 1], 2: [1, 0, 0, 1], 3: [0, 1, 0, 1], 4: [1, 1, 0, 1]}
chip_unique_ids: {0: 1001, 1: 1002, 2: 1003, 3: 1004, 4: 1005}
ethernet_connections:
  - [{chip: 0, chan: 7}, {chip: 2, chan: 12}]
  - [{chip: 0, chan: 6}, {chip: 4, chan: 12}]
  - [{chip: 1, chan: 12}, {chip: 2, chan: 4}]
  - [{chip: 3, chan: 12}, {chip: 4, chan: 4}]
ethernet_connections_to_remote_devices: []
chips_with_mmio: [{0: 0}]
harvesting: {}
boards:
  - [{board_type: n150}, {chips: [0]}]
  - [{board_type: GALAXY}, {chips: [1, 2, 3, 4]}]
";

/// The host waits for a command that long, and for two in a row that are not carried out.
const A_SILENCE: u64 = 2 * A_DEADLINE + A_REFUSAL;
/// The deadline of a command.
const A_DEADLINE: u64 = 4_000_000;

#[test]
fn a_row_behind_a_stuck_gateway_does_not_stop_the_other() {
    let path = std::env::temp_dir().join(format!("meshscope-rows-{}.yaml", std::process::id()));
    std::fs::write(&path, TWO_ROWS).unwrap();
    let mut session = idle(path.to_str().unwrap());
    std::fs::remove_file(&path).unwrap();
    inspected(&mut session);
    let (healthy, usual) = inspected(&mut session);
    assert_eq!(healthy.gaps, []);
    fault(&mut session, "core:0.e7:stuck");
    let (before, mut order) = (session.target().now().unwrap(), Vec::new());
    let read_set = ReadSet { links: true, proofs: true, ..ReadSet::default() };
    let state = session.inspect_by_chip(&read_set, None, &mut |partly| {
        let Snapshot { pieces, gaps, .. } = partly.inspect().snapshot;
        let chips = pieces.iter().map(|piece| piece.addr.chip.0);
        let chips: BTreeSet<u16> =
            chips.chain(gaps.iter().map(|gap| gap.span.addr.chip.0)).collect();
        let fresh: Vec<u16> = chips.into_iter().filter(|chip| !order.contains(chip)).collect();
        order.extend(fresh);
    });
    let took = session.target().now().unwrap() - before;
    assert_eq!(order, [0, 1, 3, 4, 2], "the other row does not wait for all of the lost one");
    let lost: BTreeSet<u16> = state.snapshot.gaps.iter().map(|gap| gap.span.addr.chip.0).collect();
    assert_eq!(lost, BTreeSet::from([1, 2]), "the other row is complete");
    // The second lost chip first waits for the queue that the first one has left suspect.
    let most = usual + 2 * A_SILENCE + A_DEADLINE;
    assert!(took < most, "{took} cycles, usually {usual}");
    let (state, took) = inspected(&mut session);
    assert!(!state.gaps.is_empty() && took < usual + usual / 2, "{took} cycles, usually {usual}");
}

#[test]
fn a_snapshot_is_shown_after_each_chip() {
    let mut session = idle("n300");
    let read_set = ReadSet { links: true, ..ReadSet::default() };
    let ends = [0, 1].map(|chip| {
        let tile = tile(if chip == 0 { 8 } else { 0 }).unwrap();
        NocAddr { chip: ChipId(chip), tile, offset: 0x1104 }
    });
    let read = |snapshot: &Snapshot| ends.map(|end| snapshot.word(end).is_ok());
    let mut shown = Vec::new();
    let first = session.inspect_by_chip(&read_set, None, &mut |partly| {
        if let Progress::Snapshot(ChipCount { done, of }) = partly.progress {
            shown.push((done, of, read(&partly.inspect().snapshot)));
        }
    });
    let whole = (2, 2, [true, true]);
    assert_eq!((shown.first(), shown.last()), (Some(&(1, 2, [true, false])), Some(&whole)));
    // What was not read yet is as it was before.
    let before = first.snapshot;
    let mut stale = Vec::new();
    let second = session.inspect_by_chip(&read_set, Some(&before), &mut |partly| {
        let Inspected { snapshot, state, .. } = partly.inspect();
        assert_eq!((read(&snapshot), state.links.len()), ([true, true], 2));
        stale.push(ends.map(|end| snapshot.read_at(end) == before.read_at(end)));
    });
    assert_eq!((stale.first(), stale.last()), (Some(&[false, true]), Some(&[false, false])));
    assert_eq!(second.snapshot.gaps, []);
}
