//! A person's own kernel: its options, its launch, and its end. The verb `launch` and `:launch` of
//! the live view use it.

mod order;
mod tile;
mod work;

pub(crate) use order::Order;
pub(crate) use tile::LaunchedTile;
pub(crate) use work::Launch;
