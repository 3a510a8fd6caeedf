//! Traces: the packets of traffic over a fabric as lines of JSON, which can be sent again.
//!
//! The first line is a [`TraceHead`], each further one a [`TracePacket`]. A trace names nodes of the
//! fabric, so that it can be sent on another mesh of the same shape.

use super::FabricPlan;
use super::traffic::SendType;
use machine::fabric::{FabricNode, FabricTopology};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt::{Display, Write as _};
use std::str::FromStr;

/// Most packets of a trace.
pub const MOST_PACKETS: usize = 1_000_000;

/// The fabric of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceHead {
    /// What its routers are built for.
    pub topology: FabricTopology,
    /// Rows and columns of each mesh.
    pub meshes: Vec<[usize; 2]>,
    /// Whether its rings, or the links between its meshes, have a dateline; absent without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dateline: Option<bool>,
}

impl TraceHead {
    /// Returns the head of a trace of this fabric.
    pub fn of(plan: &FabricPlan) -> Self {
        let closed = plan.meshes.iter().any(|mesh| mesh.closed_rows || mesh.closed_columns);
        let has_one = closed || plan.exits_apart;
        let cut = plan.routers.iter().any(|router| router.dateline);
        Self {
            topology: plan.topology,
            meshes: plan.meshes.iter().map(|mesh| [mesh.rows, mesh.columns]).collect(),
            dateline: has_one.then_some(cut),
        }
    }
}

/// What a packet is besides its route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TraceFlag {
    /// Every hop looks up the next one in its tables; else the header has the route.
    Tables,
    /// It travels in the control channel.
    Control,
}

/// A packet of a trace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TracePacket {
    /// The node that sends it; none if only its header is known, and does not say.
    #[serde(default, with = "in_words", skip_serializing_if = "Option::is_none")]
    pub from: Option<FabricNode>,
    /// The node to which it is sent; none if its header does not say.
    #[serde(default, with = "in_words", skip_serializing_if = "Option::is_none")]
    pub to: Option<FabricNode>,
    /// Its number, by which the packets of a sender are in order.
    pub number: u32,
    /// The action at the destination: write, inline, atomic, fused, or scatter:N of N chunks.
    #[serde(serialize_with = "in_words::plain", deserialize_with = "in_words::parsed")]
    pub send: SendType,
    /// Bytes of payload.
    pub bytes: u32,
    /// Time to live, in hops.
    pub ttl: u8,
    /// The routing plane in which it leaves its sender.
    #[serde(default)]
    pub plane: u32,
    /// What else it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<TraceFlag>,
    /// The channel of a router in which its header was seen; none if its sender's list is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
    /// Its line in the file, from 1.
    #[serde(skip)]
    pub line: usize,
}

/// Words of fields that are no strings.
mod in_words {
    use super::{Deserialize, Deserializer, Display, FromStr, Serialize, Serializer};
    use serde::de::Error;

    #[expect(clippy::ref_option, reason = "serde passes a reference")]
    pub(super) fn serialize<T: Display, S: Serializer>(
        value: &Option<T>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        value.as_ref().map(ToString::to_string).serialize(to)
    }

    pub(super) fn deserialize<'de, T: FromStr<Err = String>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<T>, D::Error> {
        parsed(from).map(Some)
    }

    pub(super) fn plain<T: Display, S: Serializer>(value: &T, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(value)
    }

    pub(super) fn parsed<'de, T: FromStr<Err = String>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<T, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

/// The packets of traffic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The fabric.
    pub head: TraceHead,
    /// The packets, by sender and number.
    pub packets: Vec<TracePacket>,
}

impl Trace {
    /// Parses the lines of a trace.
    ///
    /// # Errors
    /// The first line that is none of a trace, with its number.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = (1..).zip(text.lines());
        let Some((_, first)) = lines.next() else { return Err("it is empty".to_owned()) };
        let head: TraceHead = line(1, first)?;
        let mut packets = Vec::new();
        for (number, text) in lines {
            if packets.len() == MOST_PACKETS {
                return Err(format!("line {number}: a trace has at most {MOST_PACKETS} packets"));
            }
            packets.push(TracePacket { line: number, ..line(number, text)? });
        }
        packets.sort_by_key(|packet| (packet.from, packet.number));
        Ok(Self { head, packets })
    }

    /// Returns the lines of the trace.
    pub fn text(&self) -> String {
        let mut text = json(&self.head);
        for packet in &self.packets {
            let _ = write!(text, "\n{}", json(packet));
        }
        text + "\n"
    }
}

/// Parses a line. What the parser says of its one line is not repeated.
fn line<T: DeserializeOwned>(number: usize, text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| {
        let why = error.to_string();
        let why = why.rsplit_once(" at line 1").map_or(why.as_str(), |(why, _)| why);
        format!("line {number}: {why}")
    })
}

/// Every field of a trace is a number, a word, or a list of them.
fn json(line: &impl Serialize) -> String {
    serde_json::to_string(line).unwrap_or_else(|_| String::new())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    const HEAD: &str = r#"{"topology":"mesh","meshes":[[2,4]]}"#;

    #[test]
    fn lines_are_read_as_they_are_written() {
        let text = format!(
            "{HEAD}\n{}\n{}\n",
            r#"{"from":"M0D0","to":"M0D5","number":3,"send":"scatter:4","bytes":64,"ttl":9,"plane":1,"flags":["tables"]}"#,
            r#"{"from":"M0D1","to":"M0D0","number":0,"send":"atomic","bytes":0,"ttl":64,"plane":0}"#,
        );
        let trace = Trace::parse(&text).unwrap();
        assert_eq!(trace.text(), text);
        let first = trace.packets.first().unwrap();
        assert_eq!((first.line, first.send), (2, SendType::Scatter(4)));
        assert_eq!(first.from, Some(FabricNode { mesh: 0, device: 0 }));
    }

    #[test]
    fn a_wrong_line_is_named_with_what_is_wrong() {
        let packet = |what: &str| {
            let line =
                r#"{"from":"M0D0","to":"M0D5","number":3,"send":"fused","bytes":64,"ttl":9}"#;
            let (from, to) = what.split_once(" -> ").unwrap();
            assert!(line.contains(from));
            Trace::parse(&format!("{HEAD}\n{line}\n{}", line.replace(from, to))).unwrap_err()
        };
        for (what, why) in [
            ("M0D5 -> M0", "'M0' is not a node such as M0D3"),
            ("fused -> fast", "'fast' is not"),
            ("fused -> scatter:9", "'scatter:9' is not"),
            ("\"ttl\":9 -> \"ttl\":900", "invalid value"),
            ("\"ttl\" -> \"tll\"", "unknown field `tll`"),
            (",\"ttl\":9 -> ", "missing field `ttl`"),
            ("} -> ", "EOF while parsing"),
        ] {
            let said = packet(what);
            assert!(said.starts_with("line 3: ") && said.contains(why), "{what}: {said}");
        }
        assert!(Trace::parse("").unwrap_err().contains("empty"));
        assert!(Trace::parse("{}").unwrap_err().starts_with("line 1: missing field `topology`"));
    }
}
