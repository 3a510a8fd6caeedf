//! What a person does with a session, without a terminal and without arguments.
//!
//! [`machine::Machine`] is an open target with its decoder; [`feed`] is the thread that owns it,
//! reads what the screens show, and publishes the newest [`feed::MeshSnapshot`]. What is done to the
//! mesh ([`run`], [`launching`], [`halted`], a teardown) is polled between snapshots and can be
//! cancelled: the verbs and the live view drive the same code. [`words`], [`verdict`], [`merged`] and
//! [`table`] say in text what a state means.
//!
//! # Invariants
//!
//! Nothing here reads the keyboard, draws, or prints. [`exit`] alone maps errors to exit codes.
#![forbid(unsafe_code)]

pub mod changes;
pub mod exit;
pub mod fabric;
pub mod feed;
pub mod found;
pub mod fresh;
pub mod glyph;
pub mod halted;
pub mod host_time;
pub mod launching;
pub mod locate;
pub mod machine;
pub mod members;
pub mod merged;
pub mod opening;
pub mod past;
pub mod player;
pub mod queues;
pub mod reading;
pub mod recording;
pub mod run;
pub mod seen;
pub mod table;
pub mod traffic;
pub mod verdict;
pub mod words;
