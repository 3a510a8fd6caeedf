//! The data of a whole recording: its target, its mesh, and the target's abilities.

use crate::error::Damage;
use layouts::{ChipCoord, ChipId, ChipKind, EthId, TileKind};
use machine::target::{Abilities, Chip, Link, Mesh, Refusal};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Chips of a mesh at most, as of a descriptor.
const MOST_CHIPS: usize = 1024;
/// Links of a chip at most.
const MOST_LINKS: usize = 16;

/// The session record: text keys, so that any MCAP tool can show them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SessionRecord {
    /// The version of the meshscope that wrote it.
    pub(crate) made_by: String,
    /// The format of the moments.
    pub(crate) format: u32,
    /// The words that opened the target.
    pub(crate) target: String,
    /// The mesh as discovered.
    pub(crate) mesh: Mesh,
    /// The abilities of the target.
    pub(crate) abilities: Abilities,
    /// What the person who recorded asked for, in words; empty in format 1.
    pub(crate) asked: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct StoredMesh {
    /// Absent in recordings older than chip kinds: a Wormhole.
    kind: ChipKind,
    chips: Vec<StoredChip>,
    links: Vec<[StoredEnd; 2]>,
    problems: Vec<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct StoredChip {
    id: u16,
    /// x, y, rack, shelf.
    coord: Option<[u8; 4]>,
    pcie: bool,
    unique_id: Option<u64>,
    board: Option<String>,
    gateway: Option<Vec<StoredEnd>>,
    /// None where it was not known.
    harvested_rows: Option<Vec<u8>>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct StoredEnd {
    chip: u16,
    channel: u8,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct StoredAbilities {
    write: bool,
    stepped_time: bool,
    refusals: Vec<StoredRefusal>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredRefusal {
    kind: String,
    start: u64,
    end: u64,
    reason: String,
}

const KINDS: [(TileKind, &str); 6] = [
    (TileKind::Tensix, "tensix"),
    (TileKind::Eth, "eth"),
    (TileKind::Dram, "dram"),
    (TileKind::Arc, "arc"),
    (TileKind::Pcie, "pcie"),
    (TileKind::Router, "router"),
];

impl From<EthId> for StoredEnd {
    fn from(end: EthId) -> Self {
        Self { chip: end.chip.0, channel: end.channel }
    }
}

impl From<StoredEnd> for EthId {
    fn from(end: StoredEnd) -> Self {
        Self { chip: ChipId(end.chip), channel: end.channel }
    }
}

impl From<&Chip> for StoredChip {
    fn from(chip: &Chip) -> Self {
        Self {
            id: chip.id.0,
            coord: chip.coord.map(|c| [c.x, c.y, c.rack, c.shelf]),
            pcie: chip.pcie,
            unique_id: chip.unique_id,
            board: chip.board.clone(),
            gateway: chip
                .gateway
                .as_ref()
                .map(|ends| ends.iter().map(|end| (*end).into()).collect()),
            harvested_rows: chip.harvested_rows.clone(),
        }
    }
}

impl From<StoredChip> for Chip {
    fn from(chip: StoredChip) -> Self {
        Self {
            id: ChipId(chip.id),
            coord: chip.coord.map(|[x, y, rack, shelf]| ChipCoord { x, y, rack, shelf }),
            pcie: chip.pcie,
            unique_id: chip.unique_id,
            board: chip.board,
            gateway: chip.gateway.map(|ends| ends.into_iter().map(EthId::from).collect()),
            harvested_rows: chip.harvested_rows,
            seat: None,
        }
    }
}

fn store_mesh(mesh: &Mesh) -> StoredMesh {
    StoredMesh {
        kind: mesh.kind,
        chips: mesh.chips.iter().map(StoredChip::from).collect(),
        links: mesh.links.iter().map(|link| [link.a.into(), link.b.into()]).collect(),
        problems: mesh.problems.clone(),
    }
}

fn load_mesh(stored: StoredMesh) -> Mesh {
    let links = stored.links.into_iter().map(|[a, b]| Link { a: a.into(), b: b.into() });
    Mesh {
        kind: stored.kind,
        chips: stored.chips.into_iter().map(Chip::from).collect(),
        links: links.collect(),
        problems: stored.problems,
        ..Mesh::default()
    }
}

fn store_abilities(abilities: &Abilities) -> StoredAbilities {
    let word = |kind| KINDS.iter().find(|(k, _)| *k == kind).map_or("", |(_, word)| *word);
    let refusal = |refusal: &Refusal| StoredRefusal {
        kind: word(refusal.kind).into(),
        start: refusal.start,
        end: refusal.end,
        reason: refusal.reason.clone(),
    };
    StoredAbilities {
        write: !abilities.allow.is_nothing(),
        stepped_time: abilities.stepped_time,
        refusals: abilities.refusals.iter().map(refusal).collect(),
    }
}

fn load_abilities(stored: StoredAbilities) -> Abilities {
    let refusals = stored.refusals.into_iter().filter_map(|refusal| {
        let (kind, _) = KINDS.iter().find(|(_, word)| *word == refusal.kind)?;
        let StoredRefusal { start, end, reason, .. } = refusal;
        Some(Refusal { kind: *kind, start, end, reason })
    });
    // A recording cannot be written, whatever was allowed on its target.
    Abilities {
        stepped_time: stored.stepped_time,
        refusals: refusals.collect(),
        unchangeable: Some("a recording cannot be changed".into()),
        ..Abilities::default()
    }
}

impl SessionRecord {
    /// Returns the record's keys and values.
    pub(crate) fn to_record(&self) -> serde_json::Result<BTreeMap<String, String>> {
        let mesh = serde_json::to_string(&store_mesh(&self.mesh))?;
        let abilities = serde_json::to_string(&store_abilities(&self.abilities))?;
        let pairs = [
            ("meshscope", self.made_by.clone()),
            ("format", self.format.to_string()),
            ("target", self.target.clone()),
            ("mesh", mesh),
            ("abilities", abilities),
            ("asked", self.asked.clone()),
        ];
        let mut record: BTreeMap<_, _> =
            pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        record.insert(CHECKSUM.into(), checksum(&record));
        Ok(record)
    }

    /// Whether a record is as it was written. Format 1 had no checksum, and a newer one may have
    /// another.
    pub(crate) fn is_whole(record: &BTreeMap<String, String>) -> bool {
        let mut record = record.clone();
        match record.remove(CHECKSUM) {
            Some(written) => written == checksum(&record),
            None => Self::version(&record).is_some_and(|(format, _)| format != 2),
        }
    }

    /// Returns the format number and the writer's version of a record, before its other values are
    /// read.
    pub(crate) fn version(record: &BTreeMap<String, String>) -> Option<(u32, &str)> {
        let format = record.get("format")?.parse().ok()?;
        Some((format, record.get("meshscope").map_or("of unknown version", String::as_str)))
    }

    /// Returns the session of a record whose version was checked.
    pub(crate) fn from_record(record: &BTreeMap<String, String>) -> Result<Self, Damage> {
        let text = |key| record.get(key).ok_or(Damage::NoKey(key));
        let (format, made_by) = Self::version(record).ok_or(Damage::NoKey("format"))?;
        let mesh: StoredMesh =
            serde_json::from_str(text("mesh")?).map_err(|e| Damage::Key("mesh", e))?;
        let (chips, links) = (mesh.chips.len(), mesh.links.len());
        if chips > MOST_CHIPS || links > MOST_CHIPS * MOST_LINKS {
            return Err(Damage::Mesh { chips, links });
        }
        let abilities =
            serde_json::from_str(text("abilities")?).map_err(|e| Damage::Key("abilities", e))?;
        Ok(Self {
            made_by: made_by.into(),
            format,
            target: text("target")?.clone(),
            mesh: load_mesh(mesh),
            abilities: load_abilities(abilities),
            asked: record.get("asked").cloned().unwrap_or_default(),
        })
    }
}

/// The key of the checksum of all other keys.
const CHECKSUM: &str = "crc32";

/// Returns the checksum of a record, which MCAP does not check itself.
fn checksum(record: &BTreeMap<String, String>) -> String {
    let mut hasher = crc32fast::Hasher::new();
    for text in record.iter().flat_map(|(key, value)| [key, value]) {
        hasher.update(text.as_bytes());
        hasher.update(&[0]);
    }
    format!("{:08x}", hasher.finalize())
}
