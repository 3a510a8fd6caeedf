//! The study `race`: a row for each round, and what the races are.

use super::{Kind, Mismatch, Misread, RaceRound, RaceStudy, Stuck, Took, study};
use crate::shape::{Choice, Options, Report, Study, StudyError, Table, Unit, column};
use serde_json::{Value, json};

/// The two races of the guide, with kernels that omit its precautions and with kernels that follow
/// it.
pub const STUDY: Study = Study {
    name: "race",
    about: "Reproduce the two races of the vendor's Ethernet guide, asynchronous start and completion, and print the outcome",
    options: &[
        Choice::new("mesh", "MESH", "n300", "The mesh; its first free link is taken"),
        Choice::new("kind", "RACE", "both", "Which race: start, completion or both"),
        Choice::new(
            "seed",
            "N",
            "0",
            "The first seed: channels, messages, the receiver's time for each, the delay of its chip",
        ),
        Choice::new("seeds", "N", "5", "Number of seeds"),
    ],
    tables: &[ROUNDS],
    run,
};

const MOST_SEEDS: u64 = 100_000;
const ROUNDS: Table = Table {
    name: "rows",
    columns: &[
        column("SEED", "seed", Unit::Count),
        column("RACE", "race", Unit::Text(10)),
        column("KERNELS", "kernels", Unit::Text(18)),
        column("CHANNELS", "channels", Unit::Count),
        column("ROUNDS", "rounds", Unit::Count),
        column("DELAY", "delay_cycles", Unit::Cycles),
        column("MISREAD", "misreads", Unit::Count),
        column("WORDS OVERWRITTEN", "mismatched_words", Unit::Count),
        column("STUCK", "stuck", Unit::Count),
        column("EMULATED TIME", "cycles", Unit::Cycles),
    ],
};

fn taken(misread: &Misread) -> Value {
    json!({
        "end": misread.end.to_string(),
        "op": misread.op,
        "addr": misread.addr,
        "bytes_sent": misread.bytes_sent,
        "of_op": misread.of.0,
        "of_message": misread.of.1,
        "taken_for": misread.took.name(),
        "wanted_message": misread.wanted,
    })
}

fn overwritten(mismatch: &Mismatch) -> Value {
    json!({
        "end": mismatch.end.to_string(),
        "op": mismatch.op,
        "addr": mismatch.addr,
        "expected": mismatch.expected,
        "found": mismatch.found,
        "written_by_op": mismatch.written_by(),
    })
}

fn waits(stuck: &Stuck) -> Value {
    json!({
        "end": stuck.end.to_string(),
        "op": stuck.op,
        "waits_for": stuck.waits_for.map(Took::name),
        "channel": stuck.channel,
        "addr": stuck.addr,
        "bytes_sent": stuck.bytes_sent,
    })
}

fn row(round: &RaceRound) -> Value {
    let draw = round.draw;
    json!({
        "seed": round.seed,
        "race": round.kind.name(),
        "kernels": kernels(round),
        "proper": round.proper,
        "left_out": (!round.proper).then(|| round.kind.left_out()),
        "sender": round.ends.0.to_string(),
        "receiver": round.ends.1.to_string(),
        "channels": draw.channels,
        "rounds": draw.rounds,
        "payload_bytes": draw.payload_bytes,
        "delay_cycles": draw.delay_cycles,
        "late_cycles": draw.late_cycles,
        "misreads": round.misreads.iter().map(taken).collect::<Vec<_>>(),
        "mismatched_words": round.mismatched_words,
        "mismatches": round.mismatches.iter().map(overwritten).collect::<Vec<_>>(),
        "stuck": round.stuck.iter().map(waits).collect::<Vec<_>>(),
        "cycles": round.cycles,
        "notes": round.sentences(),
    })
}

fn kernels(round: &RaceRound) -> String {
    if round.proper {
        "as in the guide".to_owned()
    } else {
        format!("without {}", round.kind.left_out())
    }
}

/// Explains a race: how often it did harm, and what was seen the first time.
fn explain(report: &mut Report<'_>, kind: Kind, rounds: &[RaceRound]) -> Value {
    let rounds_of = |proper| rounds.iter().filter(move |r| r.kind == kind && r.proper == proper);
    let harmful = |proper| rounds_of(proper).filter(|round| round.is_harmed());
    let [all, harmed] = [
        [false, true].map(|it| rounds_of(it).count()),
        [false, true].map(|it| harmful(it).count()),
    ];
    let (text, left_out) = (kind.explanation(), kind.left_out());
    report.note(format!(
        "\n{text}\nwithout {left_out}: harm in {} of {} rounds; as in the guide: in {} of {}",
        harmed[0], all[0], harmed[1], all[1]
    ));
    for round in [false, true].iter().filter_map(|proper| harmful(*proper).next()) {
        report.note(format!("seed {}, {}:", round.seed, kernels(round)));
        for sentence in round.sentences() {
            report.note(format!("  {sentence}"));
        }
    }
    json!({
        "race": kind.name(),
        "left_out": left_out,
        "text": text,
        "careless_rounds": all[0],
        "careless_harmed": harmed[0],
        "proper_rounds": all[1],
        "proper_harmed": harmed[1],
    })
}

fn run(options: &Options, report: &mut Report<'_>) -> Result<bool, StudyError> {
    let mesh = options.text("mesh");
    let known =
        [("start", Some(Kind::Start)), ("completion", Some(Kind::Completion)), ("both", None)];
    let kind = options.one_of("kind", &known)?;
    let kinds = kind.map_or_else(|| Kind::ALL.to_vec(), |kind| vec![kind]);
    let (seed, seeds) = (options.seed()?, options.number("seeds", [1, MOST_SEEDS])?);
    report.fact("mesh", mesh);
    let setup = RaceStudy { mesh, seed, seeds, kinds };
    let rounds = study(&setup, &mut |round| report.row(&ROUNDS, row(round)));
    let rounds = rounds.map_err(StudyError::on(mesh))?;
    let races: Vec<Value> =
        setup.kinds.iter().map(|kind| explain(report, *kind, &rounds)).collect();
    report.fact("explanations", races);
    Ok(!rounds.iter().any(|round| round.proper && round.is_harmed()))
}
