//! The live target: any machine with a BAR, near chips through windows and far ones through queues.

use crate::access::{Access, Route};
use crate::bar::{Bar, Holder};
use crate::bus::Bus;
use crate::discover::discover;
use crate::planner::{Run, merge};
use crate::queue::Patience;
use crate::snapshot::{AccessError, Gap, Piece, Plan, Snapshot, Span};
use crate::target::{Abilities, Mesh, Target};
use crate::wormhole::{node_id_probe, tile_kind};
use layouts::{ChipId, NocAddr, NocXy, Space, TileKind, wormhole};
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// So many bytes are asked for in one batch; more would make the answer wait in memory.
const BATCH_BYTES: usize = 1 << 20;

/// A [`Target`] over a [`Bar`].
pub struct BarTarget {
    name: String,
    abilities: Abilities,
    mesh: Mesh,
    routes: BTreeMap<ChipId, Route>,
    access: Access,
    gone: BTreeMap<ChipId, AccessError>,
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
            abilities,
            mesh: found.mesh,
            routes: found.routes,
            access,
            gone: BTreeMap::new(),
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

    /// Bus transactions since the target was opened, discovery included.
    pub fn transactions(&self) -> u64 {
        self.access.bus.transactions()
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

    /// Why this range must not be touched on this target, if it must not.
    fn refusal(&self, span: &Span) -> Option<AccessError> {
        let NocAddr { chip, tile, offset } = span.addr;
        let end = offset.saturating_add(u64::from(span.len));
        if self.mesh.chip(chip).is_none() {
            return Some(AccessError::Unreachable(format!("there is no chip {chip}")));
        }
        if wormhole().tile_at(tile).is_none() {
            return Some(AccessError::Refused(format!("{tile} is outside the grid")));
        }
        let kind = tile_kind(tile);
        let hit = |r: &&crate::target::Refusal| r.kind == kind && offset < r.end && r.start < end;
        let refused = self.abilities.refusals.iter().find(hit);
        refused.map(|refusal| AccessError::Refused(refusal.reason.clone()))
    }

    /// The allow-list of what stands in a tile of this kind.
    fn space(&self, chip: ChipId, tile: NocXy) -> Space {
        let rows = self.mesh.chip(chip).map(|chip| chip.harvested_rows.as_slice());
        match tile_kind(tile) {
            TileKind::Tensix if rows.is_some_and(|rows| rows.contains(&tile.y)) => Space::Harvested,
            kind => Space::Tile(kind),
        }
    }

    fn not_readable(&self, span: &Span) -> Option<AccessError> {
        let NocAddr { chip, tile, offset } = span.addr;
        let judged = wormhole().readable(self.space(chip, tile), offset, span.len.into());
        judged.err().map(|reason| AccessError::Refused(reason.to_string()))
    }

    /// Writing needs a known place that is not listed as dangerous, and a person's leave.
    fn not_writable(&self, span: &Span) -> Option<AccessError> {
        let NocAddr { chip, tile, offset } = span.addr;
        let needs = wormhole().writing(self.space(chip, tile), offset, span.len.into());
        let needs = match needs {
            Ok(needs) => needs,
            Err(reason) => return Some(AccessError::Refused(reason.to_string())),
        };
        let missing = needs.into_iter().find(|need| !self.abilities.allow.covers(*need))?;
        let (word, name) = (missing.word(), wormhole().name_of(self.space(chip, tile), offset));
        let name = name.unwrap_or_default();
        Some(AccessError::Refused(format!("writing {name} there needs --allow {word}")))
    }

    fn read_near(&mut self, chip: ChipId, device: u8, runs: &[Run], shot: &mut Snapshot) {
        let mut rest = runs;
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = |run: &&Run| {
                bytes += run.len as usize;
                bytes <= BATCH_BYTES
            };
            let count = rest.iter().take_while(fits).count().max(1);
            let (now, later) = rest.split_at(count);
            self.read_batch(chip, device, now, shot);
            rest = later;
        }
    }

    fn read_batch(&mut self, chip: ChipId, device: u8, runs: &[Run], shot: &mut Snapshot) {
        let mut batch = self.access.bus.batch();
        for run in runs {
            if run.memory {
                batch = batch.read(device, run.tile, run.offset, run.len);
            } else {
                for at in (run.offset..run.offset + u64::from(run.len)).step_by(4) {
                    batch = batch.register(device, run.tile, at);
                }
            }
            batch = batch.now();
        }
        let mut answer = batch.run();
        let host_micros = host_micros();
        for run in runs {
            let bytes = answer.take(run.len as usize).map(<[u8]>::to_vec);
            match bytes.and_then(|bytes| Ok((bytes, answer.cycles()?))) {
                Ok((bytes, target_cycles)) => {
                    let Span { addr, .. } = run.span(chip);
                    shot.pieces.push(Piece { addr, target_cycles, host_micros, bytes });
                }
                Err(reason) => shot.gaps.push(Gap { span: run.span(chip), reason }),
            }
        }
        if let Some(reason) = self.off_the_bus(device, &shot.pieces) {
            self.gone.insert(chip, reason.clone());
            let lost = shot.pieces.extract_if(.., |piece| {
                piece.addr.chip == chip && piece.bytes.iter().all(|&byte| byte == 0xFF)
            });
            shot.gaps.extend(lost.map(|piece| Gap {
                span: Span { addr: piece.addr, len: piece.bytes.len() as u32 },
                reason: reason.clone(),
            }));
        }
    }

    /// All ones may be a value or a dead bus; the node id of the ARC's NIU tells (wormhole.md 1.6).
    fn off_the_bus(&mut self, device: u8, pieces: &[Piece]) -> Option<AccessError> {
        let ones = |piece: &Piece| piece.bytes.iter().all(|&byte| byte == 0xFF);
        if !pieces.iter().any(ones) {
            return None;
        }
        let probe = self.access.bus.batch().bar_word(device, node_id_probe()?).run().word();
        let gone = || AccessError::DeviceGone(format!("device {device} answers all ones"));
        (probe.ok()? == u32::MAX).then(gone)
    }

    /// A far chip's ranges, one by one; once the chip itself does not answer, the rest is not tried
    /// in this look.
    fn read_far(&mut self, chip: ChipId, route: &Route, runs: &[Run], shot: &mut Snapshot) {
        let mut silent = None;
        for run in runs {
            let read = match &silent {
                Some(reason) => Err(AccessError::clone(reason)),
                None => self.access.read(route, run.tile, run.offset, run.len),
            };
            match read {
                Ok(read) => shot.pieces.push(Piece {
                    addr: run.span(chip).addr,
                    target_cycles: read.cycles,
                    host_micros: host_micros(),
                    bytes: read.bytes,
                }),
                Err(reason) => {
                    if concerns_chip(&reason) {
                        silent = Some(reason.clone());
                    }
                    shot.gaps.push(Gap { span: run.span(chip), reason });
                }
            }
        }
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
        let mut shot = Snapshot::default();
        // The Ethernet tiles of all chips come first: both ends of a link are compared, so their reads
        // belong close together.
        let mut wanted: BTreeMap<(bool, ChipId), Vec<Span>> = BTreeMap::new();
        for span in plan.spans.iter().filter(|span| span.len > 0) {
            let chip = span.addr.chip;
            let known = self.refusal(span).or_else(|| self.not_readable(span));
            if let Some(reason) = known.or_else(|| self.gone.get(&chip).cloned()) {
                shot.gaps.push(Gap { span: *span, reason });
            } else {
                let elsewhere = tile_kind(span.addr.tile) != TileKind::Eth;
                wanted.entry((elsewhere, chip)).or_default().push(*span);
            }
        }
        // A queue that cannot be looked at fails again, with its reason, where it is used; a write
        // that did not arrive is told by the next call that can say so.
        self.late = self.late.take().or(self.access.flush().err());
        let _ = self.access.begin();
        for ((_, chip), spans) in wanted {
            let Some(route) = self.routes.get(&chip).cloned() else { continue };
            let remote = matches!(route, Route::Queue { .. });
            let runs = merge(&spans, remote);
            match &route {
                Route::Pcie(device) => self.read_near(chip, *device, &runs, &mut shot),
                Route::Queue { .. } => self.read_far(chip, &route, &runs, &mut shot),
            }
        }
        let _ = self.access.finish();
        shot.pieces.sort_by_key(|piece| piece.addr);
        shot.transactions = self.transactions() - before;
        shot
    }

    fn write(&mut self, addr: NocAddr, bytes: &[u8]) -> Result<(), AccessError> {
        let span = Span { addr, len: bytes.len() as u32 };
        if let Some(reason) = self.refusal(&span).or_else(|| self.not_writable(&span)) {
            return Err(reason);
        }
        let no_route = || AccessError::Unreachable(format!("there is no chip {}", addr.chip));
        let route = self.routes.get(&addr.chip).cloned().ok_or_else(no_route)?;
        self.access.bus.announce(&format!("{} bytes at {addr}", bytes.len()));
        self.access.write(&route, addr.tile, addr.offset, bytes)
    }

    fn now(&mut self) -> Result<u64, AccessError> {
        self.settle()?;
        self.access.bus.now()
    }

    fn pass(&mut self, cycles: u64) -> Result<(), AccessError> {
        self.settle()?;
        self.access.bus.pass(cycles)
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

    fn remarks(&mut self) -> Vec<String> {
        self.access.bus.remarks()
    }
}

/// Would every other access to the far chip fail as well?
fn concerns_chip(reason: &AccessError) -> bool {
    match reason {
        AccessError::TimedOut { .. } | AccessError::DeviceGone(_) => true,
        AccessError::QueueError { flags } => flags & wormhole().eth.routing.unreachable != 0,
        _ => false,
    }
}

/// Host time in microseconds since the Unix epoch.
pub(crate) fn host_micros() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}
