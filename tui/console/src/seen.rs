//! What the newest snapshot of a verdict shows of every core: the screens read a part of the mesh
//! only, the verdict all of it.

use decode::state::{Activity, CoreState, MeshState};
use images::{ImageRole, Reading};
use layouts::{ChipId, CoreId, NocXy};
use machine::snapshot::AccessError;
use std::collections::BTreeMap;

/// What one snapshot shows of a core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreSeen {
    /// The core.
    pub id: CoreId,
    /// What it does.
    pub activity: Reading<Activity>,
    /// Its waypoint, if it has one.
    pub waypoint: Option<String>,
    /// The name of its kernel, if one runs or has ended there and its image is known.
    pub kernel: Option<String>,
    /// `host_assigned_id` of its launch message, which names its operation.
    pub operation: Option<u32>,
}

impl CoreSeen {
    /// What a snapshot shows of a core.
    pub fn of(core: &CoreState) -> Self {
        let launched = matches!(core.activity.known(), Some(Activity::Running | Activity::Done));
        let kernel = core.images.iter().find(|image| image.role == ImageRole::Kernel);
        let launch = core.launch.known().filter(|_| launched);
        Self {
            id: core.id,
            activity: core.activity.clone(),
            waypoint: core.waypoint.known().cloned(),
            kernel: kernel.filter(|_| launched).map(|image| image.name.clone()),
            operation: launch.map(|launch| launch.host_assigned_id),
        }
    }
}

/// The cores of every tile, by the newest snapshot of a verdict.
pub type TilesSeen = BTreeMap<(ChipId, NocXy), Vec<CoreSeen>>;

/// Whether a snapshot asked for a core: a failure is an answer.
pub fn was_read(core: &CoreState) -> bool {
    let left =
        |why: &AccessError| matches!(why, AccessError::NotRequested | AccessError::NotRecorded);
    !matches!(&core.activity, Reading::Unread(why) if left(why))
}

/// Returns what a snapshot shows of all tiles with cores.
pub fn tiles_seen(state: &MeshState) -> TilesSeen {
    let tiles = state
        .chips
        .iter()
        .flat_map(|chip| chip.tiles.iter().map(move |tile| ((chip.chip.id, tile.xy), &tile.cores)));
    let with_cores = tiles.filter(|(_, cores)| !cores.is_empty());
    with_cores.map(|(at, cores)| (at, cores.iter().map(CoreSeen::of).collect())).collect()
}
