//! C++ names as a person would write them, within bounds: a short mangled name can expand forever.

use std::fmt::{self, Write};

use cpp_demangle::{DemangleOptions, ParseOptions, Symbol};

/// Longer mangled names than this stay as they are.
const MAX_MANGLED: usize = 16 << 10;

/// Demangled names longer than this stay mangled; substitutions can double at every step.
const MAX_DEMANGLED: usize = 64 << 10;

/// A string that refuses to grow past its bound.
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

/// The name as a person would write it; none where it is not a mangled C++ name.
pub(crate) fn demangle(name: &str) -> Option<String> {
    with_options(name, DemangleOptions::new())
}

/// The same without the parameters of the function and the type that it returns.
pub(crate) fn demangled_without_parameters(name: &str) -> Option<String> {
    with_options(name, DemangleOptions::new().no_params().no_return_type())
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
