//! The words by which a host tells a kernel to end (tt-metal.md 5.2).

use super::{Image, ImageMap};
use crate::fabric::{Formula, Located, Word};
use layouts::CoreId;

/// The members of every built-in kernel by which a host ends it and lets it go on
/// (firmware/device/LAUNCH.txt 4).
const SIGNAL: &str = "control.termination_signal";
const PAUSE: &str = "control.pause_at_stage";

/// A word by which a kernel is told to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminationWord {
    /// At this address of the tile.
    At(u64),
    /// At an offset from the address that another word of the tile holds.
    Behind {
        /// The address of that word.
        pointer: u64,
        /// The offset in bytes.
        offset: u64,
    },
}

impl Image {
    /// Returns the word by which the kernel is told to end; none if the image has none. Routers and
    /// muxes, those of tt-metal too, have it among the words of the fabric.
    pub fn termination_word(&self) -> Option<TerminationWord> {
        if let Some(router) = &self.router {
            return word_at(&router.facts.termination);
        }
        if let Some(mux) = &self.mux {
            return word_at(&mux.facts.termination);
        }
        self.control(SIGNAL).map(TerminationWord::At)
    }

    /// Returns the address of the word at which a built-in kernel is paused.
    pub fn pause_word(&self) -> Option<u64> {
        self.control(PAUSE)
    }

    /// Whether the image is a mux of a fabric.
    pub fn is_mux(&self) -> bool {
        self.mux.is_some()
    }

    fn control(&self, member: &str) -> Option<u64> {
        let names = self.symbols.variable_names();
        let word = |name: &String| self.symbols.locate(&format!("{name}.{member}")).ok();
        Some(names.iter().find_map(word)?.address())
    }
}

impl ImageMap {
    /// Returns name and termination word of the router that a fabric manifest describes on a core.
    pub fn described_router(&self, core: CoreId) -> Option<(&str, Option<TerminationWord>)> {
        let router = self.described(core)?;
        Some((&router.name, word_at(&router.layout.facts.termination)))
    }
}

fn word_at(located: &Located) -> Option<TerminationWord> {
    match &located.location()?.formula {
        Formula::Word(Word { addr, .. }) => Some(TerminationWord::At(*addr)),
        Formula::Member(structure, member) => match *structure.address {
            Formula::Word(pointer) => {
                Some(TerminationWord::Behind { pointer: pointer.addr, offset: member.addr })
            }
            _ => None,
        },
        _ => None,
    }
}
