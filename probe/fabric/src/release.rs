//! Closes channels of routers whose clients ended without it, by the words with which a client itself would.

use super::{FabricPlan, connection, words::RouterImage};
use decode::fabric::stream;
use decode::images::ImageMap;
use launch::ControlError;
use layouts::{EthId, NocAddr, TileKind};
use machine::snapshot::{AccessError, Plan, Span};
use machine::target::Target;

/// A channel that is to be closed.
#[derive(Debug)]
struct ClosingChannel {
    eth: EthId,
    slots: u32,
    handshake: NocAddr,
    free_slots: NocAddr,
    sent: NocAddr,
    /// Write counter and next slot of the next client.
    cursor: [NocAddr; 2],
    asked: bool,
}

/// Closes the first channels of routers. Their clients must have ended: what they handed over is sent, and nobody hands over more.
#[derive(Debug)]
pub struct Release {
    open: Vec<ClosingChannel>,
    close: u32,
    patience_cycles: u64,
    since: Option<u64>,
    total: u64,
}

impl Release {
    /// Of these routers of a fabric; one whose channel has no client is left as it is.
    ///
    /// # Errors
    /// `NoImage` or `NoMember`.
    pub fn new(
        images: &ImageMap,
        plan: &FabricPlan,
        routers: impl IntoIterator<Item = EthId>,
        patience_cycles: u64,
    ) -> Result<Self, ControlError> {
        let image = RouterImage::of(images, plan.topology)?;
        let (write_counter, _) = image.field("SenderChannelProducerCursor.write_counter")?;
        let (write_index, _) = image.field("SenderChannelProducerCursor.write_index")?;
        let sent = image.global("fabric_router::senders[0].sent")?;
        let routers = routers.into_iter().filter_map(|eth| plan.router_at(eth));
        let channel = |router| {
            let of = connection(images, plan, router)?;
            let free = stream(images.layout(), TileKind::Eth, of.stream.into());
            let free =
                free.ok_or_else(|| image.missing("sender_channel_0_free_slots_stream_id"))?;
            let at = |address: u64| router.place.at(address);
            Ok(ClosingChannel {
                eth: router.eth,
                slots: of.buffer_count,
                handshake: at(of.handshake.into()),
                free_slots: at(free.addr),
                sent: at(sent),
                cursor: [write_counter, write_index].map(|n| at(u64::from(of.buffer_index) + n)),
                asked: false,
            })
        };
        let open: Vec<ClosingChannel> =
            routers.map(channel).collect::<Result<_, ControlError>>()?;
        let close = image.constant("CLOSE_CONNECTION_REQUEST")?;
        let total = open.len() as u64;
        Ok(Self { open, close, patience_cycles, since: None, total })
    }

    /// How many are closed, and of how many.
    pub fn done(&self) -> (u64, u64) {
        (self.total - self.open.len() as u64, self.total)
    }

    /// Goes on until it has to wait; tells whether it is over. What is open then could not be closed: see [`Release::left`].
    ///
    /// # Errors
    /// When the machine is gone.
    pub fn poll(&mut self, target: &mut dyn Target) -> Result<bool, AccessError> {
        let now = target.now()?;
        let since = *self.since.get_or_insert(now);
        let word = |addr: NocAddr| Span { addr, len: 4 };
        let words = self.open.iter().flat_map(|one| [one.handshake, one.free_slots, one.sent]);
        let snapshot = target.read(&Plan { spans: words.map(word).collect() });
        for one in &mut self.open {
            let words = [one.handshake, one.free_slots, one.sent].map(|addr| snapshot.word(addr));
            let [Ok(handshake), Ok(free), Ok(sent)] = words else { continue };
            // Only what was sent has a number that stays as it is.
            let slot = sent.checked_rem(one.slots);
            if handshake != 0
                && free == one.slots
                && !one.asked
                && let Some(slot) = slot
            {
                for (addr, value) in one.cursor.into_iter().zip([sent, slot]) {
                    target.write(addr, &value.to_le_bytes())?;
                }
                target.write(one.handshake, &self.close.to_le_bytes())?;
                one.asked = true;
            }
        }
        self.open.retain(|one| snapshot.word(one.handshake) != Ok(0));
        Ok(self.open.is_empty() || now.saturating_sub(since) > self.patience_cycles)
    }

    /// The channels that are still open, one sentence each.
    pub fn left(&self) -> Vec<String> {
        let why = |one: &ClosingChannel| {
            let what = if one.asked { "does not answer" } else { "does not send what lies in it" };
            format!("the channel of the router of {} stays open: the router {what}", one.eth)
        };
        self.open.iter().map(why).collect()
    }
}
