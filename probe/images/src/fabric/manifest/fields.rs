//! The fields of a router, of a channel, of an edge: what the router kernel is compiled with.

use super::cursor::{Cursor, Parsed};
use super::types::{Context, L1Region};
use crate::fabric;
use layouts::TileKind;
use std::collections::BTreeMap;

/// The address of a word that tt-metal did not allocate: the argument is -1.
const NOT_ALLOCATED: u64 = 0xFFFF_FFFF;

/// A register of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamRegister {
    /// The count that a write increments: slots or credits.
    SpaceAvailable,
    /// A plain register.
    RemoteSource,
}

/// A stream register of a router's tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamRef {
    /// The stream's number, below 32.
    pub id: u8,
    /// Which of its registers.
    pub register: StreamRegister,
}

/// The content of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// A range of L1.
    L1(L1Region),
    /// A stream register; none if the stream is unused.
    Stream(Option<StreamRef>),
    /// A number.
    Number(u64),
    /// A flag.
    Flag(bool),
    /// A value of an enum of [`FabricManifest::enums`](super::FabricManifest::enums).
    Enum {
        /// The enum.
        name: String,
        /// The value.
        value: u32,
    },
}

/// Fields by key. A field that the router does not have is left out, or null if its memory is not
/// allocated: it is in neither case here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields(pub BTreeMap<String, Content>);

impl Fields {
    /// Returns the L1 of a field, such as `edm_status`.
    pub fn l1(&self, key: &str) -> Option<&L1Region> {
        match self.0.get(key)? {
            Content::L1(region) => Some(region),
            _ => None,
        }
    }

    /// Returns the stream of a field, such as `free_slots`; none if it is unused.
    pub fn stream(&self, key: &str) -> Option<StreamRef> {
        match self.0.get(key)? {
            Content::Stream(stream) => *stream,
            _ => None,
        }
    }

    /// Returns the value of a field that is a number, a flag, or a value of an enum.
    pub fn value(&self, key: &str) -> Option<u64> {
        match self.0.get(key)? {
            Content::Number(value) => Some(*value),
            Content::Flag(value) => Some((*value).into()),
            Content::Enum { value, .. } => Some((*value).into()),
            Content::L1(_) | Content::Stream(_) => None,
        }
    }
}

impl Context<'_> {
    /// Reads `fields`.
    pub(super) fn fields(&self, of: &Cursor<'_>) -> Parsed<Fields> {
        let mut fields = BTreeMap::new();
        for entry in of.get("fields")?.entries()? {
            let Some(entry) = entry.present() else { continue };
            if let Some(content) = self.content(&entry)? {
                fields.insert(entry.key().to_owned(), content);
            }
        }
        Ok(Fields(fields))
    }

    /// Reads a field; none if it is L1 that is not allocated.
    fn content(&self, at: &Cursor<'_>) -> Parsed<Option<Content>> {
        const KINDS: [&str; 5] = ["l1", "stream", "number", "flag", "enum"];
        let value = || at.get("value");
        Ok(Some(match at.get("kind")?.one_of(&KINDS.map(|kind| (kind, kind)))? {
            "l1" if at.get("address")?.number::<u64>()? == NOT_ALLOCATED => return Ok(None),
            "l1" => Content::L1(self.region(at)?),
            "stream" => Content::Stream(self.stream(at)?),
            "number" => Content::Number(value()?.number()?),
            "flag" => Content::Flag(value()?.flag()?),
            _ => {
                Content::Enum { name: self.enum_of(&at.get("schema")?)?, value: value()?.number()? }
            }
        }))
    }

    /// Reads a stream register; none if the stream is unused.
    pub(super) fn stream(&self, at: &Cursor<'_>) -> Parsed<Option<StreamRef>> {
        const REGISTERS: [(&str, StreamRegister); 2] = [
            ("buf_space_available", StreamRegister::SpaceAvailable),
            ("remote_src", StreamRegister::RemoteSource),
        ];
        let id: u64 = at.get("stream_id")?.number()?;
        let register = at.get("register")?.one_of(&REGISTERS)?;
        let used = |id: &u8| fabric::stream(self.layout, TileKind::Eth, (*id).into()).is_some();
        Ok(u8::try_from(id).ok().filter(used).map(|id| StreamRef { id, register }))
    }
}
