//! `queues`: the routing queues of gateways and the transmit queues of Ethernet tiles.

use super::cores::check_on;
use crate::output::{Columns, json};
use crate::shape::schema;
use crate::target::{Style, end_of_all, judge, open, report};
use crate::verb::{Pages, Schemas, Verb};
use console::exit::{Failure, Outcome};
use console::locate::{self, NamedPlace};
use console::machine::Opening;
use console::queues::{QueueState, queue_spans, queues};
use decode::inspect::ReadSet;
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

    fn run(&self, target: &Opening, style: Style) -> Result<Outcome, Failure> {
        let place = self.chip.as_deref().map(locate::place).transpose().map_err(Failure::Usage)?;
        let chip = match place {
            None => None,
            Some(NamedPlace::Chip(chip)) => Some(chip),
            Some(_) => return Err(Failure::Usage("queues takes a chip, such as 0".to_owned())),
        };
        let mut machine = open(target)?;
        check_on(&machine.mesh(), place)?;
        let mut read_set = ReadSet { links: true, ..ReadSet::default() };
        let mut snapshot = machine.take(&read_set);
        // Links tell which tiles have queues, and these where base firmware keeps its own.
        for _ in 0..2 {
            read_set.spans = queue_spans(&snapshot.state, &snapshot.memory, chip);
            snapshot = machine.take(&read_set);
        }
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
