//! `operations`: what the chips run, by the host's ids in launch messages.

use super::cores::{check, read_set};
use crate::output::{Columns, Page, json};
use crate::shape::schema;
use crate::target::{Style, inspect, judge, report};
use crate::verb::{Ask, Pages, Schemas, Verb, Watches};
use console::exit::{Failure, Outcome};
use console::locate;
use console::machine::Opening;
use console::merged::{Operations, Running, kernel, on_mesh, running};
use decode::state::{CoreState, MeshState};
use images::inspector::Operation;
use layouts::{ChipId, CoreId};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Print which operations run, with their names, kernels and cores, and which chips are behind.
#[derive(clap::Args, Debug)]
pub(crate) struct OperationsArguments {
    /// Only this chip, tile, Ethernet channel or core: 0, 0:9-6, 0:e8 or 0:1-2:brisc.
    pub(crate) place: Option<String>,
}

impl Verb for OperationsArguments {
    const NAME: &str = "operations";
    const PAGES: Pages = &[("operations", include_str!("../manual/verbs/operations.md"))];
    const SCHEMAS: Schemas = &[("operations", schema::<AllRunning<'_>>)];
    const WATCH: Watches = Watches::Repeats;
    const QUESTION: Ask<Self> = Some(|verb, _| {
        let place = verb.place.as_deref().map(locate::place).transpose().map_err(Failure::Usage)?;
        Ok(Some(Box::new(move |machine| {
            let read_set = read_set(&machine.mesh(), place);
            Ok(machine.preview(&read_set))
        })))
    });
    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        let place = self.place.as_deref().map(locate::place).transpose();
        let place = place.map_err(Failure::Usage)?;
        let snapshot = inspect(target, |mesh| read_set(mesh, place))?;
        let state = &snapshot.state;
        check(state, place)?;
        report(target, state);
        let all = state.chips.iter().flat_map(|chip| &chip.tiles).flat_map(|tile| &tile.cores);
        let passes = |core: &&CoreState| place.is_none_or(|place| place.has_core(core.id));
        // Of one chip or tile there is nothing to compare.
        let compared = place.is_none().then(|| Operations::of(state));
        let running = AllRunning::new(&target.words, state, all.filter(passes), compared.as_ref());
        if style.json {
            json(running)?;
        } else {
            style.print(page(state, &running, compared.as_ref()))?;
        }
        Ok(judge(state))
    }
}

/// The operations that run on a target.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Running")]
struct AllRunning<'a> {
    /// The target, in the words of the command line.
    target: &'a str,
    /// The target's own time of the snapshot, in cycles of a nanosecond.
    cycles: u64,
    /// The operations, by id.
    operations: Vec<OneRunning<'a>>,
    /// The chips that run the lowest id, if others do not: they are behind. Empty if a place was named.
    #[schemars(with = "Vec<ChipId>")]
    behind: BTreeSet<ChipId>,
}

/// An operation with the cores that run it.
#[derive(Serialize, JsonSchema)]
struct OneRunning<'a> {
    /// The `host_assigned_id` of its launch messages.
    id: u32,
    /// What tt-metal's Inspector tells of it; null if none does.
    inspector: Option<&'a Operation>,
    /// The kernels of its cores.
    #[schemars(with = "Vec<String>")]
    kernels: BTreeSet<String>,
    /// Its cores that have not ended.
    #[schemars(with = "Vec<CoreId>")]
    cores: BTreeSet<CoreId>,
}

impl<'a> AllRunning<'a> {
    fn new(
        target: &'a str,
        state: &'a MeshState,
        cores: impl Iterator<Item = &'a CoreState>,
        compared: Option<&Operations>,
    ) -> Self {
        let cores =
            cores.filter_map(|core| Some((core.id, core.running_operation()?, kernel(core))));
        let one = |(id, Running { kernels, cores }): (u32, _)| OneRunning {
            id,
            inspector: state.operations.get(&id.into()),
            kernels,
            cores,
        };
        Self {
            target,
            cycles: state.cycles,
            operations: running(cores).into_iter().map(one).collect(),
            behind: compared.map(Operations::behind).into_iter().flatten().collect(),
        }
    }
}

fn page(state: &MeshState, running: &AllRunning<'_>, compared: Option<&Operations>) -> Page {
    let mut table = Columns::new(&["ID", "OPERATION", "KERNELS", "CORES"]);
    let mut parameters = String::new();
    for one in &running.operations {
        let kernels: Vec<&str> = one.kernels.iter().map(String::as_str).collect();
        table.row(vec![
            one.id.to_string(),
            one.inspector.map_or_else(String::new, |operation| operation.name.clone()),
            kernels.join(" "),
            on_mesh(state, &one.cores),
        ]);
        if let Some(operation) = one.inspector.filter(|it| !it.parameters.is_empty()) {
            let _ = writeln!(parameters, "\nparameters of {}: {}", one.id, operation.parameters);
        }
    }
    let head = compared.map_or_else(String::new, |it| it.text() + "\n\n");
    Page::default().with(head).with(table).with(parameters)
}
