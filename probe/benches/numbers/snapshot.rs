//! One look at every core of a mesh: bus transactions and time, against one read for each field.

use crate::{best, library, row};
use decode::images::ImageMap;
use decode::inspect::{ReadSet, plan};
use layouts::NocAddr;
use machine::snapshot::{Plan, Span};
use machine::target::Allow;
use probe::session::Session;
use std::collections::BTreeSet;
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
    // The first look also proves which images run.
    session.inspect(&read_set);
    let mut transactions = 0;
    let seconds = best(3, || transactions = session.inspect(&read_set).snapshot.transactions);
    let (target, images) = session.parts();
    let plan = plan(target.mesh(), images, &read_set);
    let started = Instant::now();
    let mut naive = 0;
    let fields = fields(&plan, images);
    for span in &fields {
        naive += target.read(&Plan { spans: vec![*span] }).transactions;
    }
    let times = naive as f64 / transactions as f64;
    row(&format!("{name}: one look"), seconds * 1e3, "ms", &format!("{transactions} transactions"));
    row(
        &format!("{name}: field by field"),
        started.elapsed().as_secs_f64() * 1e3,
        "ms",
        &format!("{naive} transactions for {} fields, {times:.1} times as many", fields.len()),
    );
}

/// Members of a launch message that a look decodes: enables, mode, id and the five kernels.
const LAUNCH_FIELDS: u64 = 8;

/// What one asks for who asks for every field by itself: each once, however many cores share it.
fn fields(plan: &Plan, images: &ImageMap) -> Vec<Span> {
    let ids = images.all().filter_map(|image| image.build_id.as_ref());
    let ids: BTreeSet<u64> = ids.map(|(at, _)| *at).collect();
    let launches = images.all().filter_map(|image| image.mailbox.as_ref());
    let launches: BTreeSet<(u64, u64)> = launches.map(|m| (m.launch, m.launch_bytes)).collect();
    let split = |span: &Span| {
        let (at, len) = (span.addr.offset, u64::from(span.len));
        let count = match () {
            // A build id is compared as one.
            () if ids.contains(&at) || len <= 4 => return vec![*span],
            () if launches.contains(&(at, len)) => LAUNCH_FIELDS,
            () => len / 4,
        };
        let word = |i| Span { addr: NocAddr { offset: at + 4 * i, ..span.addr }, len: 4 };
        (0..count).map(word).collect()
    };
    plan.spans.iter().flat_map(split).collect::<BTreeSet<_>>().into_iter().collect()
}
