//! A hung tile, NoC or device is detected at its first answer and quarantined until the user clears
//! it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::{built, idle};
use crate::sick;

use access::bar_target::BarTarget;
use images::ImageMap;
use layouts::{ChipId, ClusterDescriptor, NocAddr, NocXy};
use machine::patience::Deadlines;
use machine::snapshot::{Plan, Snapshot, Span};
use machine::target::{Abilities, Allow, Quarantine, Target};
use probe::session::Session;
use sick::{Handle, Sick};
use transport::emulator_bar::EmulatorBar;
use workloads::scene::power_on;

const TILE: NocXy = NocXy { x: 1, y: 2 };
const OTHER: NocXy = NocXy { x: 3, y: 3 };

fn span(chip: u16, tile: NocXy, offset: u64, len: u32) -> Span {
    Span { addr: NocAddr { chip: ChipId(chip), tile, offset }, len }
}

fn read(target: &mut BarTarget, spans: &[Span]) -> Snapshot {
    target.read(&Plan { spans: spans.to_vec() })
}

fn abilities() -> Abilities {
    Abilities { allow: Allow::ALL, stepped_time: true, ..Abilities::default() }
}

/// Opens bare chips. Returns the target and a handle on their faults.
fn open(patience: Deadlines) -> (BarTarget, Handle) {
    let mesh = emulator::Mesh::new(emulator::MeshConfig::n300()).unwrap();
    let (bar, handle) = Sick::new(Box::new(EmulatorBar::new(mesh)));
    (BarTarget::open("sick", Box::new(bar), abilities(), patience).unwrap(), handle)
}

/// Returns the reason of a range's gap.
fn gap(snapshot: &Snapshot, span: Span) -> String {
    let gap = snapshot.gaps.iter().find(|gap| gap.span == span);
    gap.unwrap_or_else(|| panic!("{:?}", snapshot.gaps)).reason.to_string()
}

#[test]
fn a_device_that_is_lost_before_the_attach_keeps_its_name() {
    let descriptor = ClusterDescriptor::shipped("t3000").unwrap().unwrap();
    let (images, _) = ImageMap::firmware();
    let mut mesh = emulator::Mesh::new(power_on::config(&descriptor, &images, 0).unwrap()).unwrap();
    mesh.clock(200_000);
    let (bar, handle) = Sick::new(Box::new(EmulatorBar::new(mesh)));
    handle.state().noc = true;
    let mut target =
        BarTarget::open("sick", Box::new(bar), abilities(), Deadlines::default()).unwrap();
    let far = span(0, TILE, 0x100, 4);
    let snapshot = read(&mut target, &[far]);
    assert_eq!((snapshot.pieces.len(), snapshot.gaps), (1, Vec::new()));
    let found = target.mesh();
    assert_eq!((found.chips.len(), found.links.len()), (8, 20), "{found:?}");
    for (chip, described) in found.chips.iter().zip(&descriptor.chips) {
        assert_eq!((chip.unique_id, chip.coord), (described.unique_id, described.coord));
        // Chip 0 is reached as a far one now.
        assert_eq!(chip.pcie, described.pcie.is_some() && chip.id.0 != 0);
    }
    let [problem] = &found.problems[..] else { panic!("{:?}", found.problems) };
    assert!(problem.starts_with("device 0: device gone: "), "{problem}");
}

#[test]
fn a_hung_tile_is_left_alone_until_it_is_cleared() {
    let (mut target, handle) = open(Deadlines::default());
    handle.state().dead.insert(TILE);
    let words: Vec<Span> = (0..16).map(|i| span(0, TILE, i * 0x1000, 4)).collect();
    let fine = span(0, OTHER, 0x100, 4);
    let snapshot = read(&mut target, &[&words[..], &[fine]].concat());
    let says = "tile 1-2 hangs: it answers all ones, including its node id";
    assert_eq!(words.iter().map(|word| gap(&snapshot, *word)).collect::<Vec<_>>(), vec![says; 16]);
    assert!(snapshot.bytes(fine.addr, 4).is_ok());
    assert_eq!(handle.state().reads[&TILE], 2, "one word and its node id");

    let before = handle.state().transactions;
    let snapshot = read(&mut target, &words);
    assert_eq!((snapshot.transactions, snapshot.gaps.len()), (0, 16));
    let refused = target.write(words[0].addr, &[1; 4]).unwrap_err().to_string();
    assert_eq!(refused, says);
    assert_eq!(handle.state().transactions, before);
    let quarantined = target.quarantined();
    assert_eq!(
        (quarantined[0].chip, quarantined[0].tile, quarantined.len()),
        (ChipId(0), Some(TILE), 1)
    );

    handle.state().dead.clear();
    assert_eq!(read(&mut target, &words).gaps.len(), 16, "the quarantine was not cleared");
    target.clear();
    assert_eq!(target.quarantined(), []);
    assert_eq!(read(&mut target, &words).gaps, []);
}

/// A tile that owes an answer takes its chip along when it is read: a verdict finds it by the request.
#[test]
fn a_tile_that_owes_an_answer_is_not_read() {
    let (mut target, images) = built(&idle("n300"));
    // TILE reads from an address that no tile has (wormhole.md 3.3): targ_lo, targ_mid, ret_lo, ret_mid,
    // ctrl, at_len_be, cmd_ctrl.
    let xy = |tile: NocXy| u32::from(tile.x) << 4 | u32::from(tile.y) << 10;
    let command = [0x30_0000, xy(OTHER), 0x5_0000, xy(TILE), 0, 64, 1];
    for (at, value) in [0x00, 0x04, 0x0C, 0x10, 0x1C, 0x20, 0x28].into_iter().zip(command) {
        target.write(span(0, TILE, 0xFFB2_0000 + at, 4).addr, &u32::to_le_bytes(value)).unwrap();
    }
    let mut session = Session::with_target(Box::new(target), images);
    let found = session.diagnose(1_000_000).unwrap().diagnosis.findings;
    let quarantined = session.target().quarantined();
    let [only] = &quarantined[..] else { panic!("{quarantined:?}") };
    assert_eq!((only.chip, only.tile), (ChipId(0), Some(OTHER)));
    let says = "0:3-3 has not answered a request of 0:1-2; it is not read, as that could take the chip along";
    assert_eq!(only.reason.to_string(), says);
    assert!(found[0].sentence.ends_with(says), "{found:?}");
}

#[test]
fn all_ones_may_be_a_value() {
    let (mut target, handle) = open(Deadlines::default());
    let ones = span(0, TILE, 0x8000, 0x1000);
    target.write(ones.addr, &[0xFF; 0x1000]).unwrap();
    target.write(span(0, TILE, 0, 4).addr, &[7; 4]).unwrap();
    let words = [span(0, TILE, 0, 4), span(0, TILE, 0x8100, 4), span(0, TILE, 0x8F00, 4)];
    for wanted in [&words[..], &[ones, span(0, OTHER, 0, 8)]] {
        let snapshot = read(&mut target, wanted);
        assert_eq!(snapshot.gaps, []);
        assert_eq!(target.quarantined(), []);
        let last = wanted[wanted.len() - 1];
        assert_eq!(snapshot.bytes(last.addr, last.len).unwrap().len(), last.len as usize);
    }
    let snapshot = read(&mut target, &[ones]);
    assert_eq!(snapshot.bytes(ones.addr, 0x1000).unwrap(), [0xFF; 0x1000]);
    // The node id of the tile is read once per snapshot, independent of the number of words that
    // are all ones.
    let before = handle.state().reads[&TILE];
    assert_eq!(read(&mut target, &words).gaps, []);
    assert_eq!(handle.state().reads[&TILE] - before, 3 + 2, "node id and clock gate");
}

#[test]
fn a_tile_is_probed_before_its_first_block_only() {
    let (mut target, handle) = open(Deadlines::default());
    let block = span(0, TILE, 0x1000, 0x400);
    assert_eq!(read(&mut target, &[block]).gaps, []);
    assert_eq!(handle.state().reads[&TILE], 2);
    assert_eq!(read(&mut target, &[block]).gaps, []);
    assert_eq!(handle.state().reads[&TILE], 3);
    handle.state().dead.insert(OTHER);
    assert_eq!(read(&mut target, &[span(0, OTHER, 0, 0x400)]).gaps.len(), 1);
    assert_eq!(handle.state().reads[&OTHER], 2, "no block of a tile that has never answered");
}

#[test]
fn a_dead_tile_is_not_written_to() {
    let (mut target, handle) = open(Deadlines::default());
    handle.state().dead.insert(TILE);
    let error = target.write(span(0, TILE, 0x100, 4).addr, &[1; 4]).unwrap_err().to_string();
    assert!(error.contains("tile 1-2 hangs"), "{error}");
    assert_eq!(handle.state().reads[&TILE], 2);
}

#[test]
fn a_hung_noc_and_a_chip_off_the_bus_are_told_apart() {
    type Fault = fn(&Handle);
    let noc: Fault = |handle| handle.state().noc = true;
    let bus: Fault = |handle| handle.state().bus = true;
    for (break_it, says) in [
        (noc, "unreachable: the NoC of device 0 hangs: its ARC tile answers all ones over it"),
        (bus, "device gone: device 0 answers all ones, including its ARC's node id"),
    ] {
        let (mut target, handle) = open(Deadlines::default());
        let wanted = [span(0, TILE, 0x100, 4), span(0, OTHER, 0x100, 64)];
        assert_eq!(read(&mut target, &wanted).gaps, []);
        break_it(&handle);
        let snapshot = read(&mut target, &wanted);
        assert_eq!([gap(&snapshot, wanted[0]), gap(&snapshot, wanted[1])], [says; 2]);
        assert_eq!(handle.state().reads.get(&OTHER), Some(&2), "read before it broke only");
        assert_eq!(read(&mut target, &wanted).transactions, 0);
        assert_eq!(target.quarantined()[0].tile, None);
    }
}

#[test]
fn a_tile_at_whose_first_read_the_device_is_lost_is_named() {
    let (mut target, handle) = open(Deadlines::default());
    handle.state().deadly.insert(TILE);
    let before = NocXy { x: 1, y: 1 };
    let wanted = [before, TILE, OTHER].map(|tile| span(0, tile, 0x100, 4));
    let gone = "device gone: device 0 answers all ones, including its ARC's node id";
    let hangs = format!("tile 1-2 hangs: a read of 0x100 was not answered, and since then: {gone}");
    let snapshot = read(&mut target, &wanted);
    assert!(snapshot.bytes(wanted[0].addr, 4).is_ok());
    assert_eq!(gap(&snapshot, wanted[1]), hangs);
    assert_eq!(gap(&snapshot, wanted[2]), gone);
    let again = read(&mut target, &wanted);
    assert_eq!(again.transactions, 0);
    assert_eq!(
        wanted.map(|span| gap(&again, span)),
        [gone.to_owned(), hangs.clone(), gone.to_owned()]
    );
}

#[test]
fn the_emulators_own_hang_is_quarantined() {
    let (mut target, handle) = open(Deadlines::default());
    let wanted = [span(0, TILE, 0x100, 4), span(0, OTHER, 0x100, 64)];
    assert_eq!(read(&mut target, &wanted).gaps, []);
    // Another client reads an address that never answers (wormhole.md 1.7), which also hangs the
    // chip's bus.
    handle.state().foreign = Some((NocXy { x: 2, y: 2 }, 0xFFB1_1030));
    let snapshot = read(&mut target, &wanted);
    let says = "device gone: device 0 answers all ones, including its ARC's node id";
    assert_eq!([gap(&snapshot, wanted[0]), gap(&snapshot, wanted[1])], [says; 2]);
    assert_eq!(read(&mut target, &wanted).transactions, 0);
}

#[test]
fn a_far_chip_behind_a_dead_queue_is_tried_once() {
    let (bar, handle) = Sick::new(built(&idle("n300")).0.into_bar());
    let mut target =
        BarTarget::open("far", Box::new(bar), abilities(), Deadlines::default()).unwrap();
    let far = [span(1, TILE, 0x2_0000, 64), span(1, OTHER, 0x2_0000, 4)];
    assert_eq!(read(&mut target, &far).gaps, []);
    for channel in 0..16 {
        handle.state().deaf.insert(crate::common::layout().eth_channel(channel).unwrap());
    }
    let snapshot = read(&mut target, &far);
    let says = "timed out after 4000000 cycles";
    assert_eq!([gap(&snapshot, far[0]), gap(&snapshot, far[1])], [says; 2]);
    let again = read(&mut target, &far);
    assert_eq!((again.transactions, gap(&again, far[0]).as_str()), (0, says));
    assert_eq!((target.quarantined()[0].chip, target.quarantined()[0].tile), (ChipId(1), None));
    handle.state().deaf.clear();
    target.clear();
    assert_eq!(read(&mut target, &far).gaps, []);
}

#[test]
fn a_chip_has_its_time_and_no_more() {
    let patience = Deadlines { chip_cycles: 1, ..Deadlines::default() };
    let (mut target, _) = open(patience);
    let large = [span(0, TILE, 0, 0x10_0000), span(0, OTHER, 0, 0x10_0000)];
    let snapshot = read(&mut target, &large);
    assert!(snapshot.bytes(large[0].addr, large[0].len).is_ok());
    assert_eq!(gap(&snapshot, large[1]), "timed out after 1 cycles");
    assert_eq!(target.quarantined(), [], "slow is not hung");
}

#[test]
fn a_time_out_of_the_machine_itself_is_accepted_and_the_rest_is_read() {
    let (mut target, handle) = open(Deadlines::default());
    handle.state().slow.insert(TILE);
    let (before, after) = (NocXy { x: 1, y: 1 }, OTHER);
    let spans = [before, TILE, after].map(|tile| span(0, tile, 0x100, 64));
    let snapshot = read(&mut target, &spans);
    assert!(snapshot.bytes(spans[0].addr, 64).is_ok() && snapshot.bytes(spans[2].addr, 64).is_ok());
    let says = "tile 1-2 hangs: timed out after 100000000 cycles";
    assert_eq!(gap(&snapshot, spans[1]), says);
    let reads = handle.state().reads[&TILE];
    assert_eq!(gap(&read(&mut target, &spans), spans[1]), says);
    assert_eq!(handle.state().reads[&TILE], reads, "the tile is not read again");
}
