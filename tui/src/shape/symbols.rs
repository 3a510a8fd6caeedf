//! The JSON of `symbols`: what an ELF says of types, values and places in source.

use super::{Decoded, Source};
use serde::Serialize;
use std::collections::BTreeMap;

/// `symbols type`.
#[derive(Serialize)]
pub(crate) struct Layout<'a> {
    pub(crate) name: &'a str,
    pub(crate) kind: &'static str,
    pub(crate) size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stands_for: Option<&'a str>,
    pub(crate) members: Vec<Member<'a>>,
    /// What only some types have.
    #[serde(flatten)]
    pub(crate) more: BTreeMap<&'static str, Vec<Part<'a>>>,
}

/// A row of one of the lists that only some types have.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Part<'a> {
    Hole {
        offset: u64,
        size: u64,
        bit_offset: u64,
        bit_size: u64,
        padding: bool,
    },
    Base {
        name: &'a str,
        offset: Option<u64>,
        size: Option<u64>,
        access: &'static str,
        #[serde(rename = "virtual")]
        hidden: bool,
    },
    Static {
        name: &'a str,
        #[serde(rename = "type")]
        kind: &'a str,
        value: Option<Decoded<'a>>,
        access: &'static str,
    },
    Argument {
        name: Option<&'a str>,
        #[serde(rename = "type")]
        kind: &'a str,
        value: Option<Decoded<'a>>,
    },
    VirtualBase {
        name: &'a str,
        size: Option<u64>,
    },
    Enumerator {
        name: &'a str,
        value: i128,
    },
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
    /// Of a type that has no name to ask for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) members: Vec<Member<'a>>,
}

/// `symbols addr`.
#[derive(Serialize)]
pub(crate) struct Frames<'a> {
    pub(crate) addr: u64,
    pub(crate) frames: Vec<Source<'a>>,
}

/// `symbols value`.
#[derive(Serialize)]
pub(crate) struct Valued<'a> {
    pub(crate) expression: &'a str,
    #[serde(rename = "type")]
    pub(crate) kind: &'a str,
    pub(crate) size: Option<u64>,
    pub(crate) value: Option<Decoded<'a>>,
    pub(crate) source: Option<&'static str>,
    pub(crate) storage: String,
    pub(crate) address: Option<u64>,
    pub(crate) section: Option<&'a str>,
    pub(crate) private: Option<String>,
    pub(crate) ranges: Vec<Range>,
}

/// Where something that moves is for a while.
#[derive(Serialize)]
pub(crate) struct Range {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) storage: String,
}

/// `symbols line`.
#[derive(Serialize)]
pub(crate) struct Line<'a> {
    pub(crate) file: &'a str,
    pub(crate) line: u32,
    pub(crate) code: Vec<LineCode<'a>>,
}

/// A run of code of a line.
#[derive(Serialize)]
pub(crate) struct LineCode<'a> {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) file: &'a str,
    pub(crate) frames: Vec<Source<'a>>,
}

/// `symbols function`.
#[derive(Serialize)]
pub(crate) struct Functions<'a> {
    pub(crate) functions: Vec<Function<'a>>,
}

/// A function with all its code.
#[derive(Serialize)]
pub(crate) struct Function<'a> {
    pub(crate) name: &'a str,
    pub(crate) linkage_name: Option<&'a str>,
    pub(crate) file: Option<&'a str>,
    pub(crate) line: Option<u32>,
    pub(crate) size: u64,
    pub(crate) parts: Vec<FunctionPart<'a>>,
    pub(crate) inlined: Vec<Inlined<'a>>,
}

/// A run of a function's own code.
#[derive(Serialize)]
pub(crate) struct FunctionPart<'a> {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) symbol: Option<&'a str>,
}

/// A copy of a function inside another.
#[derive(Serialize)]
pub(crate) struct Inlined<'a> {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) into: Option<&'a str>,
    pub(crate) file: Option<&'a str>,
    pub(crate) line: Option<u32>,
}

/// `symbols list`.
#[derive(Serialize)]
pub(crate) struct Names<'a> {
    pub(crate) kind: &'static str,
    pub(crate) names: Vec<&'a str>,
}
