//! Schedules as the CCL guide draws them: what each rank hands on in each time step.

use super::mesh;
use crate::program::flags;
use crate::schedule::{Schedule, ScheduledSend};
use crate::{Bidirectional, Op, Request, compile};
use launch::topology::TopologyKind;
use std::fmt::Write;

/// A line for each way and rank: step and block of every send, with the ranks whose data it holds.
fn told(on: &str, request: &Request) -> String {
    let mesh = mesh(on);
    let schedule = Schedule::of(&compile(&mesh, request).unwrap(), &mesh);
    let mut lines = String::new();
    for way in &schedule.ways {
        for (rank, sends) in way.sends.iter().enumerate() {
            let one = |send: &ScheduledSend| {
                let of: Vec<_> = send.of.iter().map(ToString::to_string).collect();
                let block = send.block.map_or_else(String::new, |block| format!("{block}="));
                format!(" {}:{block}{}", send.step, of.join("+"))
            };
            let sends: String = sends.iter().map(one).collect();
            let _ = writeln!(lines, "+{} {rank}:{sends}", way.ahead);
        }
    }
    lines
}

fn request(op: Op, topology: TopologyKind, chips: u16) -> Request {
    let mut request = Request::new(op, 64 << 10);
    request.topology = Some(topology);
    request.chips = (0..chips).map(layouts::ChipId).collect();
    request
}

#[test]
fn a_ring_hands_each_block_all_the_way_round() {
    let told = told("t3000", &request(Op::AllGather, TopologyKind::Ring, 4));
    assert_eq!(
        told,
        "+1 0: 1:0 2:3 3:2\n+1 1: 1:1 2:0 3:3\n+1 2: 1:2 2:1 3:0\n+1 3: 1:3 2:2 3:1\n"
    );
}
#[test]
fn a_line_hands_blocks_to_both_ends() {
    let told = told("t3000", &request(Op::AllGather, TopologyKind::Line, 4));
    let there = "+1 0: 1:0\n+1 1: 1:1 2:0\n+1 2: 1:2 2:1 3:0\n+1 3:\n";
    let back = "+3 0:\n+3 1: 1:1 2:2 3:3\n+3 2: 1:2 2:3\n+3 3: 1:3\n";
    assert_eq!(told, format!("{there}{back}"));
}

#[test]
fn a_sum_grows_on_its_way() {
    let ring = told("t3000", &request(Op::ReduceScatter, TopologyKind::Ring, 4));
    assert!(ring.contains("+1 2: 1:1=2 2:0=1+2 3:3=0+1+2\n"), "{ring}");
    // The guide's two halves: everything all the way round in both directions.
    let halves = Bidirectional::HalfTensors;
    let halves =
        Request { bidirectional: halves, ..request(Op::ReduceScatter, TopologyKind::Ring, 4) };
    let halves = told("t3000", &halves);
    assert!(
        halves.starts_with(&ring) && halves.contains("+3 2: 1:3=2 2:0=2+3 3:1=0+2+3\n"),
        "{halves}"
    );
}

#[test]
fn every_send_of_every_program_has_its_step() {
    let mesh = mesh("t3000");
    for op in Op::ALL {
        for (topology, links) in [(TopologyKind::Ring, 2), (TopologyKind::Line, 1)] {
            let program = compile(&mesh, &Request { links, ..request(op, topology, 4) });
            let Ok(program) = program else { continue };
            let schedule = Schedule::of(&program, &mesh);
            let sends = schedule.ways.iter().flat_map(|way| way.sends.iter().flatten());
            let commands: usize = sends.map(|send| send.commands.len()).sum();
            let workers = program.workers.iter().filter(|worker| worker.outbound.is_some());
            let all = workers.flat_map(|worker| &worker.commands);
            let meant = all.filter(|command| command.flags & flags::TO_CHANNEL != 0).count();
            // The credits of a socket, which relays hand back, are no blocks.
            let meant = if op == Op::SendReceive { 3 * links as usize } else { meant };
            assert_eq!(commands, meant, "{op:?} {topology}");
            assert!(schedule.steps() > 0);
        }
    }
}
