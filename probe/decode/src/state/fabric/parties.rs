//! The stages of kernels that tell them by the words of their global, and those of all parties of a
//! mesh.

use super::stages::{EDM_PHASES, RING_PING_PHASES, SERVING};
use super::{
    CONNECTION, ClientState, EDM, EDM_CHANNEL, FabricPort, FabricState, MUX, MuxState, Party,
    RING_PING, ROUTER, Stage,
};
use crate::state::{Activity, CoreState, MeshState};
use images::ImageRole;
use images::fabric::FactValue;
use layouts::{ChipId, CoreId, CoreKind, EthId, NocXy};
use machine::target::Mesh;
use std::collections::BTreeSet;

/// The waypoint of a kernel that is parked.
const PARKED: &str = "PASW";
/// A client waits for the answer to its close.
const CLOSE_REQUESTED: &str = "CLOSE_CONNECTION_REQUEST";

/// A party of a protocol, and the stage that it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartyStage {
    /// The core of its kernel.
    pub core: CoreId,
    /// The party.
    pub party: Party,
    /// Its stage. A router that is parked has the stage that it is held in.
    pub stage: &'static Stage,
    /// The stages of its protocol.
    pub table: &'static [Stage],
}

/// A kernel whose global has a phase.
struct Phased {
    image: &'static str,
    global: &'static str,
    phases: &'static [&'static str],
    /// The argument that names the end that offers the handshake, and its value there.
    offers: (&'static str, u64),
    table: &'static [Stage],
}

const PHASED: [Phased; 2] = [
    Phased {
        image: "edm",
        global: "edm_state",
        phases: &EDM_PHASES,
        offers: ("handshake_sender", 1),
        table: EDM,
    },
    Phased {
        image: "ring_ping",
        global: "ring_ping_state",
        phases: &RING_PING_PHASES,
        offers: ("role", 0),
        table: RING_PING,
    },
];

impl Phased {
    fn stage(
        &self,
        number: impl Fn(&str) -> Option<u64>,
        waypoint: Option<&str>,
    ) -> Option<&'static Stage> {
        let own = |member: &str| number(&format!("{}.{member}", self.global));
        Stage::find(self.table, |fact| match fact {
            "phase" => {
                let phase = usize::try_from(own("phase")?).ok()?;
                self.phases.get(phase).map(|name| FactValue::text(name))
            }
            "stage" => own("control.stage").map(FactValue::number),
            "offers" => {
                let (argument, offers) = self.offers;
                own(&format!("args.{argument}")).map(|it| FactValue::number(it == offers))
            }
            "waypoint" => waypoint.map(FactValue::text),
            _ => None,
        })
    }
}

/// Returns the stage of a kernel with this image, if its global tells it; `number` returns a word by
/// its name.
pub fn kernel_stage(
    image: &str,
    number: impl Fn(&str) -> Option<u64>,
    waypoint: Option<&str>,
) -> Option<&'static Stage> {
    PHASED.iter().find(|it| it.image == image)?.stage(number, waypoint)
}

/// The words of a channel of a serving EDM that decide what it waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdmChannel {
    /// The channel's number.
    pub index: u8,
    /// Whether its end sends over the link.
    pub is_sender: bool,
    /// Messages sent (sender) or seen (receiver).
    pub sent: u64,
    /// Completions seen (sender) or sent (receiver).
    pub completed: u64,
    /// Messages that the workers filled (sender) or read (receiver).
    pub worker_signals: u64,
    /// Coordinates of its workers, x | y << 16.
    pub workers: Vec<u64>,
}

impl EdmChannel {
    /// Returns the channels of an EDM that are not done; `number` returns a word of it by its name.
    pub fn all(number: impl Fn(&str) -> Option<u64>) -> Vec<Self> {
        let count = number("edm_state.args.channels").map_or(0, |count| count as u8);
        (0..count).filter_map(|index| Self::of(&number, index)).collect()
    }

    fn of(number: &impl Fn(&str) -> Option<u64>, index: u8) -> Option<Self> {
        let state = |member: &str| number(&format!("edm_state.channels[{index}].{member}"));
        let args = |member: &str| number(&format!("edm_state.args.channel[{index}].{member}"));
        if state("done")? != 0 {
            return None;
        }
        let workers = (0..args("workers")?).map_while(|n| args(&format!("worker_xy[{n}]")));
        Some(Self {
            index,
            is_sender: args("is_sender")? != 0,
            sent: state("messages_sent")?,
            completed: state("completed")?,
            worker_signals: state("worker_signals")?,
            workers: workers.collect(),
        })
    }

    /// Returns its stage.
    pub fn stage(&self) -> Option<&'static Stage> {
        Stage::find(EDM_CHANNEL, |fact| match fact {
            "role" => Some(FactValue::text(if self.is_sender { "sender" } else { "receiver" })),
            "in_flight" => Some(FactValue::number(self.sent != self.completed)),
            _ => None,
        })
    }
}

impl MeshState {
    /// Returns the stages of all parties whose protocol is known, by core.
    pub fn party_stages(&self, mesh: &Mesh) -> Vec<PartyStage> {
        let mut found = self.fabric.party_stages(mesh);
        for chip in &self.chips {
            for tile in &chip.tiles {
                let end =
                    tile.eth.as_ref().map(|eth| EthId { chip: chip.chip.id, channel: eth.channel });
                for core in &tile.cores {
                    core.party_stages(end, &mut found);
                }
            }
        }
        found.sort_by_key(|it| (it.core, it.party));
        found
    }
}

impl CoreState {
    fn party_stages(&self, end: Option<EthId>, found: &mut Vec<PartyStage>) {
        let kernel = self.images.iter().find(|image| image.role == ImageRole::Kernel);
        let phased = kernel.and_then(|it| PHASED.iter().find(|phased| phased.image == it.name));
        let Some(phased) = phased else { return };
        let number = |name: &str| {
            let word = self.words.iter().find(|word| *word.name == *name)?;
            word.value.known().copied()
        };
        let waypoint = self.waypoint.known().map(String::as_str);
        let Some(stage) = phased.stage(number, waypoint) else { return };
        let (core, table) = (self.id, phased.table);
        found.push(PartyStage { core, party: Party::Core(core), stage, table });
        let Some(end) = end.filter(|_| stage.name == SERVING) else { return };
        found.extend(EdmChannel::all(number).into_iter().filter_map(|channel| {
            let (party, stage) = (Party::Channel(end, channel.index), channel.stage()?);
            Some(PartyStage { core, party, stage, table: EDM_CHANNEL })
        }));
    }
}

impl FabricState {
    /// Returns the tiles whose words decide the stages of the parties on some cores: their own, and
    /// those of the muxes and routers that they are clients of, with the other clients of these muxes.
    pub fn party_tiles(&self, mesh: &Mesh, cores: &[CoreId]) -> BTreeSet<(ChipId, NocXy)> {
        let mut tiles: BTreeSet<_> = cores.iter().map(|core| (core.chip, core.tile)).collect();
        let server = |client: &ClientState| match client.to? {
            FabricPort::Mux { mux: core, .. } => Some((core.chip, core.tile)),
            FabricPort::Router { router: at, .. } => {
                mesh.place(at).ok().map(|place| (place.chip, place.tile))
            }
        };
        for client in &self.clients {
            if cores.iter().any(|core| (core.chip, core.tile) == (client.at.chip, client.at.tile)) {
                tiles.extend(server(client));
            }
        }
        for client in &self.clients {
            if client.mux().is_some_and(|mux| tiles.contains(&(mux.chip, mux.tile))) {
                tiles.insert((client.at.chip, client.at.tile));
            }
        }
        tiles
    }

    fn party_stages(&self, mesh: &Mesh) -> Vec<PartyStage> {
        let routers = self.routers.iter().filter_map(|router| {
            let tile = mesh.place(router.at).ok()?;
            let core = CoreId { chip: tile.chip, tile: tile.tile, core: CoreKind::Erisc };
            let held_in = |fact: &str| {
                router.value(fact).filter(|it| fact != "waypoint" || it.name != Some(PARKED))
            };
            let stage = Stage::find(ROUTER, held_in)?;
            Some(PartyStage { core, party: Party::Router(router.at), stage, table: ROUTER })
        });
        let muxes = self.muxes.iter().filter_map(|mux| {
            let (core, stage) = (mux.at, self.mux_stage(mux)?);
            Some(PartyStage { core, party: Party::Mux(core), stage, table: MUX })
        });
        let of_muxes = |at: CoreId| self.muxes.iter().any(|mux| mux.at == at);
        let clients = self.clients.iter().enumerate().filter_map(|(index, client)| {
            let before = self.clients.iter().take(index);
            let number = before.filter(|other| other.at == client.at).count();
            let party = Party::Client(client.at, number as u8);
            let stage = client.stage.filter(|_| !of_muxes(client.at))?;
            Some(PartyStage { core: client.at, party, stage, table: CONNECTION })
        });
        routers.chain(muxes).chain(clients).collect()
    }

    /// Returns the stage of a mux; none if too few of its facts are known.
    pub fn mux_stage(&self, mux: &MuxState) -> Option<&'static Stage> {
        let flag = |flag: bool| Some(FactValue::number(flag));
        Stage::find(MUX, |fact| match fact {
            "running" => {
                let runs = |activity: &Activity| FactValue::number(*activity == Activity::Running);
                mux.activity.known().map(runs)
            }
            "connection" => {
                let own = self.clients.iter().find(|client| client.at == mux.at)?;
                own.facts.value("stage")
            }
            "answers" => {
                let asks = mux.channels.iter().any(|it| it.facts.connection.is(CLOSE_REQUESTED));
                flag(asks && !mux.keeps_close_requests())
            }
            "queued" => flag(mux.holds_packets()),
            own => mux.facts.value(own),
        })
    }
}
