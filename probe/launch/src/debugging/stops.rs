//! Why a core is paused, and what is known of it then.

/// Number of general registers.
pub const REGISTERS: usize = 32;

/// What a watchpoint watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched {
    /// Execution of the instruction at the address: a breakpoint.
    Execution,
    /// Loads from the address.
    Loads,
    /// Stores to the address.
    Stores,
    /// Both.
    Accesses,
}

/// A watchpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watchpoint {
    /// The address, as the core sees it.
    pub addr: u32,
    /// What is watched.
    pub watched: Watched,
}

/// Why a core is paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// By command, or after a step.
    Command,
    /// At a breakpoint or by a watchpoint.
    Watch(Watchpoint),
    /// By `ebreak` or `ecall`.
    Ebreak,
}

/// The registers of a paused core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreRegisters {
    /// x0 to x31.
    pub general: [u32; REGISTERS],
    /// The program counter.
    pub pc: u32,
}
