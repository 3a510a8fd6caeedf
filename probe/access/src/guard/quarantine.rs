//! What hung, and is not touched again until a person clears it.

use layouts::{ChipCoord, NocXy};
use machine::snapshot::AccessError;

/// The grid's places; rows of ten.
const PLACES: usize = 120;
const COLUMNS: usize = 10;

/// A far chip: the PCIe device that leads to it, and its place.
pub(crate) type FarPlace = (u8, ChipCoord);

/// A gateway that was passed over for a far chip.
#[derive(Clone, Debug)]
pub(crate) struct LostGateway {
    pub(crate) gateway: NocXy,
    pub(crate) chip: FarPlace,
    pub(crate) reason: AccessError,
    /// The target's time from which it is asked again.
    until_cycles: u64,
}

/// What is known of one tile of a PCIe device.
#[derive(Clone, Debug, Default)]
struct TileHealth {
    /// It has answered since the target was opened.
    seen: bool,
    hung: Option<AccessError>,
}

/// What is known of one PCIe device.
#[derive(Clone, Debug)]
struct Device {
    /// The chip left the bus, or its NoC hangs.
    lost: Option<AccessError>,
    tiles: Vec<TileHealth>,
}

impl Default for Device {
    fn default() -> Self {
        Self { lost: None, tiles: vec![TileHealth::default(); PLACES] }
    }
}

/// Everything that is latched on one target.
#[derive(Debug, Default)]
pub(crate) struct Quarantine {
    /// By number.
    devices: Vec<Device>,
    far: Vec<(FarPlace, AccessError)>,
    gateways: Vec<LostGateway>,
}

fn place(tile: NocXy) -> usize {
    (usize::from(tile.y) * COLUMNS + usize::from(tile.x)).min(PLACES - 1)
}

impl Quarantine {
    /// Why nothing of this device is touched, if so.
    pub(crate) fn device(&self, device: u8) -> Option<&AccessError> {
        self.devices.get(usize::from(device))?.lost.as_ref()
    }

    /// Why this tile is not touched, if so.
    pub(crate) fn tile(&self, device: u8, tile: NocXy) -> Option<&AccessError> {
        let known = self.devices.get(usize::from(device))?;
        known.lost.as_ref().or_else(|| known.tiles[place(tile)].hung.as_ref())
    }

    /// Why a far chip is not asked, if so.
    pub(crate) fn far(&self, chip: FarPlace) -> Option<&AccessError> {
        let own = self.far.iter().find(|(at, _)| *at == chip).map(|(_, why)| why);
        self.device(chip.0).or(own)
    }

    /// Has this tile answered since the target was opened?
    pub(crate) fn seen(&self, device: u8, tile: NocXy) -> bool {
        self.devices.get(usize::from(device)).is_some_and(|known| known.tiles[place(tile)].seen)
    }

    fn known(&mut self, device: u8) -> &mut Device {
        let at = usize::from(device);
        if self.devices.len() <= at {
            self.devices.resize_with(at + 1, Device::default);
        }
        &mut self.devices[at]
    }

    /// The tile has answered.
    pub(crate) fn answered(&mut self, device: u8, tile: NocXy) {
        self.known(device).tiles[place(tile)].seen = true;
    }

    /// Nothing of this device is touched any more.
    pub(crate) fn lose_device(&mut self, device: u8, reason: AccessError) {
        self.known(device).lost.get_or_insert(reason);
    }

    /// This tile is not touched any more.
    pub(crate) fn lose_tile(&mut self, device: u8, tile: NocXy, reason: AccessError) {
        self.known(device).tiles[place(tile)].hung.get_or_insert(reason);
    }

    /// This far chip is not asked any more.
    pub(crate) fn lose_far(&mut self, chip: FarPlace, reason: AccessError) {
        if self.far(chip).is_none() {
            self.far.push((chip, reason));
        }
    }

    /// Is this gateway passed over for a far chip?
    pub(crate) fn is_lost_gateway(&self, chip: FarPlace, gateway: NocXy) -> bool {
        self.gateways.iter().any(|route| route.chip == chip && route.gateway == gateway)
    }

    /// This gateway is passed over for a far chip up to a moment, as long as there are others.
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

    /// Gateways that are passed over.
    pub(crate) fn lost_gateways(&self) -> &[LostGateway] {
        &self.gateways
    }

    /// Those whose time is over may be asked again.
    pub(crate) fn retry_gateways(&mut self, now: u64) {
        self.gateways.retain(|route| now < route.until_cycles);
    }

    /// Devices that are not touched, and why.
    pub(crate) fn devices(&self) -> impl Iterator<Item = (u8, &AccessError)> {
        let lost = (0..).zip(&self.devices);
        lost.filter_map(|(device, known)| Some((device, known.lost.as_ref()?)))
    }

    /// Tiles that are not touched, and why.
    pub(crate) fn tiles(&self) -> impl Iterator<Item = (u8, NocXy, &AccessError)> {
        let xy = |at| NocXy { x: (at % COLUMNS) as u8, y: (at / COLUMNS) as u8 };
        (0..).zip(&self.devices).flat_map(move |(device, known)| {
            let hung = known.tiles.iter().enumerate();
            hung.filter_map(move |(at, tile)| Some((device, xy(at), tile.hung.as_ref()?)))
        })
    }

    /// Far chips that are not asked, and why.
    pub(crate) fn far_chips(&self) -> impl Iterator<Item = (FarPlace, &AccessError)> {
        self.far.iter().map(|(chip, reason)| (*chip, reason))
    }

    /// What is known of one device, to be given back by [`Quarantine::join`].
    pub(crate) fn part(&mut self, device: u8) -> Self {
        let mut part = Self::default();
        *part.known(device) = std::mem::take(self.known(device));
        let (own, others) =
            std::mem::take(&mut self.far).into_iter().partition(|((of, _), _)| *of == device);
        (part.far, self.far) = (own, others);
        let routes = std::mem::take(&mut self.gateways).into_iter();
        (part.gateways, self.gateways) = routes.partition(|route| route.chip.0 == device);
        part
    }

    /// Takes back what is known of one device.
    pub(crate) fn join(&mut self, device: u8, mut part: Self) {
        *self.known(device) = std::mem::take(part.known(device));
        self.far.append(&mut part.far);
        self.gateways.append(&mut part.gateways);
    }

    /// A person wants all of it tried again; every tile is probed again before a block.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}
