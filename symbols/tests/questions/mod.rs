//! Lookups with answers from other readers of debug information: tt-metal's firmware, the shipped
//! images and the cases.

#![allow(clippy::unwrap_used, reason = "a failed test stops")]

mod layout;
mod own;
mod wheel;

fn equal<T: PartialEq + std::fmt::Debug>(label: &str, got: &T, want: &T) -> Result<(), String> {
    if got == want { Ok(()) } else { Err(format!("{label}: got {got:?}, want {want:?}")) }
}

/// Returns a type's name as gdb spells it: with shorter names of base types than the compiler's.
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
