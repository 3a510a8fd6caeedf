//! The tests of this crate from outside, one program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod actions;
mod bit_fields;
mod clean;
mod command_line;
mod common;
mod cores;
mod debug;
mod examples;
mod exec;
mod export;
mod fabric;
mod frames;
mod hostile;
mod hosts;
mod images;
#[path = "common/keys.rs"]
mod keys;
mod launch;
mod line;
mod live;
mod metrics;
mod newcomer;
mod opening;
mod pause;
mod print;
#[path = "common/terminal.rs"]
mod pseudo;
mod queues;
mod readers;
mod record;
#[path = "common/recording.rs"]
mod recording;
mod run;
#[cfg(feature = "scan")]
mod scan;
mod schema;
#[path = "common/schema.rs"]
mod schemas;
#[path = "common/scratch.rs"]
mod scratch;
mod served;
mod silicon;
mod step;
mod terminal;
mod trace;
mod umd;
mod vendor_fabric;
mod why;
