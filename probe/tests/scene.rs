//! The emulated n300 from power on to a running ring ping, through the same bus as any machine.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use probe::inspect::Interest;
use probe::session::Session;
use probe::state::LinkCondition;
use probe::ttsim::HostCommand;
use std::time::Instant;

#[test]
fn an_idle_n300_is_found_and_read() {
    let start = Instant::now();
    let mut session = Session::open("emulator:n300,run=idle", &HostCommand::default()).unwrap();
    eprintln!("open {:?} now {:?}", start.elapsed(), session.target().now());
    let mesh = session.target().mesh().clone();
    eprintln!("{mesh:#?}");
    let start = Instant::now();
    let look = session.look(&Interest::everything(&mesh));
    eprintln!(
        "look {:?} now {:?} {} transactions",
        start.elapsed(),
        session.target().now(),
        look.snapshot.transactions
    );
    assert_eq!(look.snapshot.gaps, []);
    assert!(look.state.links.iter().all(|link| link.condition == LinkCondition::Up));
}
