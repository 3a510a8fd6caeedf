//! A mesh that is in use, or that must not be changed, is refused before anything is written.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::powered;
use access::bar_target::BarTarget;
use collectives::{
    DataType, EdmChannel, EdmPlan, Op, Program, Run, RunSettings, WorkerCommand, WorkerPlan,
    refuse_if_in_use,
};
use images::ImageMap;
use launch::outcome::{Cause, RunError};
use launch::topology::TopologyKind;
use launch::{Firmware, RingPing, RingPingSettings, boot_tensix, start_application};
use layouts::{ChipId, NocAddr, NocXy};
use machine::clients::{Client, Holder};
use machine::fault::Fault;
use machine::patience::Deadlines;
use machine::place::Place;
use machine::snapshot::{AccessError, Plan, Snapshot, Span};
use machine::target::{Abilities, Allow, Arrived, Mesh, OldBytes, Preview, Target, TargetBus};

/// A target that counts the writes to it.
struct Counted {
    inner: BarTarget,
    holders: Vec<(ChipId, Holder)>,
    writes: u64,
}

impl Target for Counted {
    fn name(&self) -> &str {
        self.inner.name()
    }
    fn abilities(&self) -> &Abilities {
        self.inner.abilities()
    }
    fn mesh(&self) -> &Mesh {
        self.inner.mesh()
    }
    fn read(&mut self, plan: &Plan) -> Snapshot {
        self.inner.read(plan)
    }
    fn write(&mut self, addr: NocAddr, bytes: &[u8]) -> Result<(), AccessError> {
        self.writes += 1;
        self.inner.write(addr, bytes)
    }
    fn now(&mut self) -> Result<u64, AccessError> {
        self.inner.now()
    }
    fn pass(&mut self, cycles: u64) -> Result<(), AccessError> {
        self.inner.pass(cycles)
    }
    fn bus(&mut self) -> Option<&mut dyn TargetBus> {
        Some(self)
    }
}

impl TargetBus for Counted {
    fn read_by_chip(&mut self, plan: &Plan, arrived: &mut dyn FnMut(Arrived<'_>)) -> Snapshot {
        self.inner.read_by_chip(plan, arrived)
    }
    fn replace(&mut self, addr: NocAddr, bytes: &[u8]) -> Result<OldBytes, AccessError> {
        self.inner.replace(addr, bytes)
    }
    fn transactions(&self) -> u64 {
        self.inner.transactions()
    }
    fn preview(&mut self, plans: &[Plan]) -> Preview {
        self.inner.preview(plans)
    }
    fn preview_write(&mut self, span: Span) -> Preview {
        self.inner.preview_write(span)
    }
    fn writer(&mut self) -> Option<Client> {
        None
    }

    fn holders(&mut self) -> Vec<(ChipId, Holder)> {
        self.holders.clone()
    }
    fn remarks(&mut self) -> Vec<String> {
        self.inner.remarks()
    }
}

/// Returns an n300 with only base firmware.
fn n300(allow: Allow) -> (Counted, ImageMap) {
    let abilities = Abilities { allow, stepped_time: true, ..Abilities::default() };
    let (mut inner, images) = powered("n300", abilities);
    inner.rename("emulator:n300");
    (Counted { inner, holders: Vec::new(), writes: 0 }, images)
}

fn eth(chip: u16, channel: u8) -> Place {
    Place { chip: ChipId(chip), tile: crate::common::layout().eth_channel(channel).unwrap() }
}

/// A row that this board has not harvested.
const COMPUTE: Place = Place { chip: ChipId(0), tile: NocXy { x: 1, y: 2 } };

/// Returns a program that needs one compute tile and both ends of a link.
fn program() -> Program {
    let worker = WorkerPlan {
        place: COMPUTE,
        role: "worker".into(),
        pages: 1,
        last_page_bytes: 32,
        slice_pages: 1,
        packet_pages: 1,
        elements: 8,
        fifo_bytes: 0,
        banks: Vec::new(),
        tensors: Vec::new(),
        commands: Vec::new(),
        inbound: None,
        outbound: None,
        partner: None,
    };
    let edm = |place, handshake_sender| EdmPlan { place, handshake_sender, channels: Vec::new() };
    Program {
        chip_kind: layouts::ChipKind::Wormhole,
        op: Op::AllGather,
        data_type: DataType::Int32,
        topology: TopologyKind::Ring,
        ranks: vec![ChipId(0), ChipId(1)],
        seed: 1,
        buffer_bytes: 1024,
        buffers_per_channel: 1,
        worker_initiated: false,
        delay_cycles: 0,
        fills: Vec::new(),
        edms: vec![edm(eth(0, 8), true), edm(eth(1, 0), false)],
        crossing: None,
        workers: vec![worker],
        checks: Vec::new(),
        expected: Vec::new(),
        size_bytes: 32,
        count: 8,
        bus_factor: 1.0,
    }
}

fn refused(target: &mut Counted, images: &mut ImageMap) -> RunError {
    let before = target.writes;
    let error = refuse_if_in_use(target, images, &program()).unwrap_err();
    let mut run = Run::new(program(), RunSettings::default());
    assert_eq!(run.finish(target, images, 1000), Err(error.clone()));
    assert_eq!(target.writes, before, "{error:?}");
    error
}

#[test]
fn a_running_kernel_is_named() {
    let (mut target, mut images) = n300(Allow::ALL);
    let ring = RingPing::on(target.mesh()).unwrap();
    ring.prepare(&mut images).unwrap().finish(&mut target).unwrap();
    let settings = RingPingSettings::default();
    ring.launch(&mut images, &settings).unwrap().finish(&mut target).unwrap();
    let error = refused(&mut target, &mut images);
    assert!(matches!(error.cause, Cause::InUse(_)));
    assert_eq!(crate::common::sentence(&error), "0:e8 is in use: ring_ping runs there");
    // A client that did not launch it sees only that a kernel runs.
    let (mut images, _) = ImageMap::firmware();
    let error = refused(&mut target, &mut images);
    assert_eq!(crate::common::sentence(&error), "0:e8 is in use: a kernel runs there");
    ring.tear_down(&images).unwrap().finish(&mut target).unwrap();
    refuse_if_in_use(&mut target, &images, &program()).unwrap();
}

#[test]
fn an_unknown_application_is_left_alone() {
    let (mut target, mut images) = n300(Allow::ALL);
    let place = eth(0, 8);
    start_application(&mut images, Firmware::BUILT_IN, place).unwrap().finish(&mut target).unwrap();
    refuse_if_in_use(&mut target, &images, &program()).unwrap();
    let (at, id) = images.named("erisc_app").unwrap().build_id.clone().unwrap();
    target.write(place.at(at), &vec![0xEE; id.len()]).unwrap();
    let error = refused(&mut target, &mut images);
    assert!(matches!(error.cause, Cause::InUse(_)));
    assert!(
        crate::common::sentence(&error).starts_with("0:e8 is in use: an unknown application"),
        "{error:?}"
    );
}

#[test]
fn what_must_be_allowed_is_named() {
    let (mut target, mut images) = n300(Allow::default());
    let error = refused(&mut target, &mut images);
    assert!(matches!(error.cause, Cause::NotAllowed(_)));
    assert!(crate::common::sentence(&error).ends_with("needs --allow write,launch"), "{error:?}");
    let write = Allow { write: true, launch: true, ..Allow::default() };
    let (mut target, mut images) = n300(write);
    let error = refused(&mut target, &mut images);
    assert!(crate::common::sentence(&error).ends_with("needs --allow reset"), "{error:?}");
}

#[test]
fn what_can_never_be_changed_needs_no_permission() {
    let (target, mut images) = n300(Allow::ALL);
    let why = Some("a recording cannot be changed".to_owned());
    let abilities = Abilities { unchangeable: why, ..Abilities::default() };
    let bar = target.inner.into_bar();
    let inner = BarTarget::open("past.rec", bar, abilities, Deadlines::default()).unwrap();
    let mut target = Counted { inner, holders: Vec::new(), writes: 0 };
    let error = refused(&mut target, &mut images);
    assert_eq!(crate::common::sentence(&error), "past.rec: a recording cannot be changed");
}

#[test]
fn a_fault_on_a_target_without_faults_is_refused_before_anything_is_written() {
    let (mut target, mut images) = n300(Allow::ALL);
    let faults = vec!["link:0.8:down".parse().unwrap()];
    let mut run = Run::new(program(), RunSettings { faults, ..RunSettings::default() });
    let error = run.finish(&mut target, &mut images, 1000).unwrap_err();
    assert!(
        crate::common::sentence(&error).contains("faults are for emulated meshes"),
        "{error:?}"
    );
    assert_eq!((error, target.writes), (Fault::unsupported().into(), 0));
}

#[test]
fn a_tile_that_runs_needs_no_reset() {
    let (mut target, mut images) = n300(Allow::ALL);
    boot_tensix(&mut images, Firmware::BUILT_IN, COMPUTE).unwrap().finish(&mut target).unwrap();
    let mut abilities = target.abilities().clone();
    abilities.allow.reset = false;
    let bar = target.inner.into_bar();
    let mut again = BarTarget::open("again", bar, abilities, Deadlines::default()).unwrap();
    refuse_if_in_use(&mut again, &images, &program()).unwrap();
}

#[test]
fn the_process_that_has_the_device_open_is_named() {
    let (mut target, mut images) = n300(Allow::ALL);
    target.holders = vec![(ChipId(0), Holder { pid: 4711, name: "trainer".into() })];
    let error = refused(&mut target, &mut images);
    assert!(matches!(error.cause, Cause::InUse(_)));
    assert_eq!(
        crate::common::sentence(&error),
        "chip 0 is in use: process 4711 trainer has it open"
    );
}

#[test]
fn what_does_not_fit_is_refused_before_anything_is_written() {
    let (mut target, mut images) = n300(Allow::ALL);
    let mut refuse = |program: Program| {
        let mut run = Run::new(program, RunSettings::default());
        run.finish(&mut target, &mut images, 1000).unwrap_err().sentence(crate::common::layout())
    };
    let channel = EdmChannel { sends: true, messages: 1, workers: vec![COMPUTE] };
    let mut large = program();
    large.buffer_bytes = 0x1_8000;
    large.edms[0].channels = vec![channel; 2];
    let message = refuse(large);
    assert!(message.contains("2 channels of 1 buffers of 98304 bytes do not fit"), "{message}");
    let mut twice = program();
    twice.workers.push(twice.workers[0].clone());
    assert_eq!(refuse(twice), "two workers on 0:1-2");
    let mut long = program();
    long.workers[0].commands = vec![WorkerCommand::default(); 5_000];
    assert_eq!(refuse(long), "0:1-2: a list of 5000 commands is too long");
    let mut fault = program();
    fault.seed = 2;
    let faults = vec!["link:0.3:down".parse().unwrap()];
    let mut run = Run::new(fault, RunSettings { faults, ..RunSettings::default() });
    let error = run.finish(&mut target, &mut images, 1000).unwrap_err();
    assert!(matches!(error.cause, Cause::Program(_)), "{error:?}");
    assert_eq!(target.writes, 0);
}

#[test]
fn a_place_that_is_not_there_is_no_place_for_kernels() {
    let (mut target, images) = n300(Allow::ALL);
    let mut program = program();
    program.workers[0].place.tile = NocXy { x: 0, y: 0 };
    let error = refuse_if_in_use(&mut target, &images, &program).unwrap_err();
    assert_eq!(crate::common::sentence(&error), "0:0-0 runs no kernels");
    program.workers[0].place.chip = ChipId(7);
    let error = refuse_if_in_use(&mut target, &images, &program).unwrap_err();
    assert_eq!(crate::common::sentence(&error), "there is no chip 7");
}
