//! What `study mux --json` prints: policies, claims, hosts and runs.

use super::claims::Claim;
use super::sums::Sums;
use launch::HostPatience;
use serde::Serialize;
use workloads::study::mux::{Fate, HostSeen, MuxRun, MuxWait};

/// Everything.
#[derive(Serialize)]
pub(super) struct Table<'a> {
    pub(super) mesh: &'a str,
    pub(super) workers: u64,
    pub(super) links: usize,
    pub(super) slow_factor: u64,
    pub(super) starve_factor: u64,
    pub(super) never_factor: u64,
    pub(super) policies: Vec<PolicyRow>,
    pub(super) claims: Vec<Claim>,
    pub(super) hosts: Vec<HostRow<'a>>,
    pub(super) rows: Vec<Row<'a>>,
}

#[derive(Serialize)]
pub(super) struct PolicyRow {
    pub(super) policy: &'static str,
    pub(super) finishes: u64,
    pub(super) slows: u64,
    pub(super) loses: u64,
    pub(super) starves: u64,
    pub(super) never_ends: u64,
    pub(super) median_percent: u64,
    pub(super) waits: u64,
    pub(super) longest_wait_cycles: u64,
    pub(super) longest_unserved_cycles: u64,
    pub(super) longest_unattended_cycles: u64,
    pub(super) longest_hold_cycles: u64,
    pub(super) longest_close_cycles: u64,
    pub(super) claim: &'static str,
}

#[derive(Serialize)]
pub(super) struct Row<'a> {
    pub(super) seed: u64,
    pub(super) policy: &'static str,
    pub(super) fate: &'static str,
    pub(super) healthy_cycles: u64,
    pub(super) cycles: u64,
    pub(super) packet_cycles: u64,
    pub(super) stall_cycles: Option<u64>,
    pub(super) longest_wait_cycles: u64,
    pub(super) longest_unserved_cycles: u64,
    pub(super) longest_unattended_cycles: u64,
    pub(super) longest_hold_cycles: u64,
    pub(super) longest_close_cycles: u64,
    pub(super) undone: u32,
    pub(super) abandoned: u64,
    pub(super) missing: u64,
    pub(super) channels: Vec<ChannelRow>,
    pub(super) congestion: &'a str,
    pub(super) chain: &'a [String],
}

#[derive(Serialize)]
pub(super) struct ChannelRow {
    pub(super) mux: usize,
    pub(super) channel: usize,
    pub(super) unserved_cycles: u64,
    pub(super) unattended_cycles: u64,
    pub(super) close_cycles: u64,
}

#[derive(Serialize)]
pub(super) struct HostRow<'a> {
    pub(super) policy: &'static str,
    pub(super) seed: u64,
    pub(super) snapshots: u64,
    pub(super) poll_cycles: u64,
    pub(super) patience_cycles: u64,
    pub(super) progress: u32,
    pub(super) commands: u32,
    pub(super) done: u32,
    pub(super) waits_for: u32,
    pub(super) gave_up_cycles: Option<u64>,
    pub(super) chain: &'a [String],
}

/// What the write-up says of a policy.
fn claim(route: MuxWait) -> &'static str {
    match route.name {
        "unbounded" => "hangs in 2 to 3 % of the runs",
        "no_wait" => "does not hang, becomes slower and slower",
        "bounded_256" | "captures_5us" => "does not hang",
        _ => "hangs as often as unbounded",
    }
}

pub(super) fn policy_row(sums: &Sums<'_>) -> PolicyRow {
    PolicyRow {
        policy: sums.route.name,
        finishes: sums.fate(Fate::Finishes),
        slows: sums.fate(Fate::Slows),
        loses: sums.fate(Fate::Loses),
        starves: sums.fate(Fate::Starves),
        never_ends: sums.fate(Fate::NeverEnds),
        median_percent: sums.median_percent(),
        waits: sums.waits(),
        longest_wait_cycles: sums.longest(|c| c.wait_cycles),
        longest_unserved_cycles: sums.longest(|c| c.unserved_cycles),
        longest_unattended_cycles: sums.longest(|c| c.unattended_cycles),
        longest_hold_cycles: sums.longest(|c| c.hold_cycles),
        longest_close_cycles: sums.longest(|c| c.close_cycles),
        claim: claim(sums.route),
    }
}

pub(super) fn row(run: &MuxRun) -> Row<'_> {
    let channels = run.figures.channels.iter().map(|c| ChannelRow {
        mux: c.mux,
        channel: c.channel,
        unserved_cycles: c.unserved_cycles,
        unattended_cycles: c.unattended_cycles,
        close_cycles: c.close_cycles,
    });
    Row {
        seed: run.seed,
        policy: run.wait.name,
        fate: run.fate.name(),
        healthy_cycles: run.healthy_cycles,
        cycles: run.cycles,
        packet_cycles: run.packet_cycles,
        stall_cycles: run.stall_cycles,
        longest_wait_cycles: run.figures.longest(|c| c.wait_cycles),
        longest_unserved_cycles: run.figures.longest(|c| c.unserved_cycles),
        longest_unattended_cycles: run.figures.longest(|c| c.unattended_cycles),
        longest_hold_cycles: run.figures.longest(|c| c.hold_cycles),
        longest_close_cycles: run.figures.longest(|c| c.close_cycles),
        undone: run.undone,
        abandoned: run.figures.abandoned,
        missing: run.figures.missing,
        channels: channels.collect(),
        congestion: &run.congestion,
        chain: &run.chain,
    }
}

pub(super) fn host_row(seen: &HostSeen, patience: HostPatience) -> HostRow<'_> {
    HostRow {
        policy: seen.wait.name,
        seed: seen.seed,
        snapshots: seen.polls,
        poll_cycles: patience.poll_cycles,
        patience_cycles: patience.give_up_cycles,
        progress: seen.progress,
        commands: seen.commands,
        done: seen.done,
        waits_for: seen.wait_count,
        gave_up_cycles: seen.gave_up_cycles,
        chain: &seen.chain,
    }
}
