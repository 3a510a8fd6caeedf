//! Parses places: `0`, `0:9-0`, `0:9-0:0x1104`, `0:e8`, `0:e8:0x1104`, `0x1104`.

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
    /// An Ethernet channel of a chip.
    Channel(ChipId, u8),
    /// A tile by its NOC 0 coordinates, and an address in it, if given.
    Tile(ChipId, NocXy, Option<u64>),
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
        NamedPlace::Tile(chip, tile, None) => Ok(Where { chip, tile, core }),
        NamedPlace::Channel(chip, channel) => Ok(Where { chip, tile: tile_of(channel)?, core }),
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

fn tile(text: &str) -> Result<NocXy, String> {
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

/// An Ethernet channel, such as `e8`.
fn channel(text: &str) -> Result<u8, String> {
    let number = text.strip_prefix('e').and_then(|number| number.parse().ok());
    number.ok_or_else(|| format!("'{text}' is not an Ethernet channel"))
}

/// The tile of an Ethernet channel.
fn tile_of(channel: u8) -> Result<NocXy, String> {
    let none = || format!("a chip has no Ethernet channel {channel}");
    layout().eth_channel(channel).ok_or_else(none)
}

/// Parses any place.
pub fn place(text: &str) -> Result<NamedPlace, String> {
    let parts: Vec<&str> = text.trim().split(':').collect();
    match parts[..] {
        [one] if one.starts_with("0x") || one.starts_with("0X") => {
            Ok(NamedPlace::Address(number(one)?))
        }
        [one] => Ok(NamedPlace::Chip(chip(one)?)),
        [on, channel] if channel.starts_with('e') => {
            Ok(NamedPlace::Channel(chip(on)?, self::channel(channel)?))
        }
        [on, at] => Ok(NamedPlace::Tile(chip(on)?, tile(at)?, None)),
        [on, at, addr] if at.starts_with('e') => {
            let (on, channel) = (chip(on)?, channel(at)?);
            Ok(NamedPlace::Tile(on, tile_of(channel)?, Some(number(addr)?)))
        }
        [on, at, addr] => Ok(NamedPlace::Tile(chip(on)?, tile(at)?, Some(number(addr)?))),
        _ => Err(format!("'{text}' is not <chip>:<x>-<y>:<addr>")),
    }
}

/// Parses a place with an address, as for `meshscope read`.
pub fn address(text: &str) -> Result<(ChipId, NocXy, u64), String> {
    match place(text)? {
        NamedPlace::Tile(chip, xy, Some(addr)) => Ok((chip, xy, addr)),
        _ => Err(format!(
            "'{text}' is not <chip>:<x>-<y>:<addr> or <chip>:e<channel>:<addr>, such as 0:9-0:0x1104 or 0:e8:0x1104"
        )),
    }
}
