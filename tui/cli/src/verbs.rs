//! The one-shot verbs: one snapshot, or one question to a file, and the answer as text or JSON.

mod agent;
mod buffers;
mod bundle;
mod changes;
mod check;
mod clean;
mod completions;
mod cores;
mod debug;
mod demo;
mod devices;
mod doctor;
mod exec;
mod expect;
mod explain;
mod export;
mod fabric;
mod gdb;
mod help;
mod images;
mod launch;
mod line;
mod links;
mod man;
#[cfg(feature = "mcp")]
mod mcp;
mod mesh;
mod metrics;
mod operations;
mod pause;
mod print;
mod queues;
mod read;
mod record;
mod run;
mod scan;
mod schema;
mod serve;
mod step;
mod symbols;
mod who_wrote;
mod why;
mod write;

use crate::args::{CleanArguments, LaunchArguments, RunArguments, StepArguments};
use crate::registration::Registration;
use crate::verb::Description;
pub use bundle::bundle;
pub(crate) use mesh::MeshArguments;
pub use record::record_session;
pub(crate) use why::WhyArguments;

/// The verbs, in the order of help.
pub(crate) const VERBS: &[Registration] = &[
    Registration::of::<MeshArguments>(),
    Registration::of::<cores::CoresArguments>(),
    Registration::of::<images::ImagesArguments>(),
    Registration::of::<operations::OperationsArguments>(),
    Registration::of::<buffers::BuffersArguments>(),
    Registration::of::<links::LinksArguments>(),
    Registration::of::<queues::QueuesArguments>(),
    Registration::of::<why::WhyArguments>(),
    Registration::of::<check::CheckArguments>(),
    Registration::of::<metrics::MetricsArguments>(),
    Registration::of::<explain::ExplainArguments>(),
    Registration::of::<fabric::FabricArguments>(),
    Registration::of::<read::ReadArguments>(),
    Registration::of::<print::PrintArguments>(),
    Registration::of::<who_wrote::WhoWroteArguments>(),
    Registration::of::<changes::ChangesArguments>(),
    Registration::of::<changes::DiffArguments>(),
    Registration::of::<write::WriteArguments>(),
    Registration::of::<pause::PauseArguments>(),
    Registration::of::<StepArguments>(),
    Registration::of::<pause::ResumeArguments>(),
    Registration::of::<debug::DebugArguments>(),
    Registration::of::<gdb::GdbArguments>(),
    Registration::of::<symbols::SymbolsArguments>(),
    Registration::of::<record::RecordArguments>(),
    Registration::of::<scan::ScanArguments>(),
    Registration::of::<export::ExportArguments>(),
    Registration::of::<bundle::BundleArguments>(),
    Registration::of::<RunArguments>(),
    Registration::of::<LaunchArguments>(),
    Registration::of::<CleanArguments>(),
    Registration::of::<serve::ServeArguments>(),
    Registration::of::<exec::ExecArguments>(),
    Registration::of::<agent::AgentArguments>(),
    #[cfg(feature = "mcp")]
    Registration::of::<mcp::McpArguments>(),
    Registration::of::<demo::DemoArguments>(),
    Registration::of::<devices::DevicesArguments>(),
    Registration::of::<doctor::DoctorArguments>(),
    Registration::of::<completions::CompletionsArguments>(),
    Registration::of::<man::ManArguments>(),
    Registration::of::<help::HelpArguments>(),
    Registration::of::<schema::SchemaArguments>(),
];

/// Returns what is known of all verbs.
pub(crate) fn descriptions() -> Vec<&'static Description> {
    VERBS.iter().map(|verb| &verb.description).collect()
}
