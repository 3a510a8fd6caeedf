//! `study mux`: policies of a fabric mux under the same congestion, next to the public write-up of
//! the reduce-scatter hang.

mod claims;
mod rows;
mod sums;

use super::measured::failed;
use super::traffic::count;
use crate::args::MuxArguments;
use crate::exit::{Failure, Outcome};
use crate::output::{Columns, Page, json, say};
use crate::verbs::target::Style;
use crate::words;
use claims::{Claim, claims};
use launch::HostTimeout;
use machine::fabric::MuxCore;
use probe::spec;
pub(in crate::verbs) use rows::Muxes;
use rows::{PolicyRow, host_row, policy_row, row};
use std::fmt::Write as _;
use sums::Sums;
use workloads::study::mux::{
    MuxReport, MuxRun, MuxStudy, MuxWait, NEVER_FACTOR, SLOW_FACTOR, STARVE_FACTOR, study,
};

/// Limits: seeds, channels of a mux, and links of a chip.
const MOST_SEEDS: u64 = 100_000;
const MOST_WORKERS: u64 = 8;
const MOST_LINKS: u64 = 16;

/// The target with the mesh of a seed, if one is to be opened.
pub(in crate::verbs) fn opened(words: &MuxArguments) -> Option<String> {
    words.open.map(|seed| format!("emulator:{},study=mux:{seed}", words.mesh))
}

/// The policies of an option: one, or all.
fn named(word: &str) -> Result<Vec<MuxWait>, Failure> {
    let found: Vec<MuxWait> =
        MuxWait::ALL.into_iter().filter(|route| word == "all" || route.name == word).collect();
    if found.is_empty() {
        let names = MuxWait::ALL.map(|route| route.name).join(", ");
        return Err(Failure::Usage(format!("--hang {word}: it can be {names} or all")));
    }
    Ok(found)
}

fn options(words: &MuxArguments) -> Result<MuxStudy<'_>, Failure> {
    let core = match words.on.as_str() {
        "brisc" => MuxCore::Tensix,
        "erisc" => MuxCore::Ethernet,
        on => return Err(Failure::Usage(format!("--on {on}: it can be brisc or erisc"))),
    };
    let time = |option: &str, word: &str| match spec::time(option, word) {
        Ok(0) => Err(Failure::Usage(format!("{option}: it is 1ns at least"))),
        Ok(cycles) => Ok(cycles),
        Err(error) => Err(Failure::Usage(error.to_string())),
    };
    let links =
        words.links.as_deref().map(|links| count("links", links, MOST_LINKS)).transpose()?;
    Ok(MuxStudy {
        mesh: &words.mesh,
        core,
        workers: count("workers", &words.workers, MOST_WORKERS)? as usize,
        links: links.map(|links| links as usize),
        seed: words.seed,
        seeds: count("seeds", &words.seeds, MOST_SEEDS)?,
        hosts: words.hang.as_deref().map(named).transpose()?.unwrap_or_default(),
        patience: HostTimeout {
            poll_cycles: time("--poll", &words.poll)?,
            give_up_cycles: time("--patience", &words.patience)?,
        },
    })
}

/// Prints a table of the policies, the write-up's claims next to the results, and waits.
pub(in crate::verbs) fn mux(style: Style, words: &MuxArguments) -> Result<Outcome, Failure> {
    let options = options(words)?;
    let seen = study(&options).map_err(failed(&words.mesh))?;
    let sums = MuxWait::ALL.map(|route| Sums::of(route, &seen.runs));
    let claims = claims(&sums);
    let policies: Vec<PolicyRow> = sums.iter().map(policy_row).collect();
    if style.json {
        json(Muxes {
            mesh: &words.mesh,
            workers: options.workers as u64,
            links: seen.links,
            slow_factor: SLOW_FACTOR,
            starve_factor: STARVE_FACTOR,
            never_factor: NEVER_FACTOR,
            policies,
            claims,
            hosts: seen.hosts.iter().map(|host| host_row(host, options.patience)).collect(),
            rows: seen.runs.iter().map(row).collect(),
        })?;
        return Ok(Outcome::Healthy);
    }
    style.print(compared(Page::from(table(&policies)).with("\n"), &claims))?;
    explain();
    first_bad(&seen);
    hosts(&seen, options.patience);
    Ok(Outcome::Healthy)
}

fn table(policies: &[PolicyRow]) -> Columns {
    let mut table = Columns::new(&[
        "POLICY",
        "FINISHES",
        "SLOWS",
        "LOSES",
        "STARVES",
        "NEVER ENDS",
        "MEDIAN",
        "WAITS IN",
        "WAIT",
        "UNSERVED",
        "UNATTENDED",
        "HOLD",
        "CLOSE",
    ]);
    for row in policies {
        table.row(vec![
            row.policy.to_owned(),
            row.finishes.to_string(),
            row.slows.to_string(),
            row.loses.to_string(),
            row.starves.to_string(),
            row.never_ends.to_string(),
            format!("{} %", row.median_percent),
            row.waits.to_string(),
            words::cycles(row.longest_wait_cycles),
            words::cycles(row.longest_unserved_cycles),
            words::cycles(row.longest_unattended_cycles),
            words::cycles(row.longest_hold_cycles),
            words::cycles(row.longest_close_cycles),
        ]);
    }
    table
}

/// Claims next to the measurements, and below the table the reasons of differences.
fn compared(page: Page, claims: &[Claim]) -> Page {
    let mut table = Columns::new(&["POLICY", "THE WRITE-UP SAYS", "", "HERE"]);
    let mut notes = String::new();
    let mut number = 0;
    for claim in claims {
        let mut mark = "=".to_owned();
        if let Some(why) = &claim.why {
            number += 1;
            mark = format!("!{number}");
            let _ = writeln!(notes, "!{number} {}: {why}", claim.policy);
        }
        let cells = [claim.policy, claim.says, &mark, &claim.here];
        table.row(cells.map(str::to_owned).to_vec());
    }
    page.with(table).with(format!("\n{notes}"))
}

fn explain() {
    say(&format!(
        "slows: over {SLOW_FACTOR} times the healthy run of the seed; loses: a bounded drain left packets behind; starves: a close stayed unanswered for longer than the healthy run; never ends: not finished after {NEVER_FACTOR} times as long; median: of the time relative to the healthy run; waits in: runs in which a packet waited for a slot of the router"
    ));
    say(
        "the longest, by the device's clock: wait, of a packet for a slot of the router; unserved, a channel whose packet or client had to wait; unattended, a client's request that was not read; hold, one channel's turn; close, a worker's until it was answered",
    );
}

/// The waits of the first policy with a run that starves or never ends.
fn first_bad(seen: &MuxReport) {
    let bad = MuxWait::ALL
        .iter()
        .find_map(|route| seen.runs.iter().find(|run| run.wait == *route && !run.chain.is_empty()));
    let Some(MuxRun { seed, wait: route, fate, congestion, chain, .. }) = bad else { return };
    say(&format!("{} with seed {seed} {}: {congestion}", route.name, fate.name()));
    for wait in chain {
        say(&format!("  {wait}"));
    }
}

fn hosts(seen: &MuxReport, patience: HostTimeout) {
    for host in &seen.hosts {
        let (name, seed, polls) = (host.wait.name, host.seed, host.polls);
        let poll = words::cycles(patience.poll_cycles);
        let ended = match host.gave_up_cycles {
            Some(cycles) => format!("ended after {}", words::cycles(cycles)),
            None => "received its completion".to_owned(),
        };
        say(&format!(
            "{name} with seed {seed}: a host that polled the dispatcher {polls} times, every {poll}, {ended}: DISPATCH_PROGRESS was {} of {} commands, {} of {} cores were done, and the completion queue had no entry",
            host.progress, host.commands, host.done, host.wait_count
        ));
    }
}
