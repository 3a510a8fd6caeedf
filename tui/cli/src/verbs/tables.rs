//! Which verbs print tables, and can print them as CSV.

use crate::args::{CoresArguments, FabricQuestion, Verb};

/// Returns the name of a verb that prints no table.
pub(super) fn without(verb: &Verb) -> Option<&'static str> {
    match verb {
        Verb::Mesh { descriptor: true, .. } => Some("mesh --descriptor"),
        Verb::Cores(CoresArguments { merge: false, sample: Some(_), .. }) => Some("cores --sample"),
        Verb::Cores(CoresArguments { merge: false, words: true, .. }) => Some("cores --words"),
        Verb::Fabric { question: Some(FabricQuestion::Waits(_)), .. } => Some("fabric waits"),
        Verb::Fabric { question: Some(FabricQuestion::Tables(_)), .. } => Some("fabric tables"),
        Verb::Fabric { question: Some(FabricQuestion::Path(_)), .. } => Some("fabric path"),
        Verb::Explain(options) if options.name.is_some() => Some("explain with a name"),
        Verb::Why(_) => Some("why"),
        Verb::Read { .. } => Some("read"),
        Verb::Print { .. } => Some("print"),
        Verb::Write { .. } => Some("write"),
        Verb::Step(_) => Some("step"),
        Verb::Resume => Some("resume"),
        Verb::Debug(_) => Some("debug"),
        Verb::Gdb(_) => Some("gdb"),
        Verb::Symbols { .. } => Some("symbols"),
        Verb::Record(_) => Some("record"),
        Verb::WhoWrote(_) => Some("who-wrote"),
        Verb::Changes(_) => Some("changes"),
        Verb::Diff(_) => Some("diff"),
        Verb::Export(_) => Some("export"),
        Verb::Bundle(_) => Some("bundle"),
        Verb::Serve { .. } => Some("serve"),
        Verb::Help { .. } => Some("help"),
        Verb::Schema { .. } => Some("schema"),
        Verb::Mesh { .. }
        | Verb::Cores(_)
        | Verb::Images(_)
        | Verb::Links
        | Verb::Check(_)
        | Verb::Explain(_)
        | Verb::Fabric { .. }
        | Verb::Pause
        | Verb::Run(_)
        | Verb::Launch(_)
        | Verb::Clean(_) => None,
    }
}
