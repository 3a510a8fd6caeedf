//! Which paused kernels step, and how often.

use crate::exit::Failure;
use crate::locate::{self, Where};
use layouts::{CoreId, CoreKind, EthId};
use machine::target::Mesh;
use std::collections::BTreeSet;

/// Steps as requested, before the mesh is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepOrder {
    /// The cores.
    pub cores: Vec<Where>,
    /// A link, named by one end: both ends step.
    pub link: Option<EthId>,
    /// The only end of the link that is released.
    pub released: Option<EthId>,
    /// Whether steps go back, in a recording.
    pub back: bool,
    /// Number of steps.
    pub count: u64,
    /// The same in words.
    pub words: String,
}

/// The kernels that step; without any, all that are paused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stepped {
    /// Those that are released.
    pub cores: Vec<CoreId>,
    /// Those that are shown, which include both ends of the link.
    pub shown: BTreeSet<CoreId>,
}

impl StepOrder {
    /// One step of all kernels that are paused.
    pub fn all() -> Self {
        let (cores, words) = (Vec::new(), String::new());
        Self { cores, link: None, released: None, back: false, count: 1, words }
    }

    /// Returns the kernels of a live mesh.
    ///
    /// # Errors
    /// When a core or link is not there, and for steps back.
    pub fn forward(&self, mesh: &Mesh) -> Result<Stepped, Failure> {
        if self.back {
            return Err(Failure::Refused(
                "--back: only a recording is stepped back; the live view goes back by S in the past of an emulated mesh".into(),
            ));
        }
        self.stepped(mesh)
    }

    /// Returns the kernels.
    ///
    /// # Errors
    /// When a core or link is not there.
    pub fn stepped(&self, mesh: &Mesh) -> Result<Stepped, Failure> {
        let cores = self.cores.iter().map(|place| locate::core_of(*place, mesh));
        let mut cores: Vec<CoreId> = cores.collect::<Result<_, _>>().map_err(Failure::Usage)?;
        let ends = self.link.map(|end| ends(mesh, end)).transpose()?;
        let ends: Vec<(EthId, CoreId)> = ends.into_iter().flatten().collect();
        if let Some(end) = self.released.filter(|it| ends.iter().all(|(end, _)| it != end)) {
            return Err(Failure::Usage(format!("--release: {end} is no end of that link")));
        }
        let is_released = |end: EthId| self.released.is_none_or(|it| it == end);
        cores.extend(ends.iter().filter(|(end, _)| is_released(*end)).map(|(_, core)| *core));
        let shown = ends.iter().map(|(_, core)| *core).chain(cores.iter().copied()).collect();
        Ok(Stepped { cores, shown })
    }
}

/// Both ends of a link, with their cores.
fn ends(mesh: &Mesh, end: EthId) -> Result<[(EthId, CoreId); 2], Failure> {
    let found = mesh.links.iter().find(|link| link.a == end || link.b == end);
    let link = found
        .ok_or_else(|| Failure::Usage(format!("--link: {end} is no end of a link of this mesh")))?;
    let core = |end| {
        let place = mesh.place(end).map_err(|error| Failure::Usage(error.to_string()))?;
        Ok((end, CoreId { chip: place.chip, tile: place.tile, core: CoreKind::Erisc }))
    };
    Ok([core(link.a)?, core(link.b)?])
}
