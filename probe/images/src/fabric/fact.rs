//! Kinds of facts of a fabric: what the number means, and its form in JSON.

use super::enumeration::{Enumeration, Enumerator};
use crate::Reading;
use layouts::NocXy;
use machine::fabric::{Direction, FabricNode};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// A kind of fact: the meaning of its number, and its form in JSON.
pub trait Fact: Sized {
    /// The form in JSON.
    type Json: Serialize + JsonSchema;

    /// Decodes a number.
    fn decode(raw: u64, names: Option<&Enumeration>) -> Reading<Self>;

    /// Returns the value for JSON.
    fn json(&self) -> Self::Json;

    /// Returns the value for a comparison; none if it is no number, flag or enumerator.
    fn value(&self) -> Option<FactValue<'_>> {
        None
    }
}

/// The value of a fact, for a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FactValue<'a> {
    /// The number; none if the fact is text.
    pub number: Option<u64>,
    /// The text, or the name of the number in DWARF.
    pub name: Option<&'a str>,
}

impl<'a> FactValue<'a> {
    /// Makes the value of a number.
    pub fn number(number: impl Into<u64>) -> Self {
        Self { number: Some(number.into()), name: None }
    }

    /// Makes the value of a text.
    pub fn text(text: &'a str) -> Self {
        Self { number: None, name: Some(text) }
    }
}

/// Null if the value is not known.
impl<T: Fact> Serialize for Reading<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.known().map(Fact::json).serialize(serializer)
    }
}

/// The schema of the serialized form.
impl<T: Fact> JsonSchema for Reading<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        Option::<T::Json>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Option::<T::Json>::json_schema(generator)
    }
}

impl Fact for u64 {
    type Json = u64;

    fn decode(raw: u64, _: Option<&Enumeration>) -> Reading<Self> {
        Reading::Known(raw)
    }

    fn json(&self) -> u64 {
        *self
    }

    fn value(&self) -> Option<FactValue<'_>> {
        Some(FactValue::number(*self))
    }
}

impl Fact for u32 {
    type Json = u32;

    fn decode(raw: u64, _: Option<&Enumeration>) -> Reading<Self> {
        u32::try_from(raw).map_or(Reading::Unknown(raw), Reading::Known)
    }

    fn json(&self) -> u32 {
        *self
    }

    fn value(&self) -> Option<FactValue<'_>> {
        Some(FactValue::number(*self))
    }
}

impl Fact for bool {
    type Json = bool;

    fn decode(raw: u64, _: Option<&Enumeration>) -> Reading<Self> {
        Reading::Known(raw != 0)
    }

    fn json(&self) -> bool {
        *self
    }

    fn value(&self) -> Option<FactValue<'_>> {
        Some(FactValue::number(*self))
    }
}

/// The name, or the number if DWARF has no name.
impl Fact for Enumerator {
    type Json = NameOrNumber;

    fn decode(raw: u64, names: Option<&Enumeration>) -> Reading<Self> {
        Reading::Known(names.map_or_else(|| Self::unnamed(raw), |names| names.of_value(raw)))
    }

    fn json(&self) -> NameOrNumber {
        match &self.name {
            Some(name) => NameOrNumber::Name(name.as_ref().to_owned()),
            None => NameOrNumber::Number(self.value),
        }
    }

    fn value(&self) -> Option<FactValue<'_>> {
        Some(FactValue { number: Some(self.value), name: self.name.as_deref() })
    }
}

/// An enumerator in JSON.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum NameOrNumber {
    /// The name in DWARF.
    Name(String),
    /// The number, if DWARF has no name.
    Number(u64),
}

/// An enumerator whose form in JSON is its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code(pub Enumerator);

impl AsRef<Enumerator> for Code {
    fn as_ref(&self) -> &Enumerator {
        &self.0
    }
}

impl Fact for Code {
    type Json = u64;

    fn decode(raw: u64, names: Option<&Enumeration>) -> Reading<Self> {
        Enumerator::decode(raw, names).map(Self)
    }

    fn json(&self) -> u64 {
        self.0.value
    }

    fn value(&self) -> Option<FactValue<'_>> {
        self.0.value()
    }
}

impl<T: AsRef<Enumerator>> Reading<T> {
    /// Returns the number, if it is known.
    pub fn value(&self) -> Option<u64> {
        self.known().map(|known| known.as_ref().value)
    }

    /// Returns the name, if the value is known and has one.
    pub fn name(&self) -> Option<&str> {
        self.known()?.as_ref().name.as_deref()
    }

    /// Returns true if the value is known to be the enumerator of this name.
    pub fn is(&self, name: &str) -> bool {
        self.name() == Some(name)
    }
}

/// `eth_chan_directions`.
impl Fact for Direction {
    type Json = &'static str;

    fn decode(raw: u64, names: Option<&Enumeration>) -> Reading<Self> {
        let named = names.and_then(|names| names.of_value(raw).name);
        let found = Self::ALL.into_iter().find(|it| named.as_deref() == Some(it.name()));
        found.map_or(Reading::Unknown(raw), Reading::Known)
    }

    fn json(&self) -> &'static str {
        self.name()
    }
}

/// A mask: a bit for each of [`Direction::ALL`].
impl Fact for Vec<Direction> {
    type Json = Vec<&'static str>;

    fn decode(raw: u64, _: Option<&Enumeration>) -> Reading<Self> {
        let set = |direction: &Direction| raw >> direction.index() & 1 == 1;
        Reading::Known(Direction::ALL.into_iter().filter(set).collect())
    }

    fn json(&self) -> Vec<&'static str> {
        self.iter().map(|direction| direction.name()).collect()
    }
}

/// Ethernet channels of a chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Channels(pub Vec<u8>);

/// A mask: a bit for each channel.
impl Fact for Channels {
    type Json = Vec<u8>;

    fn decode(raw: u64, _: Option<&Enumeration>) -> Reading<Self> {
        let set = |channel: &u8| raw >> channel & 1 == 1;
        Reading::Known(Self((0..u64::BITS as u8).filter(set).collect()))
    }

    fn json(&self) -> Vec<u8> {
        self.0.clone()
    }
}

/// A heartbeat, and the program that wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Heartbeat {
    /// The writer, by the mark in the high half; null if the mark is not known.
    pub writer: Option<HeartbeatWriter>,
    /// The count, modulo 2^16.
    pub count: u16,
}

/// A program that writes the heartbeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HeartbeatWriter {
    /// Base firmware.
    BaseFirmware,
    /// A router of tt-metal's fabric.
    Router,
}

/// The names are those of the marks in the high half.
impl Fact for Heartbeat {
    type Json = Self;

    fn decode(raw: u64, names: Option<&Enumeration>) -> Reading<Self> {
        let mark = names.and_then(|names| names.of_value(raw >> 16).name);
        let writer = match mark.as_deref() {
            Some(Self::BASE_FIRMWARE) => Some(HeartbeatWriter::BaseFirmware),
            Some(Self::ROUTER) => Some(HeartbeatWriter::Router),
            _ => None,
        };
        Reading::Known(Self { writer, count: raw as u16 })
    }

    fn json(&self) -> Self {
        *self
    }
}

impl Heartbeat {
    const BASE_FIRMWARE: &str = "BASE_FIRMWARE";
    const ROUTER: &str = "ROUTER";

    /// Returns the names of the marks.
    pub(crate) fn marks(base_firmware: u16, router: u16) -> Enumeration {
        let marks = [(base_firmware.into(), Self::BASE_FIRMWARE), (router.into(), Self::ROUTER)];
        Enumeration::new(&marks)
    }
}

/// `x | y << 16`; 0 means no tile.
impl Fact for NocXy {
    type Json = [u8; 2];

    fn decode(raw: u64, _: Option<&Enumeration>) -> Reading<Self> {
        match raw {
            0 => Reading::Absent,
            _ => Reading::Known(Self { x: raw as u8, y: (raw >> 16) as u8 }),
        }
    }

    fn json(&self) -> [u8; 2] {
        [self.x, self.y]
    }
}

/// `device | mesh << 16`.
impl Fact for FabricNode {
    type Json = NodeJson;

    fn decode(raw: u64, _: Option<&Enumeration>) -> Reading<Self> {
        Reading::Known(Self { mesh: (raw >> 16) as u16, device: raw as u16 })
    }

    fn json(&self) -> NodeJson {
        NodeJson { mesh: self.mesh, device: self.device }
    }
}

/// A fabric node in JSON.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct NodeJson {
    /// The mesh.
    pub mesh: u16,
    /// The device in the mesh.
    pub device: u16,
}

/// An address in a tile of the same chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NocTarget {
    /// The tile.
    pub tile: NocXy,
    /// The address in the tile.
    pub addr: u64,
}

/// A NoC address in JSON.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct NocTargetJson {
    /// The tile's column and row.
    pub tile: [u8; 2],
    /// The address in the tile.
    pub addr: u64,
}

/// Bits of the address in a NoC address; above them are six bits each for x and y (tt-metal's
/// `NOC_XY_ADDR`).
const ADDRESS_BITS: u32 = 36;
const COORDINATE_BITS: u32 = 6;

/// tt-metal's `NOC_XY_ADDR`.
impl Fact for NocTarget {
    type Json = NocTargetJson;

    fn decode(raw: u64, _: Option<&Enumeration>) -> Reading<Self> {
        let coordinate = |shift: u32| (raw >> shift & ((1 << COORDINATE_BITS) - 1)) as u8;
        let (x, y) = (coordinate(ADDRESS_BITS), coordinate(ADDRESS_BITS + COORDINATE_BITS));
        let addr = raw & ((1 << ADDRESS_BITS) - 1);
        Reading::Known(Self { tile: NocXy { x, y }, addr })
    }

    fn json(&self) -> NocTargetJson {
        NocTargetJson { tile: self.tile.json(), addr: self.addr }
    }
}
