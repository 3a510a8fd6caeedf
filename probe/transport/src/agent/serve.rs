//! The agent: reads and writes a target of its own host for a program on another one.

use super::message::{self, MOST_BYTES, ReadReply, Reply, Request, Status, VERSION, Welcome, span};
use crate::wire::{Outbox, Received, receive};
use machine::clock::host_micros;
use machine::snapshot::{AccessError, Plan};
use machine::target::{Audit, FarFound, Target, TargetBus};
use serde_bytes::ByteBuf;
use std::collections::BTreeMap;
use std::io::{self, BufReader, Read, Write};

/// What an agent serves.
pub trait Served {
    /// Returns the target.
    fn target(&mut self) -> &mut dyn Target;
    /// Whether ELFs of what runs there were found, or processes that run tt-metal.
    fn has_found(&mut self) -> bool;
    /// Searches them, and returns what was found, and the bytes of each ELF in its order.
    fn find(&mut self) -> (FarFound, Vec<Vec<u8>>);
    /// Asks the Inspector of a process that was found.
    ///
    /// # Errors
    /// Why it does not answer.
    fn inspector(&mut self, pid: u32) -> Result<Vec<u8>, AccessError>;
    /// Leaves tiles alone that owe an answer.
    fn leave_silent_tiles_alone(&mut self);
}

/// Serves a target until the program leaves.
///
/// # Errors
/// What broke the connection, and a first message that is none.
pub fn serve(served: &mut dyn Served, input: impl Read, output: impl Write) -> io::Result<()> {
    let (outbox, elfs) = (Outbox::default(), BTreeMap::new());
    let mut agent = Agent { served, output, outbox, elfs, passed: Ok(()) };
    let mut input = BufReader::new(input);
    let hello = receive::<Request>(&mut input, &mut Vec::new())?;
    match hello {
        Received::Message(Request::Hello { version: VERSION }) => {
            let status = agent.status(host_micros());
            let has_found = agent.served.has_found();
            let target = agent.served.target();
            let (mesh, abilities) = (target.mesh().clone(), target.abilities().clone());
            let gateways = mesh.chips.iter().map(|chip| chip.gateway.clone()).collect();
            let (version, allow) = (VERSION, abilities.allow);
            let welcome = Welcome { version, abilities, allow, mesh, gateways, has_found, status };
            agent.outbox.send(&mut agent.output, &Reply::Welcome(Box::new(welcome)))?;
            agent.output.flush()?;
        }
        Received::Message(Request::Hello { version }) => {
            let why =
                format!("the agent has version {VERSION} of the messages, the program {version}");
            agent.outbox.send(&mut agent.output, &Reply::Refused(why))?;
            return agent.output.flush();
        }
        Received::End => return Ok(()),
        _ => {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the first message is no hello",
            ));
        }
    }
    loop {
        match receive::<Request>(&mut input, &mut Vec::new())? {
            Received::Message(request) => agent.answer(request)?,
            Received::Plain => {}
            Received::End => return Ok(()),
        }
    }
}

struct Agent<'a, W> {
    served: &'a mut dyn Served,
    output: W,
    outbox: Outbox,
    /// The ELFs that were found last, by their SHA-256: nothing else is sent.
    elfs: BTreeMap<String, Vec<u8>>,
    /// Whether time could pass since the last status.
    passed: Result<(), AccessError>,
}

impl<W: Write> Agent<'_, W> {
    fn target(&mut self) -> &mut dyn Target {
        self.served.target()
    }

    fn answer(&mut self, request: Request) -> io::Result<()> {
        let came = host_micros();
        let reply = match request {
            Request::Read(ranges) => {
                let most = ranges.iter().map(|range| u64::from(range.3)).sum::<u64>();
                if most > MOST_BYTES {
                    return Err(io::Error::new(
                        io::ErrorKind::InvalidData,
                        "too much is asked for",
                    ));
                }
                let plan = Plan { spans: ranges.into_iter().map(span).collect() };
                let snapshot = self.target().read(&plan);
                let status = Box::new(self.status(came));
                self.outbox.answer(&mut self.output, |bytes| {
                    Some(Reply::Read(Box::new(ReadReply::of(snapshot, bytes)), status))
                })?;
                return self.output.flush();
            }
            Request::Write(range, bytes) => {
                let addr = span(range).addr;
                let old = match self.target().bus() {
                    Some(bus) => bus.replace(addr, &bytes),
                    None => {
                        self.target().write(addr, &bytes).map(|()| Err(AccessError::NotRequested))
                    }
                };
                Reply::Written(old.map(|old| old.map(ByteBuf::from)), Box::new(self.status(came)))
            }
            Request::Reserve => {
                let done = self.target().audit().map_or(Ok(()), Audit::reserve);
                Reply::Done(done, Box::new(self.status(came)))
            }
            Request::Disrupt(fault) => {
                let parsed =
                    fault.parse().map_err(|error| AccessError::Refused(format!("{error}")));
                let done = parsed.and_then(|fault| self.target().disrupt(&fault));
                Reply::Done(done, Box::new(self.status(came)))
            }
            Request::Status | Request::Hello { .. } => {
                Reply::Done(Ok(()), Box::new(self.status(came)))
            }
            Request::Preview(ranges) => {
                let plan = Plan { spans: ranges.into_iter().map(span).collect() };
                message::preview(self.target().preview(&[plan]))
            }
            Request::PreviewWrite(range) => {
                message::preview(self.target().preview_write(span(range)))
            }
            Request::Elfs => {
                let (mut found, bytes) = self.served.find();
                let elfs = found.elfs.iter().map(|elf| elf.sha256.clone()).zip(bytes);
                self.elfs = elfs.filter(|(_, bytes)| bytes.len() as u64 <= MOST_BYTES).collect();
                found.elfs.retain(|elf| elf.bytes <= MOST_BYTES);
                Reply::Elfs(found)
            }
            Request::Inspector(pid) => {
                let told = self.served.inspector(pid);
                self.outbox.answer(&mut self.output, |bytes| {
                    Some(Reply::Inspector(told.map(|told| bytes.extend(told))))
                })?;
                return self.output.flush();
            }
            Request::LeaveSilentAlone => {
                self.served.leave_silent_tiles_alone();
                Reply::Done(Ok(()), Box::new(self.status(came)))
            }
            Request::Elf(sha256) => {
                let found = self.elfs.get(&sha256);
                self.outbox.answer(&mut self.output, |bytes| {
                    bytes.extend(found.into_iter().flatten());
                    Some(Reply::Elf(found.is_some()))
                })?;
                return self.output.flush();
            }
            unanswered => {
                self.act(unanswered);
                return Ok(());
            }
        };
        self.outbox.send(&mut self.output, &reply)?;
        self.output.flush()
    }

    /// Does what has no answer.
    fn act(&mut self, request: Request) {
        match request {
            Request::Pass(cycles) => {
                let passed = self.target().pass(cycles);
                self.passed = std::mem::replace(&mut self.passed, Ok(())).and(passed);
            }
            Request::GiveBack => self.target().bus().into_iter().for_each(TargetBus::give_back),
            Request::Command(name) => self.target().commanded_by(&name),
            Request::MustNotStop => self.target().never_stop_for_audit(),
            other => {
                let Some(quarantine) = self.target().quarantine() else { return };
                match other {
                    Request::LeaveAlone(chip, tile, reason) => {
                        quarantine.leave_alone(machine::place::Place { chip, tile }, reason);
                    }
                    Request::Clear => quarantine.clear(),
                    Request::RetryFar => quarantine.retry_far(),
                    _ => {}
                }
            }
        }
    }

    fn status(&mut self, came: u64) -> Status {
        let passed = std::mem::replace(&mut self.passed, Ok(()));
        let quarantined = self.target().quarantined();
        let mut status = Status {
            now: passed.and_then(|()| self.target().now()),
            transactions: 0,
            holders: Vec::new(),
            writer: None,
            remarks: Vec::new(),
            quarantined,
            micros: [came, 0],
        };
        if let Some(bus) = self.target().bus() {
            status.transactions = bus.transactions();
            status.holders = bus.holders();
            status.writer = bus.writer();
            status.remarks = bus.remarks();
        }
        status.micros[1] = host_micros();
        status
    }
}
