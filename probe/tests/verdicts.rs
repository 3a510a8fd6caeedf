//! What a verdict says of kernels that went astray, of requests that nobody can answer, of arguments
//! that do not fit, and of a ring that is slow.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use crate::common::{built, idle, layout};
use crate::edm::bench::{self, Bench, FAR, NEAR};
use crate::edm::worker::{self, Command, Shape, Side, Work};

use diagnosis::{Condition, Diagnosis, Finding, Severity};
use images::ImageMap;
use launch::{KernelLaunch, Operation, RingPing, RingPingSettings, Step, launch_kernel};
use layouts::{ChipId, CoreId, CoreKind, NocAddr, NocXy};
use machine::fault::{CoreFault, Fault, FaultKind, LinkFault};
use machine::place::Place;
use machine::target::Target;
use probe::session::Session;
use workloads::scene::Scene;

const TILE: Place = Place { chip: ChipId(0), tile: NocXy { x: 1, y: 2 } };
const CONFIG_BASE: u64 = 0x14000;
/// A jump to itself.
const STAND: u32 = 0x0000_006F;

/// Returns an n300 on which firmware runs on a few compute tiles.
fn bench() -> Bench {
    let (target, images) = built(&Scene { tiles: Some(4), ..idle("n300") });
    Bench::on(target, images)
}

fn judged(bench: Bench) -> Diagnosis {
    let mut session = Session::with_target(Box::new(bench.target), bench.images);
    session.diagnose(2_000_000).unwrap().diagnosis
}

/// Asserts that the first finding is of this kind, and says this.
fn says(diagnosis: &Diagnosis, condition: Condition, words: &str) {
    let all = &diagnosis.findings;
    let first = all.first().unwrap_or_else(|| panic!("no finding"));
    assert_eq!(first.condition, condition, "{all:#?}");
    assert!(first.sentence.contains(words), "{words}: {all:#?}");
}

/// Returns instructions that put a value into register `to`.
fn put(to: u32, value: u32) -> [u32; 2] {
    let low = value & 0xFFF;
    let high = value.wrapping_sub(((low << 20) as i32 >> 20) as u32);
    [high | to << 7 | 0x37, low << 20 | to << 15 | to << 7 | 0x13]
}

/// Returns instructions that store a word.
fn store(at: u32, value: u32) -> Vec<u32> {
    let sw = 6 << 20 | 5 << 15 | 2 << 12 | 0x23;
    [&put(5, at)[..], &put(6, value), &[sw]].concat()
}

/// Returns instructions that jump to an address.
fn jump(to: u32) -> Vec<u32> {
    [&put(5, to)[..], &[5 << 15 | 0x67]].concat()
}

/// Returns instructions that read 64 bytes of a tile over NoC 0: targ_lo, targ_mid, ret_lo, ret_mid, ctrl,
/// at_len_be, cmd_ctrl (wormhole.md 3.3).
fn request(from: NocXy, at: u32) -> Vec<u32> {
    let xy = |tile: NocXy| u32::from(tile.x) << 4 | u32::from(tile.y) << 10;
    let command = [at, xy(from), 0x5_0000, xy(TILE.tile), 0, 64, 1];
    let registers = [0x00, 0x04, 0x0C, 0x10, 0x1C, 0x20, 0x28];
    registers
        .into_iter()
        .zip(command)
        .flat_map(|(to, value)| store(0xFFB2_0000 + to, value))
        .collect()
}

/// Launches a kernel of these instructions, which no ELF has, and judges.
fn plain(instructions: &[u32]) -> Diagnosis {
    let mut bench = bench();
    launch_plain(&mut bench, instructions);
    judged(bench)
}

fn worker_launch(place: Place, arguments: &[u32]) -> KernelLaunch<'static> {
    let mut arguments: Vec<u8> = arguments.iter().flat_map(|word| word.to_le_bytes()).collect();
    arguments.resize(64, 0);
    KernelLaunch {
        place,
        kernel: "tensix_worker",
        firmware: "tensix_brisc",
        core_type: "TENSIX",
        config_base: CONFIG_BASE,
        text_offset: 0x400,
        arguments,
        semaphores: Vec::new(),
        in_place: false,
        host_assigned_id: 1,
    }
}

fn launch_plain(bench: &mut Bench, instructions: &[u32]) {
    launch_instructions(bench, instructions, Vec::new());
}

fn launch_instructions(bench: &mut Bench, instructions: &[u32], semaphores: Vec<u32>) {
    let launch = KernelLaunch { semaphores, host_assigned_id: 2, ..worker_launch(TILE, &[]) };
    // The images of the verdict do not hear of it.
    let mut images = ImageMap::firmware().0;
    let text = CONFIG_BASE + launch.text_offset;
    let bytes: Vec<u8> = instructions.iter().flat_map(|word| word.to_le_bytes()).collect();
    let operation = launch_kernel(&mut images, &launch).unwrap();
    let operation = altered(&operation, |addr, of| {
        if addr.offset == text {
            of.clone_from(&bytes);
        }
    });
    operation.finish(&mut bench.target).unwrap();
    bench.target.pass(100_000).unwrap();
}

/// Returns an operation with other bytes in its writes.
fn altered(operation: &Operation, alter: impl Fn(&NocAddr, &mut Vec<u8>)) -> Operation {
    let mut other = Operation::new(operation.name());
    for step in operation.steps() {
        match step {
            Step::Write { addr, bytes } => {
                let mut bytes = bytes.clone();
                alter(addr, &mut bytes);
                other.write(*addr, bytes);
            }
            Step::Await { what, addr, until, .. } => other.wait(what.clone(), *addr, *until),
        }
    }
    other
}

#[test]
fn a_core_that_executes_where_no_code_is_is_named() {
    let zeros = plain(&jump(0x6_0000));
    says(&zeros, Condition::PcOutsideText, "it executes zeros at 0x60000, where no code is");
    let nowhere = plain(&jump(0x8000_0000));
    let words = "its program counter is 0x80000000, and no memory is there that it executes from";
    says(&nowhere, Condition::PcOutsideText, words);
}

#[test]
fn firmware_that_has_begun_again_is_named() {
    let begun = plain(&jump(0));
    says(&begun, Condition::CoreStuck, "its firmware has begun again while its go message stands");
}

#[test]
fn requests_that_nobody_can_answer_name_what_is_not_there() {
    // tt-metal's firmware prepares the buffer of atomics.
    let prepares = store(0xFFB2_0C0C, 4);
    let stands = |request: Vec<u32>| plain(&[&prepares[..], &request, &[STAND]].concat());
    let fused = stands(request(NocXy { x: 3, y: 1 }, 0));
    says(
        &fused,
        Condition::NocUnanswered,
        "(the last one to 3-1, which is fused off, address 0x0)",
    );
    let mailbox = ImageMap::firmware().0.named("tensix_brisc").unwrap().mailbox.clone().unwrap();
    let barrier = store(mailbox.waypoints as u32, u32::from_le_bytes(*b"NFBW"));
    let full = stands([request(NocXy { x: 3, y: 1 }, 0), barrier].concat());
    says(&full, Condition::NocUnanswered, "1 of transaction id 0 on NoC 0 (the last one to 3-1");
    let past = stands(request(NocXy { x: 3, y: 3 }, 0x30_0000));
    let words = "(the last one to 3-3, address 0x300000, and L1 ends at 0x16e000)";
    says(&past, Condition::NocUnanswered, words);
}

/// Returns a request, and a loop of 256 turns behind it.
fn asked(from: NocXy, at: u32) -> Vec<u32> {
    // addi x7, x7, -1; bne x7, x0, to the line before.
    let turn = [0xFFF << 20 | 7 << 15 | 7 << 7 | 0x13, 0xFE03_9EE3];
    [&request(from, at)[..], &put(7, 256), &turn].concat()
}

/// Returns instructions that are executed again and again.
fn forever(body: &[u32]) -> Vec<u32> {
    // jal x0, to the first line.
    let back = (4 * body.len() as u32).wrapping_neg();
    let to = back & 0xF_F000 | (back >> 11 & 1) << 20 | (back >> 1 & 0x3FF) << 21 | 1 << 31;
    [body, &[to | 0x6F]].concat()
}

#[test]
fn an_endless_retry_is_no_progress() {
    let tile = NocXy { x: 3, y: 3 };
    let retry = plain(&forever(&asked(tile, 0x100)));
    let words = "it sends the same request again and again over NoC 0 to 3-3, address 0x100: ";
    says(&retry, Condition::NotFinished, words);
    // What other requests move is not seen.
    let turns = plain(&forever(&[asked(tile, 0x100), asked(tile, 0x140)].concat()));
    assert_eq!(turns.findings, []);
}

#[test]
fn a_core_that_executes_nothing_does_not_compute() {
    let judged = |fault: Option<CoreFault>| {
        let mut bench = bench();
        launch_plain(&mut bench, &forever(&store(0x6_0000, 1)));
        if let Some(fault) = fault {
            let core = CoreId { chip: TILE.chip, tile: TILE.tile, core: CoreKind::Brisc };
            let kind = FaultKind::Core(core, fault);
            bench.target.disrupt(&Fault { kind, from_cycles: 0, until_cycles: None }).unwrap();
        }
        judged(bench)
    };
    says(&judged(Some(CoreFault::Stuck)), Condition::CoreStuck, "it does not move");
    says(&judged(None), Condition::NotFinished, "");
}

/// Returns instructions that wait until a word has a value.
fn until(at: u32, value: u32) -> Vec<u32> {
    // lw x7, 0(x5); bne x7, x6, to the line before.
    [&put(5, at)[..], &put(6, value), &[5 << 15 | 2 << 12 | 7 << 7 | 0x03, 0xFE63_9EE3]].concat()
}

#[test]
fn a_wait_without_waypoints_is_read_from_the_instructions() {
    let semaphore = CONFIG_BASE as u32 + 64;
    let mut bench = bench();
    launch_instructions(&mut bench, &until(semaphore, 64), vec![63]);
    let words = "it waits for semaphore 0: until 0x14040 (63) is 64, and no other kernel moves";
    says(&judged(bench), Condition::IncrementNeverSent, words);
    // Whose word another one is, nothing says.
    let flag = plain(&until(0x6_0000, 1));
    let words = "it is in a loop that goes on until 0x60000 (0) is 1";
    says(&flag, Condition::NotFinished, words);
}

/// Launches a ring ping whose arguments are altered.
fn ring(alter: impl Fn(&NocAddr, &mut Vec<u8>)) -> Bench {
    let mut bench = bench();
    let ring = RingPing::on(bench.target.mesh()).unwrap();
    ring.prepare(&mut bench.images).unwrap().finish(&mut bench.target).unwrap();
    let launch = ring.launch(&mut bench.images, &RingPingSettings::default()).unwrap();
    altered(&launch, alter).finish(&mut bench.target).unwrap();
    bench.target.pass(200_000).unwrap();
    bench
}

#[test]
fn a_ring_without_a_master_cannot_work() {
    let arguments = layout().eth.l1.kernel_config.at;
    let symbols = &ImageMap::firmware().0;
    let master = &symbols.named("ring_ping").unwrap().symbols;
    let master = master.field("ring_ping_args_t.master").unwrap().offset as usize;
    let none = ring(|addr, bytes| {
        if addr.offset == arguments {
            bytes[master..master + 4].fill(0);
        }
    });
    says(&judged(none), Condition::CannotWork, "none of them is the master of the ring");
}

#[test]
fn a_ring_is_slow_if_its_laps_take_long_beyond_the_delays() {
    let judged = |fault: Option<LinkFault>| {
        let mut bench = ring(|_, _| {});
        if let Some(fault) = fault {
            let end = bench.target.mesh().links[0].a;
            let kind = FaultKind::Link(end, fault);
            let fault = Fault { kind, from_cycles: 0, until_cycles: None };
            bench.target.disrupt(&fault).unwrap();
        }
        bench.target.pass(1_000_000).unwrap();
        judged(bench)
    };
    let slow = judged(Some(LinkFault::Slow { factor: 1_000 }));
    says(&slow, Condition::SlowLink, "times as long as at full speed: one of its links is slow");
    assert_eq!(judged(None).findings, []);
}

/// Lets a worker of chip 0 send to one of chip 1, by the EDM at this place as it believes. Returns both.
fn transfer(bench: &mut Bench, edm: Place) -> [Place; 2] {
    let shape = Shape {
        data_type: 0,
        page_bytes: 1024,
        pages: 10_000,
        last_page_bytes: 1024,
        packet_pages: 1,
        slice_pages: 10_000,
    };
    let workers = [0, 1].map(|chip| bench.worker_tile(chip, 0));
    bench.run_id += 1;
    let side = |edm| Some(Side::new(edm, 0, 2, shape.buffer_bytes()));
    let commands = |flags| vec![Command { flags, ..Command::default() }];
    let sends = commands(worker::FROM_TENSOR | worker::TO_CHANNEL);
    let sends = Work { commands: sends, outbound: side(edm), ..Work::default() };
    let takes = commands(worker::FROM_CHANNEL | worker::TO_TENSOR);
    let takes = Work { commands: takes, inbound: side(FAR), ..Work::default() };
    bench.launch_worker(workers[0], &shape, &sends);
    bench.launch_worker(workers[1], &shape, &takes);
    for ((place, first, semaphore), tile) in
        [(NEAR, true, 1), (FAR, false, 0)].into_iter().zip(workers)
    {
        let mut values = bench::edm(bench.run_id, first, 1, 2, shape.buffer_bytes());
        values.extend(bench::channel(0, first, shape.packets()));
        values.extend(worker::with_workers(0, semaphore, &[tile]));
        bench.launch_edm(place, &values);
    }
    bench.target.pass(200_000).unwrap();
    workers
}

#[test]
fn a_worker_that_names_an_edm_of_others_is_named_with_both() {
    let mut bench = bench();
    let other = Place { tile: NocXy { x: 4, y: 6 }, ..NEAR };
    transfer(&mut bench, other);
    let judged = judged(bench);
    let words = "its outbound EDM is core 0:4-6:erisc, and the EDM that has it as a worker is core 0:9-6:erisc";
    says(&judged, Condition::EndsDiffer, words);
}

#[test]
fn a_text_that_was_overwritten_is_a_fault_though_its_core_only_waits() {
    let mut bench = bench();
    let other = Place { tile: NocXy { x: 4, y: 6 }, ..NEAR };
    let [_, waits] = transfer(&mut bench, other);
    let core = CoreId { chip: waits.chip, tile: waits.tile, core: CoreKind::Brisc };
    let worker = bench.images.loads(core).into_iter().find(|it| it.image.name == "ccl_worker");
    // Of code that is behind it, beside what is compared at once.
    let at = u64::from(worker.unwrap().load_addr(core)) + 0x80;
    bench.target.write(waits.at(at), &0xDEAD_BEEF_u32.to_le_bytes()).unwrap();
    let judged = judged(bench);
    let overwritten = |it: &&Finding| it.condition == Condition::TextOverwritten;
    let found = judged.findings.iter().find(overwritten).expect("a finding");
    assert!(found.sentence.contains(&format!("{at:#x} holds 0xdeadbeef")), "{}", found.sentence);
    assert_eq!(found.severity, Severity::Fault);
}

#[test]
fn a_kernel_that_was_told_to_end_says_so() {
    let mut bench = bench();
    transfer(&mut bench, NEAR);
    bench.terminate(NEAR, "edm", 2);
    bench.target.pass(200_000).unwrap();
    let judged = judged(bench);
    let words = "its kernel edm has ended: it was told to (IMMEDIATELY_TERMINATE)";
    says(&judged, Condition::IncrementNeverSent, words);
}

#[test]
fn a_go_message_that_was_overwritten_under_a_paused_kernel_is_named() {
    let mut bench = bench();
    let [worker, _] = transfer(&mut bench, NEAR);
    bench.set(worker, "ccl_worker", "control.pause_at_stage", 0);
    bench.target.pass(200_000).unwrap();
    let firmware = bench.images.named("tensix_brisc").unwrap().mailbox.clone().unwrap();
    let (word, shift) = firmware.go_word();
    let init = u32::from(firmware.signals.init) << shift;
    bench.target.write(worker.at(word), &init.to_le_bytes()).unwrap();
    let judged = judged(bench);
    let words =
        "its go message was overwritten with INIT while its kernel runs, which was paused (PASW)";
    says(&judged, Condition::TextOverwritten, words);
}

#[test]
fn a_kernel_of_no_known_image_among_others_of_one_is_named() {
    let mut bench = bench();
    // Address, words, iterations, cycles between two, as `help workloads` lists them.
    for tile in [NocXy { x: 2, y: 2 }, NocXy { x: 3, y: 2 }] {
        let launch = worker_launch(Place { tile, ..TILE }, &[0x2_0000, 8, 0, 1000, 1, 0]);
        let launch = launch_kernel(&mut bench.images, &launch).unwrap();
        launch.finish(&mut bench.target).unwrap();
    }
    launch_plain(&mut bench, &[STAND]);
    let words = "it is in a loop that goes on for ever: it reads nothing; its text is that of no known image, while 2 other cores run tensix_worker";
    says(&judged(bench), Condition::CoreStuck, words);
}

#[test]
fn firmware_that_was_overwritten_is_the_cause_of_who_waits_for_its_tile() {
    let mut bench = Bench::emulated();
    let [worker, _] = transfer(&mut bench, NEAR);
    let (at, bytes) = bench.images.named("tensix_brisc").unwrap().build_id.clone().unwrap();
    bench.target.write(worker.at(at), &vec![0; bytes.len()]).unwrap();
    bench.target.write(worker.at(0), &[0; 4]).unwrap();
    bench.terminate(worker, "ccl_worker", 2);
    // Somebody else attaches.
    bench.images = ImageMap::firmware().0;
    let judged = judged(bench);
    says(&judged, Condition::TextOverwritten, "the text of tensix_brisc is not at 0x0, where");
    assert_eq!((judged.findings[0].severity, judged.findings.len()), (Severity::Hang, 1));
    // Once the text was compared the newest snapshot is decoded again.
    assert_eq!(judged.snapshots, 4);
}
