//! The study `mux`: a row for each policy, the write-up's claims, and waits.

use super::claims::claims;
use super::sums::Sums;
use super::{Fate, MuxReport, MuxRun, MuxStudy, NEVER_FACTOR, SLOW_FACTOR, STARVE_FACTOR, study};
use crate::shape::{Choice, Options, Report, Study, StudyError, Table, Unit, column};
use launch::HostTimeout;
use machine::fabric::MuxCore;
use machine::words::cycles;
use serde_json::{Value, json};
use workloads::mux::{ChannelFigures, Figures, HostReport, MuxSetup, MuxWait};

/// Policies of a fabric mux under the same congestion, next to the public write-up of the
/// reduce-scatter hang.
pub const STUDY: Study = Study {
    name: "mux",
    about: "Run the policies of a fabric mux under the same congestion, and print the outcome next to the public write-up's",
    options: &[
        Choice::new(
            "mesh",
            "MESH",
            "t3000",
            "The mesh; the chip with the most links takes part, and its neighbours",
        ),
        Choice::new(
            "seed",
            "N",
            "0",
            "The first seed, which determines what the workers send, and the link's faults",
        ),
        Choice::new("seeds", "N", "20", "Number of seeds"),
        Choice::new(
            "on",
            "CORE",
            "brisc",
            "What the mux runs on: brisc (of a compute tile) or erisc (an Ethernet tile without a link)",
        ),
        Choice::new("workers", "N", "8", "Workers of each mux, at most 8"),
        Choice::optional(
            "links",
            "N",
            "Links, each with a mux of its own; by default two, or as many as there are",
        ),
        Choice::optional(
            "hang",
            "POLICY",
            "Let a host wait for the first run of this policy (or of all) that never ends, until its time limit, as a user would see it: 5 s of emulated time take minutes",
        ),
        Choice::new("poll", "TIME", "100ms", "Time between that host's polls of the dispatcher"),
        Choice::new("patience", "TIME", "5s", "That host's time limit without progress"),
    ],
    tables: &[POLICIES, CLAIMS, RUNS, HOSTS],
    run,
};

/// Limits: seeds, channels of a mux, and links of a chip.
const MOST_SEEDS: u64 = 100_000;
const MOST_WORKERS: u64 = 8;
const MOST_LINKS: u64 = 16;

const POLICIES: Table = Table {
    name: "policies",
    columns: &[
        column("POLICY", "policy", Unit::Text(18)),
        column("FINISHES", "finishes", Unit::Count),
        column("SLOWS", "slows", Unit::Count),
        column("LOSES", "loses", Unit::Count),
        column("STARVES", "starves", Unit::Count),
        column("NEVER ENDS", "never_ends", Unit::Count),
        column("MEDIAN %", "median_percent", Unit::Count),
        column("WAITS IN", "waits", Unit::Count),
        column("WAIT", "longest_wait_cycles", Unit::Cycles),
        column("UNSERVED", "longest_unserved_cycles", Unit::Cycles),
        column("UNATTENDED", "longest_unattended_cycles", Unit::Cycles),
        column("HOLD", "longest_hold_cycles", Unit::Cycles),
        column("CLOSE", "longest_close_cycles", Unit::Cycles),
    ],
};
const CLAIMS: Table = Table {
    name: "claims",
    columns: &[
        column("POLICY", "policy", Unit::Text(18)),
        column("THE WRITE-UP SAYS", "says", Unit::Text(71)),
        column("", "mark", Unit::Text(3)),
        column("HERE", "here", Unit::Text(4)),
    ],
};
const RUNS: Table = Table { name: "rows", columns: &[] };
const HOSTS: Table = Table { name: "hosts", columns: &[] };

/// The policies of an option: one, or all.
fn named(word: &str) -> Result<Vec<MuxWait>, StudyError> {
    let found: Vec<MuxWait> =
        MuxWait::ALL.into_iter().filter(|route| word == "all" || route.name == word).collect();
    if found.is_empty() {
        let names = MuxWait::ALL.map(|route| route.name).join(", ");
        return Err(StudyError::Usage(format!("--hang {word}: it can be {names} or all")));
    }
    Ok(found)
}

fn setup(options: &Options) -> Result<MuxStudy<'_>, StudyError> {
    let links = options.get("links").map(|_| options.number("links", [1, MOST_LINKS]));
    let cores = [("brisc", MuxCore::Tensix), ("erisc", MuxCore::Ethernet)];
    Ok(MuxStudy {
        setup: MuxSetup {
            mesh: options.text("mesh"),
            core: options.one_of("on", &cores)?,
            workers: options.number("workers", [1, MOST_WORKERS])? as usize,
            links: links.transpose()?.map(|links| links as usize),
            seed: options.seed()?,
        },
        seeds: options.number("seeds", [1, MOST_SEEDS])?,
        hosts: options.get("hang").map_or_else(|| Ok(Vec::new()), named)?,
        patience: HostTimeout {
            poll_cycles: options.cycles("poll")?,
            give_up_cycles: options.cycles("patience")?,
        },
    })
}

fn run(options: &Options, report: &mut Report<'_>) -> Result<bool, StudyError> {
    let options = setup(options)?;
    let setup = options.setup;
    let seen = study(&options).map_err(StudyError::on(setup.mesh))?;
    report.fact("mesh", setup.mesh);
    report.fact("workers", setup.workers);
    report.fact("links", seen.links);
    report.fact("slow_factor", SLOW_FACTOR);
    report.fact("starve_factor", STARVE_FACTOR);
    report.fact("never_factor", NEVER_FACTOR);
    let sums = MuxWait::ALL.map(|route| Sums::of(route, &seen.runs));
    for sums in &sums {
        report.row(&POLICIES, policy(sums));
    }
    compare(&sums, report);
    for it in &seen.runs {
        report.row(&RUNS, row(it));
    }
    report.note(format!(
        "\nslows: over {SLOW_FACTOR} times the healthy run of the seed; loses: a bounded drain left packets behind; starves: a close stayed unanswered for longer than the healthy run; never ends: not finished after {NEVER_FACTOR} times as long; median: of the time relative to the healthy run; waits in: runs in which a packet waited for a slot of the router"
    ));
    report.note(
        "the longest, by the device's clock: wait, of a packet for a slot of the router; unserved, a channel whose packet or client had to wait; unattended, a client's request that was not read; hold, one channel's turn; close, a worker's until it was answered",
    );
    first_bad(&seen, report);
    for it in &seen.hosts {
        host(it, options.patience, report);
    }
    Ok(true)
}

type Figure = fn(&ChannelFigures) -> u64;

/// The longest times of channels, each with its key.
const LONGEST: [(&str, Figure); 5] = [
    ("longest_wait_cycles", |channel| channel.wait_cycles),
    ("longest_unserved_cycles", |channel| channel.unserved_cycles),
    ("longest_unattended_cycles", |channel| channel.unattended_cycles),
    ("longest_hold_cycles", |channel| channel.hold_cycles),
    ("longest_close_cycles", |channel| channel.close_cycles),
];

/// Adds the longest times to a row.
fn with_longest(mut row: Value, longest: impl Fn(fn(&ChannelFigures) -> u64) -> u64) -> Value {
    for (key, of) in LONGEST {
        row[key] = longest(of).into();
    }
    row
}

fn policy(sums: &Sums<'_>) -> Value {
    let row = json!({
        "policy": sums.route.name,
        "finishes": sums.fate(Fate::Finishes),
        "slows": sums.fate(Fate::Slows),
        "loses": sums.fate(Fate::Loses),
        "starves": sums.fate(Fate::Starves),
        "never_ends": sums.fate(Fate::NeverEnds),
        "median_percent": sums.median_percent(),
        "waits": sums.waits(),
    });
    with_longest(row, |of| sums.longest(of))
}

fn row(run: &MuxRun) -> Value {
    let Figures { channels, abandoned, missing } = &run.figures;
    let channel = |c: &ChannelFigures| {
        json!({
            "mux": c.mux,
            "channel": c.channel,
            "unserved_cycles": c.unserved_cycles,
            "unattended_cycles": c.unattended_cycles,
            "close_cycles": c.close_cycles,
        })
    };
    let row = json!({
        "seed": run.seed,
        "policy": run.wait.name,
        "fate": run.fate.name(),
        "healthy_cycles": run.healthy_cycles,
        "cycles": run.cycles,
        "packet_cycles": run.packet_cycles,
        "stall_cycles": run.stall_cycles,
        "undone": run.undone,
        "abandoned": abandoned,
        "missing": missing,
        "channels": channels.iter().map(channel).collect::<Vec<_>>(),
        "congestion": run.congestion,
        "chain": run.chain,
    });
    with_longest(row, |of| run.figures.longest(of))
}

/// Claims next to the measurements, and below the table the reasons of differences.
fn compare(sums: &[Sums<'_>; 7], report: &mut Report<'_>) {
    let (mut differences, claims) = (Vec::new(), claims(sums));
    for claim in &claims {
        let mark = claim.why.as_ref().map(|why| {
            let number = differences.len() + 1;
            differences.push(format!("!{number} {}: {why}", claim.policy));
            format!("!{number}")
        });
        report.row(
            &CLAIMS,
            json!({
                "policy": claim.policy,
                "says": claim.says,
                "mark": mark.unwrap_or_else(|| "=".to_owned()),
                "here": claim.here,
                "agrees": claim.agrees,
                "why": claim.why,
            }),
        );
    }
    report.note("");
    for why in differences {
        report.note(why);
    }
}

/// The waits of the first policy with a run that starves or never ends.
fn first_bad(seen: &MuxReport, report: &mut Report<'_>) {
    let bad = MuxWait::ALL
        .iter()
        .find_map(|route| seen.runs.iter().find(|run| run.wait == *route && !run.chain.is_empty()));
    let Some(MuxRun { seed, wait: route, fate, congestion, chain, .. }) = bad else { return };
    report.note(format!("{} with seed {seed} {}: {congestion}", route.name, fate.name()));
    for wait in chain {
        report.note(format!("  {wait}"));
    }
}

fn host(host: &HostReport, patience: HostTimeout, report: &mut Report<'_>) {
    report.row(
        &HOSTS,
        json!({
            "policy": host.wait.name,
            "seed": host.seed,
            "polls": host.polls,
            "poll_cycles": patience.poll_cycles,
            "patience_cycles": patience.give_up_cycles,
            "progress": host.progress,
            "commands": host.commands,
            "done": host.done,
            "waits_for": host.wait_count,
            "gave_up_cycles": host.gave_up_cycles,
            "chain": host.chain,
        }),
    );
    let (name, seed, polls) = (host.wait.name, host.seed, host.polls);
    let poll = cycles(patience.poll_cycles);
    let ended = match host.gave_up_cycles {
        Some(waited) => format!("ended after {}", cycles(waited)),
        None => "received its completion".to_owned(),
    };
    report.note(format!(
        "{name} with seed {seed}: a host that polled the dispatcher {polls} times, every {poll}, {ended}: DISPATCH_PROGRESS was {} of {} commands, {} of {} cores were done, and the completion queue had no entry",
        host.progress, host.commands, host.done, host.wait_count
    ));
}
