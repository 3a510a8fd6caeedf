//! The mesh: chips, the links between them, and one cycle count.

mod bar;
mod compare;
mod dma;
mod fork;
mod host;
mod link;
pub(crate) mod packets;
pub(crate) mod threads;
pub(crate) mod view;
pub(crate) mod watched;

use crate::chip::{Chip, Unit};
use crate::condition::Condition;
use crate::config::{ConfigError, MeshConfig};
use crate::devices::endpoint::HostMemory;
use crate::devices::eth::LinkEnd;
use crate::devices::pci::ConfigSpace;
use crate::disruption::{Affected, Disruption, Disruptor, HartId, StreamId};
use crate::hart::HartOrder;
use crate::memory::TileMemory;
use crate::noc::grid;
use crate::past::journal::{HostAction, Journal};
use crate::past::keeper::Keeper;
use crate::timing::Timing;
use packets::EthPacket;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;
use threads::Threads;

/// Maximum number of conditions kept, so that emulated code cannot exhaust the host's memory.
const MOST_CONDITIONS: usize = 10_000;

/// Link ends (chip and Ethernet channel), each with its peer.
type Peers = HashMap<(usize, u8), (usize, u8)>;

/// An emulated Wormhole mesh as the bus sees it.
///
/// Time advances only in [`Mesh::clock`] and in host accesses, each of which has a fixed cost in
/// cycles. The same configuration and the same host actions at the same cycles yield the same
/// bytes, whatever the number of host threads and however the calls of `clock` are split.
#[derive(Debug)]
pub struct Mesh {
    pub(crate) config: Arc<MeshConfig>,
    pub(crate) timing: Arc<Timing>,
    pub(crate) now: u64,
    pub(crate) chips: Vec<Chip>,
    /// Chip of each PCIe device.
    pub(crate) devices: Vec<usize>,
    /// Memory of the host, for all devices.
    pub(crate) host: Option<Arc<dyn HostMemory>>,
    /// Config space of each PCIe device.
    pub(crate) spaces: Vec<ConfigSpace>,
    /// The peer of each link end.
    pub(crate) peers: Arc<Peers>,
    pub(crate) links_up: Vec<bool>,
    pub(crate) disruptor: Disruptor,
    /// Least latency of all links: how far a chip may run ahead.
    pub(crate) lookahead: u64,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) journal: Option<Journal>,
    pub(crate) keeper: Option<Box<Keeper>>,
    /// The cycle of the last checkpoint.
    pub(crate) saved_at: Option<u64>,
    pub(crate) threads: Threads,
    /// Packets of the links, if someone looks at them.
    pub(crate) seen_packets: Option<Vec<EthPacket>>,
}

impl Mesh {
    /// Builds a mesh, loads its power-on images, and starts their harts at cycle 0.
    ///
    /// # Errors
    /// A configuration that is inconsistent or impossible on Wormhole.
    pub fn new(config: MeshConfig) -> Result<Self, ConfigError> {
        let timing = Arc::new(config.timing.clone().causal());
        let devices: Vec<usize> =
            (0..config.chips.len()).filter(|chip| config.chips[*chip].pcie).collect();
        let peers = check_links(&config)?;
        let latencies = config.links.iter().map(|link| link.latency_cycles);
        let mut mesh = Self {
            timing,
            now: 0,
            chips: Vec::new(),
            host: None,
            spaces: (0..devices.len()).map(ConfigSpace::new).collect(),
            devices,
            peers: Arc::new(peers),
            links_up: config.links.iter().map(|link| link.up).collect(),
            disruptor: Disruptor::default(),
            lookahead: latencies.min().unwrap_or(u64::MAX),
            conditions: Vec::new(),
            journal: None,
            keeper: None,
            saved_at: None,
            threads: Threads::new(config.threads, config.chips.len()),
            seen_packets: None,
            config: Arc::new(config),
        };
        for chip in 0..mesh.config.chips.len() {
            let built = mesh.build_chip(chip)?;
            mesh.chips.push(built);
        }
        for link in 0..mesh.config.links.len() {
            mesh.apply_link(link)?;
        }
        Ok(mesh)
    }

    fn build_chip(&self, chip: usize) -> Result<Chip, ConfigError> {
        let offset = clock_offset(self.config.seed, chip);
        let config = &self.config.chips[chip];
        let mut built = Chip::new(chip, config, self.config.sleep, &self.timing, offset, self.now)?;
        self.connect_host(chip, &mut built);
        Ok(built)
    }

    /// Connects a chip to host memory; a chip without PCIe has no host.
    fn connect_host(&self, index: usize, chip: &mut Chip) {
        let connected = self.devices.contains(&index);
        if let Some(endpoint) = chip.host_endpoint().filter(|_| connected) {
            endpoint.host.clone_from(&self.host);
        }
    }

    /// Provides the host's memory to the devices, behind their PCIe tiles and for their DMA
    /// engines. Without it such accesses are refused.
    pub fn set_host_memory(&mut self, memory: Arc<dyn HostMemory>) {
        self.host = Some(memory);
        let mut chips = std::mem::take(&mut self.chips);
        for (index, chip) in chips.iter_mut().enumerate() {
            self.connect_host(index, chip);
        }
        self.chips = chips;
    }

    /// Returns the present cycle.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Returns the number of PCIe devices.
    pub fn devices(&self) -> usize {
        self.devices.len()
    }

    /// Returns the L1 of a tile at this cycle, without an access: for tests and studies that
    /// compare two meshes. `None` if the tile has no cores.
    pub fn l1(&mut self, chip: usize, x: u8, y: u8) -> Option<&TileMemory> {
        let chip = self.chips.get_mut(chip)?;
        let unit = *chip.grid.get(usize::from(y))?.get(usize::from(x))?;
        match chip.units.get_mut(usize::from(unit))? {
            Unit::Core(tile) => {
                chip.changed[usize::from(unit)] = true;
                tile.run(self.now, u64::MAX / 2);
                Some(&tile.memory)
            }
            Unit::Passive(_) => None,
        }
    }

    /// Returns the configuration of the mesh.
    pub fn config(&self) -> &MeshConfig {
        &self.config
    }

    /// Returns what the machine refused or could not do, in the order of cycles; at most the first
    /// 10,000 conditions.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// Advances time by `n` cycles.
    pub fn clock(&mut self, n: u64) {
        let until = self.now.saturating_add(n);
        while self.keeper.is_some() && self.now < until {
            let started = Instant::now();
            self.advance(Keeper::look_at(self.now, until));
            let now = self.now;
            if self.keeper.as_mut().is_some_and(|keeper| keeper.is_due(now, started)) {
                self.keep_checkpoint();
            }
        }
        self.advance(until);
    }

    fn advance(&mut self, until: u64) {
        self.run_until(until);
        self.now = until;
        self.gather();
    }

    pub(crate) fn keep_checkpoint(&mut self) {
        let started = Instant::now();
        let checkpoint = self.checkpoint();
        if let Some(keeper) = &mut self.keeper {
            keeper.keep(checkpoint, started);
        }
    }

    /// Runs the mesh up to `until`, with the disruptions up to and at that cycle.
    fn run_until(&mut self, until: u64) {
        while self.disruptor.next_at() <= until {
            let at = self.disruptor.next_at().max(self.now);
            self.run_undisturbed(at);
            self.now = at;
            self.take_step();
        }
        self.run_undisturbed(until);
    }

    fn run_undisturbed(&mut self, until: u64) {
        loop {
            let start = self.chips.iter().map(Chip::next_activity).min().unwrap_or(u64::MAX);
            if start >= until {
                return;
            }
            let end = until.min(start.saturating_add(self.lookahead));
            // Until then no chip can reach another.
            self.threads.run(&mut self.chips, end);
            self.exchange();
        }
    }

    /// Delivers frames to the peers.
    fn exchange(&mut self) {
        for chip in 0..self.chips.len() {
            for (channel, event) in std::mem::take(&mut self.chips[chip].frames) {
                let Some(&(peer, peer_channel)) = self.peers.get(&(chip, channel)) else {
                    continue;
                };
                if let Some(seen) = &mut self.seen_packets {
                    seen.extend(EthPacket::of((chip, channel), (peer, peer_channel), &event));
                }
                if let Some((unit, _)) = self.chips[peer].channel(peer_channel) {
                    self.chips[peer].post(unit, event);
                }
            }
        }
    }

    /// Collects the chips' new conditions, in the order of their cycles.
    fn gather(&mut self) {
        let mut new = Vec::new();
        for chip in &mut self.chips {
            new.append(&mut chip.conditions);
        }
        if !new.is_empty() {
            self.conditions.append(&mut new);
            self.conditions.sort_by_key(|c| (c.cycle, c.chip, c.tile, c.actor, c.addr));
            self.conditions.truncate(MOST_CONDITIONS);
        }
    }

    /// Takes a link down or brings it up, at the present cycle. Packets on the wire still arrive;
    /// the others wait in the queues. Does nothing if there is no such link.
    pub fn set_link(&mut self, link: usize, up: bool) {
        self.note(|| HostAction::Link { link, up });
        if let Some(state) = self.links_up.get_mut(link) {
            *state = up;
            let _ = self.apply_link(link);
        }
    }

    /// Returns whether a link carries packets; `None` if there is no such link.
    pub fn link_up(&self, link: usize) -> Option<bool> {
        self.links_up.get(link).copied()
    }

    /// Plans a disruption from `from_cycle` on, or from the present cycle if that is past, until
    /// `until_cycle` if given. Returns false, without effect, if there is no such link, core, stream or
    /// chip.
    pub fn disrupt(
        &mut self,
        disruption: Disruption,
        from_cycle: u64,
        until_cycle: Option<u64>,
    ) -> bool {
        let known = match disruption {
            Disruption::LinkDown { link }
            | Disruption::LinkFlap { link, .. }
            | Disruption::LinkSlow { link, .. }
            | Disruption::BitErrors { link, .. }
            | Disruption::SlowAck { link, .. }
            | Disruption::LinkMended { link } => link < self.config.links.len(),
            Disruption::StuckCore(core) | Disruption::CoreReleased(core) => self.has_hart(core),
            Disruption::StreamHeld(stream) | Disruption::StreamFreed(stream) => {
                self.has_stream(stream)
            }
            Disruption::ChipDead { chip } => chip < self.chips.len(),
        };
        if known {
            self.note(|| HostAction::Disrupt { what: disruption, from_cycle, until_cycle });
            self.disruptor.plan(disruption, from_cycle.max(self.now), until_cycle);
            // A disruption that begins now has begun when this returns.
            self.run_until(self.now);
        }
        known
    }

    fn has_hart(&self, core: HartId) -> bool {
        let tile = |chip: &Chip| match chip.units.get(chip.place((core.x, core.y)).0) {
            Some(Unit::Core(tile)) => core.hart < tile.group.len() && !tile.harvested,
            _ => false,
        };
        grid::on_grid((core.x, core.y)) && self.chips.get(core.chip).is_some_and(tile)
    }

    fn has_stream(&self, at: StreamId) -> bool {
        let tile = |chip: &Chip| match chip.units.get(chip.place((at.x, at.y)).0) {
            Some(Unit::Core(tile)) => usize::from(at.stream) < tile.blocks.streams.len(),
            _ => false,
        };
        grid::on_grid((at.x, at.y)) && self.chips.get(at.chip).is_some_and(tile)
    }

    fn take_step(&mut self) {
        let now = self.now;
        match self.disruptor.step() {
            Some(Affected::Link(link)) => drop(self.apply_link(link)),
            Some(Affected::Mended(link)) => {
                self.links_up[link] = true;
                drop(self.apply_link(link));
            }
            Some(Affected::Stuck(HartId { chip, x, y, hart })) => {
                self.chips[chip].order((x, y), HartOrder::Pause { hart }, now);
            }
            Some(Affected::Released(HartId { chip, x, y, hart })) => {
                self.chips[chip].order((x, y), HartOrder::Resume { hart }, now);
            }
            Some(Affected::Held(StreamId { chip, x, y, stream })) => {
                self.chips[chip].hold_stream((x, y), (stream, true), now);
            }
            Some(Affected::Freed(StreamId { chip, x, y, stream })) => {
                self.chips[chip].hold_stream((x, y), (stream, false), now);
            }
            Some(Affected::Dead(chip)) => {
                self.chips[chip].die(now);
                self.apply_links_of(chip);
            }
            None => {}
        }
    }

    fn apply_links_of(&mut self, chip: usize) {
        for link in 0..self.config.links.len() {
            let config = self.config.links[link];
            if config.a.0 == chip || config.b.0 == chip {
                let _ = self.apply_link(link);
            }
        }
    }

    fn apply_link(&mut self, link: usize) -> Result<(), ConfigError> {
        let Some(config) = self.config.links.get(link) else { return Ok(()) };
        let (a, b, now) = (config.a, config.b, self.now);
        let impairment = self.disruptor.impairment(link);
        let is_dead = [a, b].into_iter().any(|(chip, _)| self.disruptor.is_dead(chip));
        let (bytes, cycles) = config.bytes_per_cycle;
        let mut end = LinkEnd {
            up: self.links_up[link] && !impairment.down && !is_dead,
            latency: config.latency_cycles,
            rate: (bytes, cycles.saturating_mul(impairment.factor)),
            per_terabit: impairment.per_terabit,
            ack_delay: 0,
            noise: 0,
        };
        for (side, (chip, channel)) in [a, b].into_iter().enumerate() {
            end.ack_delay = impairment.ack_delay[side];
            end.noise = mix(self.config.seed, 1 << 32 | (link as u64) << 1 | side as u64);
            let known = self.chips.get_mut(chip).filter(|c| c.has_channel(channel));
            let chip = known.ok_or(ConfigError::LinkEnd { chip, channel })?;
            chip.set_link(channel, end, now);
        }
        Ok(())
    }

    /// Resets a chip, remote or not, to its power-on state; the rest of the mesh continues. Does
    /// nothing if there is no such chip.
    pub fn reset_chip(&mut self, chip: usize) {
        self.note(|| HostAction::Reset { chip });
        self.rebuild(chip);
    }

    fn rebuild(&mut self, chip: usize) {
        // The chip was built from the same configuration before, so this succeeds.
        if chip < self.chips.len()
            && let Ok(built) = self.build_chip(chip)
        {
            let mut before = std::mem::replace(&mut self.chips[chip], built);
            let watches = before.take_watches();
            let endpoints = self.chips[chip].host_endpoint().zip(before.host_endpoint());
            if let Some((endpoint, before)) = endpoints {
                endpoint.continue_from(before);
            }
            self.chips[chip].return_watches(watches, self.now);
            self.disruptor.chip_reset(chip);
            self.apply_links_of(chip);
        }
    }

    /// Resets the chips for which a host write has requested a reset from ARC firmware.
    pub(crate) fn apply_reset_requests(&mut self) {
        for chip in 0..self.chips.len() {
            if self.chips[chip].take_reset() {
                self.rebuild(chip);
            }
        }
    }
}

/// Returns the peer of each link end, if the list of links is consistent.
fn check_links(config: &MeshConfig) -> Result<Peers, ConfigError> {
    let mut peers = HashMap::new();
    for (link, ends) in config.links.iter().enumerate() {
        if ends.latency_cycles == 0 || ends.bytes_per_cycle.0 == 0 || ends.bytes_per_cycle.1 == 0 {
            return Err(ConfigError::LinkTiming { link });
        }
        for (near, far) in [(ends.a, ends.b), (ends.b, ends.a)] {
            if near == far || peers.insert(near, far).is_some() {
                return Err(ConfigError::LinkTwice { chip: near.0, channel: near.1 });
            }
        }
    }
    Ok(peers)
}

/// Returns a chip's wall clock minus the cycle count: below 2^40 cycles (18 minutes), from the
/// seed.
fn clock_offset(seed: u64, chip: usize) -> u64 {
    mix(seed, chip as u64) & ((1 << 40) - 1)
}

/// Returns a number that depends on the seed and on its purpose `which`, by splitmix64.
pub(crate) fn mix(seed: u64, which: u64) -> u64 {
    let mut z = seed.wrapping_add(which.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}
