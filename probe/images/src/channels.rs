//! Addresses of the flow-control words of Ethernet channels, resolved by name.

use super::pointers::{member, pointed};
use super::{ChannelPlaces, ChannelRole};
use layouts::ChipLayout;
use symbols::{Located, Symbols};

/// `erisc_info->channels`: words at addresses that firmware and host agree on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channels {
    /// Address of the first channel.
    pub at: u64,
    /// Number of channels.
    pub count: u64,
    /// Bytes of a channel.
    pub bytes: u64,
    /// Offset of `bytes_sent` in a channel.
    bytes_sent: u64,
    /// Offset of `receiver_ack` in a channel.
    receiver_ack: u64,
    /// Offset of `src_id` in a channel.
    src_id: u64,
}

/// The words of one channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelSync {
    /// `bytes_sent`.
    pub bytes_sent: u32,
    /// `receiver_ack`.
    pub receiver_ack: u32,
    /// `src_id`.
    pub src_id: u32,
}

impl Channels {
    /// Finds the members by name; none if the image has no such table.
    pub(super) fn find(layout: &ChipLayout, symbols: &Symbols) -> Option<Self> {
        const INFO: &str = "erisc_info";
        let info = pointed(layout, symbols, INFO)?;
        let all = symbols.field(&format!("{}.channels", info.ty.plain().name())).ok()?;
        let at = info.base.checked_add(all.offset)?;
        let inside = |name: &str| {
            member(layout, symbols, INFO, &format!("channels[0].{name}"))?.checked_sub(at)
        };
        Some(Self {
            at,
            count: all.count,
            bytes: all.stride,
            bytes_sent: inside("bytes_sent")?,
            receiver_ack: inside("receiver_ack")?,
            src_id: inside("src_id")?,
        })
    }

    /// Returns the address of a channel's words.
    pub fn of(&self, index: u64) -> u64 {
        self.at.saturating_add(self.bytes.saturating_mul(index))
    }

    /// Reads the words of a channel from its bytes.
    pub fn read(&self, bytes: &[u8]) -> Option<ChannelSync> {
        Some(ChannelSync {
            bytes_sent: word(bytes, self.bytes_sent)?,
            receiver_ack: word(bytes, self.receiver_ack)?,
            src_id: word(bytes, self.src_id)?,
        })
    }
}

/// The global `eth_channel_places` of a kernel.
#[derive(Debug)]
pub struct ChannelTable {
    /// Its address.
    pub address: u64,
    channels: Located,
    sync: u64,
    role: u64,
    /// Size of L1.
    l1_bytes: u64,
    /// The value of each role.
    roles: [(ChannelRole, Option<u64>); 3],
}

/// Finds the table; none for a kernel without one.
pub(super) fn channel_table(layout: &ChipLayout, symbols: &Symbols) -> Option<ChannelTable> {
    let channels = symbols.locate("eth_channel_places.channels").ok()?;
    let address = channels.address();
    let inside = |member: &str| {
        let place = symbols.locate(&format!("eth_channel_places.channels[0].{member}")).ok()?;
        place.address().checked_sub(address)
    };
    let roles = [
        (ChannelRole::Sender, "ETH_CHANNEL_SENDER"),
        (ChannelRole::Receiver, "ETH_CHANNEL_RECEIVER"),
        (ChannelRole::Handshake, "ETH_CHANNEL_HANDSHAKE"),
    ];
    let roles = roles.map(|(role, name)| (role, symbols.constant(name).and_then(|c| c.as_u64())));
    Some(ChannelTable {
        address,
        sync: inside("sync")?,
        role: inside("role")?,
        l1_bytes: layout.eth.l1_bytes,
        roles,
        channels,
    })
}

impl ChannelTable {
    /// Returns the size of the table in bytes.
    pub fn bytes(&self) -> u32 {
        self.channels.field.size as u32
    }

    /// Reads the table from its bytes; none if a role is unknown, a word is missing, or a sync word
    /// would lie outside L1: then they are not a table.
    pub fn read(&self, bytes: &[u8]) -> Option<ChannelPlaces> {
        let field = self.channels.field;
        let place = |index: u64| {
            let word = |at| word(bytes, index.saturating_mul(field.stride).saturating_add(at));
            let (sync, role) = (word(self.sync)?, u64::from(word(self.role)?));
            let named = self.roles.iter().find(|(_, value)| *value == Some(role));
            let role = match named {
                Some((role, _)) => *role,
                None if role == 0 => ChannelRole::Unused,
                None => return None,
            };
            let inside = sync.is_multiple_of(4) && u64::from(sync) < self.l1_bytes;
            inside.then_some((role, (sync != 0).then_some(sync.into())))
        };
        (0..field.count.min(bytes.len() as u64)).map(place).collect()
    }
}

fn word(bytes: &[u8], at: u64) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at as usize..)?.first_chunk()?))
}
