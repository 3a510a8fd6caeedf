//! The lists that `/` filters: what a row shows, and which rows pass.

mod links;
mod parts;

pub(crate) use links::{APART_CYCLES, core_at, link_cells, links, waypoint};
pub(crate) use parts::{part_cells, parts, worst_credits};
