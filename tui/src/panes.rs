//! The screens, their panes and lists.

use crate::table::Table;
pub use cli::Screen;
use std::ops::{Index, IndexMut};

/// The panes of the mesh screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshPane {
    /// The chips at their coordinates.
    Map,
    /// The list of links.
    Links,
    /// The list of cores on which a kernel was launched.
    Cores,
}

impl MeshPane {
    /// All panes, in the order of Tab.
    pub(crate) const ALL: [Self; 3] = [Self::Map, Self::Links, Self::Cores];
}

/// How close the map of the mesh is; closer still is the screen of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zoom {
    /// As close as the whole mesh fits.
    Mesh,
    /// The selected chip and those around it, with the waypoint of each tile.
    Chips,
}

/// The panes of the core screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CorePane {
    /// Mailbox words and counters.
    Words,
    /// The channels of `erisc_info_t`, and the images.
    Channels,
    /// Bytes with the names of the members at their addresses.
    Memory,
    /// Code and registers of a core under control.
    Code,
}

/// The lower pane of the fabric screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FabricPane {
    /// The channels of the selected part.
    Channels,
    /// The waits of the whole fabric.
    Waits,
}

impl FabricPane {
    /// All panes, in the order of Tab.
    pub(crate) const ALL: [Self; 2] = [Self::Channels, Self::Waits];
}

/// The panes of the routes screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoutesPane {
    /// The path of a packet by the routing tables, on the map.
    Path,
    /// The routing tables in the L1 of the selected router, or of the first of the selected chip.
    Tables,
    /// The command schedules of the last collectives.
    Schedule,
}

impl RoutesPane {
    /// All panes, in the order of Tab.
    pub(crate) const ALL: [Self; 3] = [Self::Path, Self::Tables, Self::Schedule];
}

/// The lists, each a table with the same grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// Links.
    Links,
    /// Cores on which a kernel was launched.
    Cores,
    /// Routers, muxes and clients of the fabric.
    Parts,
    /// The causes of the verdict.
    Causes,
    /// What could not be read, and problems.
    Gaps,
    /// Operations.
    Operations,
    /// What runs on the tiles.
    Resources,
    /// Queues.
    Queues,
    /// Semaphores and circular buffers.
    Semaphores,
    /// What was done and reported.
    Log,
}

/// A table for each list.
#[derive(Clone, Debug, Default)]
pub struct Lists([Table; List::Log as usize + 1]);

impl Index<List> for Lists {
    type Output = Table;

    fn index(&self, list: List) -> &Table {
        &self.0[list as usize]
    }
}

impl IndexMut<List> for Lists {
    fn index_mut(&mut self, list: List) -> &mut Table {
        &mut self.0[list as usize]
    }
}
