//! The command schedule of a collective: what each rank hands to another one in each time step, as
//! the CCL guide draws it. A step is one link: what arrives in a step can be handed on in the next.

use super::program::{Channel, Program, WorkerCommand, WorkerPlan, flags};
use super::tensor::INPUT;
use layouts::ChipId;
use machine::place::Place;
use machine::target::Mesh;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The schedule of one program, from its workers' commands alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Schedule {
    /// The chip of each rank.
    pub ranks: Vec<ChipId>,
    /// Whether blocks are summed on their way.
    pub sums: bool,
    /// The slices of a tensor, each of which takes all steps.
    pub slices: u32,
    /// The ways that blocks go, those to the next ranks first.
    pub ways: Vec<ScheduledWay>,
}

/// A way that blocks go: round a ring, or along a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScheduledWay {
    /// How many ranks further the receiver is, modulo the number of ranks.
    pub ahead: usize,
    /// The workers of a rank that do the same with other pages.
    pub workers: usize,
    /// What each rank sends, in the order of the steps.
    pub sends: Vec<Vec<ScheduledSend>>,
}

/// A block that is handed to another rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ScheduledSend {
    /// The time step, from 1.
    pub step: u32,
    /// The rank whose block it is, or, of a sum, the ranks whose data it holds.
    pub of: Vec<u32>,
    /// Number of the block in the rank's tensor, where there are several.
    pub block: Option<u32>,
    /// The commands: index of the worker in the program, and of the command in the worker.
    #[serde(skip)]
    pub commands: Vec<(usize, usize)>,
}

/// What a packet holds: for each rank whose data are in it, the number of the block.
type Data = BTreeSet<(u32, u32)>;
/// The time step in which a packet was sent, and its data.
type Packet = (u32, Data);

/// A worker on its way through its commands.
#[derive(Default)]
struct At {
    command: usize,
    /// The step that it has come to.
    step: u32,
    sends: Vec<(u32, Data, usize)>,
}

/// What workers have handed to each other.
struct Flow<'a> {
    program: &'a Program,
    /// The other end of the link of each Ethernet tile.
    peers: BTreeMap<Place, Place>,
    packets: BTreeMap<(Place, u32), VecDeque<Packet>>,
    /// The steps of the signals that a worker got.
    signals: BTreeMap<Place, VecDeque<u32>>,
    /// What was written: by chip, tensor and first page.
    written: BTreeMap<(ChipId, u8, u32), Data>,
}

impl Flow<'_> {
    /// The end at which a channel's packets arrive.
    fn arrives(&self, channel: Channel) -> (Place, u32) {
        (self.peers.get(&channel.edm).copied().unwrap_or(channel.edm), channel.number)
    }

    /// The data in the pages from `page` on of a tensor; of an input, those of its chip's rank.
    fn read(&self, chip: ChipId, tensor: u8, page: u32) -> Data {
        if let Some(written) = self.written.get(&(chip, tensor, page)) {
            return written.clone();
        }
        let rank = self.program.ranks.iter().position(|own| *own == chip);
        let own = self.program.fills.iter().filter(|plan| plan.place.chip == chip);
        let holds = |plan: &WorkerPlan| {
            let first = |command: &&WorkerCommand| command.destination_page;
            let has = |command: &&WorkerCommand| {
                (first(command)..first(command) + plan.pages).contains(&page)
            };
            inputs(plan).position(|command| has(&command))
        };
        let block = own.filter(|_| tensor == INPUT).find_map(holds);
        rank.zip(block).map(|(rank, block)| (rank as u32, block as u32)).into_iter().collect()
    }

    /// Carries out a worker's next command; returns false if it waits.
    fn step(&mut self, plan: &WorkerPlan, at: &mut At, command: &WorkerCommand) -> bool {
        let has = |flag| command.flags & flag != 0;
        let inbound = plan.inbound.map(|channel| (channel.edm, channel.number));
        let inbound = inbound.filter(|_| has(flags::FROM_CHANNEL));
        let waits = has(flags::WAIT);
        let arrived = inbound.map(|end| self.packets.get(&end).and_then(VecDeque::front).cloned());
        let signal =
            waits.then(|| self.signals.get(&plan.place).and_then(VecDeque::front).copied());
        if arrived == Some(None) || signal == Some(None) {
            return false;
        }
        if let Some(queue) = inbound.and_then(|end| self.packets.get_mut(&end)) {
            queue.pop_front();
        }
        if let Some(queue) = self.signals.get_mut(&plan.place).filter(|_| waits) {
            queue.pop_front();
        }
        let (step, mut data) = arrived.flatten().unwrap_or((0, Data::new()));
        at.step = at.step.max(step).max(signal.flatten().unwrap_or(0));
        if has(flags::FROM_TENSOR) {
            data.extend(self.read(plan.place.chip, command.source, command.source_page));
        }
        if let Some(partner) = plan.partner.filter(|_| has(flags::SIGNAL)) {
            self.signals.entry(partner).or_default().push_back(at.step);
        }
        if has(flags::TO_TENSOR) {
            let page = (plan.place.chip, command.destination, command.destination_page);
            self.written.insert(page, data.clone());
        }
        if let Some(channel) = plan.outbound.filter(|_| has(flags::TO_CHANNEL)) {
            at.step += 1;
            at.sends.push((at.step, data.clone(), at.command));
            let end = self.arrives(channel);
            self.packets.entry(end).or_default().push_back((at.step, data));
        }
        at.command += 1;
        true
    }
}

impl Schedule {
    /// Returns the schedule of a program on the mesh that it was compiled for.
    pub fn of(program: &Program, mesh: &Mesh) -> Self {
        let ends = mesh.links.iter().flat_map(|link| [(link.a, link.b), (link.b, link.a)]);
        let place = |(a, b)| Some((mesh.place(a).ok()?, mesh.place(b).ok()?));
        let mut flow = Flow {
            program,
            peers: ends.filter_map(place).collect(),
            packets: BTreeMap::new(),
            signals: BTreeMap::new(),
            written: BTreeMap::new(),
        };
        let mut workers: Vec<At> = program.workers.iter().map(|_| At::default()).collect();
        // Until none of them can go on: at the end of all commands.
        let mut moved = true;
        while moved {
            moved = false;
            for (plan, at) in program.workers.iter().zip(&mut workers) {
                while let Some(command) = plan.commands.get(at.command) {
                    if !flow.step(plan, at, command) {
                        break;
                    }
                    moved = true;
                }
            }
        }
        let slices = |plan: &WorkerPlan| plan.pages.div_ceil(plan.slice_pages.max(1));
        Self {
            ranks: program.ranks.clone(),
            sums: program.op.reduces(),
            slices: program.workers.iter().map(slices).max().unwrap_or(1),
            ways: ways(&flow, &workers),
        }
    }

    /// The number of time steps.
    pub fn steps(&self) -> u32 {
        let sends = self.ways.iter().flat_map(|way| way.sends.iter().flatten());
        sends.map(|send| send.step).max().unwrap_or(0)
    }
}

/// The commands that fill the blocks of an input, in their order.
fn inputs(plan: &WorkerPlan) -> impl Iterator<Item = &WorkerCommand> {
    plan.commands.iter().filter(|command| command.destination == INPUT)
}

/// The sends of all workers; those of workers that do the same in other pages once.
fn ways(flow: &Flow<'_>, workers: &[At]) -> Vec<ScheduledWay> {
    let program = flow.program;
    let count = program.ranks.len();
    let rank = |chip: ChipId| program.ranks.iter().position(|own| *own == chip);
    let numbered = program.fills.iter().any(|plan| inputs(plan).count() > 1);
    let mut all: BTreeMap<(usize, usize), ScheduledWay> = BTreeMap::new();
    let mut used: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (index, (plan, at)) in program.workers.iter().zip(workers).enumerate() {
        let Some(channel) = plan.outbound else { continue };
        let ends = (rank(plan.place.chip), rank(flow.arrives(channel).0.chip));
        let (Some(from), Some(to)) = ends else { continue };
        let ahead = (to + count - from) % count;
        let nth = used.entry((from, ahead)).or_default();
        let way = all.entry((ahead, *nth)).or_insert_with(|| ScheduledWay {
            ahead,
            workers: 1,
            sends: vec![Vec::new(); count],
        });
        *nth += 1;
        let send = |(step, data, command): &(u32, Data, usize)| ScheduledSend {
            step: *step,
            of: data.iter().map(|(rank, _)| *rank).collect(),
            block: data.first().map(|(_, block)| *block).filter(|_| numbered),
            commands: vec![(index, *command)],
        };
        if let Some(sends) = way.sends.get_mut(from) {
            sends.extend(at.sends.iter().map(send));
        }
    }
    let mut ways: Vec<ScheduledWay> = Vec::new();
    for way in all.into_values() {
        match ways.iter_mut().find(|known| known.does_as(&way)) {
            Some(known) => known.join(way),
            None => ways.push(way),
        }
    }
    ways
}

impl ScheduledWay {
    /// Whether the same blocks go the same way in the same steps.
    fn does_as(&self, other: &Self) -> bool {
        let told = |way: &Self| {
            let all = way.sends.iter().map(|sends| {
                sends.iter().map(|it| (it.step, it.of.clone(), it.block)).collect::<Vec<_>>()
            });
            all.collect::<Vec<_>>()
        };
        self.ahead == other.ahead && told(self) == told(other)
    }

    fn join(&mut self, other: Self) {
        self.workers += other.workers;
        let sends = self.sends.iter_mut().flatten().zip(other.sends.into_iter().flatten());
        for (own, other) in sends {
            own.commands.extend(other.commands);
        }
    }
}
