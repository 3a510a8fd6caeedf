//! `study race`: the two races of the guide, with kernels that leave out what it asks for and with kernels that do it.

use super::lines::Lines;
use super::measured::failed;
use super::traffic::count;
use crate::args::{Race, RaceArguments};
use crate::exit::{Failure, Outcome};
use crate::output::{json, text};
use crate::verbs::target::Style;
use crate::words;
use layouts::EthId;
use serde::Serialize;
use workloads::study::race::{Kind, Mismatch, Misread, RaceStudy, Round, Stuck, Took, study};

const MOST_SEEDS: u64 = 100_000;
const HEAD: [&str; 10] = [
    "SEED",
    "RACE",
    "KERNELS",
    "CHANNELS",
    "ROUNDS",
    "DWELL",
    "MISREAD",
    "OVERWRITTEN",
    "STUCK",
    "EMULATED TIME",
];
const WIDTHS: [usize; 10] = [5, 10, 18, 8, 6, 10, 7, 11, 5, 13];

#[derive(Serialize)]
struct Table<'a> {
    mesh: &'a str,
    explanations: Vec<Explained>,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Explained {
    race: &'static str,
    left_out: &'static str,
    text: &'static str,
    careless_rounds: usize,
    careless_harmed: usize,
    proper_rounds: usize,
    proper_harmed: usize,
}

#[derive(Serialize)]
struct Row {
    seed: u64,
    race: &'static str,
    proper: bool,
    left_out: Option<&'static str>,
    sender: End,
    receiver: End,
    channels: u32,
    rounds: u32,
    payload_bytes: u32,
    delay_cycles: u32,
    late_cycles: u64,
    misreads: Vec<MisreadRow>,
    mismatched_words: u64,
    mismatches: Vec<Overwritten>,
    stuck: Vec<StuckRow>,
    cycles: u64,
    told: Vec<String>,
}

#[derive(Serialize)]
struct End {
    chip: u16,
    channel: u8,
}

#[derive(Serialize)]
struct MisreadRow {
    end: End,
    op: u64,
    addr: u64,
    bytes_sent: u64,
    of_op: u64,
    of_message: u64,
    taken_for: &'static str,
    wanted_message: u64,
}

#[derive(Serialize)]
struct Overwritten {
    end: End,
    op: u64,
    addr: u64,
    expected: u32,
    found: u32,
    written_by_op: u32,
}

#[derive(Serialize)]
struct StuckRow {
    end: End,
    op: u64,
    waits_for: Option<&'static str>,
    channel: u64,
    addr: u64,
    bytes_sent: u64,
}

fn end(eth: EthId) -> End {
    End { chip: eth.chip.0, channel: eth.channel }
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

fn row(round: &Round) -> Row {
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
        told: round.sentences(),
    }
}

fn kernels(round: &Round) -> String {
    if round.proper {
        "as in the guide".to_owned()
    } else {
        format!("without {}", round.kind.left_out())
    }
}

fn cells(round: &Round) -> [String; 10] {
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

fn explained(kind: Kind, rounds: &[Round]) -> Explained {
    let of = |proper| rounds.iter().filter(move |r| r.kind == kind && r.proper == proper);
    let harmed = |proper| of(proper).filter(|round| round.is_harmed()).count();
    Explained {
        race: kind.name(),
        left_out: kind.left_out(),
        text: kind.explanation(),
        careless_rounds: of(false).count(),
        careless_harmed: harmed(false),
        proper_rounds: of(true).count(),
        proper_harmed: harmed(true),
    }
}

/// What the race is, how often it did harm, and what was seen the first time.
fn paragraph(kind: Kind, rounds: &[Round]) -> String {
    let told = explained(kind, rounds);
    let first = |proper| {
        let of = rounds.iter().filter(move |round| round.kind == kind && round.proper == proper);
        of.filter(|round| round.is_harmed()).map(seen).next()
    };
    let seen: String = [first(false), first(true)].into_iter().flatten().collect();
    format!(
        "\n{}\nwithout {}: harm in {} of {} rounds; as in the guide: in {} of {}\n{seen}",
        told.text,
        told.left_out,
        told.careless_harmed,
        told.careless_rounds,
        told.proper_harmed,
        told.proper_rounds
    )
}

fn seen(round: &Round) -> String {
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
    let asked = RaceStudy {
        mesh,
        seed: *seed,
        seeds: count("seeds", seeds, MOST_SEEDS)?,
        kinds: kinds.clone(),
    };
    let mut lines = Lines::new(style, &HEAD, &WIDTHS);
    let rounds = study(&asked, &mut |round| lines.say(&cells(round))).map_err(failed(mesh))?;
    lines.end()?;
    if style.json {
        let explanations = kinds.iter().map(|kind| explained(*kind, &rounds)).collect();
        json(&Table { mesh, explanations, rows: rounds.iter().map(row).collect() })?;
    } else {
        for kind in kinds {
            text(&paragraph(kind, &rounds))?;
        }
    }
    let harmed = rounds.iter().any(|round| round.proper && round.is_harmed());
    Ok(if harmed { Outcome::Findings } else { Outcome::Healthy })
}
