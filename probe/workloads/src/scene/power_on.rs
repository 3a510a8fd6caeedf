//! The state of an emulated mesh at power on: the tiles of each chip, and what flash and ARC would
//! have put into them. Words of base firmware are located by their DWARF names.

use super::SceneError;
use super::telemetry::telemetry;
use emulator::{
    ChipConfig, LinkConfig, LoadImage as Load, MeshConfig, PowerOn, TileConfig, TileKind,
};
use images::{Image, ImageMap};
use layouts::{
    ChipCoord, ChipLayout, ClusterDescriptor, DescribedChip, Routes, Tile, short_board_id,
};
use std::sync::Arc;

const BASE_FIRMWARE: &str = "erisc_base";
const GALAXY: &str = "galaxy";
const ORIGIN: ChipCoord = ChipCoord { x: 0, y: 0, rack: 0, shelf: 0 };

/// Returns the emulator's configuration of a mesh.
pub fn config(
    descriptor: &ClusterDescriptor,
    images: &ImageMap,
    seed: u64,
) -> Result<MeshConfig, SceneError> {
    let base = images.named(BASE_FIRMWARE).cloned();
    let base =
        base.ok_or_else(|| SceneError::Image(format!("there is no image {BASE_FIRMWARE}")))?;
    let routes = descriptor.firmware_routes();
    let chips = descriptor.chips.iter().map(|chip| self::chip(descriptor, &routes, chip, &base));
    let link = |(a, b): &(layouts::EthId, layouts::EthId)| {
        LinkConfig::new((a.chip.0.into(), a.channel), (b.chip.0.into(), b.channel))
    };
    Ok(MeshConfig {
        seed,
        chips: chips.collect::<Result<_, _>>()?,
        links: descriptor.links.iter().map(link).collect(),
        threads: threads(descriptor.chips.len()),
        ..MeshConfig::default()
    })
}

/// Returns the number of emulator threads, which affects no emulated byte.
fn threads(chips: usize) -> usize {
    let all = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if chips > 1 { all() } else { 1 }
}

fn chip(
    descriptor: &ClusterDescriptor,
    routes: &Routes,
    chip: &DescribedChip,
    base: &Arc<Image>,
) -> Result<ChipConfig, SceneError> {
    let layout = descriptor.kind.layout();
    let tiles = layout.grid().iter();
    let coord = coord(descriptor, chip)?;
    // The same for all tiles of a chip.
    let routes = routing_table(descriptor, routes, chip, base)?;
    let mut power_on = Vec::new();
    for tile in tiles.clone().filter(|tile| tile.kind == layouts::TileKind::Eth) {
        let load = |image, start| PowerOn { x: tile.xy.x, y: tile.xy.y, image, start };
        power_on.push(load(boot_parameters(layout, chip, coord, *tile, base)?, false));
        power_on.push(load(Load::Elf(base.elf().to_vec()), true));
        power_on.push(load(routes.clone(), false));
    }
    Ok(ChipConfig {
        pcie: chip.pcie.is_some(),
        place: Some([coord.rack, coord.shelf, coord.x, coord.y]),
        tiles: tiles.map(|tile| self::tile(chip, *tile)).collect::<Result<_, _>>()?,
        translation: chip.noc_translation,
        telemetry: telemetry(layout, chip)?,
        power_on,
    })
}

/// Returns the channel of an Ethernet or DRAM tile.
fn channel(tile: Tile) -> Result<u8, SceneError> {
    tile.channel.ok_or_else(|| SceneError::Mesh(format!("tile {} has no channel", tile.xy)))
}

fn tile(chip: &DescribedChip, tile: Tile) -> Result<TileConfig, SceneError> {
    let no_port = || SceneError::Mesh(format!("tile {} has no port", tile.xy));
    let kind = match tile.kind {
        layouts::TileKind::Tensix => TileKind::Tensix,
        layouts::TileKind::Eth => TileKind::Eth { channel: channel(tile)? },
        layouts::TileKind::Dram => {
            TileKind::Dram { channel: channel(tile)?, port: tile.port.ok_or_else(no_port)? }
        }
        layouts::TileKind::Arc => TileKind::Arc,
        layouts::TileKind::Pcie => TileKind::Pcie,
        layouts::TileKind::Router => TileKind::Router,
    };
    let harvested = kind == TileKind::Tensix && chip.harvested_rows.contains(&tile.xy.y);
    Ok(TileConfig { x: tile.xy.x, y: tile.xy.y, kind, harvested })
}

/// Returns the coordinates in the chip's boot parameters.
fn coord(descriptor: &ClusterDescriptor, chip: &DescribedChip) -> Result<ChipCoord, SceneError> {
    // A single chip, and chips that do not route, need no coordinates.
    let layout = descriptor.kind.layout();
    let optional = descriptor.chips.len() == 1 || routing_off(layout, chip);
    let unplaced = || SceneError::Mesh(format!("chip {} has no coordinates", chip.id));
    chip.coord.or(optional.then_some(ORIGIN)).ok_or_else(unplaced)
}

/// Returns true if base firmware does not route: on a Galaxy whose chips all have PCIe
/// (wormhole.md 6.8).
fn routing_off(layout: &ChipLayout, chip: &DescribedChip) -> bool {
    let kind = chip.board.as_ref().and_then(|board| board.kind.as_deref());
    let board = kind.and_then(|kind| layout.arc.board_named(kind));
    chip.pcie.is_some() && board.is_some_and(|board| board.name == GALAXY)
}

/// Bytes of a global, or of the target of a constant pointer, composed by member names.
struct GlobalWords<'a> {
    image: &'a Image,
    addr: u64,
    bytes: Vec<u8>,
}

impl<'a> GlobalWords<'a> {
    fn new(image: &'a Image, addr: u64, len: u64) -> Self {
        Self { image, addr, bytes: vec![0; len as usize] }
    }

    fn put(&mut self, path: &str, value: u64) -> Result<(), SceneError> {
        let missing = || SceneError::Image(format!("{} does not describe {path}", self.image.name));
        let place = self.image.symbols.locate(path).map_err(|_| missing())?;
        let start = place.address().checked_sub(self.addr).ok_or_else(missing)? as usize;
        let size = (place.field.size as usize).min(8);
        let target = self.bytes.get_mut(start..start + size).ok_or_else(missing)?;
        target.copy_from_slice(&value.to_le_bytes()[..size]);
        Ok(())
    }

    fn load(self) -> Load {
        Load::Load { addr: self.addr, bytes: self.bytes }
    }
}

fn whole<'a>(image: &'a Image, path: &str, first: &str) -> Result<GlobalWords<'a>, SceneError> {
    let missing = || SceneError::Image(format!("{} does not describe {path}", image.name));
    let ty = image.symbols.type_named(&format!("{path}_t"));
    let place = image.symbols.locate(first).map_err(|_| missing())?;
    let len = ty.and_then(|ty| ty.size()).ok_or_else(missing)?;
    Ok(GlobalWords::new(image, place.base, len))
}

fn boot_parameters(
    layout: &ChipLayout,
    chip: &DescribedChip,
    coord: ChipCoord,
    tile: Tile,
    base: &Arc<Image>,
) -> Result<Load, SceneError> {
    let mut words = whole(base, "boot_params", "boot_params->board_id")?;
    let unique = chip.unique_id.unwrap_or_else(|| chip.id.0.into());
    let board = chip.board.as_ref();
    let kind = board.and_then(|board| board.kind.as_deref());
    let known = kind.and_then(|kind| layout.arc.board_named(kind));
    let channels = u64::from(layout.eth_channels());
    words.put("boot_params->routing_disabled", routing_off(layout, chip).into())?;
    words.put("boot_params->board_type", known.map_or(0, |known| known.code.into()))?;
    words.put("boot_params->board_id", short_id(chip, unique).into())?;
    words.put("boot_params->board_id_hi", unique >> 32)?;
    words.put("boot_params->own_coordinate", coordinate(coord))?;
    words.put("boot_params->own_channel", channel(tile)?.into())?;
    words.put("boot_params->present_channels", (1 << channels) - 1)?;
    Ok(words.load())
}

/// Returns the low word of the chip's identifier: that of its unique id or, if zero, the short form
/// of the board's id.
fn short_id(chip: &DescribedChip, unique: u64) -> u32 {
    let board = chip.board.as_ref().and_then(|board| board.id);
    if unique as u32 != 0 { unique as u32 } else { board.map_or(0, short_board_id) }
}

fn coordinate(coord: ChipCoord) -> u64 {
    let [rack, shelf, x, y] = [coord.rack, coord.shelf, coord.x, coord.y].map(u64::from);
    rack | shelf << 8 | x << 16 | y << 24
}

fn routing_table(
    descriptor: &ClusterDescriptor,
    routes: &Routes,
    chip: &DescribedChip,
    base: &Arc<Image>,
) -> Result<Load, SceneError> {
    let mut words = whole(base, "routing_table", "routing_table.count")?;
    // The table omits chips without a route, such as those of another host.
    let routes = routes.table(chip.id).into_iter().filter(|(_, channels)| *channels != 0);
    let place = |to| descriptor.chip(to).and_then(|chip| chip.coord);
    let table: Vec<_> = routes.filter_map(|(to, channels)| Some((place(to)?, channels))).collect();
    words.put("routing_table.count", table.len() as u64)?;
    for (index, (coord, channels)) in table.iter().enumerate() {
        for (member, value) in [
            ("rack", coord.rack.into()),
            ("shelf", coord.shelf.into()),
            ("x", coord.x.into()),
            ("y", coord.y.into()),
            ("channels", u64::from(*channels)),
        ] {
            words.put(&format!("routing_table.routes[{index}].{member}"), value)?;
        }
    }
    Ok(words.load())
}
