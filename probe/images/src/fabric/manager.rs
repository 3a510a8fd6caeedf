//! The `RouterStateManager` of tt-metal's routers, with which the host pauses them
//! (tt-metal.md 4.1).

use super::{Formula, Location, RouterLayout, Word};

/// Where a router shows its state and takes the host's command, both words of L1, with the values
/// that pause it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouterManager {
    /// The router writes its `RouterState` here.
    pub state: Word,
    /// `RouterState::PAUSED`.
    pub paused: u32,
    /// The host writes a `RouterCommand` here.
    pub command: Word,
    /// `RouterCommand::PAUSE`.
    pub pause: u32,
    /// `RouterCommand::RUN`.
    pub run: u32,
}

impl RouterLayout {
    /// Returns the router's manager; none if it has none, or its source names no values.
    pub(crate) fn manager(&self) -> Option<RouterManager> {
        let (state, command) = (self.facts.state.location()?, self.facts.command.location()?);
        let value = |location: &Location, name| Some(location.names.as_ref()?.value(name)? as u32);
        Some(RouterManager {
            state: word(state)?,
            paused: value(state, "PAUSED")?,
            command: word(command)?,
            pause: value(command, "PAUSE")?,
            run: value(command, "RUN")?,
        })
    }
}

fn word(location: &Location) -> Option<Word> {
    match location.formula {
        Formula::Word(word) => Some(word),
        _ => None,
    }
}
