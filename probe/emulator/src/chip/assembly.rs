//! Builds a chip: a unit for each place of the grid, and its contents at power on.

use super::agenda::Agenda;
use super::tile::Tile;
use super::{Chip, Unit};
use crate::config::{
    ChipConfig, ConfigError, GRID_HEIGHT, GRID_WIDTH, LoadImage, PowerOnError, TileConfig, TileKind,
};
use crate::devices::arc::Arc as ArcTile;
use crate::devices::blocks::{Blocks, Special};
use crate::devices::debug::Debug;
use crate::devices::dram::Dram;
use crate::devices::endpoint::Endpoint;
use crate::devices::eth::Eth;
use crate::devices::passive::{Backend, Passive};
use crate::devices::stream::Streams;
use crate::devices::tlb::WINDOWS;
use crate::elf;
use crate::hart::DeviceSet;
use crate::noc::event::{Outbox, Queue};
use crate::noc::grid;
use crate::noc::niu::{Niu, NiuSetup};
use crate::timing::Timing;
use std::sync::Arc;

impl Chip {
    /// Builds a chip and loads its power-on images.
    pub(crate) fn new(
        index: usize,
        config: &ChipConfig,
        sleep: bool,
        timing: &Arc<Timing>,
        clock_offset: u64,
        now: u64,
    ) -> Result<Self, ConfigError> {
        let mut chip = Self {
            units: Vec::new(),
            changed: Vec::new(),
            saved: Arc::default(),
            agenda: Agenda::default(),
            senders: Vec::new(),
            grid: [[0; GRID_WIDTH as usize]; GRID_HEIGHT as usize],
            channels: [None; 16],
            timing: Arc::clone(timing),
            windows: [0; WINDOWS],
            dead: false,
            conditions: Vec::new(),
            frames: Vec::new(),
        };
        let places = check_places(index, config)?;
        let builder = Builder { index, config, sleep, timing, clock_offset };
        chip.add_units(&builder, &places);
        for unit in &mut chip.units {
            unit.run(now, u64::MAX / 2);
        }
        chip.power_on(index, config, now)?;
        chip.agenda = Agenda::new(chip.units.len());
        chip.changed = vec![true; chip.units.len()];
        for unit in 0..chip.units.len() {
            chip.refresh(unit);
        }
        Ok(chip)
    }

    fn add_units(&mut self, builder: &Builder<'_>, places: &[TileConfig]) {
        let mut dram = [None; 6];
        for tile in places {
            let unit = self.units.len() as u16;
            let existing = match tile.kind {
                TileKind::Dram { channel, .. } => dram[usize::from(channel)],
                _ => None,
            };
            self.grid[usize::from(tile.y)][usize::from(tile.x)] = existing.unwrap_or(unit);
            if let Some(existing) = existing {
                if let Some(Unit::Passive(passive)) = self.units.get_mut(usize::from(existing)) {
                    passive.ports.push(builder.nius(*tile));
                }
                continue;
            }
            match tile.kind {
                TileKind::Dram { channel, .. } => dram[usize::from(channel)] = Some(unit),
                TileKind::Eth { channel } => self.channels[usize::from(channel)] = Some(unit),
                _ => {}
            }
            self.units.push(builder.unit(u32::from(unit), *tile));
        }
    }

    fn power_on(&mut self, index: usize, config: &ChipConfig, now: u64) -> Result<(), ConfigError> {
        for load in &config.power_on {
            let (x, y) = (load.x, load.y);
            let error = |reason| ConfigError::PowerOn { chip: index, x, y, reason };
            if !grid::on_grid((x, y)) {
                return Err(error(PowerOnError::OutsideGrid));
            }
            let pieces = match &load.image {
                LoadImage::Load { addr, bytes } => vec![(*addr, bytes.clone())],
                LoadImage::Elf(file) => elf::segments(file).map_err(error)?,
            };
            let (unit, port) = self.place((x, y));
            for (addr, bytes) in pieces {
                let loaded = match &mut self.units[unit] {
                    Unit::Core(tile) => tile.preload(addr, &bytes, now),
                    Unit::Passive(passive) => passive.write(port, 0, addr, &bytes, now),
                };
                loaded.map_err(|refused| {
                    let (bytes, condition) = (bytes.len(), refused.name);
                    error(PowerOnError::Refused { bytes, addr, condition })
                })?;
            }
            match &mut self.units[unit] {
                Unit::Core(tile) if load.start && !tile.harvested => tile.power_on(),
                _ if load.start => return Err(error(PowerOnError::NoHart)),
                _ => {}
            }
        }
        Ok(())
    }
}

/// The inputs common to all units of a chip.
struct Builder<'a> {
    index: usize,
    config: &'a ChipConfig,
    sleep: bool,
    timing: &'a Arc<Timing>,
    clock_offset: u64,
}

impl Builder<'_> {
    fn nius(&self, tile: TileConfig) -> [Niu; 2] {
        let tiles = &self.config.tiles;
        [0, 1].map(|noc| {
            Niu::new(&NiuSetup {
                noc,
                at: (tile.x, tile.y),
                endpoint: endpoint(tile, tiles) | (noc as u32) << 24,
                harvested: tile.harvested,
                translation: self.config.translation,
                logical: grid::logical(tiles, (tile.x, tile.y)),
                tables: grid::tables(tiles, noc),
                opt_out: grid::opt_out(tiles),
                initiator: matches!(tile.kind, TileKind::Tensix | TileKind::Eth { .. }),
            })
        })
    }

    fn unit(&self, unit: u32, tile: TileConfig) -> Unit {
        let backend = match tile.kind {
            TileKind::Tensix | TileKind::Eth { .. } => {
                let blocks = self.blocks(unit, tile);
                let tile = Tile::new(tile.kind, tile.harvested, self.sleep, blocks);
                return Unit::Core(tile.into());
            }
            TileKind::Dram { .. } => Backend::Dram(Dram::default()),
            TileKind::Arc => {
                let rows = harvesting(&self.config.tiles);
                Backend::Arc(Box::new(ArcTile::new(&self.config.telemetry, rows)))
            }
            TileKind::Pcie => Backend::Pcie(Box::new(Endpoint::new())),
            TileKind::Router => Backend::Router,
        };
        Unit::Passive(Box::new(Passive {
            chip: self.index,
            unit,
            timing: Arc::clone(self.timing),
            ports: vec![self.nius(tile)],
            backend,
            events: Queue::default(),
            out: Outbox::default(),
            seq: 0,
            hung: false,
        }))
    }

    fn blocks(&self, unit: u32, tile: TileConfig) -> Blocks {
        let tensix = tile.kind == TileKind::Tensix;
        let special = match tile.kind {
            TileKind::Eth { channel } => Special::Eth(Box::new(Eth::new(channel))),
            _ => Special::Tensix(Arc::default()),
        };
        Blocks {
            chip: self.index,
            at: (tile.x, tile.y),
            unit,
            timing: Arc::clone(self.timing),
            niu: self.nius(tile),
            debug: Debug::new(tensix, self.clock_offset),
            streams: Streams::new(if tensix { 64 } else { 32 }),
            special,
            events: Queue::default(),
            out: Outbox::default(),
            changed: DeviceSet::NONE,
            seq: 0,
        }
    }
}

/// Returns all places of the grid, each with its configuration.
fn check_places(chip: usize, config: &ChipConfig) -> Result<Vec<TileConfig>, ConfigError> {
    let mut places: Vec<TileConfig> = (0..GRID_HEIGHT)
        .flat_map(|y| (0..GRID_WIDTH).map(move |x| (x, y)))
        .map(|(x, y)| TileConfig { x, y, kind: TileKind::Router, harvested: false })
        .collect();
    let mut named = [false; GRID_WIDTH as usize * GRID_HEIGHT as usize];
    let mut channels = Vec::new();
    for tile in &config.tiles {
        let &TileConfig { x, y, kind, .. } = tile;
        if !grid::on_grid((x, y)) {
            return Err(ConfigError::TileOutsideGrid { chip, x, y });
        }
        let known = match kind {
            TileKind::Eth { channel } => channel < 16,
            TileKind::Dram { channel, port } => channel < 6 && port < 3,
            _ => true,
        };
        if !known {
            return Err(ConfigError::NoSuchChannel { chip, x, y });
        }
        let place = usize::from(y) * usize::from(GRID_WIDTH) + usize::from(x);
        let numbered = matches!(kind, TileKind::Eth { .. } | TileKind::Dram { .. });
        if named[place] || (numbered && channels.contains(&kind)) {
            return Err(ConfigError::TileTwice { chip, x, y });
        }
        named[place] = true;
        channels.push(kind);
        places[place] = *tile;
    }
    // Sort the ports of a DRAM channel, whatever the order of the list.
    places.sort_by_key(|tile| match tile.kind {
        TileKind::Dram { channel, port } => (1, channel, port),
        _ => (0, 0, 0),
    });
    Ok(places)
}

/// Returns ENDPOINT_ID without the NoC: index, group and type (MemoryMap.md).
fn endpoint(tile: TileConfig, tiles: &[TileConfig]) -> u32 {
    match tile.kind {
        TileKind::Tensix => {
            let before =
                |t: &&TileConfig| t.kind == TileKind::Tensix && (t.y, t.x) < (tile.y, tile.x);
            tiles.iter().filter(before).count() as u32
        }
        TileKind::Eth { channel } => u32::from(channel) | 2 << 16,
        TileKind::Pcie => 2 | 3 << 16,
        TileKind::Router => {
            let before =
                |t: &&TileConfig| t.kind == TileKind::Router && (t.y, t.x) < (tile.y, tile.x);
            let nth = tiles.iter().filter(before).count() as u32;
            // Index 2 belongs to the PCIe tile.
            (nth + u32::from(nth >= 2)) | (3 << 16)
        }
        TileKind::Arc => 5 << 16,
        TileKind::Dram { channel, port } => u32::from(port) | u32::from(channel) << 8 | 8 << 16,
    }
}

/// Returns the answer to message 0x57: bit i set means that NoC row {11,1,10,2,9,3,8,4,7,5}[i] is
/// fused off (wormhole.md 3.2).
fn harvesting(tiles: &[TileConfig]) -> u32 {
    const ROWS: [u8; 10] = [11, 1, 10, 2, 9, 3, 8, 4, 7, 5];
    let dead =
        |row: u8| tiles.iter().any(|t| t.kind == TileKind::Tensix && t.y == row && t.harvested);
    ROWS.iter().enumerate().fold(0, |mask, (i, row)| mask | u32::from(dead(*row)) << i)
}
