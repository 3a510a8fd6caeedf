//! A mesh and a wish become a [`Program`].

use super::error::CclError;
use super::program::Program;
use super::request::{Bidirectional, Request, TopologyKind};
use crate::target::Mesh;

/// Compiles a collective.
///
/// # Errors
/// What keeps it from being, before anything is written.
pub fn compile(mesh: &Mesh, request: &Request) -> Result<Program, CclError> {
    request.check_sizes()?;
    let ranks = if request.chips.is_empty() { mesh.chips.len() } else { request.chips.len() };
    request.count(ranks as u32)?;
    if request.root > 0 && !request.op.has_root() {
        return Err(CclError::NoRoot(request.op));
    }
    Err(CclError::Direction {
        op: request.op,
        kind: TopologyKind::Ring,
        way: Bidirectional::No,
        why: "it is still being built",
    })
}
