//! Measurements of a run by the device, in its own cycles.

use super::bench::Bench;
use super::cast::Cast;
use fabric::mux::Mux;
use images::Member;
use launch::records::{bytes_read, field, size, variable};
use launch::{ControlError, image};
use machine::place::Place;
use machine::snapshot::{Plan, Span};
use machine::target::Target;

/// Measurements of a channel of a mux and of its worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChannelFigures {
    /// Number of the mux's link.
    pub mux: usize,
    /// The channel.
    pub channel: usize,
    /// The longest time without service: between two services (a forwarded packet or an answer to
    /// the client), or from idle to the next service.
    pub unserved_cycles: u64,
    /// The longest time in which the mux did not poll the client's connection, which needs nothing
    /// from the router.
    pub unattended_cycles: u64,
    /// The longest turn in which the mux waited for the router and polled no other channel.
    pub hold_cycles: u64,
    /// The longest wait of a packet for a slot of the router.
    pub wait_cycles: u64,
    /// Polls for a slot of the router.
    pub polls: u64,
    /// Waits that were abandoned.
    pub skips: u64,
    /// Time from the worker's request to close until the answer or, without one, until the
    /// measurement.
    pub close_cycles: u64,
    /// The worker's longest wait for a slot of the mux.
    pub slot_wait_cycles: u64,
}

/// Measurements of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// Measurements of each channel.
    pub channels: Vec<ChannelFigures>,
    /// Packets that a bounded drain abandoned.
    pub abandoned: u64,
    /// Packets that did not arrive.
    pub missing: u64,
}

impl Figures {
    /// Returns the longest time of all channels.
    pub fn longest(&self, figure: impl Fn(&ChannelFigures) -> u64) -> u64 {
        self.channels.iter().map(figure).max().unwrap_or(0)
    }
}

/// Type of a mux's state of a channel.
const CHANNEL: &str = "fabric_mux_channel_state_t";

pub(super) fn figures(bench: &mut Bench, cast: &Cast) -> Result<Figures, ControlError> {
    let mut figures = Figures::default();
    for (number, (mux, senders)) in cast.muxes.iter().zip(&cast.senders).enumerate() {
        figures.abandoned += bench.mux_value(mux, "abandoned")?;
        let by_channel = channels(bench, mux)?;
        for (channel, (measured, &id)) in by_channel.into_iter().zip(senders).enumerate() {
            let outcome = cast.traffic.outcome(&mut bench.target, &bench.images, id)?;
            let close = outcome.closed_cycles.saturating_sub(outcome.closing_cycles);
            figures.channels.push(ChannelFigures {
                mux: number,
                channel,
                close_cycles: close,
                slot_wait_cycles: outcome.longest_slot_wait_cycles,
                ..measured
            });
        }
    }
    Ok(figures)
}

/// Reads the state of a mux's channels in one read.
fn channels(bench: &mut Bench, mux: &Mux) -> Result<Vec<ChannelFigures>, ControlError> {
    let kernel = image(&bench.images, mux.kernel())?;
    let missing = |path: &str| ControlError::NoMember(mux.kernel().to_owned(), path.to_owned());
    let found = variable(&kernel, "fabric_mux_state.channels")?;
    let stride = size(&kernel, CHANNEL)? as usize;
    let member = |name: &str| {
        let field = field(&kernel, &format!("{CHANNEL}.{name}"))?;
        Ok::<_, ControlError>((field.offset as usize, field.size as usize))
    };
    let bytes = bench.read(mux.place, found.address(), found.field.size as u32)?;
    let channel = |bytes: &[u8]| {
        let value = |name: &str| {
            let (at, size) = member(name)?;
            bytes.get(at..at + size).map(Member::value).ok_or_else(|| missing(name))
        };
        Ok(ChannelFigures {
            unserved_cycles: value("longest_unserved_cycles")?,
            unattended_cycles: value("longest_unattended_cycles")?,
            hold_cycles: value("longest_hold_cycles")?,
            wait_cycles: value("longest_wait_cycles")?,
            polls: value("polls")?,
            skips: value("skips")?,
            ..ChannelFigures::default()
        })
    };
    bytes.chunks_exact(stride.max(1)).map(channel).collect()
}

impl Bench {
    pub(super) fn mux_value(&mut self, mux: &Mux, member: &str) -> Result<u64, ControlError> {
        self.value(mux.place, mux.kernel(), &format!("fabric_mux_state.{member}"))
    }

    /// Reads a word of a kernel by its path.
    pub(super) fn value(
        &mut self,
        place: Place,
        kernel: &str,
        path: &str,
    ) -> Result<u64, ControlError> {
        let found = variable(&*image(&self.images, kernel)?, path)?;
        let bytes = self.read(place, found.address(), found.field.size.min(8) as u32)?;
        Ok(Member::value(&bytes))
    }

    fn read(&mut self, place: Place, at: u64, len: u32) -> Result<Vec<u8>, ControlError> {
        let span = Span { addr: place.at(at), len };
        let snapshot = self.target.read(&Plan { spans: vec![span] });
        bytes_read(&snapshot, span).map(<[u8]>::to_vec)
    }
}
