//! Targets on other hosts: an agent there reads and writes its own machine, and a snapshot of it is one
//! round trip. The machines of several hosts are one mesh.
//!
//! The agent is this program, started by the user's own ssh. It finds its mesh as everybody does; the
//! meshes are joined by the ids of their chips. All hosts are asked before one is awaited. A host that does not answer is a
//! gap, its chips are in quarantine with the reason, and it is started again.

mod host;
mod join;
mod message;
mod serve;

pub use host::Remote;
pub use serve::{Served, serve};

use host::Host;
use join::Joined;
use layouts::{ChipId, NocAddr};
use machine::clients::{Client, Holder, MetalProcess};
use machine::fault::{Fault, FaultKind};
use machine::notes::AuditLine;
use machine::place::Place;
use machine::progress::{ChipCount, Listener, Progress};
use machine::snapshot::{AccessError, Gap, Piece, Plan, Snapshot, Span};
use machine::target::{
    Abilities, Allow, Arrived, Audit, FarElf, FarElfs, FarFound, Mesh, OldBytes, Preview,
    Quarantine, Quarantined, Target, TargetBus,
};
use message::{MOST_BYTES, Range, Reply, Request, sent};
use serde_bytes::ByteBuf;
use std::collections::BTreeMap;

/// The machines of some hosts, joined.
pub struct AgentTarget {
    name: String,
    abilities: Abilities,
    hosts: Vec<Host>,
    joined: Joined,
    /// Whether the hosts were asked for ELFs.
    asked_for_elfs: bool,
}

impl AgentTarget {
    /// Starts an agent on each host, all at the same time, and joins their meshes.
    ///
    /// # Errors
    /// Why an agent cannot be had, and hosts whose machines are of different kinds.
    pub fn open(
        name: &str,
        remotes: &[Remote],
        (allow, listener): (Allow, &Listener),
    ) -> Result<Self, AccessError> {
        listener.tell(Progress::Start("the agents of other hosts"));
        let words = if allow.is_nothing() { String::new() } else { allow.to_string() };
        let opened: Vec<Result<Host, AccessError>> = std::thread::scope(|scope| {
            let words = words.as_str();
            let open = |remote| scope.spawn(move || Host::open(remote, words));
            let opening: Vec<_> = remotes.iter().map(open).collect();
            let ended = || AccessError::Unreachable("its thread has ended".to_owned());
            opening.into_iter().map(|it| it.join().unwrap_or_else(|_| Err(ended()))).collect()
        });
        let hosts = opened.into_iter().collect::<Result<Vec<_>, _>>()?;
        let none = || AccessError::Unreachable("no host is named".to_owned());
        let first = &hosts.first().ok_or_else(none)?.welcome;
        let alike = |host: &Host| {
            host.welcome.abilities == first.abilities && host.welcome.mesh.kind == first.mesh.kind
        };
        if !hosts.iter().all(alike) {
            let why = "the hosts have machines of different kinds";
            return Err(AccessError::Refused(why.to_owned()));
        }
        // A mesh that a host emulates allows more than was asked for.
        let allow = hosts.iter().fold(Allow::ALL, |all, host| all.and(host.welcome.allow));
        let abilities = Abilities { allow, ..first.abilities.clone() };
        let meshes: Vec<(&str, &Mesh)> =
            hosts.iter().map(|host| (host.name(), &host.welcome.mesh)).collect();
        let joined = join::join(&meshes);
        Ok(Self { name: name.to_owned(), abilities, hosts, joined, asked_for_elfs: false })
    }

    /// Returns the host that reads a chip, and the range with the chip's number there.
    fn there(&self, span: Span) -> Result<(usize, Range), AccessError> {
        let chip = span.addr.chip;
        let none = || AccessError::Unreachable(format!("there is no chip {chip}"));
        let &(host, own) = self.joined.owners.get(&chip).ok_or_else(none)?;
        Ok((host, sent(Span { addr: NocAddr { chip: own, ..span.addr }, ..span })))
    }

    /// Returns the number in the joined mesh of a host's chip.
    fn here(&self, host: usize, chip: ChipId) -> ChipId {
        let numbers = self.joined.numbers.get(host);
        numbers.and_then(|own| own.get(usize::from(chip.0))).copied().unwrap_or(chip)
    }

    /// Sends what has no answer to all hosts.
    fn tell(&mut self, request: &Request) {
        self.hosts.iter_mut().for_each(|host| host.send(request));
    }

    /// Reads ranges that fit in one request of each host.
    fn read_once(&mut self, asked: &BTreeMap<usize, Vec<Range>>, into: &mut Snapshot) {
        for (&host, ranges) in asked {
            if let Some(host) = self.hosts.get_mut(host) {
                host.send(&Request::Read(ranges.clone()));
            }
        }
        // The hosts work at the same time.
        for (&number, ranges) in asked {
            let Some(host) = self.hosts.get_mut(number) else { continue };
            let answer = host.receive();
            let snapshot = answer.and_then(|(reply, bytes)| match reply {
                Reply::Read(read, _) => {
                    read.snapshot(bytes).ok_or_else(|| host.lose("it sent other bytes"))
                }
                _ => Err(host.lose_by_answer()),
            });
            match snapshot {
                Ok(snapshot) => self.add(number, snapshot, into),
                Err(reason) => {
                    let span = |range: &Range| {
                        let Span { addr, len } = message::span(*range);
                        Span { addr: NocAddr { chip: self.here(number, addr.chip), ..addr }, len }
                    };
                    let gaps =
                        ranges.iter().map(|it| Gap { span: span(it), reason: reason.clone() });
                    into.gaps.extend(gaps);
                }
            }
        }
    }

    /// Adds a host's snapshot by the numbers of the joined mesh and the clock of this host.
    fn add(&self, number: usize, snapshot: Snapshot, into: &mut Snapshot) {
        let Some(host) = self.hosts.get(number) else { return };
        let addr = |addr: NocAddr| NocAddr { chip: self.here(number, addr.chip), ..addr };
        into.pieces.extend(snapshot.pieces.into_iter().map(|piece| Piece {
            addr: addr(piece.addr),
            host_micros: host.here(piece.host_micros),
            ..piece
        }));
        into.gaps.extend(snapshot.gaps.into_iter().map(|gap| Gap {
            span: Span { addr: addr(gap.span.addr), ..gap.span },
            reason: gap.reason,
        }));
        into.transactions += snapshot.transactions;
        let stopped = snapshot.stopped.into_iter();
        into.stopped.extend(stopped.map(|(chip, core)| (self.here(number, chip), core)));
    }

    /// Sends a request to a host, and takes of its answer what was asked for.
    fn answer<T>(
        &mut self,
        host: usize,
        request: &Request,
        take: impl FnOnce(Reply, Vec<u8>) -> Option<T>,
    ) -> Result<T, AccessError> {
        let none = || AccessError::Unreachable("there is no such host".to_owned());
        let host = self.hosts.get_mut(host).ok_or_else(none)?;
        let (reply, bytes) = host.ask(request)?;
        take(reply, bytes).ok_or_else(|| host.lose_by_answer())
    }

    fn done(&mut self, host: usize, request: &Request) -> Result<(), AccessError> {
        self.answer(host, request, |reply, _| match reply {
            Reply::Done(done, _) => Some(done),
            _ => None,
        })?
    }

    fn previewed(&mut self, host: usize, request: &Request, into: &mut Preview) {
        let answer = self.answer(host, request, |reply, _| match reply {
            Reply::Preview(accesses, gaps) => Some(message::previewed(accesses, gaps)),
            _ => None,
        });
        let Ok(mut preview) = answer else { return };
        for span in preview.accesses.iter_mut().map(|it| &mut it.span) {
            span.addr.chip = self.here(host, span.addr.chip);
        }
        for gap in &mut preview.gaps {
            gap.span.addr.chip = self.here(host, gap.span.addr.chip);
        }
        into.accesses.append(&mut preview.accesses);
        into.gaps.append(&mut preview.gaps);
    }

    fn by_host(&self, plan: &Plan, snapshot: &mut Snapshot) -> BTreeMap<usize, Vec<Range>> {
        let mut asked: BTreeMap<usize, Vec<Range>> = BTreeMap::new();
        for span in &plan.spans {
            match self.there(*span) {
                Ok((host, range)) => asked.entry(host).or_default().push(range),
                Err(reason) => snapshot.gaps.push(Gap { span: *span, reason }),
            }
        }
        asked
    }
}

/// Takes from each host as many ranges as one request may ask for.
fn next_request(left: &mut BTreeMap<usize, Vec<Range>>) -> BTreeMap<usize, Vec<Range>> {
    let mut now = BTreeMap::new();
    for (host, ranges) in left.iter_mut() {
        let mut bytes = 0;
        let fits = ranges.iter().take_while(|range| {
            bytes += u64::from(range.3);
            bytes <= MOST_BYTES
        });
        let count = fits.count().max(1).min(ranges.len());
        now.insert(*host, ranges.drain(..count).collect());
    }
    left.retain(|_, ranges| !ranges.is_empty());
    now
}

impl Target for AgentTarget {
    fn name(&self) -> &str {
        &self.name
    }

    fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    fn mesh(&self) -> &Mesh {
        &self.joined.mesh
    }

    fn read(&mut self, plan: &Plan) -> Snapshot {
        self.read_by_chip(plan, &mut |_| ())
    }

    fn write(&mut self, addr: NocAddr, bytes: &[u8]) -> Result<(), AccessError> {
        self.replace(addr, bytes).map(|_| ())
    }

    fn now(&mut self) -> Result<u64, AccessError> {
        // A machine whose time passes only when it is let pass is asked after that; of another one the
        // time since its last answer passed as here.
        let alive = self.hosts.iter().position(|host| host.lost().is_none());
        let lost = || {
            let why = self.hosts.iter().find_map(Host::lost);
            AccessError::DeviceGone(why.map_or_else(String::new, ToString::to_string))
        };
        let number = alive.ok_or_else(lost)?;
        if self.abilities.stepped_time && self.hosts.get(number).is_some_and(|it| it.passed > 0) {
            self.done(number, &Request::Status)?;
        }
        let Some(host) = self.hosts.get(number) else { return Ok(0) };
        let since = if self.abilities.stepped_time { 0 } else { host.told.elapsed().as_nanos() };
        host.status.now.clone().map(|now| now.saturating_add(since as u64))
    }

    fn pass(&mut self, cycles: u64) -> Result<(), AccessError> {
        self.tell(&Request::Pass(cycles));
        for host in &mut self.hosts {
            host.passed += cycles;
        }
        Ok(())
    }

    fn disrupt(&mut self, fault: &Fault) -> Result<(), AccessError> {
        self.joined.mesh.check_fault(fault).map_err(|why| AccessError::Refused(why.to_string()))?;
        let chip = fault.chip();
        let none = || AccessError::Unreachable(format!("there is no chip {chip}"));
        let &(host, own) = self.joined.owners.get(&chip).ok_or_else(none)?;
        let mut fault = *fault;
        match &mut fault.kind {
            FaultKind::Link(end, _) => end.chip = own,
            FaultKind::Core(core, _) => core.chip = own,
            FaultKind::Stream(place, ..) => place.chip = own,
            FaultKind::Dead(chip) => *chip = own,
        }
        self.done(host, &Request::Disrupt(fault.to_string()))
    }

    fn bus(&mut self) -> Option<&mut dyn TargetBus> {
        Some(self)
    }

    fn elfs(&mut self) -> Option<&mut dyn FarElfs> {
        Some(self)
    }

    fn audit(&mut self) -> Option<&mut dyn Audit> {
        Some(self)
    }

    fn quarantine(&mut self) -> Option<&mut dyn Quarantine> {
        Some(self)
    }
}

impl TargetBus for AgentTarget {
    fn read_by_chip(&mut self, plan: &Plan, arrived: &mut dyn FnMut(Arrived<'_>)) -> Snapshot {
        self.hosts.iter_mut().for_each(Host::come_back);
        let mut snapshot = Snapshot::default();
        let mut left = self.by_host(plan, &mut snapshot);
        while !left.is_empty() {
            self.read_once(&next_request(&mut left), &mut snapshot);
            let done = self.joined.mesh.chips.len();
            let chips = ChipCount { done, of: done };
            arrived(Arrived { mesh: &self.joined.mesh, snapshot: &snapshot, chips, fresh: true });
        }
        snapshot.pieces.sort_by_key(|piece| piece.addr);
        // Ranges of a snapshot do not overlap, whatever an agent sends.
        let mut end: Option<(ChipId, layouts::NocXy, u64)> = None;
        snapshot.pieces.retain(|Piece { addr, bytes, .. }| {
            let free = end.is_none_or(|end| end <= (addr.chip, addr.tile, addr.offset));
            if free {
                let last = addr.offset.saturating_add(bytes.len() as u64);
                end = Some((addr.chip, addr.tile, last));
            }
            free
        });
        // The target is gone when none of its hosts answers.
        if self.hosts.iter().all(|host| host.lost().is_some()) {
            for gap in &mut snapshot.gaps {
                gap.reason = AccessError::DeviceGone(gap.reason.to_string());
            }
        }
        snapshot
    }

    fn replace(&mut self, addr: NocAddr, bytes: &[u8]) -> Result<OldBytes, AccessError> {
        let (host, range) = self.there(Span { addr, len: bytes.len() as u32 })?;
        let request = Request::Write(range, ByteBuf::from(bytes));
        self.answer(host, &request, |reply, _| match reply {
            Reply::Written(old, _) => Some(old.map(|old| old.map(ByteBuf::into_vec))),
            _ => None,
        })?
    }

    fn transactions(&self) -> u64 {
        self.hosts.iter().map(Host::transactions).sum()
    }

    fn preview(&mut self, plans: &[Plan]) -> Preview {
        let mut preview = Preview::default();
        for plan in plans {
            let mut gaps = Snapshot::default();
            for (host, ranges) in self.by_host(plan, &mut gaps) {
                self.previewed(host, &Request::Preview(ranges), &mut preview);
            }
            preview.gaps.append(&mut gaps.gaps);
        }
        preview
    }

    fn preview_write(&mut self, span: Span) -> Preview {
        let mut preview = Preview::default();
        match self.there(span) {
            Ok((host, range)) => {
                self.previewed(host, &Request::PreviewWrite(range), &mut preview);
            }
            Err(reason) => preview.gaps.push(Gap { span, reason }),
        }
        preview
    }

    fn holders(&mut self) -> Vec<(ChipId, Holder)> {
        let of = |(number, host): (usize, &Host)| {
            let held = host.status.holders.iter();
            held.map(|(chip, holder)| (self.here(number, *chip), holder.clone()))
                .collect::<Vec<_>>()
        };
        self.hosts.iter().enumerate().flat_map(of).collect()
    }

    fn give_back(&mut self) {
        self.tell(&Request::GiveBack);
    }

    fn leave_silent_tiles_alone(&mut self) -> bool {
        self.tell(&Request::LeaveSilentAlone);
        // The hosts look at the same time; one that does not answer is lost, which the next read says.
        self.hosts.iter_mut().for_each(|host| drop(host.receive()));
        true
    }

    fn writer(&mut self) -> Option<Client> {
        self.hosts.iter().find_map(|host| host.status.writer.clone())
    }

    fn remarks(&mut self) -> Vec<String> {
        let of = |host: &Host| {
            let told = host.status.remarks.iter();
            told.map(|remark| format!("{}: {remark}", host.name())).collect::<Vec<_>>()
        };
        self.hosts.iter().flat_map(of).collect()
    }
}

impl FarElfs for AgentTarget {
    fn found(&mut self) -> FarFound {
        let first = !std::mem::replace(&mut self.asked_for_elfs, true);
        let mut all = FarFound::default();
        for host in self.hosts.iter_mut().filter(|host| !first || host.welcome.has_found) {
            let Ok((Reply::Elfs(found), _)) = host.ask(&Request::Elfs) else { continue };
            let name = host.name();
            let elf = |elf| FarElf { host: name.to_owned(), ..elf };
            let process = |it| MetalProcess { host: Some(name.to_owned()), ..it };
            all.elfs.extend(found.elfs.into_iter().map(elf));
            all.processes.extend(found.processes.into_iter().map(process));
            all.problems.extend(found.problems.iter().map(|problem| format!("{name}: {problem}")));
        }
        all
    }

    fn inspector(&mut self, host: &str, pid: u32) -> Result<(Vec<u8>, Vec<ChipId>), AccessError> {
        let number = self.hosts.iter().position(|it| it.name() == host);
        let gone = || AccessError::Unreachable(format!("there is no host {host}"));
        let number = number.ok_or_else(gone)?;
        let told =
            self.answer(number, &Request::Inspector(pid), |reply, bytes| match reply {
                Reply::Inspector(told) => Some(told.map(|()| bytes)),
                _ => None,
            })??;
        Ok((told, self.joined.numbers.get(number).cloned().unwrap_or_else(Vec::new)))
    }

    fn fetch(&mut self, elf: &FarElf) -> Result<Vec<u8>, AccessError> {
        let number = self.hosts.iter().position(|host| host.name() == elf.host);
        let lacks = || AccessError::Unreachable(format!("{} does not have it any more", elf.host));
        let request = Request::Elf(elf.sha256.clone());
        let bytes =
            self.answer(number.ok_or_else(lacks)?, &request, |reply, bytes| match reply {
                Reply::Elf(has) => Some(has.then_some(bytes)),
                _ => None,
            })?;
        bytes.ok_or_else(lacks)
    }
}

impl Audit for AgentTarget {
    fn command(&mut self, name: &str) {
        self.tell(&Request::Command(name.to_owned()));
    }

    fn reserve(&mut self) -> Result<(), AccessError> {
        (0..self.hosts.len()).try_for_each(|host| self.done(host, &Request::Reserve))
    }

    fn must_not_stop(&mut self) {
        self.tell(&Request::MustNotStop);
    }

    /// The logs are on the hosts, in the files of the agents.
    fn take(&mut self) -> (Vec<AuditLine>, u64) {
        (Vec::new(), 0)
    }

    fn remark(&self) -> Option<String> {
        None
    }
}

impl Quarantine for AgentTarget {
    fn quarantined(&self) -> Vec<Quarantined> {
        let mut found = Vec::new();
        for (number, host) in self.hosts.iter().enumerate() {
            if let Some(reason) = host.lost() {
                let own = self.joined.owners.iter().filter(|(_, (of, _))| *of == number);
                found.extend(own.map(|(chip, _)| Quarantined {
                    chip: *chip,
                    tile: None,
                    towards: None,
                    reason: reason.clone(),
                }));
                continue;
            }
            let entries = host.status.quarantined.iter().cloned();
            found.extend(entries.map(|entry| Quarantined {
                chip: self.here(number, entry.chip),
                towards: entry.towards.map(|chip| self.here(number, chip)),
                ..entry
            }));
        }
        found
    }

    fn leave_alone(&mut self, place: Place, reason: AccessError) {
        let Some(&(host, own)) = self.joined.owners.get(&place.chip) else { return };
        if let Some(host) = self.hosts.get_mut(host) {
            host.send(&Request::LeaveAlone(own, place.tile, reason));
        }
    }

    fn clear(&mut self) {
        self.tell(&Request::Clear);
    }

    fn retry_far(&mut self) {
        self.tell(&Request::RetryFar);
    }
}
