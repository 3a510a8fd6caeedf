//! GDB's remote protocol for the cores of a target: each core is a thread.
//!
//! [`serve`] pauses the cores, answers one client, and lets the cores go on when the client or the
//! caller has had enough. Breakpoints and watchpoints are those of the hardware. Private RAM is read
//! by the core that owns it: select its thread.
//!
//! # Invariants
//!
//! Nothing here knows how a machine is reached, or whose terminal the client has. What the target
//! does not permit is refused by the layers below; the client sees an error, and the caller the
//! sentence.

mod breakpoints;
mod debuggee;
mod running;
mod session;
mod wire;

pub use session::serve;
pub use wire::Wire;
