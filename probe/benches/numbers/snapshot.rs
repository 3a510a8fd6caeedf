//! One snapshot of every core of a mesh: bus transactions and time, compared with one read per
//! field.

use crate::{best, library, row};
use decode::inspect::{ReadSet, cores, plan};
use images::ImageMap;
use layouts::{NocAddr, TileKind};
use machine::snapshot::{Plan, Span};
use machine::target::{AccessRoute, Allow, Mesh, Preview};
use probe::session::Session;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;
use transport::ttsim::HostCommand;

pub(crate) fn run() {
    for mesh in ["n300", "t3000"] {
        measure(&format!("emulator:{mesh}"));
    }
    for build in ["wh_x2", "wh_x8"] {
        if let Some(library) = library(build) {
            measure(&format!("ttsim:{}", library.display()));
        }
    }
}

fn measure(words: &str) {
    let name = words.rsplit('/').next().unwrap_or(words);
    let started = Instant::now();
    let mut session = match Session::open(words, &HostCommand::default(), Allow::default()) {
        Ok(session) => session,
        Err(error) => return println!("  {name}: {error}"),
    };
    row(&format!("{name}: open"), started.elapsed().as_secs_f64() * 1e3, "ms", "");
    let read_set = ReadSet::everything(session.target().mesh());
    // The first snapshot also verifies which images run.
    let started = Instant::now();
    let first = session.inspect(&read_set).state.transactions;
    let took = started.elapsed().as_secs_f64() * 1e3;
    row(&format!("{name}: first snapshot"), took, "ms", &format!("{first} transactions"));
    let mut transactions = 0;
    let seconds = best(3, || transactions = session.inspect(&read_set).state.transactions);
    let (target, images) = session.parts();
    let plan = plan(target.mesh(), images, &read_set);
    let words = ReadSet { proofs: false, ..read_set.clone() };
    let words = decode::inspect::plan(target.mesh(), images, &words);
    let preview = target.preview(std::slice::from_ref(&plan));
    let spent = spent(target.mesh(), &preview);
    let builds = build_ids(target.mesh(), images, &read_set);
    let started = Instant::now();
    let mut naive = 0;
    let fields = fields(words.spans.iter().chain(&builds), images);
    for span in &fields {
        naive += target.read(&Plan { spans: vec![*span] }).transactions;
    }
    let times = naive as f64 / transactions as f64;
    row(
        &format!("{name}: one snapshot"),
        seconds * 1e3,
        "ms",
        &format!("{transactions} transactions"),
    );
    for (what, (accesses, transactions)) in spent {
        let accesses = format!("transactions for {accesses} ranges");
        row(&format!("{name}:   {what}"), transactions as f64, "", &accesses);
    }
    row(
        &format!("{name}: field by field"),
        started.elapsed().as_secs_f64() * 1e3,
        "ms",
        &format!("{naive} transactions for {} fields, {times:.1} times as many", fields.len()),
    );
}

/// Returns the ranges and transactions of the accesses, by what they read; through a queue, the
/// least.
fn spent(mesh: &Mesh, preview: &Preview) -> BTreeMap<String, (u64, u64)> {
    let mut spent: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for access in &preview.accesses {
        let kind = mesh.layout().kind_at(access.span.addr.tile);
        let register = mesh.layout().soft_reset(kind) == Some(access.span.addr.offset);
        let tile = if kind == TileKind::Eth { "Ethernet" } else { "Tensix" };
        let what = if register { "reset register" } else { "L1" };
        let by = if access.route == AccessRoute::Window { "window" } else { "queue, at least" };
        let sum = spent.entry(format!("{tile} {what}, {by}")).or_default();
        *sum = (sum.0 + 1, sum.1 + access.transactions);
    }
    spent
}

/// Returns the build ids of all images that can run on a core: a client that keeps nothing reads
/// each of them in every snapshot.
fn build_ids(mesh: &Mesh, images: &ImageMap, read_set: &ReadSet) -> Vec<Span> {
    let cores = cores(mesh, images, read_set);
    let ids = cores.iter().flat_map(|core| {
        let ids = images.candidates(core.core).filter_map(|image| image.build_id.as_ref());
        ids.map(|(offset, id)| {
            let addr = NocAddr { chip: core.chip, tile: core.tile, offset: *offset };
            Span { addr, len: id.len() as u32 }
        })
    });
    ids.collect()
}

/// Members of a launch message that a snapshot decodes: enables, mode, id and the five kernels.
const LAUNCH_FIELDS: u64 = 8;

/// Returns the reads of a client that reads every field separately: each once, even if cores share
/// it.
fn fields<'a>(spans: impl Iterator<Item = &'a Span>, images: &ImageMap) -> Vec<Span> {
    let ids = images.all().filter_map(|image| image.build_id.as_ref());
    let ids: BTreeSet<u64> = ids.map(|(at, _)| *at).collect();
    let launches = images.all().filter_map(|image| image.mailbox.as_ref());
    let launches: BTreeSet<(u64, u64)> = launches.map(|m| (m.launch, m.launch_bytes)).collect();
    let split = |span: &Span| {
        let (at, len) = (span.addr.offset, u64::from(span.len));
        let count = match () {
            // A build id is compared as a whole.
            () if ids.contains(&at) || len <= 4 => return vec![*span],
            () if launches.contains(&(at, len)) => LAUNCH_FIELDS,
            () => len / 4,
        };
        let word = |i| Span { addr: NocAddr { offset: at + 4 * i, ..span.addr }, len: 4 };
        (0..count).map(word).collect()
    };
    spans.flat_map(split).collect::<BTreeSet<_>>().into_iter().collect()
}
