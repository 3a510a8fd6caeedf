//! Safe reads and writes: [`bar_target::BarTarget`] is the target behind a BAR, over its windows and routing queues.

mod abreast;
mod access;
pub mod bar_target;
mod bus;
pub mod descriptor;
mod discover;
mod eth_firmware;
pub mod expect;
mod guard;
mod planner;
mod queue;
mod telemetry;
mod windows;

pub use guard::AuditLog;
