//! A person's own kernel: its options, its launch, and its end. The verb `launch` and `:launch` of
//! the live view use it.

mod order;
mod tile;
mod work;

pub use order::{Elf, Order};
pub use tile::LaunchedTile;
pub use work::Launch;
