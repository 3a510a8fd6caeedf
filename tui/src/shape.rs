//! The JSON that scripts rely on: shapes are promised and only ever grow. `--help` of each verb states them.

#![expect(clippy::struct_field_names, reason = "the names are promised to scripts")]

mod build;
mod difference;
mod fabric;
mod failed;
mod print;
mod run;
mod stack;
mod symbols;
mod value;

pub(crate) use build::{cores, dry_run, images, links, mesh, written};
pub(crate) use fabric::{fabric, fabric_routes, fabric_status, fabric_tables, fabric_waits};
pub(crate) use print::Printed;
pub(crate) use run::{run, unknown as unknown_run};
pub(crate) use stack::{Stack, StackReason, StackSource, Stacked};
pub(crate) use symbols::*;
pub(crate) use value::Decoded;

use serde::Serialize;
use std::collections::BTreeMap;

/// An end of a link.
#[derive(Serialize)]
pub(crate) struct End {
    chip: u16,
    channel: u8,
}

/// `mesh`.
#[derive(Serialize)]
pub(crate) struct Mesh<'a> {
    target: &'a str,
    cycles: u64,
    transactions: u64,
    chips: Vec<Chip<'a>>,
    links: Vec<Link>,
    gaps: Vec<Missed>,
    problems: &'a [String],
    last_client: Option<LastClient<'a>>,
    last_writer: Option<LastWriter<'a>>,
    writer: Option<Writer<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    differences: Option<Vec<difference::Differs>>,
}

/// Who had a served mesh before; host times are microseconds since the Unix epoch.
#[derive(Serialize)]
struct LastClient<'a> {
    name: &'a str,
    pid: u32,
    until_micros: u64,
    broke_off: bool,
}

/// Who else may change a served mesh now.
#[derive(Serialize)]
struct Writer<'a> {
    name: &'a str,
    pid: u32,
}

/// Who changed a served mesh last.
#[derive(Serialize)]
struct LastWriter<'a> {
    name: &'a str,
    pid: u32,
    at_micros: u64,
    at_cycles: u64,
    what: &'a str,
}

#[derive(Serialize)]
struct Chip<'a> {
    id: u16,
    coord: Option<[u8; 4]>,
    pcie: bool,
    board: Option<&'a str>,
    unique_id: Option<u64>,
    gateway: Option<Vec<End>>,
    harvested_rows: Option<&'a [u8]>,
    holders: Vec<Holder<'a>>,
}

/// A process other than this one that has the chip's device open.
#[derive(Serialize)]
struct Holder<'a> {
    pid: u32,
    name: &'a str,
}

#[derive(Serialize)]
struct Link {
    a: End,
    b: End,
    state: &'static str,
    a_to_b: Option<u64>,
    b_to_a: Option<u64>,
    apart_cycles: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ends: Vec<LinkEnd>,
}

/// What one end says; a value that is null is named in `missing`.
#[derive(Serialize)]
struct LinkEnd {
    chip: u16,
    channel: u8,
    tile: Option<[u8; 2]>,
    waypoint: Option<String>,
    train_status: Option<u32>,
    link_status: Option<u32>,
    retrain_count: Option<u32>,
    crc_errors: Option<u32>,
    packets_sent: Option<u64>,
    packets_received: Option<u64>,
    missing: Missing,
}

#[derive(Serialize)]
struct Missed {
    chip: u16,
    tile: [u8; 2],
    addr: u64,
    len: u32,
    reason: &'static str,
    detail: String,
}

/// `links`.
#[derive(Serialize)]
pub(crate) struct Links<'a> {
    target: &'a str,
    cycles: u64,
    links: Vec<Link>,
    gaps: Vec<Missed>,
}

/// `cores`.
#[derive(Serialize)]
pub(crate) struct Cores<'a> {
    target: &'a str,
    cycles: u64,
    cores: Vec<Core<'a>>,
    gaps: Vec<Missed>,
}

#[derive(Serialize)]
struct Core<'a> {
    chip: u16,
    tile: [u8; 2],
    core: &'static str,
    waypoint: Option<String>,
    activity: Option<&'static str>,
    go: Option<&'static str>,
    heartbeat: Option<u32>,
    launch: Option<Launch>,
    location: Vec<Source<'a>>,
    images: Vec<Image<'a>>,
    findings: Vec<String>,
    channels: Vec<Channel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<Vec<Word<'a>>>,
    missing: Missing,
}

#[derive(Serialize)]
struct Launch {
    rd_ptr: u32,
    enables: u32,
    mode: u8,
    host_assigned_id: u32,
    kernel_id: u16,
}

/// A place in source, also a frame of `symbols addr`.
#[derive(Serialize)]
pub(crate) struct Source<'a> {
    pub(crate) function: Option<&'a str>,
    pub(crate) file: Option<&'a str>,
    pub(crate) line: Option<u32>,
}

#[derive(Serialize)]
struct Image<'a> {
    role: &'static str,
    name: &'a str,
    load_addr: u32,
    evidence: &'static str,
    path: Option<&'a str>,
    bias: u32,
    compared_bytes: u32,
    text_bytes: u32,
    check: Option<&'static str>,
    also: &'a [String],
}

/// `images`.
#[derive(Serialize)]
pub(crate) struct Images<'a> {
    target: &'a str,
    cycles: u64,
    cores: Vec<Loads<'a>>,
    gaps: Vec<Missed>,
}

/// The images of a core.
#[derive(Serialize)]
struct Loads<'a> {
    chip: u16,
    tile: [u8; 2],
    core: &'static str,
    images: Vec<Image<'a>>,
    findings: Vec<String>,
}

#[derive(Serialize)]
struct Channel {
    index: u8,
    bytes_sent: u32,
    receiver_ack: u32,
    src_id: u32,
    meaning: &'static str,
}

#[derive(Serialize)]
struct Word<'a> {
    name: &'a str,
    addr: u64,
    size: u32,
    value: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<Why>,
}

/// `read`.
#[derive(Serialize)]
pub(crate) struct Bytes {
    pub(crate) chip: u16,
    pub(crate) tile: [u8; 2],
    pub(crate) addr: u64,
    pub(crate) bytes: String,
}

/// `write`.
#[derive(Serialize)]
pub(crate) struct Written {
    chip: u16,
    tile: [u8; 2],
    addr: u64,
    old: Option<String>,
    new: String,
    missing: Missing,
}

/// Any verb with `--dry-run`.
#[derive(Serialize)]
pub(crate) struct DryRun<'a> {
    target: &'a str,
    discovery_transactions: u64,
    transactions: u64,
    accesses: Vec<Planned>,
    gaps: Vec<Missed>,
}

#[derive(Serialize)]
struct Planned {
    chip: u16,
    tile: [u8; 2],
    addr: u64,
    len: u32,
    route: &'static str,
    write: bool,
    transactions: u64,
}

/// Why the values that are null are missing, by their names.
type Missing = BTreeMap<&'static str, Why>;

#[derive(Serialize)]
struct Why {
    reason: &'static str,
    detail: String,
}
