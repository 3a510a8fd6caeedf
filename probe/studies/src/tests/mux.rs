//! The study of the policies of a fabric mux: a small fixed part of `study mux`.

use crate::mux::{Fate, MuxReport, MuxRun, MuxStudy, STARVE_FACTOR, study};
use launch::HostTimeout;
use machine::fabric::MuxCore;
use std::collections::BTreeSet;
use workloads::mux::{ChannelFigures, MuxSetup, MuxWait};

fn setup(core: MuxCore, workers: usize, seed: u64) -> MuxStudy<'static> {
    MuxStudy {
        setup: MuxSetup { mesh: "n300", core, workers, links: None, seed },
        seeds: 1,
        hosts: Vec::new(),
        patience: HostTimeout::default(),
    }
}

fn run<'a>(seen: &'a MuxReport, name: &str) -> &'a MuxRun {
    let mut runs = seen.runs.iter().filter(|run| run.wait.name == name);
    runs.next().unwrap_or_else(|| panic!("no run of {name}"))
}

/// Under the same congestion some policies starve a client that only closes: the starvation of the
/// write-up.
#[test]
fn policies_differ_in_the_closes_that_they_leave_unanswered() {
    let seen = study(&setup(MuxCore::Tensix, 8, 1)).unwrap();
    assert_eq!(seen.runs.len(), MuxWait::ALL.len());
    for run in &seen.runs {
        let close = run.figures.longest(|channel| channel.close_cycles);
        let starves = close > STARVE_FACTOR * run.healthy_cycles;
        let expected = ["unbounded", "unbounded_teardown", "bounded_32768"];
        assert_eq!(run.fate == Fate::Starves, starves, "{run:?}");
        assert_eq!(starves, expected.contains(&run.wait.name), "{run:?}");
        assert_eq!(run.chain.is_empty(), !starves, "{run:?}");
        assert_eq!((run.figures.missing, run.figures.abandoned), (0, 0), "{run:?}");
        assert_eq!(run.figures.channels.len(), 8);
        let unserved = |channel: &ChannelFigures| channel.unserved_cycles > 0;
        assert!(run.figures.channels.iter().all(unserved), "{run:?}");
        assert!(run.figures.longest(|channel| channel.wait_cycles) > 500_000, "{run:?}");
    }
    let longest =
        |name, figure: fn(&ChannelFigures) -> u64| run(&seen, name).figures.longest(figure);
    // The longest turn of one channel, and the longest time without a poll of the others.
    assert!(longest("no_wait", |c| c.hold_cycles) < 1_000);
    assert!(longest("no_wait", |c| c.unattended_cycles) < 10_000);
    assert!((5_000..10_000).contains(&longest("bounded_256", |c| c.hold_cycles)));
    assert!(longest("bounded_256", |c| c.unattended_cycles) < 8 * 10_000);
    assert!((130_000..132_000).contains(&longest("captures_130us", |c| c.hold_cycles)));
    assert!(longest("captures_130us", |c| c.unattended_cycles) > 2 * 130_000);
    assert!((5_000..6_000).contains(&longest("captures_5us", |c| c.hold_cycles)));
    for name in ["unbounded", "unbounded_teardown", "bounded_32768"] {
        assert!(longest(name, |c| c.unattended_cycles) > 500_000, "{name}");
    }
    // Two policies of short turns may end together: the last packets leave at the router's pace.
    let cycles: BTreeSet<(u64, Vec<u64>)> = (seen.runs.iter())
        .map(|run| (run.cycles, run.figures.channels.iter().map(|it| it.hold_cycles).collect()))
        .collect();
    assert_eq!(cycles.len(), MuxWait::ALL.len(), "times are exact cycles of the device");
}

/// At the end of the chain the dispatcher's progress stops, and a host that polls it times out.
#[test]
fn a_host_times_out_on_a_run_whose_router_stays_without_slots() {
    let patience = HostTimeout { poll_cycles: 100_000, give_up_cycles: 1_000_000 };
    let hosts = vec![MuxWait::ALL[0]];
    let setup = MuxStudy { hosts, patience, ..setup(MuxCore::Tensix, 2, 13) };
    let seen = study(&setup).unwrap();
    for run in &seen.runs {
        assert_eq!((run.fate, run.stall_cycles), (Fate::NeverEnds, None), "{run:?}");
        assert!(run.undone > 0, "{run:?}");
        let last = run.chain.last().unwrap();
        assert!(last.contains("PWW") && last.contains("DISPATCH_PROGRESS stays 3 of 5"), "{last}");
    }
    let [host] = seen.hosts.as_slice() else { panic!("{:?}", seen.hosts) };
    let gave_up = host.gave_up_cycles.unwrap();
    assert!((1_000_000..1_300_000).contains(&gave_up), "{host:?}");
    assert!(host.polls >= 10, "{host:?}");
    assert_eq!((host.progress, host.commands, host.wait_count), (3, 5, 3), "{host:?}");
    assert!(host.done < host.wait_count, "{host:?}");
    assert!(host.chain.iter().any(|wait| wait.contains("FWSW")), "{host:?}");
}

/// A mux on an Ethernet tile reports to the dispatcher itself.
#[test]
fn the_study_runs_with_muxes_on_ethernet_tiles() {
    let seen = study(&setup(MuxCore::Ethernet, 2, 1)).unwrap();
    for run in &seen.runs {
        assert!(run.fate < Fate::Loses, "{run:?}");
        assert!(run.figures.longest(|channel| channel.polls) > 0, "{run:?}");
    }
}
