//! Collectives end to end on emulated meshes: launch, polls, check and cleanup.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::{permitted, powered};
use access::bar_target::BarTarget;
use collectives::program::flags;
use collectives::{
    Bidirectional, ChipTimes, DataType, Op, Request, Run, RunProgress, RunReport, RunSettings,
    Stage, TensorLayout, compile, refuse_if_in_use,
};
use decode::inspect::{ReadSet, inspect, plan};
use decode::state::{ChannelMeaning, LinkState, MeshState};
use diagnosis::{Condition, Diagnosis, LEAST_APART_CYCLES, Look, Place as Root, diagnose, wanted};
use images::{ImageMap, Reading};
use launch::outcome::{Cause, RunError};
use launch::topology::TopologyKind;
use layouts::{ChipId, CoreId, CoreKind, EthId};
use machine::fault::Fault;
use machine::place::Place;
use machine::target::Target;

/// Time between two polls, in cycles.
const STEP_CYCLES: u64 = 2_000;

/// A mesh with only base firmware.
struct Bench {
    target: BarTarget,
    images: ImageMap,
}

impl Bench {
    fn new(mesh: &str) -> Self {
        let (target, images) = powered(mesh, permitted());
        Self { target, images }
    }

    fn start(&self, request: &Request, settings: RunSettings) -> Run {
        Run::new(compile(self.target.mesh(), request).unwrap(), settings)
    }

    fn finish(&mut self, run: &mut Run) -> Result<Option<RunReport>, RunError> {
        run.finish(&mut self.target, &mut self.images, STEP_CYCLES)
    }

    /// Runs each request and asserts that every element is right.
    fn all_right(&mut self, requests: impl IntoIterator<Item = Request>) {
        for request in requests {
            let program = match compile(self.target.mesh(), &request) {
                Ok(program) => program,
                Err(error) => panic!("{request:?}: {error}"),
            };
            let mut run = Run::new(program, RunSettings::default());
            match self.finish(&mut run) {
                Ok(Some(report)) => {
                    let wrong = (report.wrong, &report.wrong_ranges);
                    assert_eq!(wrong, (Some(0), &vec![]), "{request:?}");
                }
                other => panic!("{request:?}: {other:?}"),
            }
            self.target.pass(STEP_CYCLES).unwrap();
        }
    }

    /// Polls the run until its data moves.
    fn until_it_moves(&mut self, run: &mut Run) {
        loop {
            match run.poll(&mut self.target, &mut self.images).unwrap() {
                RunProgress::Running { stage: Stage::Transfer, done, of } if 2 * done > of => {
                    return;
                }
                RunProgress::Running { .. } => self.target.pass(300).unwrap(),
                other @ RunProgress::Finished(_) => panic!("{other:?}"),
            }
        }
    }

    fn inspected(&mut self, read_set: &ReadSet) -> MeshState {
        let request = plan(self.target.mesh(), &self.images, read_set);
        let snapshot = self.target.read(&request);
        self.images.learn(self.target.mesh(), &snapshot);
        inspect(&snapshot, self.target.mesh(), &self.images)
    }

    /// Runs to the end; returns its error, and the verdict on the mesh on which it
    /// stood still.
    fn stands(&mut self, run: &mut Run) -> (RunError, Diagnosis) {
        let mut verdict = None;
        loop {
            match run.poll(&mut self.target, &mut self.images) {
                Err(error) => return (error, verdict.unwrap()),
                Ok(progress) => assert!(matches!(progress, RunProgress::Running { .. })),
            }
            self.target.pass(STEP_CYCLES).unwrap();
            if run.stands() && verdict.is_none() {
                verdict = Some(self.diagnosis());
            }
        }
    }

    fn diagnosis(&mut self) -> Diagnosis {
        let mut read_set = ReadSet::everything(self.target.mesh());
        let mut all = Vec::new();
        // The first snapshots find the words that the last two have.
        for _ in 0..4 {
            let request = plan(self.target.mesh(), &self.images, &read_set);
            let snapshot = self.target.read(&request);
            self.images.learn(self.target.mesh(), &snapshot);
            let state = inspect(&snapshot, self.target.mesh(), &self.images);
            let look = Look::new(&snapshot, &state);
            read_set.spans.extend(wanted(self.target.mesh(), look));
            all.push((snapshot, state));
            self.target.pass(LEAST_APART_CYCLES).unwrap();
        }
        let looks = all[2..].iter().map(|(snapshot, state)| Look::new(snapshot, state));
        diagnose(self.target.mesh(), &looks.collect::<Vec<_>>())
    }

    fn word(&mut self, place: Place, at: u64) -> u32 {
        self.target.read_word(place.at(at)).unwrap()
    }

    /// Asserts that base firmware has every Ethernet tile again.
    fn is_given_back(&mut self) {
        self.target.pass(50_000).unwrap();
        for link in self.target.mesh().links.clone() {
            for end in [link.a, link.b] {
                let tile = crate::common::layout().eth_channel(end.channel).unwrap();
                let place = Place { chip: end.chip, tile };
                assert_eq!(
                    self.word(place, crate::common::layout().eth.l1.launch_flag.at),
                    0,
                    "{end}"
                );
            }
        }
    }
}

/// Returns a request whose size is divisible by the ranks, with an odd number of elements.
fn request(op: Op, ranks: u64, elements: u64) -> Request {
    Request::new(op, 4 * ranks * elements)
}

#[test]
fn workers_with_a_delay_can_be_followed() {
    let request =
        |delay_cycles| Request { delay_cycles, ..Request::new(Op::AllGather, 4 * 64 * 1024) };
    let mut bench = Bench::new("n300");
    let mut time = |delay_cycles| {
        let mut run = bench.start(&request(delay_cycles), RunSettings::default());
        let report = bench.finish(&mut run).unwrap().unwrap();
        assert_eq!(report.wrong, Some(0));
        report.time_cycles
    };
    // Eight packets of 16 KiB go in each direction, with at least seven delays.
    let (fast, slow) = (time(0), time(50_000));
    assert!(fast < 50_000 && slow >= 7 * 50_000, "{fast} {slow}");
}

/// The busy channels of an end, and the bytes that leave it.
type End = (Vec<(u32, u32, ChannelMeaning)>, Option<u64>);

fn ends(state: &MeshState, link: &LinkState) -> [End; 2] {
    [(link.link.a, link.a_to_b), (link.link.b, link.b_to_a)].map(|(end, sent)| {
        let core = state.eth(end).unwrap().cores.first().unwrap();
        let busy = core.channels.iter().filter(|channel| channel.bytes_sent != 0);
        (busy.map(|c| (c.bytes_sent, c.receiver_ack, c.meaning)).collect(), sent)
    })
}

#[test]
fn both_ends_of_a_link_agree_on_what_is_in_flight_while_workers_delay() {
    const DELAY_CYCLES: u32 = 1_000_000;
    let mut bench = Bench::new("n300");
    let collective =
        Request { delay_cycles: DELAY_CYCLES, ..Request::new(Op::AllGather, 512 * 1024) };
    let mut run = bench.start(&collective, RunSettings::default());
    let read_set = ReadSet { links: true, ..ReadSet::default() };
    let (mut snapshots, mut agree) = (0, 0);
    while snapshots < 12 {
        match run.poll(&mut bench.target, &mut bench.images).unwrap() {
            RunProgress::Running { stage: Stage::Transfer, done, .. } if done > 0 => {}
            RunProgress::Running { .. } => {
                bench.target.pass(STEP_CYCLES).unwrap();
                continue;
            }
            other @ RunProgress::Finished(_) => panic!("{other:?}"),
        }
        let snapshot = bench.target.read(&plan(bench.target.mesh(), &bench.images, &read_set));
        bench.images.learn(bench.target.mesh(), &snapshot);
        let state = inspect(&snapshot, bench.target.mesh(), &bench.images);
        snapshots += 1;
        let of_run = |link: &&LinkState| ends(&state, link).iter().any(|end| !end.0.is_empty());
        let [link] = state.links.iter().filter(of_run).collect::<Vec<_>>()[..] else { continue };
        assert!(link.apart_cycles.is_some_and(|apart| apart < 1_000_000), "{link:?}");
        // A ring of two uses one link in both directions. Each has a message of 16 KiB, which the
        // receiving worker holds.
        let channel = (16_384, 1, ChannelMeaning::AcknowledgedNotDone);
        let end = (vec![channel, channel], Some(16_384));
        agree += u32::from(ends(&state, link) == [end.clone(), end]);
        bench.target.pass(u64::from(DELAY_CYCLES) / 3).unwrap();
    }
    // If a message changes during a snapshot, the ends can differ.
    assert!(agree >= 9, "{agree} of {snapshots}");
    run.cancel();
    bench.finish(&mut run).unwrap();
    bench.is_given_back();
    let read_set = plan(bench.target.mesh(), &bench.images, &read_set);
    let snapshot = bench.target.read(&read_set);
    let state = inspect(&snapshot, bench.target.mesh(), &bench.images);
    for link in &state.links {
        let core = state.eth(link.link.a).unwrap().cores.first().unwrap();
        assert_eq!((&core.waypoint, core.channels.len()), (&Reading::Absent, 0), "{link:?}");
        assert_eq!((link.a_to_b, link.b_to_a), (None, None), "nothing of the kernel is current");
    }
}

/// A chip that only sends is done before the data arrive, one that receives its share early before
/// the others. The time is that of the slowest.
#[test]
fn nothing_is_faster_than_its_link() {
    let mut bench = Bench::new("n300");
    let bytes = 64 * 1024;
    let mut cycles_of = |op, root, last| {
        let collective = Request { root, ..Request::new(op, bytes) };
        let mut run = bench.start(&collective, RunSettings::default());
        let report = bench.finish(&mut run).unwrap().unwrap();
        println!("{op:?} from {root}: {} cycles of chip {}", report.time_cycles, report.last);
        assert_eq!((report.wrong, report.last), (Some(0), ChipId(last)), "{op:?}");
        report.time_cycles as f64
    };
    // A link carries 12.5 bytes per cycle.
    for root in [0, 1] {
        assert!(cycles_of(Op::Broadcast, root, root as u16) >= bytes as f64 / 12.5);
        assert!(cycles_of(Op::Reduce, root, root as u16) >= bytes as f64 / 12.5);
        cycles_of(Op::Scatter, root, root as u16);
        cycles_of(Op::Gather, root, root as u16);
    }
    // Each chip receives from the other.
    assert!(cycles_of(Op::SendReceive, 0, 0) >= bytes as f64 / 12.5);
}

/// The chips of a T3000 are launched long after each other, and its buffers hold much of the data.
#[test]
fn no_time_is_above_the_rate_of_the_links() {
    let mut bench = Bench::new("t3000");
    let line = |op| Request { topology: Some(TopologyKind::Line), ..Request::new(op, 1 << 20) };
    let rooted = |op, root| Request { root, ..Request::new(op, 1 << 20) };
    for request in [
        rooted(Op::Scatter, 0),
        rooted(Op::Scatter, 5),
        rooted(Op::Broadcast, 0),
        rooted(Op::Gather, 3),
        line(Op::AllGather),
        line(Op::SendReceive),
    ] {
        let settings = RunSettings { check: false, ..RunSettings::default() };
        let mut run = bench.start(&request, settings);
        let report = bench.finish(&mut run).unwrap().unwrap();
        let program = run.program();
        let longest = report.chips.iter().map(ChipTimes::transfer_cycles).max();
        assert_eq!(Some(report.time_cycles), longest, "{request:?}");
        let rate = program.bus_factor * program.size_bytes as f64 / report.time_cycles as f64;
        println!("{:?}: {} cycles, {rate}", request.op, report.time_cycles);
        assert!(rate <= program.link_rate() && rate > 1.0, "{request:?}: {report:?}");
        if request.op.has_root() {
            assert_eq!(report.last, program.ranks[request.root as usize], "{request:?}");
        }
    }
}

#[test]
fn every_collective_is_right_on_an_n300() {
    let mut bench = Bench::new("n300");
    bench.all_right(Op::ALL.iter().map(|&op| request(op, 2, 1_031)));
    bench.is_given_back();
}

#[test]
fn every_type_layout_and_direction_is_right_on_an_n300() {
    let mut bench = Bench::new("n300");
    let sums = [Op::ReduceScatter, Op::AllReduce, Op::Reduce];
    let types = [DataType::Float32, DataType::Bfloat16];
    let sums_of = |data_type| sums.map(|op| Request { data_type, ..request(op, 2, 777) });
    bench.all_right(types.into_iter().flat_map(sums_of));
    let sharded = |op| Request { layout: TensorLayout::Sharded, ..request(op, 2, 5_003) };
    bench.all_right([Op::AllGather, Op::AllReduce, Op::AllToAll].map(sharded));
    let worker_initiated = |op| Request { worker_initiated: true, ..request(op, 2, 2_050) };
    bench.all_right([Op::AllGather, Op::ReduceScatter, Op::SendReceive].map(worker_initiated));
    let kind = Some(TopologyKind::Line);
    bench.all_right([Op::AllGather, Op::Broadcast].map(|op| {
        let bidirectional = Bidirectional::FullTensors;
        Request { topology: kind, bidirectional, ..request(op, 2, 1) }
    }));
}

#[test]
fn every_collective_is_right_on_a_t3000() {
    let mut bench = Bench::new("t3000");
    bench.all_right(Op::ALL.iter().map(|&op| request(op, 8, 515)));
    bench.all_right([Request {
        bidirectional: Bidirectional::HalfTensors,
        topology: Some(TopologyKind::Ring),
        ..request(Op::AllGather, 8, 9_000)
    }]);
    bench.is_given_back();
}

#[test]
fn a_galaxy_gathers() {
    let mut bench = Bench::new("galaxy");
    bench.all_right([request(Op::AllGather, 32, 65)]);
}

#[test]
fn a_run_counts_its_bytes_and_its_iterations() {
    let mut bench = Bench::new("n300");
    let settings = RunSettings { warmups: 1, iterations: 2, ..RunSettings::default() };
    let mut run = bench.start(&request(Op::AllGather, 2, 40_000), settings);
    let mut stages = Vec::new();
    let report = loop {
        match run.poll(&mut bench.target, &mut bench.images).unwrap() {
            RunProgress::Running { stage, done, of } => {
                assert!(done <= of, "{stage:?} {done} of {of}");
                if stages.last() != Some(&stage) {
                    stages.push(stage);
                }
                bench.target.pass(500).unwrap();
            }
            RunProgress::Finished(Some(report)) => break report,
            RunProgress::Finished(None) => panic!("the run was not cancelled"),
        }
    };
    for stage in [Stage::Fill, Stage::Transfer, Stage::Check] {
        assert!(stages.contains(&stage), "{stage:?} of {stages:?}");
    }
    assert_eq!((report.wrong, report.iterations, report.last), (Some(0), 2, ChipId(0)));
    let last = report.chips.iter().find(|times| times.chip == report.last).unwrap();
    assert!(last.ready_cycles >= last.started_cycles && last.transfer_cycles() > 1_000);
    assert!(report.time_cycles > 1_000);
}

#[test]
fn a_cancelled_run_leaves_nothing() {
    let mut bench = Bench::new("n300");
    let collective = request(Op::AllGather, 2, 50_000);
    let mut run = bench.start(&collective, RunSettings::default());
    bench.until_it_moves(&mut run);
    run.cancel();
    assert_eq!(bench.finish(&mut run), Ok(None));
    bench.is_given_back();
    refuse_if_in_use(&mut bench.target, &bench.images, run.program()).unwrap();
    bench.all_right([request(Op::AllGather, 2, 100)]);
    // A run that is cancelled before its first poll has nothing to stop.
    let mut run = bench.start(&collective, RunSettings::default());
    run.cancel();
    assert_eq!(bench.finish(&mut run), Ok(None));
}

#[test]
fn a_dead_link_is_named_and_everything_given_back() {
    let mut bench = Bench::new("t3000");
    let near = |chip: ChipId| bench.target.mesh().chip(chip).unwrap().pcie;
    let links = &bench.target.mesh().links;
    let ends = links.iter().find(|link| near(link.a.chip) && near(link.b.chip)).unwrap();
    let chips = vec![ends.a.chip, ends.b.chip];
    let collective = Request { chips, ..request(Op::AllGather, 2, 50_000) };
    let settings = RunSettings { deadline_cycles: 300_000, ..RunSettings::default() };
    let mut run = bench.start(&collective, settings);
    let edm = run.program().edms[0].place;
    let channel = crate::common::layout().tile_at(edm.tile).unwrap().channel.unwrap();
    let fault: Fault = format!("link:{}.{channel}:down@5us", edm.chip).parse().unwrap();
    run.fault(fault);
    let link = bench
        .target
        .mesh()
        .links
        .iter()
        .find(|link| [link.a, link.b].contains(&EthId { chip: edm.chip, channel }));
    let link = Root::link(link.unwrap());
    let (error, verdict) = bench.stands(&mut run);
    let message = crate::common::sentence(&error);
    println!("{message}");
    assert!(matches!(error.cause, Cause::TookTooLong(_)), "{message}");
    assert!(message.contains("no progress") && message.contains(" edm"), "{message}");
    let first = &verdict.findings[0];
    assert_eq!((first.condition, first.place), (Condition::LinkDown, link), "{verdict:?}");
    assert!(first.waiting > 0, "{first:?}");
    bench.is_given_back();
}

/// The far chip of an n300 is lost with its links.
#[test]
fn what_cannot_be_given_back_is_reported() {
    let mut bench = Bench::new("n300");
    let settings = RunSettings { deadline_cycles: 300_000, ..RunSettings::default() };
    let mut run = bench.start(&request(Op::AllGather, 2, 50_000), settings);
    bench.until_it_moves(&mut run);
    run.fault("link:0.8:down".parse().unwrap());
    run.fault("link:0.9:down".parse().unwrap());
    let message = bench.finish(&mut run).unwrap_err().sentence(crate::common::layout());
    println!("{message}");
    assert!(message.contains("no progress") && message.contains("cleanup failed"), "{message}");
    assert!(message.contains("link 0:e8-1:e0 is down, a route to chip 1"), "{message}");
    assert!(!message.contains("0x"), "no raw words: {message}");
    let near = Place { chip: ChipId(0), tile: crate::common::layout().eth_channel(8).unwrap() };
    bench.target.pass(50_000).unwrap();
    assert_eq!(bench.word(near, crate::common::layout().eth.l1.launch_flag.at), 0);
}

#[test]
fn a_core_that_stands_still_is_blamed() {
    let mut bench = Bench::new("n300");
    let settings = RunSettings { deadline_cycles: 300_000, ..RunSettings::default() };
    let slow = Request { delay_cycles: 20_000, ..Request::new(Op::AllGather, 512 * 1024) };
    let mut run = bench.start(&slow, settings);
    bench.until_it_moves(&mut run);
    run.fault("core:1.e1:stuck".parse().unwrap());
    let (error, verdict) = bench.stands(&mut run);
    let message = error.sentence(crate::common::layout());
    println!("{message}");
    assert!(message.contains("no progress") && message.contains("1:e1 edm"), "{message}");
    assert!(!message.contains("0x"), "{message}");
    let place = bench.target.mesh().place(EthId { chip: ChipId(1), channel: 1 }).unwrap();
    let core = CoreId { chip: place.chip, tile: place.tile, core: CoreKind::Erisc };
    let first = &verdict.findings[0];
    assert_eq!((first.condition, first.place), (Condition::CoreStuck, Root::Core(core)));
    assert!(first.sentence.contains("its heartbeat does not move"), "{first:?}");
    let at = first.evidence.iter().find(|it| it.name.contains("waypoint")).unwrap();
    // The source has EDMR at three places, and each other waypoint at one.
    assert!(at.value.contains("(firmware/device/") || at.value == "EDMR", "{first:?}");
}

/// A compute core has no heartbeat. It stands still if it does not take its go message or does not
/// use what it waits for.
#[test]
fn a_worker_that_stands_still_is_blamed_and_not_the_cores_that_wait_for_it() {
    for (when, says) in [("@0ns", "did not take its go message"), ("", "does not continue")] {
        let mut bench = Bench::new("n300");
        let settings = RunSettings { deadline_cycles: 300_000, ..RunSettings::default() };
        let slow = Request { delay_cycles: 20_000, ..Request::new(Op::AllGather, 512 * 1024) };
        let mut run = bench.start(&slow, settings);
        if when.is_empty() {
            bench.until_it_moves(&mut run);
        }
        let worker = run.program().workers.iter().find(|worker| worker.place.chip == ChipId(1));
        let place = worker.unwrap().place;
        run.fault(format!("core:1.{}:brisc:stuck{when}", place.tile).parse().unwrap());
        let (error, verdict) = bench.stands(&mut run);
        let message = error.sentence(crate::common::layout());
        println!("{message}");
        assert!(message.contains(&format!("{place} ccl_worker (")), "{message}");
        let core = CoreId { chip: place.chip, tile: place.tile, core: CoreKind::Brisc };
        let first = &verdict.findings[0];
        assert_eq!((first.condition, first.place), (Condition::CoreStuck, Root::Core(core)));
        assert!(first.sentence.contains(says), "{first:?}");
    }
}

/// Once a kernel has ended, the L1 of its live words can hold other data.
#[test]
fn nothing_is_in_flight_once_the_kernels_have_ended() {
    let mut bench = Bench::new("n300");
    let collective = Request { delay_cycles: 1_000_000, ..Request::new(Op::AllGather, 512 * 1024) };
    let mut run = bench.start(&collective, RunSettings::default());
    bench.until_it_moves(&mut run);
    // The snapshots of the live view find the addresses of the live words.
    let read_set = ReadSet { links: true, ..ReadSet::default() };
    let edms: Vec<Place> = run.program().edms.iter().map(|edm| edm.place).collect();
    let mut carried = 0;
    for _ in 0..3 {
        let state = bench.inspected(&read_set);
        carried += state.links.iter().filter_map(|link| link.a_to_b).sum::<u64>();
        bench.target.pass(100_000).unwrap();
    }
    assert!(carried > 0, "data moved");
    run.cancel();
    bench.finish(&mut run).unwrap();
    // The next run starts the applications again, and its data overwrite the live words of this
    // run.
    for edm in &edms {
        let core = CoreId { chip: edm.chip, tile: edm.tile, core: CoreKind::Erisc };
        let places: Vec<u64> =
            bench.images.channel_places(core).iter().filter_map(|(_, sync)| *sync).collect();
        assert!(!places.is_empty());
        for sync in places {
            bench.target.write(edm.at(sync), &0x6199_2541_u32.to_le_bytes()).unwrap();
        }
        let flag = edm.at(crate::common::layout().eth.l1.launch_flag.at);
        bench.target.write(flag, &1_u32.to_le_bytes()).unwrap();
    }
    let state = bench.inspected(&read_set);
    let far = |bytes: Option<u64>| bytes.unwrap_or(0);
    for link in &state.links {
        assert_eq!((far(link.a_to_b), far(link.b_to_a)), (0, 0), "{:?}", link.link);
    }
}

/// A parked kernel does not time out.
#[test]
fn a_parked_kernel_is_waited_for() {
    let mut bench = Bench::new("n300");
    let settings = RunSettings { deadline_cycles: 150_000, ..RunSettings::default() };
    let mut run = bench.start(&request(Op::AllGather, 2, 30_000), settings);
    let fills = Stage::Fill;
    while !matches!(
        run.poll(&mut bench.target, &mut bench.images).unwrap(),
        RunProgress::Running { stage, .. } if stage == fills
    ) {
        bench.target.pass(300).unwrap();
    }
    let place = run.program().fills[0].place;
    let pause = "ccl_worker_state.control.pause_at_stage";
    let worker = bench.images.named("ccl_worker").unwrap();
    let at = place.at(worker.symbols.locate(pause).unwrap().address());
    bench.target.write(at, &0u32.to_le_bytes()).unwrap();
    for _ in 0..40 {
        let progress = run.poll(&mut bench.target, &mut bench.images);
        let waits = matches!(progress, Ok(RunProgress::Running { stage, .. }) if stage == fills);
        assert!(waits, "{progress:?}");
        bench.target.pass(20_000).unwrap();
    }
    bench.target.write(at, &u32::MAX.to_le_bytes()).unwrap();
    assert_eq!(bench.finish(&mut run).unwrap().unwrap().wrong, Some(0));
}

#[test]
fn wrong_elements_are_counted() {
    let mut bench = Bench::new("n300");
    let mut program = compile(bench.target.mesh(), &request(Op::AllGather, 2, 300)).unwrap();
    // One command of one worker copies to the wrong place or not at all.
    let copy = flags::FROM_TENSOR | flags::TO_TENSOR;
    let copies = |c: &&mut collectives::WorkerCommand| c.flags & copy == copy;
    let command = program.workers.iter_mut().flat_map(|w| &mut w.commands).find(copies).unwrap();
    command.flags &= !flags::TO_TENSOR;
    if command.flags & flags::TO_CHANNEL == 0 {
        command.flags |= flags::TO_TENSOR;
        command.source = command.destination;
    }
    let mut run = Run::new(program, RunSettings::default());
    let report = bench.finish(&mut run).unwrap().unwrap();
    println!("{:?}", report.wrong_ranges);
    let [wrong] = &report.wrong_ranges[..] else { panic!("{:?}", report.wrong_ranges) };
    assert!((290..=300).contains(&wrong.elements), "{wrong}");
    assert_eq!(report.wrong, Some(wrong.elements));
}

#[test]
fn the_kernels_words_are_those_of_the_program() {
    let (images, _) = ImageMap::firmware();
    let worker = images.named("ccl_worker").unwrap();
    for (name, flag) in [
        ("CCL_FROM_TENSOR", flags::FROM_TENSOR),
        ("CCL_FROM_CHANNEL", flags::FROM_CHANNEL),
        ("CCL_TO_TENSOR", flags::TO_TENSOR),
        ("CCL_TO_CHANNEL", flags::TO_CHANNEL),
        ("CCL_WAIT", flags::WAIT),
        ("CCL_SIGNAL", flags::SIGNAL),
        ("CCL_FILL", flags::FILL),
        ("CCL_DIGEST", flags::DIGEST),
        ("CCL_CREDIT", flags::CREDIT),
    ] {
        let constant = worker.symbols.constant(name).unwrap();
        assert_eq!(constant.as_u64(), Some(flag.into()), "{name}");
    }
}
