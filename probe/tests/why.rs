//! The bank of hangs: the true cause of each is named.
#![allow(clippy::print_stderr, reason = "tests")]

use probe::why::judge;
use workloads::study::why::Kind;

/// `BANK_SEEDS` seeds from `BANK_FIRST` of the kinds whose names contain `BANK_KIND`.
#[test]
#[ignore = "the long form"]
fn the_bank() {
    let number = |name: &str, default| std::env::var(name).map_or(default, |n| n.parse().unwrap());
    let name = std::env::var("BANK_KIND").unwrap_or_default();
    let first = number("BANK_FIRST", 1);
    let seeds = number("BANK_SEEDS", 1);
    for kind in Kind::ALL.iter().filter(|kind| kind.name().contains(&name)) {
        for seed in first..first + seeds {
            let judged = match judge(*kind, seed) {
                Ok(judged) => judged,
                Err(error) => {
                    eprintln!("NONE {error}");
                    continue;
                }
            };
            let (right, exact) = (judged.is_right(), judged.is_exact());
            eprintln!(
                "{} {} {}",
                if right { "RIGHT" } else { "WRONG" },
                if exact { "EXACT" } else { "OFF" },
                judged.words()
            );
        }
    }
}
