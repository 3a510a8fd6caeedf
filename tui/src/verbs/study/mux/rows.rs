//! The JSON of `study mux`: policies, claims, hosts and runs.

use super::claims::Claim;
use super::sums::Sums;
use launch::HostTimeout;
use schemars::JsonSchema;
use serde::Serialize;
use workloads::study::mux::{Fate, HostReport, MuxRun, MuxWait};

/// Policies of a fabric mux under the same congestion.
#[derive(Serialize, JsonSchema)]
pub(in crate::verbs) struct Muxes<'a> {
    /// The mesh.
    pub(super) mesh: &'a str,
    /// Workers of each mux.
    pub(super) workers: u64,
    /// Links that take part, each with a mux.
    pub(super) links: usize,
    /// A run is slow above this multiple of its seed's healthy run.
    pub(super) slow_factor: u64,
    /// A close is starved if unanswered for longer than this multiple of the healthy run.
    pub(super) starve_factor: u64,
    /// A run never ends if it has not finished after this multiple of the healthy run.
    pub(super) never_factor: u64,
    /// A row for each policy.
    pub(super) policies: Vec<PolicyRow>,
    /// Claims of the public write-up of the reduce-scatter hang, next to the measurements.
    pub(super) claims: Vec<Claim>,
    /// With --hang: hosts that waited for runs that never end.
    pub(super) hosts: Vec<HostRow<'a>>,
    /// A row for each seed and policy.
    pub(super) rows: Vec<Row<'a>>,
}

/// The results of all runs of a policy. All times are in cycles of a nanosecond.
#[derive(Serialize, JsonSchema)]
pub(super) struct PolicyRow {
    /// Its name.
    pub(super) policy: &'static str,
    /// Runs that finish.
    pub(super) finishes: u64,
    /// Runs that are slow.
    pub(super) slows: u64,
    /// Runs in which a bounded drain left packets behind.
    pub(super) loses: u64,
    /// Runs in which a close was starved.
    pub(super) starves: u64,
    /// Runs that never end.
    pub(super) never_ends: u64,
    /// The median of the times, in percent of the healthy run.
    pub(super) median_percent: u64,
    /// Runs in which a packet waited for a slot of the router.
    pub(super) waits: u64,
    /// The longest wait of a packet for a slot of the router.
    pub(super) longest_wait_cycles: u64,
    /// The longest time for which a channel with something to do was not served.
    pub(super) longest_unserved_cycles: u64,
    /// The longest time in which a mux did not read a client's request.
    pub(super) longest_unattended_cycles: u64,
    /// The longest turn in which a mux waited for the router and served no other channel.
    pub(super) longest_hold_cycles: u64,
    /// The longest time from a worker's close to the answer.
    pub(super) longest_close_cycles: u64,
    /// The write-up's claim about the policy.
    pub(super) claim: &'static str,
}

/// A run. All times are in cycles of a nanosecond.
#[derive(Serialize, JsonSchema)]
pub(super) struct Row<'a> {
    /// The seed.
    pub(super) seed: u64,
    /// The policy.
    pub(super) policy: &'static str,
    /// The outcome: finishes, slows, loses, starves or never ends.
    pub(super) fate: &'static str,
    /// The time of the healthy run.
    pub(super) healthy_cycles: u64,
    /// Its time, by the dispatcher's clock.
    pub(super) cycles: u64,
    /// From packet to packet of a router in the healthy run.
    pub(super) packet_cycles: u64,
    /// How long the routers were without slots, or slow; null: for good.
    pub(super) stall_cycles: Option<u64>,
    /// The longest wait of a packet for a slot of the router.
    pub(super) longest_wait_cycles: u64,
    /// The longest time for which a channel with something to do was not served.
    pub(super) longest_unserved_cycles: u64,
    /// The longest time in which a mux did not read a client's request.
    pub(super) longest_unattended_cycles: u64,
    /// The longest turn in which a mux waited for the router and served no other channel.
    pub(super) longest_hold_cycles: u64,
    /// The longest time from a worker's close to the answer.
    pub(super) longest_close_cycles: u64,
    /// Cores that have not reported to the dispatcher.
    pub(super) undone: u32,
    /// Packets that a bounded drain left behind.
    pub(super) abandoned: u64,
    /// Packets that did not arrive.
    pub(super) missing: u64,
    /// The channels of all muxes.
    pub(super) channels: Vec<ChannelRow>,
    /// The congestion in words.
    pub(super) congestion: &'a str,
    /// The waits, a sentence each, if it starves or never ends.
    pub(super) chain: &'a [String],
}

/// A channel of a mux. All times are in cycles of a nanosecond.
#[derive(Serialize, JsonSchema)]
pub(super) struct ChannelRow {
    /// The number of the mux, which is that of its link.
    pub(super) mux: usize,
    /// The number of the channel.
    pub(super) channel: usize,
    /// The longest time for which it had something to do and was not served.
    pub(super) unserved_cycles: u64,
    /// The longest time in which the mux did not read its client's request.
    pub(super) unattended_cycles: u64,
    /// From its worker's close to the answer.
    pub(super) close_cycles: u64,
}

/// A host that polls the dispatcher of a run until its time limit.
#[derive(Serialize, JsonSchema)]
pub(super) struct HostRow<'a> {
    /// The policy.
    pub(super) policy: &'static str,
    /// The seed.
    pub(super) seed: u64,
    /// Number of polls.
    pub(super) polls: u64,
    /// Time between polls, in cycles of a nanosecond.
    pub(super) poll_cycles: u64,
    /// The time limit, in cycles of a nanosecond.
    pub(super) patience_cycles: u64,
    /// DISPATCH_PROGRESS, which did not change.
    pub(super) progress: u32,
    /// Commands of the dispatcher.
    pub(super) commands: u32,
    /// Cores that have reported to the dispatcher.
    pub(super) done: u32,
    /// Cores that it waits for.
    pub(super) waits_for: u32,
    /// Time from the go to the time limit, in cycles of a nanosecond; null if the run ended before.
    pub(super) gave_up_cycles: Option<u64>,
    /// The waits then, a sentence each.
    pub(super) chain: &'a [String],
}

/// The write-up's claim about a policy.
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

pub(super) fn host_row(seen: &HostReport, patience: HostTimeout) -> HostRow<'_> {
    HostRow {
        policy: seen.wait.name,
        seed: seen.seed,
        polls: seen.polls,
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
