//! `study mux`: how five policies of a fabric mux fare under the same congestion, beside what the public write-up of the
//! reduce-scatter hang says of them.

use super::measured::failed;
use super::traffic::count;
use crate::exit::{Failure, Outcome};
use crate::output::{Columns, json, say, text};
use crate::verbs::Style;
use crate::words;
use probe::fabric::mux::{MuxCore, Policy};
use probe::study::mux::{Asked, Fate, NEVER_FACTOR, Run, SLOW_FACTOR, STARVE_FACTOR, study};
use serde::Serialize;

/// More seeds than anybody waits for.
const MOST_SEEDS: u64 = 100_000;

#[derive(Serialize)]
struct Table<'a> {
    mesh: &'a str,
    slow_factor: u64,
    starve_factor: u64,
    never_factor: u64,
    policies: Vec<PolicyRow>,
    rows: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct PolicyRow {
    policy: &'static str,
    finishes: u64,
    slows: u64,
    starves: u64,
    never_ends: u64,
    median_percent: u64,
    longest_wait_cycles: u64,
    claim: &'static str,
}

#[derive(Serialize)]
struct Row<'a> {
    seed: u64,
    policy: &'static str,
    fate: &'static str,
    healthy_cycles: u64,
    cycles: u64,
    longest_wait_cycles: u64,
    congestion: &'a str,
    chain: &'a [String],
}

/// What the write-up says of a policy.
fn claim(policy: Policy) -> &'static str {
    match policy {
        Policy::Unbounded => "hangs in 2 to 3 % of the runs",
        Policy::NoWait => "does not hang, becomes slower and slower",
        Policy::UnboundedTeardown | Policy::Bounded32768 => "hangs as often as unbounded",
        Policy::Bounded256 => "does not hang",
    }
}

fn policy_row(policy: Policy, runs: &[Run]) -> PolicyRow {
    let of: Vec<&Run> = runs.iter().filter(|run| run.policy == policy).collect();
    let fate = |fate| of.iter().filter(|run| run.fate == fate).count() as u64;
    let mut percent: Vec<u64> =
        of.iter().map(|run| 100 * run.cycles / run.healthy_cycles.max(1)).collect();
    percent.sort_unstable();
    PolicyRow {
        policy: policy.name(),
        finishes: fate(Fate::Finishes),
        slows: fate(Fate::Slows),
        starves: fate(Fate::Starves),
        never_ends: fate(Fate::NeverEnds),
        median_percent: percent.get(percent.len() / 2).copied().unwrap_or_default(),
        longest_wait_cycles: of.iter().map(|run| run.longest_wait_cycles).max().unwrap_or_default(),
        claim: claim(policy),
    }
}

/// Where these runs are not as the write-up says, what was measured that tells why.
fn disagreement(policy: Policy, runs: &[Run]) -> Option<String> {
    let of: Vec<&Run> = runs.iter().filter(|run| run.policy == policy).collect();
    let hung = of.iter().filter(|run| run.fate >= Fate::Starves).count();
    let longest = of.iter().max_by_key(|run| run.longest_wait_cycles)?;
    let wait = words::cycles(longest.longest_wait_cycles);
    let (seed, all) = (longest.seed, of.len());
    let hangs = !matches!(policy, Policy::NoWait | Policy::Bounded256);
    match (hangs, hung) {
        (true, 0) => Some(format!(
            "the write-up sees hangs, none of these {all} runs does: its longest wait for a slot of the router ({wait}, seed {seed}) \
             ended with the congestion, and no close stayed unanswered meanwhile"
        )),
        (false, 1..) => Some(format!(
            "the write-up sees no hang, {hung} of these {all} runs starve; the longest wait for a slot of the router was {wait} (seed {seed})"
        )),
        (true, _) if of.iter().all(|run| run.fate != Fate::NeverEnds) => Some(format!(
            "{hung} of {all} runs starve, but none hangs for ever as in the write-up: every congestion here ends, after which the router's \
             slots come back, the longest after {wait} (seed {seed})"
        )),
        _ => None,
    }
}

fn row(run: &Run) -> Row<'_> {
    Row {
        seed: run.seed,
        policy: run.policy.name(),
        fate: run.fate.name(),
        healthy_cycles: run.healthy_cycles,
        cycles: run.cycles,
        longest_wait_cycles: run.longest_wait_cycles,
        congestion: &run.congestion,
        chain: &run.chain,
    }
}

/// A table of the policies, and of each one the first chain of waits.
pub(in crate::verbs) fn mux(
    style: Style,
    mesh: &str,
    seed: u64,
    seeds: &str,
    on: &str,
) -> Result<Outcome, Failure> {
    let seeds = count("seeds", seeds, MOST_SEEDS)?;
    let core = match on {
        "brisc" => MuxCore::Tensix,
        "erisc" => MuxCore::Ethernet,
        _ => return Err(Failure::Usage(format!("--on {on}: it can be brisc or erisc"))),
    };
    let asked = Asked { mesh, core, seed, seeds };
    let runs = study(&asked, &mut |_| {}).map_err(failed(mesh))?;
    let policies = Policy::ALL.map(|policy| policy_row(policy, &runs));
    if style.json {
        json(&Table {
            mesh,
            slow_factor: SLOW_FACTOR,
            starve_factor: STARVE_FACTOR,
            never_factor: NEVER_FACTOR,
            policies: policies.into(),
            rows: runs.iter().map(row).collect(),
        })?;
        return Ok(Outcome::Healthy);
    }
    let head = [
        "POLICY",
        "FINISHES",
        "SLOWS",
        "STARVES",
        "NEVER ENDS",
        "MEDIAN",
        "LONGEST WAIT",
        "THE WRITE-UP SAYS",
    ];
    let mut table = Columns::new(&head);
    for row in policies {
        table.row(vec![
            row.policy.to_owned(),
            row.finishes.to_string(),
            row.slows.to_string(),
            row.starves.to_string(),
            row.never_ends.to_string(),
            format!("{} %", row.median_percent),
            words::cycles(row.longest_wait_cycles),
            row.claim.to_owned(),
        ]);
    }
    text(&table.text())?;
    say(&format!(
        "slows: over {SLOW_FACTOR} times the healthy run of the seed; starves: a client that has sent everything waits over {STARVE_FACTOR} times as long for the answer to its close; never ends: not over after {NEVER_FACTOR} times as long; median: of the time beside the healthy run"
    ));
    for policy in Policy::ALL {
        if let Some(why) = disagreement(policy, &runs) {
            say(&format!("{}: {why}", policy.name()));
        }
        let bad = runs.iter().find(|run| run.policy == policy && !run.chain.is_empty());
        if let Some(Run { seed, fate, congestion, chain, .. }) = bad {
            say(&format!("{} with seed {seed} {}: {congestion}", policy.name(), fate.name()));
            for wait in chain {
                say(&format!("  {wait}"));
            }
        }
    }
    Ok(Outcome::Healthy)
}
