//! `study race`: the two races of the guide, with kernels that omit its precautions and with
//! kernels that follow it.

use super::lines::Lines;
use super::measured::failed;
use super::traffic::count;
use crate::args::{Race, RaceArguments};
use crate::exit::{Failure, Outcome};
use crate::output::json;
use crate::shape::{End, end};
use crate::verbs::target::Style;
use crate::words;
use schemars::JsonSchema;
use serde::Serialize;
use workloads::study::race::{Kind, Mismatch, Misread, RaceRound, RaceStudy, Stuck, Took, study};

const MOST_SEEDS: u64 = 100_000;
const HEAD: [&str; 10] = [
    "SEED",
    "RACE",
    "KERNELS",
    "CHANNELS",
    "ROUNDS",
    "DELAY",
    "MISREAD",
    "OVERWRITTEN",
    "STUCK",
    "EMULATED TIME",
];
const WIDTHS: [usize; 10] = [5, 10, 18, 8, 6, 10, 7, 11, 5, 13];

/// The two races of the vendor's Ethernet guide.
#[derive(Serialize, JsonSchema)]
pub(in crate::verbs) struct Races<'a> {
    /// The mesh.
    mesh: &'a str,
    /// Each race, and how often it caused harm.
    explanations: Vec<Explained>,
    /// A row for each round.
    rows: Vec<Row>,
}

/// A race.
#[derive(Serialize, JsonSchema)]
struct Explained {
    /// start or completion.
    race: &'static str,
    /// What the unsafe kernels omit: handshake or teardown.
    left_out: &'static str,
    /// The race, and the guide's precaution.
    text: &'static str,
    /// Rounds with the unsafe kernels.
    careless_rounds: usize,
    /// Harmful rounds among them.
    careless_harmed: usize,
    /// Rounds with kernels that follow the guide.
    proper_rounds: usize,
    /// Harmful rounds among them.
    proper_harmed: usize,
}

/// A round of a race. Ops are 1 and 2.
#[derive(Serialize, JsonSchema)]
struct Row {
    /// The seed.
    seed: u64,
    /// start or completion.
    race: &'static str,
    /// Whether the kernels follow the guide.
    proper: bool,
    /// What they omit, if they do not.
    left_out: Option<&'static str>,
    /// The end that sends.
    sender: End,
    /// The end that receives.
    receiver: End,
    /// Channels, with a message on each in every round of an op.
    channels: u32,
    /// Rounds of an op.
    rounds: u32,
    /// Bytes of a message.
    payload_bytes: u32,
    /// The delay of the receiver before it reads a message, in cycles of a nanosecond.
    delay_cycles: u32,
    /// The delay of the second op's launch on the receiver's chip, in cycles of a nanosecond.
    late_cycles: u64,
    /// Sync words that a kernel misread.
    misreads: Vec<MisreadRow>,
    /// Words of messages that were overwritten before the receiver read them.
    mismatched_words: u64,
    /// The first of these of each op.
    mismatches: Vec<Overwritten>,
    /// Kernels that did not end.
    stuck: Vec<StuckRow>,
    /// From the first launch to the end, in cycles of a nanosecond.
    cycles: u64,
    /// Observations, a sentence each.
    notes: Vec<String>,
}

/// A sync word that a kernel misread.
#[derive(Serialize, JsonSchema)]
struct MisreadRow {
    /// The end of the kernel that misread it.
    end: End,
    /// The op of that kernel.
    op: u64,
    /// The word's address in the L1 of that tile.
    addr: u64,
    /// Its value.
    bytes_sent: u64,
    /// The op that it belongs to.
    of_op: u64,
    /// The message that it belongs to, from 1; 0 is the handshake.
    of_message: u64,
    /// What the kernel read it as.
    taken_for: &'static str,
    /// The message that the kernel waited for.
    wanted_message: u64,
}

/// A word of a message that was overwritten before it was read.
#[derive(Serialize, JsonSchema)]
struct Overwritten {
    /// The end that read it.
    end: End,
    /// The op that read it.
    op: u64,
    /// Its address in the L1 of that tile.
    addr: u64,
    /// The word that the sender of this op wrote.
    expected: u32,
    /// The word that was read.
    found: u32,
    /// The op that wrote that word.
    written_by_op: u32,
}

/// A kernel that did not end.
#[derive(Serialize, JsonSchema)]
struct StuckRow {
    /// Its end.
    end: End,
    /// Its op.
    op: u64,
    /// What it waits for; null if that is not known.
    waits_for: Option<&'static str>,
    /// The channel.
    channel: u64,
    /// The address of the sync word of this channel in the L1 of that tile.
    addr: u64,
    /// The word's value.
    bytes_sent: u64,
}

fn taken(misread: &Misread) -> MisreadRow {
    MisreadRow {
        end: end(misread.end),
        op: misread.op,
        addr: misread.addr,
        bytes_sent: misread.bytes_sent,
        of_op: misread.of.0,
        of_message: misread.of.1,
        taken_for: misread.took.name(),
        wanted_message: misread.wanted,
    }
}

fn overwritten(mismatch: &Mismatch) -> Overwritten {
    let Mismatch { op, addr, expected, found, .. } = *mismatch;
    let written_by_op = mismatch.written_by();
    Overwritten { end: end(mismatch.end), op, addr, expected, found, written_by_op }
}

fn waits(stuck: &Stuck) -> StuckRow {
    let Stuck { op, waits_for, channel, addr, bytes_sent, .. } = *stuck;
    let waits_for = waits_for.map(Took::name);
    StuckRow { end: end(stuck.end), op, waits_for, channel, addr, bytes_sent }
}

fn row(round: &RaceRound) -> Row {
    let draw = round.draw;
    Row {
        seed: round.seed,
        race: round.kind.name(),
        proper: round.proper,
        left_out: (!round.proper).then(|| round.kind.left_out()),
        sender: end(round.ends.0),
        receiver: end(round.ends.1),
        channels: draw.channels,
        rounds: draw.rounds,
        payload_bytes: draw.payload_bytes,
        delay_cycles: draw.delay_cycles,
        late_cycles: draw.late_cycles,
        misreads: round.misreads.iter().map(taken).collect(),
        mismatched_words: round.mismatched_words,
        mismatches: round.mismatches.iter().map(overwritten).collect(),
        stuck: round.stuck.iter().map(waits).collect(),
        cycles: round.cycles,
        notes: round.sentences(),
    }
}

fn kernels(round: &RaceRound) -> String {
    if round.proper {
        "as in the guide".to_owned()
    } else {
        format!("without {}", round.kind.left_out())
    }
}

fn cells(round: &RaceRound) -> [String; 10] {
    [
        round.seed.to_string(),
        round.kind.name().to_owned(),
        kernels(round),
        round.draw.channels.to_string(),
        round.draw.rounds.to_string(),
        words::cycles(round.draw.delay_cycles.into()),
        round.misreads.len().to_string(),
        words_of(round.mismatched_words),
        round.stuck.len().to_string(),
        words::cycles(round.cycles),
    ]
}

fn words_of(count: u64) -> String {
    format!("{count} word{}", if count == 1 { "" } else { "s" })
}

fn explained(kind: Kind, rounds: &[RaceRound]) -> Explained {
    let rounds_of = |proper| rounds.iter().filter(move |r| r.kind == kind && r.proper == proper);
    let harmed = |proper| rounds_of(proper).filter(|round| round.is_harmed()).count();
    Explained {
        race: kind.name(),
        left_out: kind.left_out(),
        text: kind.explanation(),
        careless_rounds: rounds_of(false).count(),
        careless_harmed: harmed(false),
        proper_rounds: rounds_of(true).count(),
        proper_harmed: harmed(true),
    }
}

/// The race, how often it caused harm, and the observations of the first time.
fn paragraph(kind: Kind, rounds: &[RaceRound]) -> String {
    let race = explained(kind, rounds);
    let first = |proper| {
        let of = rounds.iter().filter(move |round| round.kind == kind && round.proper == proper);
        of.filter(|round| round.is_harmed()).map(seen).next()
    };
    let seen: String = [first(false), first(true)].into_iter().flatten().collect();
    format!(
        "\n{}\nwithout {}: harm in {} of {} rounds; as in the guide: in {} of {}\n{seen}",
        race.text,
        race.left_out,
        race.careless_harmed,
        race.careless_rounds,
        race.proper_harmed,
        race.proper_rounds
    )
}

fn seen(round: &RaceRound) -> String {
    let sentences = round.sentences().into_iter().map(|sentence| format!("  {sentence}\n"));
    format!("seed {}, {}:\n{}", round.seed, kernels(round), sentences.collect::<String>())
}

/// A line for each round.
pub(in crate::verbs) fn race(style: Style, options: &RaceArguments) -> Result<Outcome, Failure> {
    let RaceArguments { mesh, kind, seed, seeds } = options;
    let kinds = match kind {
        Race::Start => vec![Kind::Start],
        Race::Completion => vec![Kind::Completion],
        Race::Both => Kind::ALL.to_vec(),
    };
    let options = RaceStudy {
        mesh,
        seed: *seed,
        seeds: count("seeds", seeds, MOST_SEEDS)?,
        kinds: kinds.clone(),
    };
    let mut lines = Lines::new(style, &HEAD, &WIDTHS);
    let rounds = study(&options, &mut |round| lines.say(&cells(round))).map_err(failed(mesh))?;
    lines.end()?;
    if style.json {
        let explanations = kinds.iter().map(|kind| explained(*kind, &rounds)).collect();
        json(Races { mesh, explanations, rows: rounds.iter().map(row).collect() })?;
    } else {
        for kind in kinds {
            style.note(&paragraph(kind, &rounds))?;
        }
    }
    let harmed = rounds.iter().any(|round| round.proper && round.is_harmed());
    Ok(if harmed { Outcome::Findings } else { Outcome::Healthy })
}
