//! Why a core cannot be debugged, or a debugger's command not be carried out.

use layouts::{CoreId, EthId};
use std::fmt;

/// Why a core cannot be debugged, or a debugger's command not be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Undebuggable {
    /// The core has no debug interface.
    NoInterface(CoreId),
    /// The core carries a link, or the queue through which a chip is reached.
    Active(CoreId, Option<EthId>),
    /// Reset holds the core.
    InReset(CoreId),
    /// Another debugger paused the core or set watchpoints, or one was killed that did.
    Taken(CoreId),
    /// The core has not paused in these cycles; its program counter, if it was sampled.
    Runs {
        /// The core.
        core: CoreId,
        /// Cycles of the target's own time.
        waited_cycles: u64,
        /// Where the core is.
        pc: Option<u32>,
    },
    /// The command is for a paused core.
    NotPaused(CoreId),
    /// The debug interface does not answer.
    NoAnswer(CoreId),
    /// The core does not complete an access of this address.
    Busy(CoreId, u32),
    /// All watchpoints of the core are in use; their number.
    NoWatchLeft(CoreId, u32),
    /// Only a program on the core itself can access the address.
    OutOfReach(CoreId, u32, String),
}

impl Undebuggable {
    /// Whether the command was refused before anything was changed.
    pub fn is_refusal(&self) -> bool {
        !matches!(self, Self::Runs { .. } | Self::NoAnswer(_) | Self::Busy(..))
    }
}

impl fmt::Display for Undebuggable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoInterface(core) => write!(
                f,
                "{core} has no debug interface; its program counter can be sampled (cores --sample)"
            ),
            Self::Active(core, Some(link)) => write!(
                f,
                "{core} carries the link {link}: an Ethernet core that was paused loses its link and \
                 the chips behind it until the board is reset"
            ),
            Self::Active(core, None) => write!(
                f,
                "{core} serves the queue through which other chips are reached: they would be lost \
                 until the board is reset"
            ),
            Self::InReset(core) => write!(f, "{core} is in reset, and runs nothing to debug"),
            Self::Taken(core) => write!(
                f,
                "another debugger controls {core}, or was killed while it did; `meshscope debug \
                 {core} continue` releases the core"
            ),
            Self::Runs { core, waited_cycles, pc } => {
                write!(f, "{core} has not paused in {waited_cycles} cycles")?;
                match pc {
                    Some(pc) => write!(f, ", its program counter is {pc:#x}")?,
                    None => f.write_str(", --allow sample shows its program counter")?,
                }
                write!(
                    f,
                    ": it waits for a load or store, and pauses when that is answered, until \
                     `meshscope debug {core} continue`"
                )
            }
            Self::NotPaused(core) => write!(f, "{core} runs: pause it first"),
            Self::NoAnswer(core) => write!(f, "the debug interface of {core} does not answer"),
            Self::Busy(core, addr) => {
                write!(f, "{core} has not completed its access of {addr:#x} for the debugger")
            }
            Self::NoWatchLeft(core, number) => {
                write!(f, "{core} has {number} watchpoints, and all are in use")
            }
            Self::OutOfReach(core, addr, why) => write!(f, "{addr:#x} of {core}: {why}"),
        }
    }
}
