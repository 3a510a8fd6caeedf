//! `queues`: the routing queues of gateways and the transmit queues of Ethernet tiles.

use super::cores::check_on;
use crate::output::{Columns, json};
use crate::shape::schema;
use crate::target::{Style, end_of_all, judge, open, report};
use crate::verb::{Ask, Pages, Schemas, Verb, Watches};
use console::exit::{Failure, Outcome};
use console::locate::{self, NamedPlace};
use console::machine::{Machine, Opening};
use console::queues::{QueueState, queue_spans, queues};
use decode::inspect::ReadSet;
use layouts::ChipId;
use machine::target::Mesh;
use schemars::JsonSchema;
use serde::Serialize;

/// Print the queues of base firmware at gateways, and transmit queues: depth, in flight, errors.
#[derive(clap::Args, Debug)]
pub(crate) struct QueuesArguments {
    /// Only gateways and this chip.
    pub(crate) chip: Option<String>,
}

impl Verb for QueuesArguments {
    const NAME: &str = "queues";
    const PAGES: Pages = &[("queues", include_str!("../manual/verbs/queues.md"))];
    const SCHEMAS: Schemas = &[("queues", schema::<Found<'_>>)];

    const WATCH: Watches = Watches::Repeats;
    const QUESTION: Ask<Self> = Some(|verb, _| {
        let asked = QueuesArguments { chip: verb.chip.clone() };
        Ok(Some(Box::new(move |machine| {
            let chip = asked.on(&machine.mesh())?;
            let read_set = read_set(machine, chip);
            Ok(machine.preview(&read_set))
        })))
    });

    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        let mut machine = open(target)?;
        let chip = self.on(&machine.mesh())?;
        let read_set = read_set(&mut machine, chip);
        let snapshot = machine.take(&read_set);
        if let Some(gone) = end_of_all(&snapshot.memory) {
            return Err(Failure::of_access(&target.words, gone));
        }
        let state = &snapshot.state;
        report(target, state);
        let queues = queues(state, &snapshot.memory, chip);
        if style.json {
            json(Found { target: &target.words, cycles: state.cycles, queues })?;
        } else {
            style.print(table(&queues))?;
        }
        Ok(judge(state))
    }
}

impl QueuesArguments {
    /// The chip, if one is named.
    fn on(&self, mesh: &Mesh) -> Result<Option<ChipId>, Failure> {
        let place = self.chip.as_deref().map(locate::place).transpose().map_err(Failure::Usage)?;
        check_on(mesh, place)?;
        match place {
            None => Ok(None),
            Some(NamedPlace::Chip(chip)) => Ok(Some(chip)),
            Some(_) => Err(Failure::Usage("queues takes a chip, such as 0".to_owned())),
        }
    }
}

/// What has the queues: links tell which tiles have some, and these where base firmware keeps its own.
fn read_set(machine: &mut Machine, chip: Option<ChipId>) -> ReadSet {
    let mut read_set = ReadSet { links: true, ..ReadSet::default() };
    for _ in 0..2 {
        let snapshot = machine.take(&read_set);
        read_set.spans = queue_spans(&snapshot.state, &snapshot.memory, chip);
    }
    read_set
}

/// The queues of Ethernet tiles.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Queues")]
struct Found<'a> {
    /// The target, in the words of the command line.
    target: &'a str,
    /// The target's own time of the snapshot, in cycles of a nanosecond.
    cycles: u64,
    /// The queues, by tile.
    queues: Vec<QueueState>,
}

fn table(queues: &[QueueState]) -> Columns {
    let mut table =
        Columns::new(&["TILE", "QUEUE", "GATEWAY", "DEPTH", "IN FLIGHT", "ERRORS", "DONE"]);
    let number = |value: Option<u32>| value.map_or("?".to_owned(), |value| value.to_string());
    for queue in queues {
        table.row(vec![
            queue.at.to_string(),
            queue.kind.name().to_owned(),
            if queue.gateway { "yes" } else { "" }.to_owned(),
            queue.depth_words(),
            number(queue.in_flight),
            number(queue.errors),
            number(queue.done),
        ]);
    }
    table
}
