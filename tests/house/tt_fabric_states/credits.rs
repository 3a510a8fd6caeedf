//! tt-metal's routers as its host builds them for other machines: credits counted in L1, and
//! packets acknowledged before they are forwarded.

use super::walk::{Seen, Walk, kernels_with};
use super::{FAR, NEAR, PAUSE, RUN, SETTLE_CYCLES, emulated, router};
use crate::children;
use crate::tt_fabric::{check_end, check_traffic};
use crate::tt_fabric_manifest;
use decode::state::Party;
use images::Reading;
use images::fabric::SenderFacts;
use tests::tt_fabric::{Request, Route, Settings};

/// More than the channels between a worker and the paused router hold.
const PACKETS: u64 = 200;
const SLOTS: u64 = 8;

/// Leads routers from a stall behind a paused one to their end; returns the facts of the sender that
/// stalls, and of the same after the workers have closed. The last credits are not sent to a client
/// that closes first.
fn lead(on: &mut Walk, request: &Request) -> [SenderFacts; 2] {
    let sender = |seen: &Seen| SenderFacts {
        client_credits: Reading::Absent,
        ..router(&seen.fabric, NEAR).senders[0].facts.clone()
    };
    on.launch_routers(|_| true);
    on.make_ready();
    on.command(FAR, PAUSE);
    on.launch_workers(PACKETS);
    on.pass(SETTLE_CYCLES);
    let stalled = on.see();
    let receiver = &router(&stalled.fabric, FAR).receivers[0].facts;
    assert_eq!(receiver.arrived, Reading::Known(SLOTS));
    assert_eq!(stalled.waits.roots(), [Party::Router(FAR)], "{:?}", stalled.waits.all);
    tt_fabric_manifest::same_facts(&mut on.session, &request.folder);
    on.command(FAR, RUN);
    let target = on.session.target();
    check_traffic(target, &on.fabric.document().workers, PACKETS);
    target.pass(SETTLE_CYCLES).unwrap();
    let closed = on.see();
    assert_eq!((closed.fabric.clients.len(), closed.waits.all.len()), (0, 0));
    let (target, images) = on.session.parts();
    check_end(target, on.fabric.document(), images);
    [sender(&stalled), sender(&closed)]
}

fn led(settings: Settings) -> Option<[SenderFacts; 2]> {
    let settings = Settings { every_link_yields: true, ..settings };
    let request = kernels_with(Route::Direct, settings)?;
    Some(lead(&mut emulated(&request), &request))
}

#[test]
fn routers_that_acknowledge_at_once_show_both_kinds_of_credits() {
    let settings = Settings { first_level_ack: true, ..Settings::default() };
    let Some([stalled, closed]) = led(settings) else { return };
    for facts in [&stalled, &closed] {
        assert_eq!(facts.acknowledges, Reading::Known(0));
        assert_eq!(facts.completions, Reading::Known(0));
    }
}

#[test]
fn routers_that_count_credits_in_l1_show_the_counts() {
    let settings = Settings { counter_credits: true, first_level_ack: true, ..Settings::default() };
    let Some([stalled, closed]) = led(settings) else { return };
    for (facts, completed) in [(&stalled, 0), (&closed, PACKETS)] {
        assert_eq!(facts.completed, Reading::Known(completed));
        assert!(facts.unknown["completions"].starts_with("credits are counted in L1"));
        assert!(facts.unknown["acknowledges"].starts_with("credits are counted in L1"));
    }
}

#[test]
fn both_count_the_same_on_the_vendors_simulator() {
    let Some((library, host)) = children::simulator("wh_x2") else { return };
    for counter_credits in [false, true] {
        let settings = Settings { every_link_yields: true, counter_credits, first_level_ack: true };
        let Some(request) = kernels_with(Route::Direct, settings) else { return };
        let bar = transport::ttsim::open(&library, &host).unwrap();
        let abilities = bar.welcome().abilities.clone();
        let there = lead(&mut Walk::new(&request, Box::new(bar), abilities), &request);
        assert_eq!(lead(&mut emulated(&request), &request), there);
    }
}
