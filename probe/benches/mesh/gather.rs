//! An all-gather with EDMs, on one thread and on two, with equal bytes and cycles at the end.

use super::busy::{digest, open};
use super::{case, instructions, memory_mib, timed};
use collectives::{Op, Request, Run, RunProgress, RunReport, RunSettings, Stage, compile};
use machine::target::Target;
use std::sync::Mutex;
use transport::emulator_bar::EmulatorBar;

/// A mesh, bytes per chip, and links per edge.
const CASES: [(&str, u64, u32); 2] = [("t3000", 1 << 20, 1), ("galaxy,cabling=torus", 1 << 20, 4)];
/// The time between two polls of the workers.
const STEP_CYCLES: u64 = 20_000;

/// Runs each case on one thread and on two.
pub(crate) fn run() {
    for (name, ..) in CASES {
        let [one, two] = [1, 2].map(|threads| case(&format!("gather {name} {threads}")));
        assert_eq!(one[1..], two[1..], "{name}: one thread and two");
        let rate = |output: &[String]| output[0].parse::<f64>().unwrap();
        println!(
            "  two threads: {:.2} times as fast, same bytes and cycles",
            rate(&two) / rate(&one)
        );
    }
}

/// The host's cost while data moved.
#[derive(Default)]
struct Spent {
    cycles: u64,
    seconds: f64,
    processor: f64,
    instructions: (u64, u64),
}

/// Runs one mesh on `threads` threads.
pub(crate) fn one(name: &str, threads: usize) {
    let &(_, bytes, links) = CASES.iter().find(|case| case.0 == name).unwrap();
    let (machine, mut target, mut images) = open(name, threads);
    let size = bytes * target.mesh().chips.len() as u64;
    let request = Request { links, ..Request::new(Op::AllGather, size) };
    let program = compile(target.mesh(), &request).unwrap();
    let (workers, edms) = (program.workers.len(), program.edms.len());
    // A long deadline covers filling and checking: only the host's time is measured.
    let settings = RunSettings { deadline_cycles: 1_000_000_000, ..RunSettings::default() };
    let mut run = Run::new(program, settings);
    let mut spent = Spent::default();
    let mut at = None;
    let report = loop {
        match run.poll(&mut target, &mut images).unwrap() {
            RunProgress::Running { stage, .. } => {
                if at != Some(stage) {
                    eprintln!("{name}: {}", stage.words());
                }
                at = Some(stage);
                pass(&machine, stage, &mut spent);
            }
            RunProgress::Finished(Some(report)) => break report,
            RunProgress::Finished(None) => panic!("the run was cancelled"),
        }
    };
    assert_eq!(report.wrong, Some(0));
    print(name, threads, (workers, edms), &spent, &report);
    println!("{} {} {:016x}", spent.cycles as f64 / spent.seconds, report.time_cycles, {
        digest(machine.lock().unwrap().mesh_mut())
    });
}

/// Lets time pass, and measures its cost while data moves.
fn pass(machine: &Mutex<EmulatorBar>, stage: Stage, spent: &mut Spent) {
    let mut machine = machine.lock().unwrap();
    let mesh = machine.mesh_mut();
    if !stage.is_transfer() {
        return mesh.clock(STEP_CYCLES);
    }
    let before = instructions(mesh);
    let (seconds, processor) = timed(|| mesh.clock(STEP_CYCLES));
    let after = instructions(mesh);
    spent.cycles += STEP_CYCLES;
    spent.seconds += seconds;
    spent.processor += processor;
    spent.instructions.0 += after.0 - before.0;
    spent.instructions.1 += after.1 - before.1;
}

fn print(name: &str, threads: usize, kernels: (usize, usize), spent: &Spent, report: &RunReport) {
    let rate = |count: u64| count as f64 / spent.seconds / 1e6;
    println!(
        "{name}: all-gather in {:.1} us by {} workers and {} EDMs, {threads} threads, {:.0} k cycles/s ({:.0} k by processor time), {:.0} M instructions/s of which {:.0} M executed, {} MiB",
        report.time_cycles as f64 / 1e3,
        kernels.0,
        kernels.1,
        rate(spent.cycles) * 1e3,
        spent.cycles as f64 / spent.processor / 1e3,
        rate(spent.instructions.0),
        rate(spent.instructions.1),
        memory_mib("VmHWM")
    );
}
