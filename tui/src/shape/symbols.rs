//! The JSON of `symbols`: what an ELF says of types, values and places in source.

use super::Source;
use serde::Serialize;

/// `symbols type`.
#[derive(Serialize)]
pub(crate) struct Layout<'a> {
    pub(crate) name: &'a str,
    pub(crate) size: Option<u64>,
    pub(crate) members: Vec<Member<'a>>,
}

/// A member of a type; unnamed ones have a null name.
#[derive(Serialize)]
pub(crate) struct Member<'a> {
    pub(crate) name: Option<&'a str>,
    pub(crate) offset: u64,
    pub(crate) size: Option<u64>,
    #[serde(rename = "type")]
    pub(crate) kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bit_size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bit_offset: Option<u64>,
}

/// `symbols addr`.
#[derive(Serialize)]
pub(crate) struct Frames<'a> {
    pub(crate) addr: u64,
    pub(crate) frames: Vec<Source<'a>>,
}
