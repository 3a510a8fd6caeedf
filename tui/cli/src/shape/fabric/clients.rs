//! Clients, with what only follows from their stage.

use decode::state::ClientState;
use schemars::JsonSchema;
use serde::Serialize;

/// A kernel's connection to a channel of a router or mux.
#[derive(Serialize, JsonSchema)]
pub(super) struct Client<'a> {
    #[serde(flatten)]
    state: &'a ClientState,
    /// The current step of its teardown, from 1 (it sends) to 12 (the mux has ended); null if it is
    /// not open.
    ending_step: Option<u8>,
    /// The step in words.
    ending: &'static str,
    /// Who must act before the step ends; null if that is not known.
    next: Option<String>,
}

impl<'a> Client<'a> {
    pub(super) fn of(state: &'a ClientState) -> Self {
        Self {
            state,
            ending_step: state.step(),
            ending: state.stage.map_or("not open", |stage| stage.meaning),
            next: state.stage.map(|stage| stage.next.to_string()),
        }
    }
}
