//! Repeated launches of collectives on one mesh. None must leave a credit, a packet or a semaphore
//! behind.

use super::rig::{Shared, lock};
use access::bar_target::BarTarget;
use collectives::rest::Rest;
use collectives::{
    Bidirectional, DataType, Op, Program, Request, Run, RunSettings, TensorLayout, compile, fits,
};
use images::ImageMap;
use launch::ControlError;
use launch::dice::Random;
use launch::occupancy::Loaded;
use launch::topology::TopologyKind;
use machine::patience::Deadlines;
use machine::target::{Abilities, Allow, Mesh, Target, TargetBus};
use serde_json::json;
use std::sync::{Arc, Mutex};
use studies::shape::{Choice, Options, Report, Study, StudyError, Table, Unit, column};
use transport::emulator_bar::EmulatorBar;
use workloads::scene::{Scene, SceneError, Workload};

/// Repeated collectives, and what they leave behind.
pub const STUDY: Study = Study {
    name: "relaunch",
    about: "Launch small all-gathers repeatedly, and print what they leave behind",
    options: &[
        Choice::new("mesh", "MESH", "n300", "The mesh"),
        Choice::new("seed", "N", "0", "Seed of sizes, links and directions"),
        Choice::new("count", "N", "100", "Number of launches"),
    ],
    tables: &[LAUNCHES],
    run,
};

/// Limit of the launches: more take days.
const MOST: u64 = 10_000_000;
const LAUNCHES: Table = Table {
    name: "rows",
    columns: &[
        column("LAUNCHES", "runs", Unit::Count),
        column("BYTES", "bytes", Unit::Bytes),
        column("WRONG", "wrong", Unit::Count),
        column("LEFT BEHIND", "left_behind", Unit::Count),
        column("EMULATED TIME", "cycles", Unit::Cycles),
        column("TX", "transactions", Unit::Count),
    ],
};
/// Interval between two polls of a run, in cycles; a run takes some microseconds.
const STEP_CYCLES: u64 = 2_000;
/// Polls after which a tile counts as busy. Base firmware occasionally has transfers of its own, so
/// that one poll is not enough.
const POLLS: u32 = 20;
const POLL_CYCLES: u64 = 500;
/// Most sentences to keep; the same fault often repeats.
const MOST_SENTENCES: usize = 16;
/// Draws after which a mesh counts as unable to run any all-gather.
const MOST_DRAWS: u32 = 1_000;
/// The largest share of a rank, in elements.
const MOST_ELEMENTS: u64 = 3_000;

/// The outcome of the launches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Relaunch {
    /// Launches.
    pub runs: u64,
    /// Bytes that the collectives gathered, over all launches.
    pub bytes: u64,
    /// Wrong elements.
    pub wrong: u64,
    /// Leftovers: credits, packets, semaphores.
    pub left: u64,
    /// The first leftovers, one sentence each.
    pub sentences: Vec<String>,
    /// Emulated time of all launches, in cycles.
    pub cycles: u64,
    /// Host accesses to the bus.
    pub transactions: u64,
}

/// Launches `count` small all-gathers on a fresh mesh and checks after each that everything is at
/// rest. The seed draws their sizes, links and directions. `report` is called with the number of
/// finished launches.
///
/// # Errors
/// When the mesh cannot be built or run an all-gather, or a run is not finished.
pub fn study(
    mesh: &str,
    seed: u64,
    count: u64,
    report: &mut dyn FnMut(u64),
) -> Result<Relaunch, SceneError> {
    let (mut images, _) = ImageMap::firmware();
    let scene = Scene { run: Some(Workload::Idle), seed, ..Scene::new(mesh) };
    let emulated = Arc::new(Mutex::new(EmulatorBar::new(scene.power_on(&images)?)));
    let bar = Box::new(Shared(Arc::clone(&emulated)));
    let abilities = Abilities { allow: Allow::ALL, stepped_time: true, ..Abilities::default() };
    let name = format!("emulator:{mesh}");
    let mut target = BarTarget::open(name, bar, abilities, Deadlines::default())?;
    let mut dice = Random(seed);
    let mut found = Relaunch::default();
    let mut loaded = Loaded::default();
    let rest = Rest::new(&images).map_err(SceneError::Control)?;
    let (start, before) = (target.now()?, target.transactions());
    for run in 0..count {
        let (_, program) =
            drawn(target.mesh(), &images, &mut || draw_request(&mut dice, target.mesh()))?;
        found.bytes += program.size_bytes;
        let mut kernels = Run::new(program.clone(), RunSettings::default())
            .with_loaded(std::mem::take(&mut loaded));
        let finished = kernels
            .finish(&mut target, &mut images, STEP_CYCLES)
            .map_err(SceneError::of_run(&target))?;
        loaded = kernels.into_loaded();
        found.runs += 1;
        let unchecked = || ControlError::Settings("a launch was not checked".to_owned());
        found.wrong += finished.and_then(|run| run.wrong).ok_or_else(unchecked)?;
        let mut left = rest.leftovers(&mut target, &program)?;
        left.extend(unrest(&emulated, &mut target)?);
        found.left += left.len() as u64;
        let room = MOST_SENTENCES.saturating_sub(found.sentences.len());
        let left = left.into_iter().map(|what| format!("after launch {}: {what}", run + 1));
        found.sentences.extend(left.take(room));
        report(found.runs);
    }
    found.cycles = target.now()? - start;
    found.transactions = target.transactions() - before;
    Ok(found)
}

/// Returns a sentence on each tile with requests or transfers in flight at every one of several
/// polls.
fn unrest(
    emulated: &Mutex<EmulatorBar>,
    target: &mut dyn Target,
) -> Result<Vec<String>, SceneError> {
    let mut unrest = lock(emulated).mesh().unrest();
    for _ in 0..POLLS {
        if unrest.is_empty() {
            break;
        }
        target.pass(POLL_CYCLES)?;
        let now = lock(emulated).mesh().unrest();
        unrest.retain(|tile| {
            now.iter().any(|other| (other.chip, other.tile) == (tile.chip, tile.tile))
        });
    }
    let sentence = |tile: &emulator::Unrest| {
        let ((x, y), requests, transfers) = (tile.tile, tile.requests, tile.transfers);
        format!(
            "chip {} tile {x}-{y}: {requests} NoC requests and {transfers} transfers are in flight",
            tile.chip
        )
    };
    Ok(unrest.iter().map(sentence).collect())
}

/// Draws requests until one is of a collective that this mesh can run, and that fits its memories.
pub(super) fn drawn(
    mesh: &Mesh,
    images: &ImageMap,
    draw: &mut dyn FnMut() -> Request,
) -> Result<(Request, Program), ControlError> {
    let mut why = None;
    for _ in 0..MOST_DRAWS {
        let request = draw();
        let fitting = |program| match fits(images, &program) {
            Ok(()) => Ok(program),
            Err(error) => Err(error.sentence(mesh.layout())),
        };
        match compile(mesh, &request).map_err(|error| error.to_string()).and_then(fitting) {
            Ok(program) => return Ok((request, program)),
            Err(error) => why.get_or_insert(format!("{}s can be made: {error}", request.op.name())),
        };
    }
    let why = why.unwrap_or_else(|| "requests can be made".to_owned());
    Err(ControlError::Settings(format!("none of {MOST_DRAWS} drawn {why}")))
}

/// Draws an all-gather.
pub(super) fn draw_request(dice: &mut Random, mesh: &Mesh) -> Request {
    let all = mesh.chips.len() as u64;
    // The two ends of a link, or all chips.
    let pair = dice.one(&mesh.links).filter(|_| dice.below(4) > 0);
    let chips = pair.map_or_else(Vec::new, |link| vec![link.a.chip, link.b.chip]);
    let ranks = if chips.is_empty() { all } else { chips.len() as u64 };
    let data_type = dice.one(&[DataType::Int32, DataType::Float32, DataType::Bfloat16]);
    let data_type = data_type.unwrap_or(DataType::Int32);
    let elements = 1 + dice.below(MOST_ELEMENTS);
    let directions = [Bidirectional::No, Bidirectional::HalfTensors, Bidirectional::FullTensors];
    Request {
        chips,
        topology: dice.one(&[Some(TopologyKind::Ring), Some(TopologyKind::Line), None]).flatten(),
        links: 1 + dice.below(2) as u32,
        data_type,
        layout: dice
            .one(&[TensorLayout::Interleaved, TensorLayout::Sharded])
            .unwrap_or(TensorLayout::Interleaved),
        bidirectional: dice.one(&directions).unwrap_or(Bidirectional::No),
        page_bytes: Some(32 << dice.below(7)),
        buffer_bytes: 2048 << dice.below(3),
        buffers_per_channel: 1 + dice.below(3) as u32,
        worker_initiated: dice.below(2) == 1,
        seed: dice.next() as u32,
        ..Request::new(Op::AllGather, elements * data_type.bytes() * ranks)
    }
}

fn run(options: &Options, report: &mut Report<'_>) -> Result<bool, StudyError> {
    let (mesh, seed) = (options.text("mesh"), options.seed()?);
    let count = options.number("count", [1, MOST])?;
    report.fact("mesh", mesh);
    report.fact("seed", seed);
    let found = study(mesh, seed, count, &mut |done| report.progress(done, count, "launches"));
    let found = found.map_err(StudyError::on(mesh))?;
    let row = json!({
        "runs": found.runs,
        "bytes": found.bytes,
        "wrong": found.wrong,
        "left_behind": found.left,
        "cycles": found.cycles,
        "transactions": found.transactions,
    });
    report.row(&LAUNCHES, row);
    for sentence in found.sentences {
        report.note(sentence);
    }
    Ok(found.wrong + found.left == 0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_mesh_without_links_is_refused() {
        let error = study("n150", 0, 1, &mut |_| ()).unwrap_err().to_string();
        assert!(error.contains("can be made") && error.contains("two chips"), "{error}");
    }

    #[test]
    fn nothing_is_left_behind() {
        for (mesh, count) in [("n300", 12), ("t3000", 4)] {
            let mut reported = 0;
            let found = study(mesh, 7, count, &mut |runs| reported = runs).unwrap();
            assert_eq!(
                (found.runs, found.wrong, found.left, reported),
                (count, 0, 0, count),
                "{found:?}"
            );
        }
    }
}
