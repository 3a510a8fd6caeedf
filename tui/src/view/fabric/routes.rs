//! Routing tables and the path of a packet, below the list of the fabric screen.

use crate::model::Model;
use console::fabric::{self, FabricPart};
use console::reading::short;
use decode::inspect::fabric_routes;
use decode::state::{MeshState, PacketState, RouteEnd, TablesState};
use images::fabric::PacketFacts;
use layouts::ChipId;
use machine::fabric::FabricNode;
use ratatui::text::Line;

type Pane = (String, Vec<Line<'static>>);

/// Shown until a snapshot has read the tables.
fn unread() -> Pane {
    (" routing tables: one more snapshot is needed ".to_owned(), Vec::new())
}

/// The tables of the selected router, or of the first router of its chip.
pub(super) fn tables(model: &Model, part: Option<&FabricPart<'_>>) -> Pane {
    let Some((mesh, part)) = model.mesh().zip(part) else { return Default::default() };
    let (chip, _) = part.tile();
    let groups = fabric::groups(&mesh.fabric.tables).into_iter();
    let own: Vec<_> = groups.filter(|group| group.iter().all(|t| t.at.chip == chip)).collect();
    let selected = |group: &&&[TablesState]| match part {
        FabricPart::Router(router) => group.iter().any(|tables| tables.at == router.at),
        _ => true,
    };
    let Some(shown) = own.iter().find(selected) else { return unread() };
    let text = shown.first().map(|tables| fabric::tables_text(mesh, tables));
    let mut lines = plain(&text.unwrap_or_default());
    if own.len() > 1 {
        let line = " other routers of this chip have other tables";
        lines.push(Line::styled(line, model.theme.bad()));
    }
    (format!(" {} ", fabric::tables_title(shown)), lines)
}

/// The path of a packet by the tables: of the oldest of the selected part, or to a chosen node.
pub(super) fn path(model: &Model, part: Option<&FabricPart<'_>>) -> Pane {
    let Some((mesh, part)) = model.mesh().zip(part) else { return Default::default() };
    let from = match model.path_from.map_or(Ok(part.tile().0), |from| from.chip(mesh)) {
        Ok(from) => from,
        Err(why) => return (format!(" path: {why} "), Vec::new()),
    };
    let packet =
        part.heads().find_map(|head| head.packet.known()).filter(|_| model.path_to.is_none());
    let to = match (model.path_to, packet.map(|packet| packet.facts.destination.known().copied())) {
        (Some(to), _) => to.node(mesh),
        (None, Some(Some(to))) => Ok(to),
        (None, Some(None)) => Err("its packet's header holds hops, no node".to_owned()),
        (None, None) => Err("no packet waits here; h l choose a node".to_owned()),
    };
    let runs = mesh.fabric.routers.iter().any(|router| router.at.chip == from);
    let message = |why: &str| {
        let rest = packet.map(|packet| Line::raw(format!(" {}", rest(model, packet))));
        (format!(" path from chip {from}: {why} "), rest.into_iter().collect())
    };
    match to {
        Err(why) => message(&why),
        Ok(_) if !runs => message("no router of a fabric runs there"),
        Ok(_) if mesh.fabric.tables.is_empty() => unread(),
        Ok(to) => routes(model, mesh, from, to, packet),
    }
}

fn routes(
    model: &Model,
    mesh: &MeshState,
    from: ChipId,
    to: FabricNode,
    packet: Option<&PacketState>,
) -> Pane {
    let routes = fabric_routes(mesh, from, to);
    let rest = packet.map(|packet| Line::raw(format!(" {}", rest(model, packet))));
    let mut lines: Vec<_> = rest.into_iter().collect();
    lines.extend(plain(&fabric::routes_text(&routes)));
    let lost = routes.iter().any(|route| route.end != RouteEnd::Arrived);
    if let Some(last) = lines.last_mut().filter(|_| lost) {
        last.style = model.theme.bad();
    }
    let chip = fabric::chip_of(mesh, to);
    (format!(" path from chip {from} to {to} (chip {chip}); h l another node "), lines)
}

/// What the header of a packet itself holds.
fn rest(model: &Model, packet: &PacketState) -> String {
    let PacketFacts { number, source, ttl, .. } = &packet.facts;
    let g = model.glyphs;
    format!(
        "oldest packet: #{} of {}, ttl {}, header {}",
        short(g, number, u64::to_string),
        short(g, source, ToString::to_string),
        short(g, ttl, u64::to_string),
        packet.route
    )
}

/// The lines of a text, indented by one column.
fn plain(text: &str) -> Vec<Line<'static>> {
    text.lines().map(|line| Line::raw(format!(" {line}"))).collect()
}
