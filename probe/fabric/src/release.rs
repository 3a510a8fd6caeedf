//! Closes channels of routers whose clients ended without a close, with the words that a client
//! would write.

use super::{FabricPlan, connection, words::RouterImage};
use images::ImageMap;
use images::fabric::stream;
use launch::ControlError;
use layouts::{EthId, NocAddr, TileKind};
use machine::snapshot::{AccessError, Plan, Span};
use machine::target::Target;

/// A channel to close.
#[derive(Debug)]
struct ClosingChannel {
    eth: EthId,
    slots: u32,
    handshake: NocAddr,
    free_slots: NocAddr,
    sent: NocAddr,
    /// Write counter and next slot of the next client.
    cursor: [NocAddr; 2],
    requested: bool,
}

/// Closes the first channels of routers. Their clients must have ended: queued packets are sent,
/// and no new ones may be added.
#[derive(Debug)]
pub struct Release {
    open: Vec<ClosingChannel>,
    close: u32,
    patience_cycles: u64,
    since: Option<u64>,
    total: u64,
}

impl Release {
    /// Prepares the close of these routers' channels; a channel without a client is left unchanged.
    ///
    /// # Errors
    /// `NoImage` or `NoMember`.
    pub fn new(
        images: &ImageMap,
        plan: &FabricPlan,
        routers: impl IntoIterator<Item = EthId>,
        patience_cycles: u64,
    ) -> Result<Self, ControlError> {
        let image = RouterImage::of(images, plan.router_image())?;
        let (write_counter, _) = image.field("SenderChannelProducerCursor.write_counter")?;
        let (write_index, _) = image.field("SenderChannelProducerCursor.write_index")?;
        let sent = image.global("fabric_router::senders[0].sent")?;
        let routers = routers.into_iter().filter_map(|eth| plan.router_at(eth));
        let channel = |router| {
            let info = connection(images, plan, router)?;
            let free = stream(images.layout(), TileKind::Eth, info.stream.into());
            let free =
                free.ok_or_else(|| image.missing("sender_channel_0_free_slots_stream_id"))?;
            let at = |address: u64| router.place.at(address);
            Ok(ClosingChannel {
                eth: router.eth,
                slots: info.buffer_count,
                handshake: at(info.handshake.into()),
                free_slots: at(free.addr),
                sent: at(sent),
                cursor: [write_counter, write_index].map(|n| at(u64::from(info.buffer_index) + n)),
                requested: false,
            })
        };
        let open: Vec<ClosingChannel> =
            routers.map(channel).collect::<Result<_, ControlError>>()?;
        let close = image.constant("CLOSE_CONNECTION_REQUEST")?;
        let total = open.len() as u64;
        Ok(Self { open, close, patience_cycles, since: None, total })
    }

    /// Returns the numbers of closed and of all channels.
    pub fn done(&self) -> (u64, u64) {
        (self.total - self.open.len() as u64, self.total)
    }

    /// Closes channels until it has to wait; returns whether it has ended. For channels that are
    /// still open then, see [`Release::left`].
    ///
    /// # Errors
    /// When the machine is gone.
    pub fn poll(&mut self, target: &mut dyn Target) -> Result<bool, AccessError> {
        let now = target.now()?;
        let since = *self.since.get_or_insert(now);
        let word = |addr: NocAddr| Span { addr, len: 4 };
        let words = self
            .open
            .iter()
            .flat_map(|channel| [channel.handshake, channel.free_slots, channel.sent]);
        let snapshot = target.read(&Plan { spans: words.map(word).collect() });
        for channel in &mut self.open {
            let words = [channel.handshake, channel.free_slots, channel.sent]
                .map(|addr| snapshot.word(addr));
            let [Ok(handshake), Ok(free), Ok(sent)] = words else { continue };
            // Only the count of sent packets no longer changes.
            let slot = sent.checked_rem(channel.slots);
            if handshake != 0
                && free == channel.slots
                && !channel.requested
                && let Some(slot) = slot
            {
                for (addr, value) in channel.cursor.into_iter().zip([sent, slot]) {
                    target.write(addr, &value.to_le_bytes())?;
                }
                target.write(channel.handshake, &self.close.to_le_bytes())?;
                channel.requested = true;
            }
        }
        self.open.retain(|channel| snapshot.word(channel.handshake) != Ok(0));
        Ok(self.open.is_empty() || now.saturating_sub(since) > self.patience_cycles)
    }

    /// Returns the channels that are still open, one sentence each.
    pub fn left(&self) -> Vec<String> {
        let why = |channel: &ClosingChannel| {
            let what =
                if channel.requested { "does not answer" } else { "does not send its packets" };
            format!("the router's channel on {} stays open: the router {what}", channel.eth)
        };
        self.open.iter().map(why).collect()
    }
}
