//! C++ names as written in source, within limits: a short mangled name can expand exponentially.

use std::fmt::{self, Write};

use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};

/// Longer mangled names are not demangled.
const MAX_MANGLED: usize = 16 << 10;

/// Names with a longer result stay mangled; substitutions can double the length at every step.
const MAX_DEMANGLED: usize = 64 << 10;

/// A string with a length limit.
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > MAX_DEMANGLED {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// Returns the name as written in source; none if it is not a mangled C++ name.
pub(crate) fn demangle(name: &str) -> Option<String> {
    with_options(name, DemangleOptions::new())
}

/// Like `demangle`, without parameters and return type.
pub(crate) fn demangled_without_parameters(name: &str) -> Option<String> {
    with_options(name, DemangleOptions::new().no_params().no_return_type())
}

/// Returns the clones that a symbol's name ends in, in the format of binutils: `.isra.0.constprop.1`
/// is two, `[clone .isra.0] [clone .constprop.1]`.
pub(crate) fn clones(symbol: &str) -> String {
    let mut clones = String::new();
    let mut parts = symbol.split('.').skip(1).peekable();
    while let Some(kind) = parts.next() {
        let between = if clones.is_empty() { "" } else { " " };
        let _ = write!(clones, "{between}[clone .{kind}");
        while let Some(number) = parts.next_if(|part| part.bytes().all(|b| b.is_ascii_digit())) {
            let _ = write!(clones, ".{number}");
        }
        clones.push(']');
    }
    clones
}

fn with_options(name: &str, options: DemangleOptions) -> Option<String> {
    if !name.starts_with("_Z") || name.len() > MAX_MANGLED {
        return None;
    }
    let parse = ParseOptions::default().recursion_limit(96);
    let symbol = Symbol::new_with_options(name, &parse).ok()?;
    let mut out = Bounded(String::new());
    symbol.structured_demangle(&mut out, &options.recursion_limit(128)).ok()?;
    Some(out.0)
}
