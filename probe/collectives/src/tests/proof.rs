//! Every operation on every topology, with odd and even sizes: data are correct, nothing deadlocks,
//! nothing is left behind.

use super::interpreter::{Machine, peer};
use super::{mesh, reference};
use crate::compile;
use crate::op::Bidirectional;
use crate::op::{DataType, Op};
use crate::program::{Channel, Program};
use crate::request::{Request, TensorLayout};
use launch::topology::TopologyKind;
use layouts::ChipId;
use machine::target::Mesh;
use std::collections::BTreeSet;

/// Checks that every EDM has a peer with the same channels reversed, that one end begins the
/// handshake, and that each worker has its own tile.
fn check_plan(mesh: &Mesh, program: &Program) {
    for edm in &program.edms {
        assert!(edm.channels.len() <= 8);
        let far = peer(mesh, Channel { edm: edm.place, number: 0 }).unwrap().edm;
        let far = program.edms.iter().find(|other| other.place == far).unwrap();
        assert_ne!(edm.handshake_sender, far.handshake_sender);
        assert_eq!(edm.channels.len(), far.channels.len());
        for (near, far) in edm.channels.iter().zip(&far.channels) {
            assert_eq!((near.sends, near.messages), (!far.sends, far.messages));
            assert_eq!(near.workers.len(), 1);
        }
    }
    for workers in [&program.fills, &program.workers, &program.checks] {
        let places: BTreeSet<_> = workers.iter().map(|worker| worker.place).collect();
        assert_eq!(places.len(), workers.len(), "one worker per tile");
        for worker in workers {
            assert!(worker.commands.len() <= 3500 && worker.pages > 0 && worker.slice_pages > 0);
            assert!(mesh.compute_tiles(worker.place.chip).any(|place| place == worker.place));
            assert!(worker.tensors.iter().all(|t| t.page_bytes == worker.tensors[0].page_bytes));
        }
    }
}

fn check_data(request: &Request, kind: TopologyKind, program: &Program, machine: &Machine) {
    assert!(!program.expected.is_empty());
    for expected in &program.expected {
        let worker = &program.checks[expected.worker];
        let command = &worker.commands[expected.command];
        let rank = program.ranks.iter().position(|&chip| chip == worker.place.chip).unwrap();
        let what = format!("{request:?}: rank {rank}, command {}", expected.command);
        assert_eq!(machine.digest(worker, command), expected.digest, "{what}");
        let words = machine.words(worker, command.source, command.source_page);
        let bytes = crate::expected::bytes(program, expected);
        let told: Vec<u32> = bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
            .collect();
        assert_eq!(words, told, "{what}");
        let streams = reference::streams(request, kind, program, rank, expected.command);
        let first = expected.stretch.first_element * request.data_type.bytes() / 4;
        for (index, &word) in (first..).zip(&words) {
            let meant = reference::word(request, &streams, program.count, index);
            assert!(meant.is_none_or(|meant| meant == word), "{what}, word {index}");
        }
    }
    let checked: BTreeSet<ChipId> =
        program.expected.iter().map(|expected| expected.stretch.chip).collect();
    let those = match request.op {
        Op::Reduce | Op::Gather | Op::SendReceive => 1,
        _ => program.ranks.len(),
    };
    assert_eq!(checked.len(), those);
}

fn prove(mesh: &Mesh, kind: TopologyKind, request: &Request, seed: u64) {
    let program = match compile(mesh, request) {
        Ok(program) => program,
        Err(error) => panic!("{request:?}: {error}"),
    };
    check_plan(mesh, &program);
    let mut machine = Machine::new(&program, seed);
    machine.fill(&program);
    for _ in 0..2 {
        machine.run(mesh, &program);
        check_data(request, kind, &program, &machine);
    }
}

/// Returns a small request whose blocks have `elements` elements.
fn request(op: Op, kind: TopologyKind, chips: &[u16], ranks: u64, elements: u64) -> Request {
    let parts = if op.cuts() { ranks } else { 1 };
    Request {
        chips: chips.iter().map(|&chip| ChipId(chip)).collect(),
        topology: Some(kind),
        page_bytes: Some(64),
        buffer_bytes: 192,
        ..Request::new(op, elements * parts * 4)
    }
}

/// Meshes, chips and ranks.
const PLACES: [(&str, &[u16], u64); 5] = [
    ("n300", &[], 2),
    ("t3000", &[0, 1, 3, 2], 4),
    ("t3000", &[0, 1, 2], 3),
    ("t3000", &[], 8),
    ("galaxy", &[], 32),
];

fn prove_everywhere(op: Op, ways: &[(TopologyKind, Bidirectional)]) {
    let mut seed = 1;
    for (name, chips, ranks) in PLACES {
        let mesh = mesh(name);
        for &(kind, bidirectional) in ways {
            if kind == TopologyKind::Ring && ranks == 3 {
                continue;
            }
            let sizes: &[u64] = if ranks > 8 { &[1, 117] } else { &[1, 16, 47, 117, 421] };
            for (index, &elements) in sizes.iter().enumerate() {
                let data_type =
                    [DataType::Int32, DataType::Float32, DataType::Bfloat16][(index + seed) % 3];
                let parts = if op.cuts() { ranks } else { 1 };
                let layout =
                    [TensorLayout::Interleaved, TensorLayout::Sharded][(index + seed / 3) % 2];
                let bytes = elements * parts * data_type.bytes();
                let root = if op.has_root() { (seed as u64 % ranks) as u32 } else { 0 };
                let links = if name == "galaxy" || ranks == 4 { 1 + index as u32 % 2 } else { 1 };
                let buffers_per_channel = 1 + (seed as u32 / 2) % 3;
                let request = Request {
                    data_type,
                    bytes,
                    layout,
                    root,
                    links,
                    bidirectional,
                    buffers_per_channel,
                    worker_initiated: index % 2 == 1,
                    ..request(op, kind, chips, ranks, elements)
                };
                prove(&mesh, kind, &request, seed as u64);
                seed += 1;
            }
        }
    }
}

const RING: (TopologyKind, Bidirectional) = (TopologyKind::Ring, Bidirectional::No);
const HALF: (TopologyKind, Bidirectional) = (TopologyKind::Ring, Bidirectional::HalfTensors);
const FULL: (TopologyKind, Bidirectional) = (TopologyKind::Ring, Bidirectional::FullTensors);
const LINE: (TopologyKind, Bidirectional) = (TopologyKind::Line, Bidirectional::No);

#[test]
fn all_gather() {
    prove_everywhere(Op::AllGather, &[RING, HALF, FULL, LINE]);
}

#[test]
fn reduce_scatter() {
    prove_everywhere(Op::ReduceScatter, &[RING, HALF, FULL, LINE]);
}

#[test]
fn all_reduce() {
    prove_everywhere(Op::AllReduce, &[RING, HALF, LINE]);
}

#[test]
fn broadcast() {
    prove_everywhere(Op::Broadcast, &[RING, HALF, FULL, LINE]);
}

#[test]
fn reduce() {
    prove_everywhere(Op::Reduce, &[RING, HALF, FULL, LINE]);
}

#[test]
fn gather() {
    prove_everywhere(Op::Gather, &[RING, HALF, FULL, LINE]);
}

#[test]
fn scatter() {
    prove_everywhere(Op::Scatter, &[RING, HALF, FULL, LINE]);
}

#[test]
fn all_to_all() {
    prove_everywhere(Op::AllToAll, &[RING, HALF, FULL, LINE]);
}

#[test]
fn send_receive() {
    prove_everywhere(Op::SendReceive, &[RING, LINE]);
}

fn sentence(name: &str, request: &Request) -> String {
    compile(&mesh(name), request).unwrap_err().to_string()
}

#[test]
fn an_impossible_request_is_refused_in_a_sentence() {
    let broadcast = Request { root: 8, ..Request::new(Op::Broadcast, 4096) };
    assert_eq!(sentence("t3000", &broadcast), "root 8: the ranks are 0 to 7");
    let gather = Request { root: 1, ..Request::new(Op::AllGather, 4096) };
    assert_eq!(sentence("t3000", &gather), "all-gather has no root");
    assert_eq!(
        sentence("t3000", &Request::new(Op::AllGather, 4100)),
        "4100 bytes are not a whole number of int32 elements of 4 bytes for each of 8 ranks: must be a multiple of 32"
    );
    let odd = Request { data_type: DataType::Bfloat16, ..Request::new(Op::AllReduce, 3) };
    assert_eq!(
        sentence("n300", &odd),
        "3 bytes are not a whole number of bfloat16 elements of 2 bytes"
    );
    let page =
        Request { page_bytes: Some(8192), buffer_bytes: 4096, ..Request::new(Op::Reduce, 64) };
    assert_eq!(
        sentence("n300", &page),
        "a page of 8192 bytes does not fit an EDM buffer of 4096 bytes"
    );
    let full =
        Request { bidirectional: Bidirectional::FullTensors, ..Request::new(Op::AllReduce, 64) };
    assert_eq!(
        sentence("n300", &full),
        "all-reduce on a ring does not support full-tensors: each sum must pass every rank"
    );
    assert_eq!(
        sentence("n150", &Request::new(Op::AllGather, 64)),
        "a collective needs two chips or more, not 1"
    );
}

#[test]
fn sizes_counts_and_factors_are_those_of_nccl_tests() {
    let t3000 = mesh("t3000");
    let told = Op::ALL.map(|op| {
        let program = compile(&t3000, &Request::new(op, 64 << 10)).unwrap();
        (op.name(), program.size_bytes, program.count, program.bus_factor)
    });
    let (all, eighth, others) = (16 << 10, 2 << 10, 7.0 / 8.0);
    let size = 64 << 10;
    assert_eq!(
        told,
        [
            ("all-gather", size, eighth, others),
            ("reduce-scatter", size, eighth, others),
            ("all-reduce", size, all, 2.0 * others),
            ("broadcast", size, all, 1.0),
            ("reduce", size, all, 1.0),
            ("gather", size, eighth, others),
            ("scatter", size, eighth, others),
            ("all-to-all", size, eighth, others),
            ("send-receive", size, all, 1.0),
        ]
    );
}

#[test]
fn an_all_gather_has_two_workers_for_each_direction_and_link() {
    let workers = |bidirectional| {
        let request = Request { bidirectional, ..Request::new(Op::AllGather, 64 << 10) };
        compile(&mesh("t3000"), &request).unwrap().workers.len() / 8
    };
    assert_eq!(workers(Bidirectional::No), 2);
    assert_eq!(workers(Bidirectional::HalfTensors), 4);
    assert_eq!(workers(Bidirectional::FullTensors), 4);
}

#[test]
fn large_tensors_are_filled_and_checked_by_more_workers() {
    let mesh = mesh("t3000");
    let workers = |bytes| {
        let program = compile(&mesh, &Request::new(Op::AllGather, bytes)).unwrap();
        (program.fills.len() / 8, program.checks.len() / 8)
    };
    assert_eq!(workers(8 << 10), (1, 1));
    assert_eq!(workers(2 << 20), (8, 8));
    let request = Request { seed: 5, ..Request::new(Op::AllReduce, 600_000) };
    prove(&mesh, TopologyKind::Ring, &request, 9);
}

#[test]
fn a_socket_goes_through_the_chips_between() {
    let request = Request {
        chips: vec![ChipId(4), ChipId(7)],
        page_bytes: Some(64),
        buffer_bytes: 192,
        ..Request::new(Op::SendReceive, 5000)
    };
    let mesh = mesh("t3000");
    let program = compile(&mesh, &request).unwrap();
    assert_eq!(program.ranks.len(), 5, "4-0-2-3-7 or another of that length: {:?}", program.ranks);
    prove(&mesh, TopologyKind::Line, &request, 3);
}
