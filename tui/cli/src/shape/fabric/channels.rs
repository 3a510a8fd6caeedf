//! Channels, with what only follows from their facts.

use decode::state::SenderState;
use layouts::NocXy;
use schemars::JsonSchema;
use serde::Serialize;

/// A sender channel.
#[derive(Serialize, JsonSchema)]
pub(super) struct Sender<'a> {
    #[serde(flatten)]
    state: &'a SenderState,
    /// NOC 0 coordinates of the connected client: x, y; null if there is none.
    client: Option<NocXy>,
}

impl<'a> Sender<'a> {
    pub(super) fn of(state: &'a SenderState) -> Self {
        Self { state, client: state.client() }
    }
}
