//! The words of an Ethernet tile: a table with their names, meanings and sizes.

use images::Reading;
use layouts::EthL1;
use machine::snapshot::AccessError;
use schemars::JsonSchema;
use serde::Serialize;

/// Makes the table. A row is a name of the layout of L1, which is also the JSON key, with its size, and
/// with what stands before the value on the chip screen if it is a count that is shown there.
macro_rules! eth_words {
    (in JSON { $($(#[$meaning:meta])* $name:ident: $Size:ident $(= $label:literal)?,)* }
     others { $($(#[$other_meaning:meta])* $other:ident: $OtherSize:ident $(= $other_label:literal)?,)* }) => {
        /// The link words of an Ethernet tile.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
        pub struct EthState {
            /// Ethernet channel.
            #[serde(skip)]
            pub channel: u8,
            $($(#[$meaning])* pub $name: Reading<$Size>,)*
            $($(#[$other_meaning])* #[serde(skip)] pub $other: Reading<$OtherSize>,)*
            /// Base firmware version: major, minor, patch.
            #[serde(skip)]
            pub firmware_version: Reading<(u8, u8, u16)>,
        }

        impl EthState {
            /// Reads the words of a tile whose layout this is.
            pub(crate) fn read(channel: u8, l1: &EthL1, words: &impl EthWords) -> Self {
                Self {
                    channel,
                    $($name: words.$Size(l1.$name.at),)*
                    $($other: words.$OtherSize(l1.$other.at),)*
                    firmware_version: words.version(l1.firmware_version.at),
                }
            }

            /// Returns the words of a tile that was not read.
            pub fn unread(channel: u8, why: &AccessError) -> Self {
                Self {
                    channel,
                    $($name: Reading::Unread(why.clone()),)*
                    $($other: Reading::Unread(why.clone()),)*
                    firmware_version: Reading::Unread(why.clone()),
                }
            }

            /// Returns the readings of the JSON keys, by name.
            pub fn json_readings(&self) -> Vec<(&'static str, Reading<u64>)> {
                vec![$((stringify!($name), self.$name.clone().map(u64::from))),*]
            }

            /// Returns the counts that the chip screen shows, each after its words there.
            pub fn counts(&self) -> Vec<(&'static str, Reading<u64>)> {
                vec![
                    $($(($label, self.$name.clone().map(u64::from)),)?)*
                    $($(($other_label, self.$other.clone().map(u64::from)),)?)*
                ]
            }
        }
    };
}

eth_words! {
    in JSON {
        /// 0 training, 1 up, 2 failed, 3 not connected.
        train_status: u32,
        /// The link status of the PCS: 6 is up.
        link_status: u32,
        /// Packets sent, by the base firmware's counter.
        packets_sent: u64 = "sent ",
        /// Packets received, by the base firmware's counter.
        packets_received: u64 = " received ",
        /// Number of retrainings of the link.
        retrain_count: u32 = " retrain ",
        /// Frames with a wrong checksum.
        crc_errors: u32 = " crc ",
    }
    others {
        /// Corrected codewords.
        corrected_codewords: u64 = " fec ",
        /// Uncorrected codewords.
        uncorrected_codewords: u64 = "/",
    }
}

/// Reads words of a tile's L1.
pub(crate) trait EthWords {
    /// Reads a word.
    fn u32(&self, at: u64) -> Reading<u32>;
    /// Reads a 64-bit statistic, high word first (wormhole.md 5.3).
    fn u64(&self, at: u64) -> Reading<u64>;
    /// Reads the version: major, minor, patch; zero means that no firmware has published one.
    fn version(&self, at: u64) -> Reading<(u8, u8, u16)>;
}
