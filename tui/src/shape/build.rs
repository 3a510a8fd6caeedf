//! Builds the JSON structs from the state of the mesh.

use super::difference::difference;
use super::{
    Channel, Chip, Core, Cores, DryRun, End, Holder, Image, Images, LastClient, LastWriter, Launch,
    Link, LinkEnd, Links, Loads, Mesh, Missed, Missing, Planned, Source, Why, Word, Writer,
    Written,
};
use crate::words;
use access::expect::Difference;
use decode::state::{
    ChipState, CoreState, EthState, LinkState, MeshState, NamedWord, Reading, SourceLine,
};
use layouts::{EthId, NocAddr};
use machine::snapshot::{AccessError, Gap};
use machine::target::{PlannedAccess, Preview};

/// The value, or null and an entry in `missing`.
fn value<T, U>(
    name: &'static str,
    reading: &Reading<T>,
    missing: &mut Missing,
    show: impl Fn(&T) -> U,
) -> Option<U> {
    if let Some(why) = why(reading) {
        missing.insert(name, why);
    }
    reading.known().map(show)
}

fn why<T>(reading: &Reading<T>) -> Option<Why> {
    match reading {
        Reading::Known(_) => None,
        Reading::Unknown(raw) => Some(Why { reason: "unknown", detail: format!("{raw:#x}") }),
        Reading::Unread(error) => {
            Some(Why { reason: words::reason(error), detail: error.to_string() })
        }
        Reading::Absent => {
            Some(Why { reason: "absent", detail: "there is no such thing here".into() })
        }
    }
}

pub(super) fn end(end: EthId) -> End {
    End { chip: end.chip.0, channel: end.channel }
}

pub(super) fn missed(gaps: &[Gap]) -> Vec<Missed> {
    let one = |gap: &Gap| {
        let at = gap.span.addr;
        Missed {
            chip: at.chip.0,
            tile: [at.tile.x, at.tile.y],
            addr: at.offset,
            len: gap.span.len,
            reason: words::reason(&gap.reason),
            detail: gap.reason.to_string(),
        }
    };
    gaps.iter().map(one).collect()
}

fn chip(state: &ChipState) -> Chip<'_> {
    let chip = &state.chip;
    Chip {
        id: chip.id.0,
        coord: chip.coord.map(|c| [c.x, c.y, c.rack, c.shelf]),
        pcie: chip.pcie,
        board: chip.board.as_deref(),
        unique_id: chip.unique_id,
        gateway: chip.gateway.as_ref().map(|_| state.gateways.iter().map(|e| end(*e)).collect()),
        harvested_rows: chip.harvested_rows.as_deref(),
        holders: state.holders.iter().map(|h| Holder { pid: h.pid, name: &h.name }).collect(),
    }
}

fn link(state: &LinkState, ends: Vec<LinkEnd>) -> Link {
    Link {
        a: end(state.link.a),
        b: end(state.link.b),
        state: words::link(state.condition),
        a_to_b: state.a_to_b,
        b_to_a: state.b_to_a,
        apart_cycles: state.apart_cycles,
        ends,
    }
}

/// Builds `mesh`.
pub(crate) fn mesh<'a>(
    target: &'a str,
    state: &'a MeshState,
    differences: Option<&[Difference]>,
) -> Mesh<'a> {
    Mesh {
        target,
        cycles: state.cycles,
        transactions: state.transactions,
        chips: state.chips.iter().map(chip).collect(),
        links: state.links.iter().map(|l| link(l, Vec::new())).collect(),
        gaps: missed(&state.gaps),
        problems: &state.problems,
        last_client: state.before.client.as_ref().map(|visit| LastClient {
            name: &visit.client.name,
            pid: visit.client.pid,
            until_micros: visit.until_micros,
            broke_off: visit.broke_off,
        }),
        last_writer: state.before.change.as_ref().map(|change| LastWriter {
            name: &change.client.name,
            pid: change.client.pid,
            at_micros: change.at_micros,
            at_cycles: change.at_cycles,
            what: &change.what,
        }),
        writer: state.before.writer.as_ref().map(|c| Writer { name: &c.name, pid: c.pid }),
        differences: differences.map(|all| all.iter().map(difference).collect()),
    }
}

/// Builds `links`.
pub(crate) fn links<'a>(target: &'a str, state: &'a MeshState) -> Links<'a> {
    let ends = |l: &LinkState| vec![link_end(state, l.link.a), link_end(state, l.link.b)];
    Links {
        target,
        cycles: state.cycles,
        links: state.links.iter().map(|l| link(l, ends(l))).collect(),
        gaps: missed(&state.gaps),
    }
}

fn link_end(state: &MeshState, at: EthId) -> LinkEnd {
    let tile = state.eth(at);
    let mut missing = Missing::new();
    let gone = || AccessError::NotAsked;
    let unread = || Reading::Unread(gone());
    let waypoint = tile.and_then(|t| t.cores.first()).map_or_else(unread, |c| c.waypoint.clone());
    let eth = tile.and_then(|t| t.eth.as_ref());
    let small = |of: fn(&EthState) -> &Reading<u32>| {
        eth.map_or_else(|| Reading::Unread(gone()), |e| of(e).clone())
    };
    let large = |of: fn(&EthState) -> &Reading<u64>| {
        eth.map_or_else(|| Reading::Unread(gone()), |e| of(e).clone())
    };
    LinkEnd {
        chip: at.chip.0,
        channel: at.channel,
        tile: tile.map(|t| [t.xy.x, t.xy.y]),
        waypoint: value("waypoint", &waypoint, &mut missing, Clone::clone),
        train_status: value("train_status", &small(|e| &e.train_status), &mut missing, |v| *v),
        link_status: value("link_status", &small(|e| &e.link_status), &mut missing, |v| *v),
        retrain_count: value("retrain_count", &small(|e| &e.retrain_count), &mut missing, |v| *v),
        crc_errors: value("crc_errors", &small(|e| &e.crc_errors), &mut missing, |v| *v),
        packets_sent: value("packets_sent", &large(|e| &e.packets_sent), &mut missing, |v| *v),
        packets_received: value(
            "packets_received",
            &large(|e| &e.packets_received),
            &mut missing,
            |v| *v,
        ),
        missing,
    }
}

/// Builds `cores`, of the cores that pass the filter.
pub(crate) fn cores<'a>(
    target: &'a str,
    state: &'a MeshState,
    with_words: bool,
    passes: impl Fn(&CoreState) -> bool,
) -> Cores<'a> {
    let all = state.chips.iter().flat_map(|c| &c.tiles).flat_map(|t| &t.cores);
    Cores {
        target,
        cycles: state.cycles,
        cores: all.filter(|c| passes(c)).map(|c| core(c, with_words)).collect(),
        gaps: missed(&state.gaps),
    }
}

fn core(state: &CoreState, with_words: bool) -> Core<'_> {
    let mut missing = Missing::new();
    let launch = value("launch", &state.launch, &mut missing, |l| Launch {
        rd_ptr: l.rd_ptr,
        enables: l.enables,
        mode: l.mode,
        host_assigned_id: l.host_assigned_id,
        kernel_id: l.kernel_id,
    });
    Core {
        chip: state.id.chip.0,
        tile: [state.id.tile.x, state.id.tile.y],
        core: state.id.core.name(),
        waypoint: value("waypoint", &state.waypoint, &mut missing, Clone::clone),
        activity: value("activity", &state.activity, &mut missing, |a| words::activity(*a)),
        go: value("go", &state.go, &mut missing, |g| words::go(*g)),
        heartbeat: value("heartbeat", &state.heartbeat, &mut missing, |h| *h),
        launch,
        location: state.location.iter().map(source).collect(),
        images: state.images.iter().map(image).collect(),
        findings: state.findings.iter().map(ToString::to_string).collect(),
        channels: state.channels.iter().map(channel).collect(),
        words: with_words.then(|| state.words.iter().map(word).collect()),
        missing,
    }
}

fn source(line: &SourceLine) -> Source<'_> {
    Source { function: line.function.as_deref(), file: line.file.as_deref(), line: line.line }
}

fn image(image: &decode::state::ImageUse) -> Image<'_> {
    let role = words::role(image.role);
    Image {
        role,
        name: &image.name,
        load_addr: image.load_addr,
        evidence: words::evidence_word(image.evidence),
        path: image.path.as_deref(),
        bias: image.bias,
        compared_bytes: image.comparison.compared_bytes,
        text_bytes: image.comparison.text_bytes,
        check: words::check(&image.comparison.check),
        also: &image.also,
    }
}

/// Builds `images`, of the cores that pass the filter.
pub(crate) fn images<'a>(
    target: &'a str,
    state: &'a MeshState,
    cores: &[&'a CoreState],
) -> Images<'a> {
    let loads = |core: &&'a CoreState| Loads {
        chip: core.id.chip.0,
        tile: [core.id.tile.x, core.id.tile.y],
        core: core.id.core.name(),
        images: core.images.iter().map(image).collect(),
        findings: core.findings.iter().map(ToString::to_string).collect(),
    };
    Images {
        target,
        cycles: state.cycles,
        cores: cores.iter().map(loads).collect(),
        gaps: missed(&state.gaps),
    }
}

fn channel(channel: &decode::state::ChannelState) -> Channel {
    Channel {
        index: channel.index,
        bytes_sent: channel.bytes_sent,
        receiver_ack: channel.receiver_ack,
        src_id: channel.src_id,
        meaning: words::channel(channel.meaning),
    }
}

fn word(word: &NamedWord) -> Word<'_> {
    let missing = why(&word.value);
    Word {
        name: &word.name,
        addr: word.addr,
        size: word.size,
        value: word.value.known().copied(),
        missing,
    }
}

/// Builds `write`.
pub(crate) fn written(at: NocAddr, old: Result<String, &AccessError>, new: String) -> Written {
    let mut missing = Missing::new();
    if let Err(error) = old {
        missing.insert("old", Why { reason: words::reason(error), detail: error.to_string() });
    }
    let NocAddr { chip, tile, offset } = at;
    let tile = [tile.x, tile.y];
    Written { chip: chip.0, tile, addr: offset, old: old.ok(), new, missing }
}

/// Builds the JSON of `--dry-run`.
pub(crate) fn dry_run<'a>(target: &'a str, discovery: u64, preview: &Preview) -> DryRun<'a> {
    let planned = |visit: &PlannedAccess| {
        let NocAddr { chip, tile, offset } = visit.span.addr;
        Planned {
            chip: chip.0,
            tile: [tile.x, tile.y],
            addr: offset,
            len: visit.span.len,
            route: words::route(visit.route),
            write: visit.write,
            transactions: visit.transactions,
        }
    };
    DryRun {
        target,
        discovery_transactions: discovery,
        transactions: preview.visits.iter().map(|visit| visit.transactions).sum(),
        accesses: preview.visits.iter().map(planned).collect(),
        gaps: missed(&preview.gaps),
    }
}
