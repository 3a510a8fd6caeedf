//! Questions with answers that other readers of debug information gave: about tt-metal's firmware, our images and the cases.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod layout;
mod own;
mod wheel;

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, got: &T, want: &T) -> Result<(), String> {
    if got == want { Ok(()) } else { Err(format!("{what}: got {got:?}, want {want:?}")) }
}

/// Types as gdb spells them: it knows the base types by shorter names than compilers write.
fn as_gdb(name: &str) -> String {
    const SHORTER: [(&str, &str); 6] = [
        ("long long unsigned int", "unsigned long long"),
        ("long unsigned int", "unsigned long"),
        ("short unsigned int", "unsigned short"),
        ("long long int", "long long"),
        ("long int", "long"),
        ("short int", "short"),
    ];
    SHORTER.iter().fold(name.to_owned(), |name, (long, short)| name.replace(long, short))
}
