//! The proof of routing tables in words, and tables from a file in place of those in L1.

use super::routes::end;
use decode::state::{FabricHop, MeshState, TablesState};
use diagnosis::{ExitsProof, TablesProof};
use images::ImageMap;
use images::fabric::TablesLayout;
use layouts::{CoreId, CoreKind, EthId, NocAddr};
use machine::fabric::{Direction, Entry, RoutingTables};
use machine::snapshot::Snapshot;
use machine::words::counted;
use serde::Deserialize;
use std::fmt::Write as _;

/// Most routes that are printed one by one.
const MOST_ROUTES: usize = 16;

/// The proof, a sentence in a line.
pub fn proof_text(proof: &TablesProof) -> String {
    let pairs = counted(proof.pairs as u64, "pair", "pairs");
    let routes = counted(proof.routes as u64, "route", "routes");
    let astray = match (proof.broken.len(), proof.unread) {
        (0, 0) => {
            let hops = counted(proof.longest as u64, "hop", "hops");
            format!("all arrive, after {hops} at most")
        }
        (broken, 0) => format!("{broken} do not arrive"),
        (0, unread) => format!("of {unread} the end was not read"),
        (broken, unread) => format!("{broken} do not arrive, of {unread} the end was not read"),
    };
    let mut text = format!("{} nodes, {pairs}, {routes}: {astray}\n", proof.nodes);
    for it in proof.broken.iter().take(MOST_ROUTES) {
        let _ = writeln!(text, "  {} to {}, plane {}: {}", it.from, it.to, it.plane, end(it.end));
    }
    if let Some(more) = proof.broken.len().checked_sub(MOST_ROUTES).filter(|more| *more > 0) {
        let _ = writeln!(text, "  and {more} more");
    }
    let channels = counted(proof.channels as u64, "channel", "channels");
    let waits = counted(proof.dependencies as u64, "wait", "waits");
    let _ = write!(text, "{channels}, {waits} that are possible between two of them: ");
    if proof.circle.is_empty() {
        text += "none form a circle\n";
    } else {
        let _ = writeln!(text, "{} form a circle", proof.circle.len());
        for hop in &proof.circle {
            let FabricHop { out, into, direction, virtual_channel } = hop;
            let _ = writeln!(text, "  {out} -> {into} {direction} VC {virtual_channel}");
        }
    }
    for ExitsProof { meshes: (a, b), exits, shared } in &proof.exits {
        let exits = counted(*exits as u64, "exit", "exits");
        let links: Vec<_> = shared.iter().map(|(a, b)| format!("{a} - {b}")).collect();
        let flows = match &links[..] {
            [] => "opposite flows share no link".to_owned(),
            links => format!("opposite flows share {}", links.join(", ")),
        };
        let _ = writeln!(text, "M{a} and M{b}, {exits}: {flows}");
    }
    text
}

/// Tables as `fabric tables --json` prints them.
#[derive(Clone, Debug, Deserialize)]
pub struct TablesFile {
    tables: Vec<FileTables>,
}

/// The tables of a router.
#[derive(Clone, Debug, Deserialize)]
struct FileTables {
    router: EthId,
    l0: Vec<Option<String>>,
    l1: Vec<Option<String>>,
    exit_nodes: Vec<Option<u16>>,
}

/// New routing tables of a router.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// The router.
    pub router: EthId,
    /// Where its first byte that changes stands.
    pub at: NocAddr,
    /// The bytes from there on, to the last one that changes.
    pub bytes: Vec<u8>,
}

/// Puts the tables of a file in place of those that were read; returns what must be written for that.
///
/// # Errors
/// Which router has no such tables.
pub fn replace_tables(
    file: TablesFile,
    state: &mut MeshState,
    memory: &Snapshot,
    images: &ImageMap,
) -> Result<Vec<Rewrite>, String> {
    let mut rewrites = Vec::new();
    for new in file.tables {
        let router = new.router;
        let mut of_router = state.fabric.tables.iter_mut();
        let own = of_router.find(|tables| tables.at == router);
        let own = own.ok_or_else(|| format!("no tables were read of a router {router}"))?;
        let tables = new.replacing(own)?;
        let (at, layout, old) = packed(own, memory, images)
            .ok_or_else(|| format!("where the tables of {router} stand is not known"))?;
        let mut bytes = old.to_vec();
        layout.encode(&tables, &mut bytes).map_err(|why| format!("{router}: {why}"))?;
        own.tables = tables;
        let differs = |index: &usize| old.get(*index) != bytes.get(*index);
        let first = (0..bytes.len()).find(differs);
        let Some((first, last)) = first.zip((0..bytes.len()).rfind(differs)) else { continue };
        // Far chips are written word by word.
        let (first, end) = (first & !3, (last + 4) & !3);
        let changed = bytes.get(first..end.min(bytes.len())).map_or_else(Vec::new, <[u8]>::to_vec);
        let at = NocAddr { offset: at.offset + first as u64, ..at };
        rewrites.push(Rewrite { router, at, bytes: changed });
    }
    Ok(rewrites)
}

/// Returns where the tables of a router stand, their layout and their bytes.
fn packed<'a>(
    tables: &TablesState,
    memory: &'a Snapshot,
    images: &'a ImageMap,
) -> Option<(NocAddr, &'a TablesLayout, &'a [u8])> {
    let chip = tables.at.chip;
    let tile = images.layout().eth_channel(tables.at.channel)?;
    let core = CoreId { chip, tile, core: CoreKind::Erisc };
    let source = images.router_source(core, images.fabric_image(core));
    let layout = source.unwrap_or_else(|| images.unknown_router()).layout.tables.as_ref()?;
    let addr = NocAddr { chip, tile, offset: layout.address };
    Some((addr, layout, memory.bytes(addr, layout.bytes as u32).ok()?))
}

impl FileTables {
    /// Returns the tables, which must be for the same mesh.
    fn replacing(self, own: &TablesState) -> Result<RoutingTables, String> {
        let (router, devices) = (self.router, own.tables.intra_mesh.len());
        if self.l0.len() != devices {
            let entries = self.l0.len();
            return Err(format!("{router}: l0 has {entries} entries, its mesh {devices} devices"));
        }
        let entries = |all: Vec<Option<String>>| {
            all.iter().map(|word| entry(word.as_deref(), router)).collect::<Result<_, _>>()
        };
        Ok(RoutingTables {
            node: own.tables.node,
            intra_mesh: entries(self.l0)?,
            inter_mesh: entries(self.l1)?,
            exit_nodes: self.exit_nodes,
        })
    }
}

fn entry(word: Option<&str>, router: EthId) -> Result<Entry, String> {
    let Some(word) = word else { return Ok(Entry::Absent) };
    let known = Direction::ALL.into_iter().find(|direction| direction.name() == word);
    match known {
        Some(direction) => Ok(Entry::To(direction)),
        None if word == "here" => Ok(Entry::Here),
        None => Err(format!("{router}: '{}' is no direction", word.escape_debug())),
    }
}
