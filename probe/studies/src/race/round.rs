//! One round: the first op on both ends, then on each end the second op as soon as its own chip has
//! finished the first.

use super::evidence::{Mismatch, Misread, Stuck, Took};
use super::{Kind, RaceRound};
use crate::bench::{Bench, Start};
use launch::outcome::{Cause, Ended, RunError};
use launch::{Operation, constant_of};
use layouts::EthId;
use machine::place::Place;
use machine::target::Target;
use workloads::scene::SceneError;

const LINK_RACE: &str = "link_race";
const STATE: &str = "link_race_state";
/// Interval at which a kernel is polled, in cycles.
const POLL_CYCLES: u64 = 500;
/// Time after which a kernel counts as stuck, without the receiver's delays, in cycles.
const PATIENCE_CYCLES: u64 = 1_000_000;
/// Most misreads that a kernel reports.
const MOST_MISREADS: u64 = 4;

/// An end of the link.
#[derive(Clone, Copy)]
struct RaceEnd {
    eth: EthId,
    place: Place,
    sends: bool,
}

/// Plays a round, and stops kernels that did not end.
pub(super) fn play(bench: &mut Bench, mut round: RaceRound) -> Result<RaceRound, SceneError> {
    let ends = ends(bench, &round)?;
    let start = run(bench, ends, &mut round)?;
    for end in ends {
        stop(bench, end)?;
    }
    round.cycles = bench.target.now()? - start;
    Ok(round)
}

/// Plays a round, and leaves its kernels as they are.
pub(super) fn leave(bench: &mut Bench, mut round: RaceRound) -> Result<RaceRound, SceneError> {
    let ends = ends(bench, &round)?;
    run(bench, ends, &mut round)?;
    Ok(round)
}

/// Returns the sending and the receiving end.
fn ends(bench: &Bench, round: &RaceRound) -> Result<[RaceEnd; 2], SceneError> {
    let (from, to) = round.ends;
    let sender = RaceEnd { eth: from, place: bench.place(from)?, sends: true };
    let receiver = RaceEnd { eth: to, place: bench.place(to)?, sends: false };
    Ok([sender, receiver])
}

/// Returns when it began, after the boot.
fn run(
    bench: &mut Bench,
    [sender, receiver]: [RaceEnd; 2],
    round: &mut RaceRound,
) -> Result<u64, SceneError> {
    bench.start(&[sender.place, receiver.place])?;
    clear(bench, &[sender, receiver])?;
    let start = bench.target.now()?;
    let both = [receiver, sender].map(|end| launch(bench, round, end, 1));
    let both = both.into_iter().collect::<Result<Vec<_>, _>>()?;
    Operation::finish_all(both, &mut bench.target)?;
    // Each chip continues when it is ready, independent of the other chip.
    await_end(bench, round, sender, 1)?;
    launch(bench, round, sender, 2)?.finish(&mut bench.target)?;
    await_end(bench, round, receiver, 1)?;
    if round.stuck.is_empty() {
        bench.target.pass(round.draw.late_cycles)?;
        launch(bench, round, receiver, 2)?.finish(&mut bench.target)?;
        await_end(bench, round, receiver, 2)?;
    }
    await_end(bench, round, sender, 2)?;
    Ok(start)
}

/// Clears the channels' words, as after a boot.
fn clear(bench: &mut Bench, ends: &[RaceEnd]) -> Result<(), SceneError> {
    let words = &bench.target.mesh().layout().eth.l1.erisc_info;
    let mut clear = Operation::new("clear the channels' words");
    for end in ends {
        clear.write(end.place.at(words.at), vec![0; words.bytes as usize]);
    }
    Ok(clear.finish(&mut bench.target)?)
}

fn launch(
    bench: &mut Bench,
    round: &RaceRound,
    end: RaceEnd,
    op: u32,
) -> Result<Operation, SceneError> {
    let draw = round.draw;
    let start = round.kind == Kind::Start;
    let values = [
        ("run_id", op),
        ("sends", end.sends.into()),
        ("channels", draw.channels),
        ("rounds", draw.rounds),
        ("payload_bytes", draw.payload_bytes),
        ("handshake", (round.proper || !start).into()),
        ("teardown", (round.proper || start).into()),
        ("credit_on_arrival", start.into()),
        ("dwell_cycles", draw.delay_cycles),
    ];
    let start = Start {
        kernel: LINK_RACE,
        arguments: "link_race_args_t",
        place: end.place,
        // The second op finds the text of the first, as with tt-metal's program cache.
        in_place: op > 1,
    };
    bench.launch(&start, &values)
}

/// Lets time pass until a kernel has returned or is stuck, and records its evidence.
fn await_end(
    bench: &mut Bench,
    round: &mut RaceRound,
    end: RaceEnd,
    op: u64,
) -> Result<(), SceneError> {
    // The receiver of an op delays each message.
    let draw = round.draw;
    let messages = u64::from(draw.channels) * u64::from(draw.rounds);
    let until = bench.target.now()? + PATIENCE_CYCLES + 2 * u64::from(draw.delay_cycles) * messages;
    let mut returned = bench.has_returned(end.place)?;
    while !returned && bench.target.now()? < until {
        bench.target.pass(POLL_CYCLES)?;
        returned = bench.has_returned(end.place)?;
    }
    let refused = constant_of(&bench.images, LINK_RACE, "LINK_RACE_REFUSED")?;
    if state(bench, end, "phase")? == u64::from(refused) {
        let refused = RunError::new(Cause::Kernel(Ended::Refused(None))).at(end.place);
        return Err(SceneError::of_run(&bench.target)(refused));
    }
    if !returned {
        let stuck = stuck(bench, end, op)?;
        round.stuck.push(stuck);
    }
    misreads(bench, round, end, op)?;
    let wrong = state(bench, end, "mismatched_words")?;
    round.mismatched_words += wrong;
    if wrong > 0 {
        let [addr, expected, found] = ["address", "expected", "found"]
            .map(|member| state(bench, end, &format!("first_mismatch.{member}")));
        let (expected, found) = (expected? as u32, found? as u32);
        round.mismatches.push(Mismatch { end: end.eth, op, addr: addr?, expected, found });
    }
    Ok(())
}

fn misreads(
    bench: &mut Bench,
    round: &mut RaceRound,
    end: RaceEnd,
    op: u64,
) -> Result<(), SceneError> {
    for n in 0..state(bench, end, "misreads")?.min(MOST_MISREADS) {
        let mut report = |member: &str| state(bench, end, &format!("told[{n}].{member}"));
        let Some(took) = Took::of(report("wait")?) else { continue };
        round.misreads.push(Misread {
            end: end.eth,
            op,
            addr: report("address")?,
            bytes_sent: report("bytes_sent")?,
            of: (report("run_id")?, report("number")?),
            took,
            wanted: report("wanted_number")?,
        });
    }
    Ok(())
}

fn stuck(bench: &mut Bench, end: RaceEnd, op: u64) -> Result<Stuck, SceneError> {
    let waits_for = Took::of(state(bench, end, "waits_for")?);
    let channel = state(bench, end, "waits_on_channel")?;
    // The channels' words follow the four words of the launch.
    let addr = bench.target.mesh().layout().eth.l1.erisc_info.at + 16 * (1 + channel);
    let bytes_sent = bench.word(end.place, addr)?.into();
    Ok(Stuck { end: end.eth, op, waits_for, channel, addr, bytes_sent })
}

fn state(bench: &mut Bench, end: RaceEnd, member: &str) -> Result<u64, SceneError> {
    bench.value(end.place, LINK_RACE, &format!("{STATE}.{member}"))
}

/// Terminates a stuck kernel by its termination signal.
fn stop(bench: &mut Bench, end: RaceEnd) -> Result<(), SceneError> {
    if bench.has_returned(end.place)? {
        return Ok(());
    }
    let signal = bench.address(LINK_RACE, &format!("{STATE}.control.termination_signal"))?;
    let at_once = constant_of(&bench.images, LINK_RACE, "IMMEDIATELY_TERMINATE")?;
    let mut stop = Operation::new(format!("stop {LINK_RACE} on {}", end.place));
    stop.write_word(end.place.at(signal), at_once);
    stop.then(bench.await_returned(end.place)?);
    Ok(stop.finish(&mut bench.target)?)
}
