//! The rows of what runs on the tiles: routers, dispatch, workers, and what is free, by chip.

use crate::model::Model;
use crate::table::{Cell, Rank, Row, Value};
use console::merged::on_chip;
use console::seen::CoreSeen;
use console::words;
use decode::state::{Activity, ChipState, TileState};
use diagnosis::Place;
use images::Reading;
use layouts::{ChipId, CoreId, EthId, NocXy, TileKind};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::collections::{BTreeMap, BTreeSet};

/// The purpose of a core.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    Failed,
    Router,
    Mux,
    Dispatch,
    Worker,
    Ended,
    Firmware,
    Free,
    Unread,
}

impl Use {
    fn name(self) -> &'static str {
        match self {
            Self::Failed => "not readable",
            Self::Router => "router",
            Self::Mux => "mux",
            Self::Dispatch => "dispatch",
            Self::Worker => "kernel",
            Self::Ended => "kernel has ended",
            Self::Firmware => "base firmware",
            Self::Free => "idle",
            Self::Unread => "not read yet",
        }
    }

    fn rank(self) -> Rank {
        match self {
            Self::Failed => Rank::Fault,
            Self::Unread => Rank::Unread,
            Self::Router | Self::Mux | Self::Dispatch | Self::Worker => Rank::Moves,
            Self::Ended | Self::Firmware | Self::Free => Rank::Idle,
        }
    }
}

/// What the fabric runs on.
#[derive(Default)]
struct Fabric {
    routers: BTreeSet<(ChipId, NocXy)>,
    muxes: BTreeSet<CoreId>,
}

impl Fabric {
    fn of(model: &Model) -> Self {
        let Some(fabric) = model.mesh().map(|mesh| &mesh.fabric) else { return Self::default() };
        Self {
            routers: fabric.routers.iter().map(|it| (it.at.chip, it.tile)).collect(),
            muxes: fabric.muxes.iter().map(|it| it.at).collect(),
        }
    }

    fn purpose(&self, core: &CoreSeen, tile: &TileState) -> Use {
        let named = |word: &str| core.kernel.as_deref().is_some_and(|name| name.contains(word));
        match &core.activity {
            Reading::Known(Activity::Running) => {}
            Reading::Known(Activity::Done) => return Use::Ended,
            Reading::Known(Activity::BaseFirmware) => return Use::Firmware,
            Reading::Known(Activity::Waiting | Activity::InReset) => return Use::Free,
            Reading::Unread(
                machine::snapshot::AccessError::NotRequested
                | machine::snapshot::AccessError::NotRecorded,
            )
            | Reading::Absent => return Use::Unread,
            Reading::Unread(_) | Reading::Unknown(_) => return Use::Failed,
        }
        let router = self.routers.contains(&(core.id.chip, tile.xy)) || named("router");
        match () {
            () if tile.kind == TileKind::Eth && router => Use::Router,
            () if self.muxes.contains(&core.id) || named("_mux") => Use::Mux,
            // The kernels of tt-metal's command queues.
            () if named("cq_prefetch") || named("cq_dispatch") => Use::Dispatch,
            () => Use::Worker,
        }
    }
}

/// The cores of a chip that are alike.
type Alike = (TileKind, Use, Option<String>);

/// Their place among others: Ethernet tiles come first.
type Order = (bool, Use, Option<String>);

/// The rows of all chips.
pub(crate) fn resource_rows(model: &Model) -> Vec<Row> {
    let chips = model.mesh().map_or(&[][..], |mesh| &mesh.chips);
    let fabric = Fabric::of(model);
    let rows = chips.iter().flat_map(|chip| of_chip(model, &fabric, chip));
    rows.enumerate().map(|(item, row)| Row { item, ..row }).collect()
}

fn of_chip(model: &Model, fabric: &Fabric, chip: &ChipState) -> Vec<Row> {
    let mut alike: BTreeMap<Order, (Alike, BTreeSet<CoreId>)> = BTreeMap::new();
    for tile in chip.tiles.iter().filter(|tile| !tile.harvested) {
        for core in model.cores_seen_of(chip.chip.id, tile) {
            let purpose = fabric.purpose(&core, tile);
            let runs = !matches!(purpose, Use::Free | Use::Firmware | Use::Unread);
            let kernel = core.kernel.filter(|_| runs);
            let key = (tile.kind != TileKind::Eth, purpose, kernel.clone());
            let of = alike.entry(key).or_insert(((tile.kind, purpose, kernel), BTreeSet::new()));
            of.1.insert(core.id);
        }
    }
    alike.into_values().map(|(alike, cores)| row(model, chip, alike, &cores)).collect()
}

fn row(
    model: &Model,
    chip: &ChipState,
    (kind, purpose, kernel): Alike,
    cores: &BTreeSet<CoreId>,
) -> Row {
    let id = chip.chip.id;
    let tiles: BTreeSet<NocXy> = cores.iter().map(|core| core.tile).collect();
    let held = tiles.iter().filter_map(|tile| model.pulse.held(id, *tile)).min();
    let held = held.filter(|_| purpose.rank() == Rank::Moves);
    let style = match purpose {
        Use::Failed => model.theme.bad(),
        _ if held.is_some() => model.theme.bad(),
        Use::Free | Use::Firmware | Use::Unread | Use::Ended => model.theme.dim(),
        _ => Style::new(),
    };
    let text = |field, text: String| Cell::text(field, Span::styled(text, style));
    let count = |field, count: u64| {
        Cell::number(field, Span::styled(count.to_string(), style), Some(count))
    };
    let kernel = kernel.unwrap_or_default();
    Row {
        key: format!("{id} {} {} {kernel}", words::tile(kind), purpose.name()),
        item: 0,
        rank: held.unwrap_or(purpose.rank()),
        place: cores.first().map(|core| Place::Core(*core)),
        cells: vec![
            count("chip", id.0.into()),
            text("tiles", words::tile(kind).to_owned()),
            text("use", purpose.name().to_owned()),
            count("cores", cores.len() as u64),
            text("kernel", kernel),
            text("where", on_chip(chip, cores.iter().copied())),
        ],
        hidden: Vec::new(),
    }
}

/// The grid of workers of the selected row's chip, and its Ethernet channels.
pub(crate) fn resource_detail(model: &Model, row: &Row) -> Vec<Line<'static>> {
    let Some(Value::Number(Some(id))) = row.cells.first().map(|cell| &cell.value) else {
        return Vec::new();
    };
    let chips = model.mesh().map_or(&[][..], |mesh| &mesh.chips);
    let Some(chip) = chips.iter().find(|chip| u64::from(chip.chip.id.0) == *id) else {
        return Vec::new();
    };
    let workers = chip.tiles.iter().filter(|tile| tile.kind == TileKind::Tensix);
    let (fused, there): (Vec<_>, Vec<_>) = workers.partition(|tile| tile.harvested);
    let columns: BTreeSet<u8> = there.iter().map(|tile| tile.xy.x).collect();
    let rows: BTreeSet<u8> = there.iter().map(|tile| tile.xy.y).collect();
    let board = chip.chip.board.as_deref().unwrap_or("board unknown");
    let place = row.cells.last().map(|cell| cell.text.content.to_string()).unwrap_or_default();
    vec![
        Line::raw(place),
        Line::raw(format!(
            "chip {id}, {board}: workers {} x {}, {} Tensix tiles, {} fused off",
            columns.len(),
            rows.len(),
            there.len(),
            fused.len()
        )),
        Line::raw(channels(model, chip)),
    ]
}

/// The Ethernet channels of a chip: linked, and over which other chips are reached.
fn channels(model: &Model, chip: &ChipState) -> String {
    let id = chip.chip.id;
    let mesh = model.mesh();
    let links = mesh.map_or(&[][..], |mesh| &mesh.links);
    let to = |end: EthId| {
        let link = links.iter().find(|link| [link.link.a, link.link.b].contains(&end))?;
        let far = if link.link.a == end { link.link.b } else { link.link.a };
        Some(format!("e{} to {far}", end.channel))
    };
    let all = chip.tiles.iter().filter_map(|tile| tile.eth.as_ref());
    let linked: Vec<String> =
        all.filter_map(|eth| to(EthId { chip: id, channel: eth.channel })).collect();
    format!("linked: {}", if linked.is_empty() { "none".to_owned() } else { linked.join(", ") })
}
