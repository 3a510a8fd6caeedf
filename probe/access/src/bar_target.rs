//! The live target: any machine with a BAR. Near chips are reached through windows, far ones
//! through queues.

mod checked;
mod past;
mod preview;
mod reading;

use crate::access::{Access, Route};
use crate::bus::Bus;
use crate::discover::discover;
use crate::guard::{AuditEntry, AuditLog, FarPlace, Guard};
use crate::planner::MergedRange;
use checked::CheckedPlans;
use layouts::{ChipId, NocAddr};
use machine::bar::Bar;
use machine::clients::{Client, Holder};
use machine::clock::host_micros;
use machine::fault::{ChipAddress, Fault};
use machine::past::{KeptPast, RecordedRun};
use machine::patience::Deadlines;
use machine::place::Place;
use machine::progress::{Listener, Progress};
use machine::snapshot::{AccessError, Plan, Snapshot, Span};
use machine::target::{
    Abilities, Arrived, Audit, KeptRun, Mesh, OldBytes, Past, Preview, Quarantine, Quarantined,
    Target, TargetBus,
};
use reading::{Growing, read_all};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A [`Target`] over a [`Bar`].
pub struct BarTarget {
    name: String,
    abilities: Abilities,
    mesh: Mesh,
    routes: BTreeMap<ChipId, Route>,
    access: Access,
    guard: Guard,
    known: CheckedPlans,
    /// Log of the writes, appended to before each write.
    audit: Option<AuditLog>,
    /// Why a far write did not arrive, until a call can return the error.
    late: Option<AccessError>,
    /// What those who prepared the machine found wrong with it.
    notes: Vec<String>,
    /// Who is told of the target's time while the machine is prepared, and when that was last.
    boot: Option<(Listener, Instant)>,
}

/// While the machine is prepared, time passes in pieces of this length, so that they can be told.
const TOLD_CYCLES: u64 = 500_000;
/// The host's time between two of them, so that telling costs nothing.
const TOLD_PAUSE: Duration = Duration::from_millis(50);

impl BarTarget {
    /// Discovers the mesh behind the BAR.
    ///
    /// # Errors
    /// When the machine is gone or has no Wormhole.
    pub fn open(
        name: impl Into<String>,
        bar: Box<dyn Bar>,
        abilities: Abilities,
        patience: Deadlines,
    ) -> Result<Self, AccessError> {
        Self::open_telling(name, bar, abilities, patience, &Listener::default())
    }

    /// Discovers the mesh behind the BAR as [`BarTarget::open`] does, and tells of it.
    ///
    /// # Errors
    /// As [`BarTarget::open`].
    pub fn open_telling(
        name: impl Into<String>,
        bar: Box<dyn Bar>,
        abilities: Abilities,
        patience: Deadlines,
        listener: &Listener,
    ) -> Result<Self, AccessError> {
        let mut access = Access::new(Bus::new(bar), patience);
        let found = discover(&mut access, listener)?;
        Ok(Self {
            name: name.into(),
            guard: Guard::new(&abilities, &found.mesh),
            abilities,
            mesh: found.mesh,
            routes: found.routes,
            access,
            known: CheckedPlans::default(),
            audit: None,
            late: None,
            notes: Vec::new(),
            boot: None,
        })
    }

    /// Changes the name of the target.
    pub fn rename(&mut self, name: impl Into<String>) {
        self.name = name.into();
    }

    /// Adds what was found wrong with the machine while it was prepared, to be told with every
    /// snapshot.
    pub fn note(&mut self, what: String) {
        self.notes.push(what);
    }

    /// Tells of the target's time from now on, until nobody listens: the machine is prepared.
    pub fn tell_boot(&mut self, listener: &Listener) {
        self.boot = listener.listens().then(|| (listener.clone(), Instant::now()));
        if let Ok(cycles) = self.access.bus.now() {
            listener.tell(Progress::Boot { cycles, until_cycles: None });
        }
    }

    /// Tells of the target's time and of the cycles that are left, if that is due.
    fn tell_time(&mut self, left: Option<u64>) -> Result<(), AccessError> {
        let Some((listener, told)) = &mut self.boot else { return Ok(()) };
        if told.elapsed() > TOLD_PAUSE {
            *told = Instant::now();
            let cycles = self.access.bus.now()?;
            let until_cycles = left.map(|left| cycles.saturating_add(left));
            listener.tell(Progress::Boot { cycles, until_cycles });
        }
        Ok(())
    }

    /// Lets time pass in pieces, and tells of each.
    fn pass_telling(&mut self, cycles: u64) -> Result<(), AccessError> {
        let mut left = cycles;
        while left > 0 {
            let piece = left.min(TOLD_CYCLES);
            self.access.bus.pass(piece)?;
            left -= piece;
            self.tell_time((cycles > TOLD_CYCLES).then_some(left))?;
        }
        Ok(())
    }

    /// Returns the machine in its present state.
    pub fn into_bar(self) -> Box<dyn Bar> {
        self.access.bus.into_bar()
    }

    /// Returns the number of commands posted to routing queues since the target was opened.
    pub fn queue_commands(&self) -> u64 {
        self.access.queue_commands()
    }

    /// Waits for far writes; returns the error of a lost write once.
    fn settle(&mut self) -> Result<(), AccessError> {
        match self.late.take() {
            Some(late) => Err(late),
            None => self.access.flush().and_then(|()| self.access.finish()),
        }
    }

    /// Appends every further write to a log before it is made.
    pub fn keep_audit(&mut self, audit: AuditLog) {
        self.audit = Some(audit);
    }

    /// Returns the route to a range that may be written.
    fn writable(&self, span: &Span) -> Result<Route, AccessError> {
        self.guard.writing(span)?;
        let chip = span.addr.chip;
        let route = self.routes.get(&chip).cloned().ok_or_else(|| no_route(chip))?;
        match route {
            Route::Queue { device, coord, .. } => {
                match self.access.quarantine.far_tile((device, coord), span.addr.tile) {
                    Some(reason) => Err(reason.clone()),
                    None => Ok(route),
                }
            }
            Route::Pcie(_) => Ok(route),
        }
    }

    fn write_to(&mut self, route: &Route, addr: NocAddr, bytes: &[u8]) -> Result<(), AccessError> {
        self.access.bus.announce(&format!("{} bytes at {addr}", bytes.len()));
        self.access.write(route, addr.tile, addr.offset, bytes)
    }

    /// Reads the bytes before a write, or returns why they must not be read.
    ///
    /// # Errors
    /// When the range may be read but the read fails; the write is then refused.
    fn old(&mut self, route: &Route, span: &Span) -> Result<OldBytes, AccessError> {
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

    /// Returns the chip with a matching route.
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
        self.read_by_chip(plan, &mut |_| ())
    }

    fn write(&mut self, addr: NocAddr, bytes: &[u8]) -> Result<(), AccessError> {
        self.tell_time(None)?;
        if self.audit.is_some() {
            return self.replace(addr, bytes).map(|_| ());
        }
        let route = self.writable(&Span { addr, len: bytes.len() as u32 })?;
        self.write_to(&route, addr, bytes)
    }

    fn now(&mut self) -> Result<u64, AccessError> {
        self.settle()?;
        self.access.bus.now()
    }

    fn pass(&mut self, cycles: u64) -> Result<(), AccessError> {
        self.settle()?;
        if self.boot.is_some() { self.pass_telling(cycles) } else { self.access.bus.pass(cycles) }
    }

    fn disrupt(&mut self, fault: &Fault) -> Result<(), AccessError> {
        if !self.abilities.allow.write {
            return Err(AccessError::Refused(format!("{fault}: write is not allowed")));
        }
        self.mesh.check_fault(fault).map_err(|error| AccessError::Refused(error.to_string()))?;
        let at = self.routes.get(&fault.chip()).map(past::address);
        let at = at.ok_or_else(|| no_route(fault.chip()))?;
        // Earlier writes must arrive first.
        self.settle()?;
        self.access.bus.announce(&fault.to_string());
        self.access.bus.disrupt(at, fault)
    }

    fn bus(&mut self) -> Option<&mut dyn TargetBus> {
        Some(self)
    }

    fn audit(&mut self) -> Option<&mut dyn Audit> {
        Some(self.audit.as_mut()?)
    }

    fn quarantine(&mut self) -> Option<&mut dyn Quarantine> {
        Some(self)
    }

    fn run(&mut self) -> Option<&mut dyn KeptRun> {
        Some(self)
    }
}

impl TargetBus for BarTarget {
    fn read_by_chip(&mut self, plan: &Plan, arrived: &mut dyn FnMut(Arrived<'_>)) -> Snapshot {
        let before = self.transactions();
        let checked = self.checked(plan);
        // The error of a lost write is returned by the next call that can fail.
        self.late = self.late.take().or(self.access.flush().err());
        let growing = Growing::new(&self.mesh, &checked.chips, arrived);
        let mut snapshot = read_all(&mut self.access, growing);
        snapshot.gaps.splice(..0, checked.gaps.iter().cloned());
        self.known.keep(checked);
        snapshot.pieces.sort_by_key(|piece| piece.addr);
        snapshot.transactions = self.transactions() - before;
        let chips: Vec<(ChipId, ChipAddress)> =
            self.routes.iter().map(|(chip, route)| (*chip, past::address(route))).collect();
        let at: Vec<ChipAddress> = chips.iter().map(|(_, at)| *at).collect();
        let stopped = self.access.bus.stopped_cores(&at).into_iter();
        let stopped = stopped.filter_map(|(i, core)| Some((chips.get(i)?.0, core)));
        snapshot.stopped = stopped.collect();
        snapshot
    }

    fn replace(&mut self, addr: NocAddr, bytes: &[u8]) -> Result<OldBytes, AccessError> {
        let span = Span { addr, len: bytes.len() as u32 };
        let route = self.writable(&span)?;
        let entry = AuditEntry { addr, old: self.old(&route, &span)?, new: bytes };
        if let Some(audit) = &mut self.audit {
            audit.append(&entry, host_micros())?;
        }
        let written = self.write_to(&route, addr, bytes);
        if let (Err(reason), Some(audit)) = (&written, &mut self.audit) {
            audit.failed(addr, host_micros(), reason);
        }
        written.map(|()| entry.old)
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

    fn cards(&mut self) -> Vec<(ChipId, u16)> {
        let bus = &mut self.access.bus;
        let card = |(chip, route): (&ChipId, &Route)| match route {
            Route::Pcie(device) => Some((*chip, bus.card(*device)?)),
            Route::Queue { .. } => None,
        };
        self.routes.iter().filter_map(card).collect()
    }

    fn give_back(&mut self) {
        self.access.bus.give_back();
    }

    fn writer(&mut self) -> Option<Client> {
        self.access.bus.bar().writer()
    }

    fn remarks(&mut self) -> Vec<String> {
        let mut remarks = self.notes.clone();
        remarks.extend(self.access.bus.remarks());
        remarks.extend(self.audit.as_ref().and_then(AuditLog::remark));
        remarks
    }
}

impl Quarantine for BarTarget {
    fn quarantined(&self) -> Vec<Quarantined> {
        let quarantine = &self.access.quarantine;
        // Chips outside of the mesh are never accessed and have no id to report.
        let near = |device| self.chip_at(|route| *route == Route::Pcie(device));
        let far = |(at_device, at): FarPlace| {
            let is = |route: &Route| {
                matches!(route, Route::Queue { device, coord, .. }
                if (*device, *coord) == (at_device, at))
            };
            self.chip_at(is)
        };
        let entry = |chip: Option<ChipId>, tile, reason: &AccessError| {
            let reason = reason.clone();
            Some(Quarantined { chip: chip?, tile, towards: None, reason })
        };
        let devices =
            quarantine.devices().filter_map(|(device, why)| entry(near(device), None, why));
        let tiles = quarantine
            .tiles()
            .filter_map(|(device, tile, why)| entry(near(device), Some(tile), why));
        let far_tiles = quarantine
            .far_tiles()
            .filter_map(|(place, tile, why)| entry(far(place), Some(tile), why));
        let chips = quarantine.far_chips().filter_map(|(place, why)| entry(far(place), None, why));
        let routes = quarantine.lost_gateways().iter().filter_map(|route| {
            Some(Quarantined {
                chip: near(route.chip.0)?,
                tile: Some(route.gateway),
                towards: Some(far(route.chip)?),
                reason: route.reason.clone(),
            })
        });
        devices.chain(tiles).chain(far_tiles).chain(chips).chain(routes).collect()
    }

    fn leave_alone(&mut self, place: Place, reason: AccessError) {
        let quarantine = &mut self.access.quarantine;
        match self.routes.get(&place.chip) {
            Some(Route::Pcie(device)) => quarantine.lose_tile(*device, place.tile, reason),
            Some(Route::Queue { device, coord, .. }) => {
                quarantine.lose_far_tile((*device, *coord), place.tile, reason);
            }
            None => {}
        }
    }

    fn clear(&mut self) {
        self.access.clear_quarantine();
    }

    fn retry_far(&mut self) {
        self.access.quarantine.retry_far();
    }
}

impl KeptRun for BarTarget {
    fn past(&mut self) -> Option<Box<dyn Past>> {
        let view = self.view();
        self.access.bus.bar().past(view)
    }

    fn kept(&self) -> Option<KeptPast> {
        self.access.bus.kept_past()
    }

    fn recorded(&mut self) -> Option<Result<RecordedRun, String>> {
        let run = self.access.bus.bar().recorded_run()?;
        // A served machine was opened by another process.
        Some(run.map(|run| match run.target.as_str() {
            "" => RecordedRun { target: self.name.clone(), ..run },
            _ => run,
        }))
    }
}

/// The guard lets no chip pass that the mesh has not.
fn no_route(chip: ChipId) -> AccessError {
    AccessError::Unreachable(format!("nothing leads to chip {chip}"))
}
