//! The end of three clients and of the mux that they share, step by step (tt-metal.md 5.2). The
//! test holds the core that must act next, and each snapshot shows the steps of all.
#![allow(unreachable_pub, reason = "a module of a test")]

use super::bench::{Bench, inspected};
use decode::state::{FabricState, Party, WaitReason};
use fabric::mux::Policy;
use layouts::{CoreId, CoreKind};
use machine::fault::{CoreFault, Fault, FaultKind, LinkFault};
use machine::place::Place;
use machine::target::Target;
use probe::session::Session;

/// Stages after which a kernel parks (`pause_at_stage`): the traffic kernel before it notifies its
/// termination master, the mux, which has answered three clients, before it closes its own connection.
const BEFORE_NOTIFYING: u32 = 4;
const BEFORE_CLOSING: u32 = 6;
const RUN_ON: u32 = u32::MAX;

fn erisc(place: Place) -> CoreId {
    CoreId { chip: place.chip, tile: place.tile, core: CoreKind::Erisc }
}

fn brisc(place: Place) -> CoreId {
    CoreId { core: CoreKind::Brisc, ..erisc(place) }
}

/// Makes a fault that begins now and does not end.
fn disrupt(target: &mut dyn Target, what: FaultKind) {
    let from_cycles = target.now().unwrap();
    target.disrupt(&Fault { kind: what, from_cycles, until_cycles: None }).unwrap();
}

fn hold(target: &mut dyn Target, core: CoreId) {
    disrupt(target, FaultKind::Core(core, CoreFault::Stuck));
}

fn let_go(target: &mut dyn Target, core: CoreId) {
    disrupt(target, FaultKind::Core(core, CoreFault::Released));
}

pub fn pause(session: &mut Session, place: Place, kernel: &str, stages: u32) {
    let (target, images) = session.parts();
    // All mux images, and all router images, share the name of their state.
    let state = kernel.split('_').take(2).collect::<Vec<_>>().join("_");
    let symbols = &images.named(kernel).unwrap().symbols;
    let word = symbols.locate(&format!("{state}_state.control.pause_at_stage")).unwrap();
    target.write(place.at(word.address()), &stages.to_le_bytes()).unwrap();
}

/// Lets time pass. Returns the inspected fabric and the steps of the clients.
fn later(session: &mut Session, clients: [Place; 3]) -> (FabricState, [u8; 3]) {
    session.target().pass(200_000).unwrap();
    let (fabric, _) = inspected(session);
    let steps = clients.map(|place| {
        let mut found = fabric.clients.iter();
        found.find(|client| client.at == brisc(place)).unwrap().step().unwrap()
    });
    (fabric, steps)
}

#[test]
fn the_steps_of_an_end_are_seen_in_their_order() {
    // Eight packets fill the router, whose link is down; two stay in the mux.
    let mut bench = Bench::new(Policy::Bounded256, [6, 2, 2]);
    let (mux, router) = (bench.mux.place, bench.router);
    let clients = bench.senders.map(|id| bench.place(id));
    let [master, slow, _] = clients;
    bench.launch_receiver();
    bench.cut();
    bench.launch_mux();
    hold(&mut bench.target, brisc(mux));
    bench.launch_senders();
    let kernel = bench.mux.kernel();
    let mut session = bench.into_session();

    // The mux takes no packets and answers no client.
    let (_, steps) = later(&mut session, clients);
    assert_eq!(steps, [1, 2, 2]);

    // The mux answers; one of the clients does not see the answer.
    hold(session.target(), brisc(slow));
    let_go(session.target(), brisc(mux));
    let (_, steps) = later(&mut session, clients);
    assert_eq!(steps, [7, 4, 6]);

    // The client has seen it but does not notify the termination master, which waits only for this
    // client.
    pause(&mut session, slow, "fabric_traffic", BEFORE_NOTIFYING);
    let_go(session.target(), brisc(slow));
    let (fabric, steps) = later(&mut session, clients);
    assert_eq!(steps, [7, 5, 6]);
    let waits: Vec<_> = fabric.waits.of(Party::Client(brisc(master), 0)).collect();
    let [wait] = &waits[..] else { panic!("{waits:?}") };
    assert_eq!((wait.on, wait.reason), (Party::Client(brisc(slow), 0), WaitReason::Clients));

    // All have notified the master, which is held.
    hold(session.target(), brisc(master));
    pause(&mut session, slow, "fabric_traffic", RUN_ON);
    let (fabric, steps) = later(&mut session, clients);
    assert_eq!(steps, [8, 6, 6]);
    assert_eq!(fabric.waits.of(Party::Client(brisc(master), 0)).count(), 0);

    // The master terminates the mux, which drains its channels into a router that takes no packets.
    pause(&mut session, mux, kernel, BEFORE_CLOSING);
    let_go(session.target(), brisc(master));
    let (_, steps) = later(&mut session, clients);
    assert_eq!(steps, [9; 3]);

    disrupt(session.target(), FaultKind::Link(router.eth, LinkFault::Up));
    let (_, steps) = later(&mut session, clients);
    assert_eq!(steps, [10; 3]);

    // The router does not answer the mux's close.
    hold(session.target(), erisc(router.place));
    pause(&mut session, mux, kernel, RUN_ON);
    let (fabric, steps) = later(&mut session, clients);
    assert_eq!(steps, [11; 3]);
    let waits: Vec<_> = fabric.waits.of(Party::Mux(brisc(mux))).collect();
    let [wait] = &waits[..] else { panic!("{waits:?}") };
    assert_eq!((wait.on, wait.reason), (Party::Sender(router.eth, 0), WaitReason::Teardown));

    let_go(session.target(), erisc(router.place));
    let (fabric, steps) = later(&mut session, clients);
    assert_eq!(steps, [12; 3]);
    assert_eq!(fabric.muxes[0].facts.status.name(), Some("TERMINATED"));
    assert!(fabric.waits.all.is_empty(), "{:?}", fabric.waits.all);
}
