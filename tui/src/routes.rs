//! What the routes screen shows: the path of a packet by the routing tables, and what of it lies on
//! the map; the tables; the schedules of collectives.

use crate::lists;
use crate::model::{Model, RoutesPane, Screen};
use crate::route::Route;
use console::fabric::{self, FabricPart};
use console::run::Scheduled;
use console::run::schedule::{ScheduleLine, beside};
use decode::inspect::fabric_routes;
use decode::state::{LinkState, MeshState, PacketState, TablesState};
use layouts::{ChipId, NocXy};
use machine::fabric::FabricNode;

/// Finds the path again, if the screen shows one.
pub(crate) fn settle(model: &mut Model) {
    if model.screen == Screen::Routes && model.routes_pane == RoutesPane::Path {
        model.route = model.mesh().map_or_else(Route::default, |mesh| route(model, mesh));
    }
}

fn route(model: &Model, mesh: &MeshState) -> Route {
    let from = model.path_from.map_or(Ok(model.chip), |from| from.chip(mesh));
    let chip = *from.as_ref().unwrap_or(&model.chip);
    let packet = model.path_to.is_none().then(|| packet(model, mesh, chip)).flatten().cloned();
    let found = from.and_then(|from| end(model, mesh, from, packet.as_ref()));
    let found = found.map(|to| (to, fabric_routes(mesh, chip, to)));
    let hops = found.iter().flat_map(|(_, routes)| routes).flat_map(|route| &route.hops);
    let ends = hops.clone().flat_map(|hop| [hop.out, hop.into]);
    let tiles = ends.filter_map(|end| Some((end.chip, mesh.eth(end)?.xy))).collect();
    let sends = hops.map(|hop| hop.out).collect();
    Route { from: chip, packet, found, tiles, sends }
}

/// The oldest packet of the selected part of a chip, or of its first part that holds one.
fn packet<'a>(model: &'a Model, mesh: &'a MeshState, chip: ChipId) -> Option<&'a PacketState> {
    let parts = lists::part_selected(model).into_iter().chain(FabricPart::all(&mesh.fabric));
    let mut here = parts.filter(|part| part.tile().0 == chip);
    here.find_map(|part| part.heads().find_map(|head| head.packet.known()))
}

/// The node at which a path from a chip ends.
fn end(
    model: &Model,
    mesh: &MeshState,
    from: ChipId,
    packet: Option<&PacketState>,
) -> Result<FabricNode, String> {
    let keys = format!("{} {}", model.keys.of(crate::keys::Action::FindNext), "N");
    let to = match (model.path_to, packet.map(|packet| packet.facts.destination.known())) {
        (Some(to), _) => to.node(mesh)?,
        (None, Some(Some(to))) => *to,
        (None, Some(None)) => return Err("its packet's header holds hops, no node".to_owned()),
        (None, None) => return Err(format!("no packet waits here; {keys} choose a node")),
    };
    if !mesh.fabric.routers.iter().any(|router| router.at.chip == from) {
        return Err("no router of a fabric runs there".to_owned());
    }
    if mesh.fabric.tables.is_empty() {
        return Err("routing tables: one more snapshot is needed".to_owned());
    }
    Ok(to)
}

/// The tables of the selected router, or of the first router of the selected chip, with whether other
/// routers of the chip have other ones.
pub(crate) fn tables(model: &Model) -> Option<(&[TablesState], bool)> {
    let groups = fabric::groups(&model.mesh()?.fabric.tables).into_iter();
    let own: Vec<_> =
        groups.filter(|group| group.iter().all(|it| it.at.chip == model.chip)).collect();
    let selected = match lists::part_selected(model) {
        Some(FabricPart::Router(router)) => Some(router.at),
        _ => None,
    };
    let is_it = |group: &&&[TablesState]| group.iter().any(|tables| Some(tables.at) == selected);
    let shown = own.iter().find(is_it).or(own.first())?;
    Some((shown, own.len() > 1))
}

/// The number of lines of the text on screen.
pub(crate) fn lines(model: &Model) -> usize {
    match (model.routes_pane, tables(model)) {
        (RoutesPane::Schedule, _) => schedule(model, usize::from(model.size.0)).len(),
        (RoutesPane::Tables, Some((tables, _))) => {
            let text = model.mesh().zip(tables.first());
            text.map_or(0, |(mesh, tables)| fabric::tables_text(mesh, tables).lines().count())
        }
        _ => 0,
    }
}

/// The schedules of the last collectives, beside each other where they fit.
pub(crate) fn schedule(model: &Model, columns: usize) -> Vec<ScheduleLine> {
    beside(model.schedules(), columns.saturating_sub(2))
}

impl Model {
    /// The schedules of the last collectives, the newest last.
    pub(crate) fn schedules(&self) -> &[Scheduled] {
        self.newest.as_deref().map_or(&[], |snapshot| &snapshot.board.schedules)
    }

    /// The path that the map shows.
    fn path(&self) -> Option<&Route> {
        let shows = self.screen == Screen::Routes && self.routes_pane == RoutesPane::Path;
        Some(&self.route).filter(|route| shows && !route.sends.is_empty())
    }

    /// Whether some tiles of the map are lit, and all others dimmed: those of a path, or else those of
    /// the first finding.
    pub(crate) fn lights(&self) -> bool {
        self.path().is_some() || self.pulse.has_members()
    }

    /// Whether a tile is lit.
    pub(crate) fn is_lit(&self, chip: ChipId, tile: NocXy) -> bool {
        self.path()
            .map_or_else(|| self.pulse.has(chip, tile), |path| path.tiles.contains(&(chip, tile)))
    }

    /// Whether the path touches a chip.
    pub(crate) fn is_passed(&self, chip: ChipId) -> bool {
        self.path().is_some_and(|path| path.tiles.iter().any(|(of, _)| *of == chip))
    }

    /// Whether the path goes over a link from its first end to the second, and back; none if it does
    /// not go there.
    pub(crate) fn goes(&self, link: &LinkState) -> Option<[bool; 2]> {
        let ends = [link.link.a, link.link.b];
        let ways = ends.map(|end| self.path().is_some_and(|path| path.sends.contains(&end)));
        Some(ways).filter(|ways| ways.contains(&true))
    }
}
