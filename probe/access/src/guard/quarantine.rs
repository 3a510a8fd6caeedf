//! Devices, chips, tiles and gateways that are not accessed until the user clears the quarantine.

use crate::planner::MergedRange;
use layouts::{ChipCoord, NocXy};
use machine::snapshot::AccessError;

/// Tiles of the grid, in rows of ten.
const TILES: usize = 120;
const COLUMNS: usize = 10;

/// A far chip: the PCIe device that leads to it, and its position.
pub(crate) type FarPlace = (u8, ChipCoord);

/// A gateway that is passed over for a far chip.
#[derive(Clone, Debug)]
pub(crate) struct LostGateway {
    pub(crate) gateway: NocXy,
    pub(crate) chip: FarPlace,
    pub(crate) reason: AccessError,
    /// Target time at which it is tried again.
    until_cycles: u64,
}

/// The state of one tile of a PCIe device.
#[derive(Clone, Debug, Default)]
struct TileHealth {
    /// Whether it has answered since the target was opened.
    seen: bool,
    hung: Option<AccessError>,
}

/// The state of one PCIe device.
#[derive(Clone, Debug)]
struct Device {
    /// Why the device is lost: the chip left the bus, or its NoC hangs.
    lost: Option<AccessError>,
    tiles: Vec<TileHealth>,
}

impl Default for Device {
    fn default() -> Self {
        Self { lost: None, tiles: vec![TileHealth::default(); TILES] }
    }
}

/// The quarantine of one target.
#[derive(Debug, Default)]
pub(crate) struct Quarantine {
    /// By device number.
    devices: Vec<Device>,
    far: Vec<(FarPlace, AccessError)>,
    /// The hung tiles of far chips.
    far_tiles: Vec<(FarPlace, NocXy, AccessError)>,
    /// A range of each far chip that was answered.
    far_answers: Vec<(FarPlace, MergedRange)>,
    gateways: Vec<LostGateway>,
}

fn tile_index(tile: NocXy) -> usize {
    (usize::from(tile.y) * COLUMNS + usize::from(tile.x)).min(TILES - 1)
}

impl Quarantine {
    /// Returns why this device is not accessed, if so.
    pub(crate) fn device(&self, device: u8) -> Option<&AccessError> {
        self.devices.get(usize::from(device))?.lost.as_ref()
    }

    /// Returns why this tile is not accessed, if so.
    pub(crate) fn tile(&self, device: u8, tile: NocXy) -> Option<&AccessError> {
        let known = self.devices.get(usize::from(device))?;
        known.tiles[tile_index(tile)].hung.as_ref().or(known.lost.as_ref())
    }

    /// Returns why a far chip is not accessed, if so.
    pub(crate) fn far(&self, chip: FarPlace) -> Option<&AccessError> {
        let own = self.far.iter().find(|(place, _)| *place == chip).map(|(_, why)| why);
        self.device(chip.0).or(own)
    }

    /// Returns why a tile of a far chip is not accessed, if so.
    pub(crate) fn far_tile(&self, chip: FarPlace, tile: NocXy) -> Option<&AccessError> {
        let own = self.far_tiles.iter().find(|(place, at, _)| (*place, *at) == (chip, tile));
        own.map(|(_, _, why)| why).or_else(|| self.far(chip))
    }

    /// Returns a range of a far chip that was answered.
    pub(crate) fn far_answer(&self, chip: FarPlace) -> Option<MergedRange> {
        self.far_answers.iter().find(|(place, _)| *place == chip).map(|(_, range)| *range)
    }

    /// Records that a far chip has answered.
    pub(crate) fn far_answered(&mut self, chip: FarPlace, range: MergedRange) {
        if self.far_answer(chip).is_none() {
            self.far_answers.push((chip, range));
        }
    }

    /// Puts this tile of a far chip into quarantine.
    pub(crate) fn lose_far_tile(&mut self, chip: FarPlace, tile: NocXy, reason: AccessError) {
        self.far_tiles.push((chip, tile, reason));
    }

    /// Whether any tile of this device has answered since the target was opened.
    pub(crate) fn has_answered(&self, device: u8) -> bool {
        let known = self.devices.get(usize::from(device));
        known.is_some_and(|known| known.tiles.iter().any(|tile| tile.seen))
    }

    /// Whether this tile has answered since the target was opened.
    pub(crate) fn seen(&self, device: u8, tile: NocXy) -> bool {
        self.devices
            .get(usize::from(device))
            .is_some_and(|known| known.tiles[tile_index(tile)].seen)
    }

    fn known(&mut self, device: u8) -> &mut Device {
        let index = usize::from(device);
        if self.devices.len() <= index {
            self.devices.resize_with(index + 1, Device::default);
        }
        &mut self.devices[index]
    }

    /// Records that the tile has answered.
    pub(crate) fn answered(&mut self, device: u8, tile: NocXy) {
        self.known(device).tiles[tile_index(tile)].seen = true;
    }

    /// Puts this device into quarantine.
    pub(crate) fn lose_device(&mut self, device: u8, reason: AccessError) {
        self.known(device).lost.get_or_insert(reason);
    }

    /// Puts this tile into quarantine.
    pub(crate) fn lose_tile(&mut self, device: u8, tile: NocXy, reason: AccessError) {
        self.known(device).tiles[tile_index(tile)].hung.get_or_insert(reason);
    }

    /// Puts this far chip into quarantine.
    pub(crate) fn lose_far(&mut self, chip: FarPlace, reason: AccessError) {
        if self.far(chip).is_none() {
            self.far.push((chip, reason));
        }
    }

    /// Whether this gateway is passed over for a far chip.
    pub(crate) fn is_lost_gateway(&self, chip: FarPlace, gateway: NocXy) -> bool {
        self.gateways.iter().any(|route| route.chip == chip && route.gateway == gateway)
    }

    /// Passes this gateway over for a far chip until a target time, while there are others.
    pub(crate) fn lose_gateway(
        &mut self,
        chip: FarPlace,
        gateway: NocXy,
        reason: AccessError,
        until_cycles: u64,
    ) {
        self.gateways.retain(|route| route.chip != chip || route.gateway != gateway);
        self.gateways.push(LostGateway { gateway, chip, reason, until_cycles });
    }

    /// Returns the gateways that are passed over.
    pub(crate) fn lost_gateways(&self) -> &[LostGateway] {
        &self.gateways
    }

    /// Allows gateways again whose time has passed.
    pub(crate) fn retry_gateways(&mut self, now: u64) {
        self.gateways.retain(|route| now < route.until_cycles);
    }

    /// Allows all far chips and gateways again: a request to one costs a millisecond.
    pub(crate) fn retry_far(&mut self) {
        self.far.clear();
        self.gateways.clear();
    }

    /// Returns the lost devices, and why.
    pub(crate) fn devices(&self) -> impl Iterator<Item = (u8, &AccessError)> {
        let lost = (0..).zip(&self.devices);
        lost.filter_map(|(device, known)| Some((device, known.lost.as_ref()?)))
    }

    /// Returns the hung tiles, and why.
    pub(crate) fn tiles(&self) -> impl Iterator<Item = (u8, NocXy, &AccessError)> {
        let xy = |at| NocXy { x: (at % COLUMNS) as u8, y: (at / COLUMNS) as u8 };
        (0..).zip(&self.devices).flat_map(move |(device, known)| {
            let hung = known.tiles.iter().enumerate();
            hung.filter_map(move |(at, tile)| Some((device, xy(at), tile.hung.as_ref()?)))
        })
    }

    /// Returns the hung tiles of far chips, and why.
    pub(crate) fn far_tiles(&self) -> impl Iterator<Item = (FarPlace, NocXy, &AccessError)> {
        self.far_tiles.iter().map(|(chip, tile, reason)| (*chip, *tile, reason))
    }

    /// Returns the far chips in quarantine, and why.
    pub(crate) fn far_chips(&self) -> impl Iterator<Item = (FarPlace, &AccessError)> {
        self.far.iter().map(|(chip, reason)| (*chip, reason))
    }

    /// Splits off the state of one device, until [`Quarantine::join`].
    pub(crate) fn part(&mut self, device: u8) -> Self {
        let mut part = Self::default();
        *part.known(device) = std::mem::take(self.known(device));
        let (own, others) =
            std::mem::take(&mut self.far).into_iter().partition(|((owner, _), _)| *owner == device);
        (part.far, self.far) = (own, others);
        let tiles = std::mem::take(&mut self.far_tiles).into_iter();
        (part.far_tiles, self.far_tiles) = tiles.partition(|((owner, _), ..)| *owner == device);
        let answers = std::mem::take(&mut self.far_answers).into_iter();
        (part.far_answers, self.far_answers) =
            answers.partition(|((owner, _), _)| *owner == device);
        let routes = std::mem::take(&mut self.gateways).into_iter();
        (part.gateways, self.gateways) = routes.partition(|route| route.chip.0 == device);
        part
    }

    /// Takes back the state of one device.
    pub(crate) fn join(&mut self, device: u8, mut part: Self) {
        *self.known(device) = std::mem::take(part.known(device));
        self.far.append(&mut part.far);
        self.far_tiles.append(&mut part.far_tiles);
        self.far_answers.append(&mut part.far_answers);
        self.gateways.append(&mut part.gateways);
    }

    /// Clears the quarantine; every tile is probed again before a block.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}
