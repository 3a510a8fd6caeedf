//! The facade over the machine: which target a person means, and a session that looks at it.

pub mod session;
pub mod spec;
