//! The compile-time arguments of a kernel, as tt-metal's build passes them: macros in a header.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Compile-time arguments and macros.
#[derive(Clone, Debug, Default)]
pub(super) struct Arguments {
    /// Arguments by name.
    pub(super) named: BTreeMap<String, u32>,
    /// Arguments by position.
    pub(super) positional: Vec<u32>,
    /// Macros and their values.
    pub(super) macros: Vec<(&'static str, String)>,
}

impl Arguments {
    /// Sets a named argument.
    pub(super) fn set(&mut self, name: impl Into<String>, value: impl Into<u32>) {
        self.named.insert(name.into(), value.into());
    }

    /// Returns the header.
    pub(super) fn header(&self) -> String {
        let mut text = String::from("#pragma once\n");
        if !self.named.is_empty() {
            let pairs = self.named.iter().map(|(name, value)| format!("{{\"{name}\", {value}u}}"));
            let pairs = pairs.collect::<Vec<_>>().join(", \\\n    ");
            let _ = writeln!(text, "#define KERNEL_COMPILE_TIME_ARG_MAP \\\n    {pairs}");
        }
        if !self.positional.is_empty() {
            let values = self.positional.iter().map(|value| format!("{value:#x}u"));
            let values = values.collect::<Vec<_>>().join(", ");
            let _ = writeln!(text, "#define KERNEL_COMPILE_TIME_ARGS {values}");
        }
        for (name, value) in &self.macros {
            let _ = writeln!(text, "#define {name} {value}");
        }
        text
    }
}
