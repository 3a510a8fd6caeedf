//! What the environment says of the terminal: whether it can draw, has colours, and shows Unicode.

use std::env;
use std::io::{self, IsTerminal};

/// Whether a person sits at a terminal.
pub(crate) fn is_interactive() -> bool {
    io::stdout().is_terminal() && io::stdin().is_terminal()
}

/// Whether the terminal cannot move its cursor.
pub(crate) fn is_dumb() -> bool {
    set("TERM").is_some_and(|term| term == "dumb")
}

/// Whether colours are drawn if nothing else is said: they are not unwanted, and the terminal has
/// them.
pub(crate) fn has_colors() -> bool {
    set("NO_COLOR").is_none() && !set("TERM").is_some_and(|term| is_monochrome(&term))
}

/// Whether only ASCII is drawn: the character set of the locale, or the terminal, has nothing else.
pub(crate) fn is_ascii() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    locale.is_some_and(|locale| !is_unicode(&locale)) || set("TERM").is_some_and(|t| is_vt(&t))
}

/// A variable that is not empty.
fn set(name: &str) -> Option<String> {
    env::var_os(name).map(|value| value.to_string_lossy().into_owned()).filter(|it| !it.is_empty())
}

/// Whether a locale such as `C.UTF-8` or `en_GB.utf8@euro` has Unicode.
fn is_unicode(locale: &str) -> bool {
    let locale = locale.to_lowercase();
    locale.contains(".utf-8") || locale.contains(".utf8")
}

/// Whether these are the names of the terminals without colours (terminfo(5): `-m` is monochrome).
fn is_monochrome(term: &str) -> bool {
    is_vt(term) || term == "dumb" || term.ends_with("-m") || term.ends_with("-mono")
}

/// Whether it is one of the terminals of DEC, such as vt100, which have bytes of ASCII.
fn is_vt(term: &str) -> bool {
    term.strip_prefix("vt").is_some_and(|model| model.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locales_and_terminals_are_known_by_their_names() {
        for locale in ["C", "POSIX", "en_US", "de_DE.ISO-8859-1"] {
            assert!(!is_unicode(locale), "{locale}");
        }
        for locale in ["C.UTF-8", "en_GB.utf8@euro", "ja_JP.UTF-8"] {
            assert!(is_unicode(locale), "{locale}");
        }
        for term in ["vt100", "vt220-8bit", "xterm-mono", "linux-m", "dumb"] {
            assert!(is_monochrome(term), "{term}");
        }
        for term in ["xterm", "xterm-256color", "screen", "linux", "vte-256color"] {
            assert!(!is_monochrome(term), "{term}");
        }
    }
}
