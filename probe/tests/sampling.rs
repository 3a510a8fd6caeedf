//! Sampled program counters are those that the harts executed at the moment of each read, and the
//! debug bus is left as it was found.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common;

use access::AuditLog;
use access::bar_target::BarTarget;
use common::{addr, library, powered, sentence, word};
use decode::inspect::ReadSet;
use decode::profile::profile;
use images::ImageMap;
use launch::sampling::Sampling;
use layouts::{ChipId, ChipKind, CoreId, CoreKind, NocXy};
use machine::bar::{Bar, BarOp};
use machine::samples::{CoreSamples, SampleOrder};
use machine::snapshot::AccessError;
use machine::target::{Abilities, Allow, Target};
use probe::session::Session;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use transport::emulator_bar::EmulatorBar;
use transport::silicon;
use workloads::scene::Scene;

const CONTROL: u64 = 0xFFB1_2054;
const DATA: u64 = 0xFFB1_205C;
const SELECT_BRISC: u32 = 0x2007_000A;
/// Another client's setting of the bus.
const THEIRS: u32 = 0x2001_000C;

/// The pcs of a tile's harts at a read of its debug bus.
struct BusRead {
    tile: (u8, u8),
    pcs: Vec<u32>,
}

/// A bus that notes what the harts of a tile execute when its debug bus is read.
struct Watched {
    bar: EmulatorBar,
    windows: HashMap<u16, (u8, u8, u64)>,
    reads: Arc<Mutex<Vec<BusRead>>>,
}

impl Watched {
    /// Returns tile and address of a BAR0 offset.
    fn place(&self, offset: u64) -> Option<(u8, u8, u64)> {
        let inside = |(window, (x, y, page)): (&u16, &(u8, u8, u64))| {
            let spec = common::layout().bar.window(*window)?;
            let past = offset.checked_sub(spec.base).filter(|past| *past < spec.bytes)?;
            Some((*x, *y, page + past))
        };
        self.windows.iter().find_map(inside)
    }

    fn note(&mut self, op: &BarOp) {
        match op {
            BarOp::Point { window, x, y, page, .. } => {
                self.windows.insert(*window, (*x, *y, *page));
            }
            BarOp::Read { offset, .. } => {
                let Some((x, y, DATA)) = self.place(*offset) else { return };
                let harts = (0..5).filter_map(|hart| self.bar.mesh().hart(0, x, y, hart));
                let read = BusRead { tile: (x, y), pcs: harts.map(|hart| hart.pc()).collect() };
                self.reads.lock().unwrap().push(read);
            }
            _ => {}
        }
    }
}

impl Bar for Watched {
    fn submit(&mut self, batch: &[BarOp], answer: &mut Vec<u8>) -> Result<(), AccessError> {
        for op in batch {
            self.note(op);
            self.bar.submit(std::slice::from_ref(op), answer)?;
            if op.ends(answer) {
                break;
            }
        }
        Ok(())
    }

    fn chip(&self) -> ChipKind {
        self.bar.chip()
    }
}

fn core(chip: u16, (x, y): (u8, u8), core: CoreKind) -> CoreId {
    CoreId { chip: ChipId(chip), tile: NocXy { x, y }, core }
}

fn order(count: u32, apart_cycles: u64) -> SampleOrder {
    SampleOrder { count, apart_cycles }
}

fn pcs(samples: &CoreSamples) -> Vec<u32> {
    samples.samples.iter().map(|sample| sample.pc).collect()
}

#[test]
fn samples_are_what_the_harts_execute() {
    let (mut images, _) = ImageMap::firmware();
    let scene = Scene::new("n300");
    let bar = EmulatorBar::new(scene.power_on(&images).unwrap());
    let reads = Arc::new(Mutex::new(Vec::new()));
    let watched = Watched { bar, windows: HashMap::new(), reads: Arc::clone(&reads) };
    let target = scene.start(Box::new(watched), &mut images).unwrap();
    let worker = target.mesh().compute_tiles(ChipId(0)).next().unwrap().tile;
    let worker = (worker.x, worker.y);
    let mut session = Session::with_target(Box::new(target), images);
    let everything = ReadSet::everything(session.target().mesh());
    session.inspect(&everything);
    let erisc = core(0, (9, 6), CoreKind::Erisc);
    let harts = [CoreKind::Brisc, CoreKind::Ncrisc, CoreKind::Trisc0, CoreKind::Trisc1];
    let mut cores = harts.map(|kind| core(0, worker, kind)).to_vec();
    cores.push(erisc);
    let samples = session.sample(&cores, order(20, 3_000)).unwrap();
    assert_eq!((samples.cores.len(), samples.problems.len()), (5, 0), "{:?}", samples.problems);
    let reads = std::mem::take(&mut *reads.lock().unwrap());
    let of_tile = |tile: (u8, u8)| reads.iter().filter(move |read| read.tile == tile);
    for (hart, kind) in harts.into_iter().enumerate() {
        let reads = of_tile(worker).skip(20 * hart).take(20);
        let executed: Vec<u32> = reads.map(|read| read.pcs[hart]).collect();
        assert_eq!(pcs(samples.of(core(0, worker, kind)).unwrap()), executed, "{kind:?}");
    }
    let executed: Vec<u32> = of_tile((9, 6)).map(|read| read.pcs[0]).collect();
    let found = samples.of(erisc).unwrap();
    assert_eq!(pcs(found), executed);
    let all: BTreeSet<u32> = executed.into_iter().collect();
    assert!(all.len() > 3, "it waits in a loop: {all:x?}");
    let apart = found.samples.windows(2).map(|two| two[1].cycles - two[0].cycles);
    let apart: Vec<u64> = apart.collect();
    assert!(apart.iter().all(|cycles| (1_500..7_000).contains(cycles)), "{apart:?}");
    // Every sample has a line of an image that runs there.
    for samples in &samples.cores {
        let found = profile(session.images(), samples);
        assert_eq!(found.places.iter().map(|place| place.count).sum::<u32>(), 20);
        for place in found.places {
            let line = place.lines.first().and_then(|line| line.line);
            assert!(line.is_some() && place.certain > 0, "{}: {place:x?}", samples.core);
        }
    }
    let control = addr(0, 9, 6, CONTROL);
    let span = machine::snapshot::Span { addr: control, len: 4 };
    let after = session.target().read(&machine::snapshot::Plan { spans: vec![span] });
    assert_eq!(after.word(control), Ok(0));
}

/// Returns an n300 with base firmware; a BRISC of each chip runs a loop of three instructions.
fn looping(abilities: &Abilities) -> (BarTarget, [CoreId; 2]) {
    let abilities = Abilities { allow: Allow::ALL, stepped_time: true, ..abilities.clone() };
    let (mut target, _) = powered("n300", abilities);
    target.rename("emulator");
    let cores = [0, 1].map(|chip| {
        let place = target.mesh().compute_tiles(ChipId(chip)).last().unwrap();
        // Two of nop, and back to them.
        let program = [0x13_u32, 0x13, 0xFF9F_F06F].map(u32::to_le_bytes).concat();
        target.write(place.at(0), &program).unwrap();
        target.write(place.at(0xFFB1_21B0), &0x4_7000_u32.to_le_bytes()).unwrap();
        core(chip, (place.tile.x, place.tile.y), CoreKind::Brisc)
    });
    (target, cores)
}

fn sample(target: &mut BarTarget, cores: &[CoreId], count: u32) -> Vec<CoreSamples> {
    let mut sampling = Sampling::new(target, cores, order(count, 1_000)).unwrap();
    while !sampling.poll(target).unwrap() {}
    let samples = sampling.end(target);
    assert!(samples.problems.is_empty(), "{:?}", samples.problems);
    samples.cores
}

fn control(target: &mut BarTarget, of: CoreId) -> u32 {
    word(target, addr(of.chip.0, of.tile.x, of.tile.y, CONTROL))
}

fn set_control(target: &mut BarTarget, of: CoreId, value: u32) {
    let at = addr(of.chip.0, of.tile.x, of.tile.y, CONTROL);
    target.write(at, &value.to_le_bytes()).unwrap();
}

#[test]
fn chips_without_pcie_are_sampled_too_and_each_write_is_logged() {
    let (mut target, cores) = looping(&Abilities::default());
    let log = std::env::temp_dir().join(format!("meshscope-sampling-{}", std::process::id()));
    target.keep_audit(AuditLog::at(&log, "emulator:n300"));
    target.audit().unwrap().command("sample");
    // A disabled bus is free, and its setting is somebody's.
    set_control(&mut target, cores[1], THEIRS & !0x2000_0000);
    for found in sample(&mut target, &cores, 12) {
        assert_eq!((found.samples.len(), found.relays), (12, false));
        assert!(
            found.samples.iter().all(|sample| sample.certain && [0, 4, 8].contains(&sample.pc))
        );
        let all: BTreeSet<u32> = pcs(&found).into_iter().collect();
        assert!(all.len() > 1, "{all:x?}");
    }
    assert_eq!(cores.map(|core| control(&mut target, core)), [0, THEIRS & !0x2000_0000]);
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::remove_file(log).unwrap();
    let ours = |value: u32| {
        let new = format!("\"new\":\"{:08x}\"", value.swap_bytes());
        text.lines().filter(|line| line.contains(&new)).count()
    };
    assert_eq!(text.lines().filter(|line| line.contains("\"command\":\"sample\"")).count(), 1);
    assert_eq!((text.lines().count(), ours(SELECT_BRISC), ours(0)), (6, 2, 1), "{text}");
}

#[test]
fn a_bus_in_use_is_left_alone() {
    let (mut target, cores) = looping(&Abilities::default());
    set_control(&mut target, cores[0], THEIRS);
    let found = sample(&mut target, &cores, 3);
    let says =
        "refused: the debug bus of the tile is in use by another client (control 0x2001000c)";
    assert_eq!(found[0].missing.as_ref().unwrap().to_string(), says);
    assert_eq!((found[0].samples.len(), found[1].samples.len()), (0, 3));
    assert_eq!(control(&mut target, cores[0]), THEIRS);
    // Somebody takes the bus meanwhile: what it showed since is not known.
    let (mut target, cores) = looping(&Abilities::default());
    let mut sampling = Sampling::new(&mut target, &cores, order(3, 1_000)).unwrap();
    assert!(!sampling.poll(&mut target).unwrap());
    assert_eq!(control(&mut target, cores[0]), SELECT_BRISC);
    set_control(&mut target, cores[0], THEIRS);
    while !sampling.poll(&mut target).unwrap() {}
    let found = sampling.end(&mut target).cores;
    assert_eq!(found[0].missing.as_ref().unwrap().to_string(), says);
    assert_eq!((found[0].samples.len(), found[1].samples.len()), (0, 3));
    assert_eq!(cores.map(|core| control(&mut target, core)), [THEIRS, 0]);
}

#[test]
fn a_sampling_that_is_cut_short_puts_the_bus_back() {
    let (mut target, cores) = looping(&Abilities::default());
    let mut sampling = Sampling::new(&mut target, &cores, order(50, 1_000)).unwrap();
    for _ in 0..2 {
        assert!(!sampling.poll(&mut target).unwrap());
    }
    let found = sampling.end(&mut target);
    assert_eq!(found.cores.iter().map(|core| core.samples.len()).sum::<usize>(), 4);
    assert_eq!(cores.map(|core| control(&mut target, core)), [0, 0]);
}

#[test]
fn ethernet_tiles_of_silicon_are_refused() {
    let (mut target, cores) = looping(&silicon::abilities().unwrap());
    let erisc = core(0, (9, 6), CoreKind::Erisc);
    let found = sample(&mut target, &[cores[0], erisc], 2);
    assert_eq!((found[1].core, found[1].samples.len()), (cores[0], 2));
    let says =
        "refused: the debug bus of an Ethernet tile has not been shown to be safe on silicon";
    assert_eq!(found[0].missing.as_ref().unwrap().to_string(), says);
}

#[test]
fn a_recording_cannot_be_sampled() {
    let unchangeable = Some("a recording cannot be changed".to_owned());
    let (mut target, cores) = looping(&Abilities { unchangeable, ..Abilities::default() });
    let refused = Sampling::new(&mut target, &cores, order(2, 1_000)).err().unwrap();
    assert_eq!(sentence(&refused), "emulator: a recording cannot be changed");
}

#[test]
fn the_vendors_simulator_refuses_and_survives() {
    let Some(path) = library("wh_x2") else { return };
    let mut target = common::open_at(&path);
    let cores = [core(0, (1, 2), CoreKind::Brisc), core(1, (9, 6), CoreKind::Erisc)];
    for found in sample(&mut target, &cores, 2) {
        let says = "refused: the simulator does not model the debug bus";
        assert_eq!(found.missing.unwrap().to_string(), says, "{}", found.core);
    }
    assert_ne!(word(&mut target, addr(0, 1, 2, 0xFFB1_21B0)), 0);
}
