//! The live target: any machine with a BAR, near chips through windows and far ones through queues.

mod checked;
mod preview;
mod reading;

use crate::access::{Access, Route};
use crate::bus::Bus;
use crate::discover::discover;
use crate::guard::{AuditEntry, AuditLog, FarPlace, Guard};
use crate::planner::MergedRange;
use checked::Known;
use layouts::{ChipId, NocAddr};
use machine::bar::{Bar, Holder};
use machine::clock::host_micros;
use machine::fault::{ChipAddress, Fault};
use machine::patience::Patience;
use machine::snapshot::{AccessError, Plan, Snapshot, Span};
use machine::target::Quarantined;
use machine::target::{Abilities, Mesh, Old, Preview, Target};
use reading::read_all;
use std::collections::BTreeMap;

/// A [`Target`] over a [`Bar`].
pub struct BarTarget {
    name: String,
    abilities: Abilities,
    mesh: Mesh,
    routes: BTreeMap<ChipId, Route>,
    access: Access,
    guard: Guard,
    known: Known,
    /// Where writes are told before they are made.
    audit: Option<AuditLog>,
    /// Why a far write did not arrive, until somebody can be told.
    late: Option<AccessError>,
}

impl BarTarget {
    /// Discovers the mesh behind the BAR.
    ///
    /// # Errors
    /// When the machine is gone or shows no Wormhole at all.
    pub fn open(
        name: impl Into<String>,
        bar: Box<dyn Bar>,
        abilities: Abilities,
        patience: Patience,
    ) -> Result<Self, AccessError> {
        let mut access = Access::new(Bus::new(bar), patience);
        let found = discover(&mut access)?;
        Ok(Self {
            name: name.into(),
            guard: Guard::new(&abilities, &found.mesh),
            abilities,
            mesh: found.mesh,
            routes: found.routes,
            access,
            known: Known::default(),
            audit: None,
            late: None,
        })
    }

    /// Changes the words by which the target is known.
    pub fn rename(&mut self, name: impl Into<String>) {
        self.name = name.into();
    }

    /// Gives the machine back, as it stands.
    pub fn into_bar(self) -> Box<dyn Bar> {
        self.access.bus.into_bar()
    }

    /// Commands posted to routing queues since the target was opened.
    pub fn queue_commands(&self) -> u64 {
        self.access.queue_commands()
    }

    /// Waits for far writes; what did not arrive is told once.
    fn settle(&mut self) -> Result<(), AccessError> {
        match self.late.take() {
            Some(late) => Err(late),
            None => self.access.flush().and_then(|()| self.access.finish()),
        }
    }

    /// From now on every write is appended to a log before it is made.
    pub fn keep_audit(&mut self, audit: AuditLog) {
        self.audit = Some(audit);
    }

    /// The way to a range that may be written.
    fn writable(&self, span: &Span) -> Result<Route, AccessError> {
        self.guard.writing(span)?;
        let chip = span.addr.chip;
        let route = self.routes.get(&chip).cloned().ok_or_else(|| no_route(chip))?;
        match route {
            Route::Queue { device, coord, .. } => match self.access.quarantine.far((device, coord))
            {
                Some(reason) => Err(reason.clone()),
                None => Ok(route),
            },
            Route::Pcie(_) => Ok(route),
        }
    }

    fn write_to(&mut self, route: &Route, addr: NocAddr, bytes: &[u8]) -> Result<(), AccessError> {
        self.access.bus.announce(&format!("{} bytes at {addr}", bytes.len()));
        self.access.write(route, addr.tile, addr.offset, bytes)
    }

    /// What stands where somebody wants to write, or why it must not be read.
    ///
    /// # Errors
    /// When it may be read and cannot be: then it is not written to either.
    fn old(&mut self, route: &Route, span: &Span) -> Result<Old, AccessError> {
        let stand = match self.guard.reading(span) {
            Ok(stand) => stand,
            Err(reason) => return Ok(Err(reason)),
        };
        let run = MergedRange::of(span, stand);
        let mut read = self.access.read(route, run.tile, run.offset, run.len)?.bytes;
        read.drain(..(span.addr.offset - run.offset) as usize);
        read.truncate(span.len as usize);
        Ok(Ok(read))
    }

    /// The chip at this place.
    fn chip_at(&self, is: impl Fn(&Route) -> bool) -> Option<ChipId> {
        self.routes.iter().find(|(_, route)| is(route)).map(|(chip, _)| *chip)
    }
}

impl Target for BarTarget {
    fn name(&self) -> &str {
        &self.name
    }

    fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    fn read(&mut self, plan: &Plan) -> Snapshot {
        let before = self.transactions();
        let checked = self.checked(plan);
        let mut snapshot = Snapshot { gaps: checked.gaps.clone(), ..Snapshot::default() };
        snapshot.pieces.reserve(checked.chips.iter().map(|(.., runs)| runs.len()).sum());
        // A write that did not arrive is told by the next call that can say so.
        self.late = self.late.take().or(self.access.flush().err());
        read_all(&mut self.access, &checked.chips, &mut snapshot);
        self.known.keep(checked);
        snapshot.pieces.sort_by_key(|piece| piece.addr);
        snapshot.transactions = self.transactions() - before;
        snapshot
    }

    fn write(&mut self, addr: NocAddr, bytes: &[u8]) -> Result<(), AccessError> {
        if self.audit.is_some() {
            return self.replace(addr, bytes).map(|_| ());
        }
        let route = self.writable(&Span { addr, len: bytes.len() as u32 })?;
        self.write_to(&route, addr, bytes)
    }

    fn replace(&mut self, addr: NocAddr, bytes: &[u8]) -> Result<Old, AccessError> {
        let span = Span { addr, len: bytes.len() as u32 };
        let route = self.writable(&span)?;
        let entry = AuditEntry { addr, old: self.old(&route, &span)?, new: bytes };
        let audit = self.audit.clone();
        if let Some(audit) = &audit {
            audit.append(&entry, host_micros())?;
        }
        let written = self.write_to(&route, addr, bytes);
        if let (Err(reason), Some(audit)) = (&written, &audit) {
            audit.failed(&entry, host_micros(), reason);
        }
        written.map(|()| entry.old)
    }

    fn commanded_by(&mut self, command: &str) {
        if let Some(audit) = &mut self.audit {
            audit.command(command);
        }
    }

    fn now(&mut self) -> Result<u64, AccessError> {
        self.settle()?;
        self.access.bus.now()
    }

    fn pass(&mut self, cycles: u64) -> Result<(), AccessError> {
        self.settle()?;
        self.access.bus.pass(cycles)
    }

    fn disrupt(&mut self, fault: &Fault) -> Result<(), AccessError> {
        if !self.abilities.allow.write {
            return Err(AccessError::Refused(format!("{fault}: nobody allowed write")));
        }
        self.mesh.check_fault(fault).map_err(|error| AccessError::Refused(error.to_string()))?;
        let at = match self.routes.get(&fault.chip()) {
            Some(Route::Pcie(device)) => ChipAddress::Device(*device),
            Some(Route::Queue { coord, .. }) => ChipAddress::at(*coord),
            None => return Err(no_route(fault.chip())),
        };
        // Writes that a person gave before come before it.
        self.settle()?;
        self.access.bus.announce(&fault.to_string());
        self.access.bus.disrupt(at, fault)
    }

    fn holders(&mut self) -> Vec<(ChipId, Holder)> {
        let mut found = Vec::new();
        for (chip, route) in &self.routes {
            if let Route::Pcie(device) = route {
                let holders = self.access.bus.holders(*device).into_iter();
                found.extend(holders.map(|holder| (*chip, holder)));
            }
        }
        found
    }

    fn transactions(&self) -> u64 {
        self.access.bus.transactions()
    }

    fn preview(&mut self, plans: &[Plan]) -> Preview {
        self.reads(plans)
    }

    fn preview_write(&mut self, span: Span) -> Preview {
        self.writes(span)
    }

    fn quarantined(&self) -> Vec<Quarantined> {
        let quarantine = &self.access.quarantine;
        // What is no chip of the mesh is never asked, and has no name to be told by.
        let near = |device| self.chip_at(|route| *route == Route::Pcie(device));
        let far = |(at_device, at): FarPlace| {
            let is = |route: &Route| {
                matches!(route, Route::Queue { device, coord, .. }
                if (*device, *coord) == (at_device, at))
            };
            self.chip_at(is)
        };
        let one = |chip: Option<ChipId>, tile, reason: &AccessError| {
            let reason = reason.clone();
            Some(Quarantined { chip: chip?, tile, towards: None, reason })
        };
        let devices = quarantine.devices().filter_map(|(device, why)| one(near(device), None, why));
        let tiles =
            quarantine.tiles().filter_map(|(device, tile, why)| one(near(device), Some(tile), why));
        let chips = quarantine.far_chips().filter_map(|(place, why)| one(far(place), None, why));
        let routes = quarantine.lost_gateways().iter().filter_map(|route| {
            Some(Quarantined {
                chip: near(route.chip.0)?,
                tile: Some(route.gateway),
                towards: Some(far(route.chip)?),
                reason: route.reason.clone(),
            })
        });
        devices.chain(tiles).chain(chips).chain(routes).collect()
    }

    fn clear_quarantine(&mut self) {
        self.access.clear_quarantine();
    }

    fn remarks(&mut self) -> Vec<String> {
        self.access.bus.remarks()
    }
}

fn no_route(chip: ChipId) -> AccessError {
    AccessError::Unreachable(format!("there is no chip {chip}"))
}
