//! Fast dispatch: a kernel that sends go messages to the cores of a program, waits until all are
//! done, and signals the host through a completion queue (tt-metal.md 7.4); and how a host waits
//! for the completion (tt-metal.md 7.5).

use super::kernel::{KernelLaunch, place_kernel};
use super::l1_range::{L1Range, arguments, constant, constant_of, mailbox};
use super::records::{bytes_read, variable};
use super::tensix::{CONFIG_BASE, TEXT_OFFSET};
use super::{ControlError, Firmware, Operation, image};
use images::{ImageMap, Member};
use layouts::ChipLayout;
use machine::place::Place;
use machine::snapshot::{Plan, Span};
use machine::target::Target;

const KERNEL: &str = "dispatch";
const STATE: &str = "dispatch_state";
const ARGUMENTS: &str = "dispatch_args_t";
/// L1 address of its commands, behind the kernel and its data.
const COMMANDS: u32 = 0x1_A000;

/// Interval at which a host of tt-metal reads a dispatcher's progress: 100 ms, in cycles at 1 GHz.
pub const HOST_POLL_CYCLES: u64 = 100_000_000;
/// Time without progress after which it times out: 5 s, as in the public write-up of the
/// reduce-scatter hang, in cycles at 1 GHz.
pub const HOST_PATIENCE_CYCLES: u64 = 5_000_000_000;

/// A command of a dispatcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DispatchCommand {
    /// Sends the go message of a placed kernel, by the tile and its firmware's image.
    Go(Place, &'static str),
    /// Waits until this many cores are done.
    Wait(u32),
    /// Puts an entry with this number into the completion queue.
    Event(u32),
}

/// A compute tile that dispatches for the cores of its chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dispatcher {
    /// The tile.
    pub place: Place,
}

/// The state that a dispatcher reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DispatchReport {
    /// `DISPATCH_PROGRESS`: commands done.
    pub progress: u32,
    /// Entries of the completion queue written.
    pub written: u32,
    /// Cores of its current or last wait.
    pub wait_count: u32,
    /// Cores of the current wait that have signalled that they are done.
    pub done: u32,
    /// Event number of the newest entry.
    pub event: u32,
    /// Wall clock of the chip at its start.
    pub started_cycles: u64,
    /// Wall clock of the chip at the newest entry.
    pub event_cycles: u64,
}

impl Dispatcher {
    /// Makes a placed kernel signal the dispatcher when it is done, by `DISPATCH_MODE_DEV` in its
    /// launch message. A compute tile's firmware then advances its place in the launch ring; the go
    /// message resets it to the first entry.
    ///
    /// # Errors
    /// When the firmware's image is missing or lacks a member.
    pub fn takes(
        images: &ImageMap,
        firmware: &str,
        place: Place,
    ) -> Result<Operation, ControlError> {
        let firmware = image(images, firmware)?;
        let mailbox = mailbox(&firmware)?;
        let constant = |name: &str| constant(images, &[&firmware], name);
        let mut operation = Operation::new(format!("{place} reports to the dispatcher"));
        // A launch sets nothing else in the word of the mode.
        let mode = mailbox.launch + mailbox.mode;
        let mut message = L1Range::zeros(mode & !3, 4);
        message.put(mode, 1, constant("DISPATCH_MODE_DEV")?);
        operation.write(place.at(message.start), message.bytes);
        let mut go = L1Range::zeros(mailbox.go_message, mailbox.go_message_bytes);
        go.put(mailbox.go_signal, 1, constant("RUN_MSG_RESET_READ_PTR_FROM_HOST")?);
        operation.write(place.at(go.start), go.bytes);
        Ok(operation)
    }

    /// Places the kernel with its commands, without the go message.
    ///
    /// # Errors
    /// When an image is missing or lacks a member.
    pub fn place_kernel(
        self,
        images: &mut ImageMap,
        run_id: u32,
        commands: &[DispatchCommand],
    ) -> Result<Operation, ControlError> {
        let mut operation = Operation::new(format!("dispatch on {}", self.place));
        let bytes = commands.iter().map(|command| self.record(images, *command));
        let bytes = bytes.collect::<Result<Vec<_>, _>>()?.concat();
        operation.write(self.place.at(COMMANDS.into()), bytes);
        let values = [
            ("run_id", run_id),
            ("commands_address", COMMANDS),
            ("commands", commands.len() as u32),
        ];
        let launch = KernelLaunch {
            place: self.place,
            kernel: KERNEL,
            firmware: Firmware::BUILT_IN.tensix[0],
            core_type: "TENSIX",
            config_base: CONFIG_BASE,
            text_offset: TEXT_OFFSET,
            arguments: arguments(&*image(images, KERNEL)?, ARGUMENTS, &values)?,
            semaphores: Vec::new(),
            in_place: false,
            host_assigned_id: run_id,
        };
        operation.then(place_kernel(images, &launch)?);
        Ok(operation)
    }

    /// Returns a command as a `dispatch_command_t`.
    fn record(self, images: &ImageMap, command: DispatchCommand) -> Result<Vec<u8>, ControlError> {
        let id = |name| constant_of(images, KERNEL, name);
        let values = match command {
            DispatchCommand::Go(place, firmware) => {
                let (address, value) = self.go_message(images, firmware)?;
                let xy = u32::from(place.tile.x) | u32::from(place.tile.y) << 16;
                let id = id("DISPATCH_SEND_GO")?;
                vec![("id", id), ("xy", xy), ("address", address), ("value", value)]
            }
            DispatchCommand::Wait(count) => vec![("id", id("DISPATCH_WAIT")?), ("value", count)],
            DispatchCommand::Event(number) => {
                vec![("id", id("DISPATCH_WRITE_EVENT")?), ("value", number)]
            }
        };
        arguments(&*image(images, KERNEL)?, "dispatch_command_t", &values)
    }

    /// Returns address and value of the go message, which names the dispatcher's tile.
    fn go_message(self, images: &ImageMap, firmware: &str) -> Result<(u32, u32), ControlError> {
        let firmware = image(images, firmware)?;
        let mailbox = mailbox(&firmware)?;
        let mut go = L1Range::zeros(mailbox.go_message, mailbox.go_message_bytes);
        go.put(mailbox.go_signal, 1, mailbox.signals.go.into());
        for (member, value) in [("master_x", self.place.tile.x), ("master_y", self.place.tile.y)] {
            let path = format!("mailboxes->go_messages[0].{member}");
            go.put_named(&firmware, &path, value.into())?;
        }
        let short = || ControlError::NoMember(firmware.name.clone(), "a whole go message".into());
        let word = go.bytes.first_chunk().ok_or_else(short)?;
        Ok((go.start as u32, u32::from_le_bytes(*word)))
    }

    /// Reads its state.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn report(
        self,
        target: &mut dyn Target,
        images: &ImageMap,
    ) -> Result<DispatchReport, ControlError> {
        let kernel = image(images, KERNEL)?;
        let place = |member: &str| {
            let found = variable(&kernel, &format!("{STATE}.{member}"))?;
            Ok::<_, ControlError>((found.address(), found.field.size as u32))
        };
        let (start, _) = place("dispatch_progress")?;
        let (queue, entries) = place("completion_q")?;
        let addr = self.place.at(start);
        let len = (queue - start) as u32 + entries;
        let id = constant_of(images, KERNEL, "DISPATCH_STREAM_ID")?;
        let stream = self.place.at(stream(images.layout(), id));
        let spans = [Span { addr, len }, Span { addr: stream, len: 4 }];
        let snapshot = target.read(&Plan { spans: spans.to_vec() });
        let (bytes, done) = (bytes_read(&snapshot, spans[0])?, bytes_read(&snapshot, spans[1])?);
        let value = |member: &str| {
            let (at, size) = place(member)?;
            let outside = || ControlError::NoMember(KERNEL.to_owned(), member.to_owned());
            let at = at.checked_sub(start).ok_or_else(outside)? as usize;
            let bytes = bytes.get(at..at + size as usize).ok_or_else(outside)?;
            Ok::<u64, ControlError>(Member::value(bytes))
        };
        let word = |member: &str| value(member).map(|value| value as u32);
        let written = word("completion_q_wr_ptr")?;
        let count = constant_of(images, KERNEL, "COMPLETION_Q_ENTRIES")?.max(1);
        let newest = written.wrapping_sub(1) % count;
        Ok(DispatchReport {
            progress: word("dispatch_progress")?,
            written,
            wait_count: word("last_wait_count")?,
            done: Member::value(done) as u32,
            event: word("last_event")?,
            started_cycles: value("started_cycles")?,
            event_cycles: match written {
                0 => 0,
                _ => value(&format!("completion_q[{newest}].cycles"))?,
            },
        })
    }
}

/// Returns the address of a stream's `space_available` register on a compute tile.
fn stream(layout: &ChipLayout, id: u32) -> u64 {
    let group = &layout.stream;
    let block = layout.blocks.tensix_stream;
    block + u64::from(id) * group.bytes + group.space_available.at
}

/// The intervals at which a host polls its completion queue and times out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostTimeout {
    /// Interval between two polls.
    pub poll_cycles: u64,
    /// Time without an entry or progress after which the host times out.
    pub give_up_cycles: u64,
}

impl Default for HostTimeout {
    fn default() -> Self {
        Self { poll_cycles: HOST_POLL_CYCLES, give_up_cycles: HOST_PATIENCE_CYCLES }
    }
}

/// What a host knows after a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostView {
    /// There is no entry yet.
    Waits,
    /// The entry is written.
    Completed,
    /// There was no progress for too long.
    GaveUp,
}

/// A host that waits for an entry of a completion queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostWait {
    patience: HostTimeout,
    moved_at: u64,
    progress: u32,
    /// Polls so far.
    pub polls: u64,
}

impl HostWait {
    /// Starts the wait now, at this progress of the dispatcher.
    pub fn new(patience: HostTimeout, now: u64, progress: u32) -> Self {
        Self { patience, moved_at: now, progress, polls: 0 }
    }

    /// Judges a report of the dispatcher.
    pub fn poll(&mut self, now: u64, report: &DispatchReport) -> HostView {
        self.polls += 1;
        if report.written != 0 {
            return HostView::Completed;
        }
        if report.progress != self.progress {
            (self.progress, self.moved_at) = (report.progress, now);
        }
        let still = now.saturating_sub(self.moved_at);
        if still >= self.patience.give_up_cycles { HostView::GaveUp } else { HostView::Waits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_times_out_only_after_a_long_time_without_progress() {
        let patience = HostTimeout { poll_cycles: 10, give_up_cycles: 50 };
        let mut host = HostWait::new(patience, 0, 0);
        let report = |progress| DispatchReport { progress, ..DispatchReport::default() };
        assert_eq!(host.poll(10, &report(1)), HostView::Waits);
        for now in [20, 30, 40, 50] {
            assert_eq!(host.poll(now, &report(1)), HostView::Waits, "{now}");
        }
        assert_eq!(host.poll(55, &report(2)), HostView::Waits, "progress was made");
        assert_eq!(host.poll(104, &report(2)), HostView::Waits);
        assert_eq!(host.poll(105, &report(2)), HostView::GaveUp);
        let done = DispatchReport { written: 1, ..report(3) };
        assert_eq!(host.poll(200, &done), HostView::Completed);
        assert_eq!(host.polls, 9);
    }
}
