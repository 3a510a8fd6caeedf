//! Studies on emulated meshes: what the vendor's documents claim, beside what is measured.
//!
//! A [`shape::Study`] has a name, options and tables; its function measures, and hands rows and notes
//! to a [`shape::Report`] as they come. The program `study` of the crate `tests` prints them, together
//! with the studies by which that crate tests the house itself (`tests/studies.md`).
//!
//! # Invariants
//!
//! What a study reports depends only on its options. Nothing here knows about terminals.

pub mod bandwidth;
mod bench;
pub mod latency;
pub mod mux;
pub mod published;
pub mod race;
pub mod shape;
#[cfg(test)]
mod tests;
pub mod time_out;
pub mod ttl;

/// The studies of this crate.
pub const ALL: [shape::Study; 6] =
    [latency::STUDY, bandwidth::STUDY, race::STUDY, ttl::STUDY, time_out::STUDY, mux::STUDY];
