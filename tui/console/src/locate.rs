//! Parses places: `0`, `0:9-0`, `0:e8`, `0:1-2:trisc0`, `0:9-0:0x1104`, `0x1104`.

use images::core_named;
use layouts::{ChipId, ChipKind, ChipLayout, CoreId, CoreKind, NocXy};
use machine::target::Mesh;
pub use machine::words::number;

/// A parsed place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedPlace {
    /// An address of the tile that is on screen.
    Address(u64),
    /// A chip.
    Chip(ChipId),
    /// A tile, by its NOC 0 coordinates or its Ethernet channel.
    Tile(ChipId, NocXy),
    /// A core.
    Core(CoreId),
    /// An address in a tile.
    Word(ChipId, NocXy, u64),
}

impl NamedPlace {
    /// Whether a tile is at this place, or this place on it.
    pub fn has_tile(self, chip: ChipId, tile: NocXy) -> bool {
        match self {
            Self::Address(_) => false,
            Self::Chip(of) => of == chip,
            Self::Tile(of, xy) | Self::Word(of, xy, _) => (of, xy) == (chip, tile),
            Self::Core(core) => (core.chip, core.tile) == (chip, tile),
        }
    }

    /// Whether a core is at this place.
    pub fn has_core(self, core: CoreId) -> bool {
        match self {
            Self::Core(only) => only == core,
            other => other.has_tile(core.chip, core.tile),
        }
    }
}

/// A parsed core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Where {
    /// The chip.
    pub chip: ChipId,
    /// The tile.
    pub tile: NocXy,
    /// None means the first core of the tile.
    pub core: Option<CoreKind>,
}

/// A core: `0:e8`, `0:9-6` or `0:1-2:trisc0`.
pub fn core(text: &str) -> Result<Where, String> {
    let wrong = || format!("'{text}' is not a core, such as 0:e8, 0:9-6 or 0:1-2:trisc0");
    let parts: Vec<&str> = text.trim().split(':').collect();
    let (place, core) = match parts[..] {
        [chip, tile] => (format!("{chip}:{tile}"), None),
        [chip, tile, core] => (format!("{chip}:{tile}"), Some(core_named(core).ok_or_else(wrong)?)),
        _ => return Err(wrong()),
    };
    match self::place(&place)? {
        NamedPlace::Tile(chip, tile) => Ok(Where { chip, tile, core }),
        _ => Err(wrong()),
    }
}

/// The core of a mesh that is at this place.
pub fn core_of(place: Where, mesh: &Mesh) -> Result<CoreId, String> {
    let Where { chip, tile, core } = place;
    if !mesh.chips.iter().any(|known| known.id == chip) {
        return Err(format!("there is no chip {chip} in this mesh"));
    }
    let cores = mesh.layout().kind_at(tile).cores();
    let meant: Option<CoreKind> = core.or(cores.first().copied());
    let none = || {
        let what = core.map_or("cores", CoreKind::name);
        format!("tile {chip}:{tile} has no {what}")
    };
    let core = meant.filter(|core| cores.contains(core)).ok_or_else(none)?;
    Ok(CoreId { chip, tile, core })
}

/// A chip by its number.
pub fn chip(text: &str) -> Result<ChipId, String> {
    let number = text.parse().map_err(|_| format!("'{text}' is not a chip number"))?;
    Ok(ChipId(number))
}

/// The layout by which places are parsed before a target is opened.
pub fn layout() -> &'static ChipLayout {
    ChipKind::Wormhole.layout()
}

/// A tile of a chip, by its coordinates or its Ethernet channel, such as `e8`.
fn tile(chip: ChipId, text: &str) -> Result<NocXy, String> {
    if let Some(number) = text.strip_prefix('e') {
        let channel = number.parse().map_err(|_| format!("'{text}' is not an Ethernet channel"))?;
        let none = || format!("chip {chip} has no Ethernet channel {channel}");
        return layout().eth_channel(channel).ok_or_else(none);
    }
    let pair =
        text.split_once(['-', ',']).and_then(|(x, y)| Some((x.parse().ok()?, y.parse().ok()?)));
    let Some((x, y)) = pair else {
        return Err(format!("'{text}' is not a tile: NOC 0 coordinates such as 9-0 are"));
    };
    let tile = NocXy { x, y };
    if layout().tile_at(tile).is_none() {
        let (x_end, y_end) = (layout().tiles.columns - 1, layout().tiles.rows - 1);
        return Err(format!(
            "tile {x}-{y} is outside the chip: x is 0 to {x_end}, y is 0 to {y_end}"
        ));
    }
    Ok(tile)
}

/// Parses any place.
pub fn place(text: &str) -> Result<NamedPlace, String> {
    let parts: Vec<&str> = text.trim().split(':').collect();
    match parts[..] {
        [one] if one.starts_with("0x") || one.starts_with("0X") => {
            Ok(NamedPlace::Address(number(one)?))
        }
        [one] => Ok(NamedPlace::Chip(chip(one)?)),
        [on, at] => {
            let on = chip(on)?;
            Ok(NamedPlace::Tile(on, tile(on, at)?))
        }
        [on, at, part] => {
            let chip = chip(on)?;
            let tile = tile(chip, at)?;
            if let Some(core) = core_named(part) {
                return Ok(NamedPlace::Core(CoreId { chip, tile, core }));
            }
            let neither = |why| format!("{why}, and no core, such as brisc");
            Ok(NamedPlace::Word(chip, tile, number(part).map_err(neither)?))
        }
        _ => Err(format!("'{text}' is not <chip>:<x>-<y>:<addr>")),
    }
}

/// Parses a place with an address, as for `meshscope read`.
pub fn address(text: &str) -> Result<(ChipId, NocXy, u64), String> {
    match place(text)? {
        NamedPlace::Word(chip, xy, addr) => Ok((chip, xy, addr)),
        _ => Err(format!(
            "'{text}' is not <chip>:<x>-<y>:<addr> or <chip>:e<channel>:<addr>, such as 0:9-0:0x1104 or 0:e8:0x1104"
        )),
    }
}
