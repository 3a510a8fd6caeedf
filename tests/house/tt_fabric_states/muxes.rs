//! tt-metal's muxes of both versions: workers that wait behind a paused router, closed workers, and
//! the end.

use super::facts::{compare, facts};
use super::walk::{Seen, Walk, kernels};
use super::{FAR, PAUSE, RUN, SETTLE_CYCLES, emulated, router};
use crate::children;
use crate::tt_fabric::{check_end, check_traffic};
use decode::state::{FabricState, MuxChannelState, MuxState, Party};
use images::Reading;
use layouts::{ChipId, CoreId};
use tests::tt_fabric::Route;

/// More than the channels between a worker and the paused router hold.
const PACKETS: u64 = 200;
const SLOTS: u64 = 8;
const CHIP: ChipId = ChipId(0);

/// Leads the muxes of a machine through their states.
fn lead(on: &mut Walk, mut see: impl FnMut(&mut Walk, &str) -> Seen) {
    on.launch_routers(|_| true);
    on.make_ready();
    on.launch_muxes();
    on.command(FAR, PAUSE);
    on.launch_workers(PACKETS);
    on.pass(SETTLE_CYCLES);
    stalled(&see(on, "stalled"));
    on.command(FAR, RUN);
    let target = on.session.target();
    check_traffic(target, &on.fabric.document().workers, PACKETS);
    target.pass(SETTLE_CYCLES).unwrap();
    let seen = see(on, "closed");
    assert_eq!(seen.waits.all, [], "{:?}", seen.waits.notes);
    assert!(seen.fabric.clients.iter().all(|client| is_mux(&seen.fabric, client.at)));
    let (target, images) = on.session.parts();
    check_end(target, on.fabric.document(), images);
    ended(&see(on, "ended"));
}

fn is_mux(fabric: &FabricState, core: CoreId) -> bool {
    fabric.muxes.iter().any(|mux| mux.at == core)
}

fn mux(fabric: &FabricState) -> &MuxState {
    fabric.muxes.iter().find(|mux| mux.at.chip == CHIP).unwrap()
}

/// All packets stand: in the paused receiver, at its peer, in the mux; workers wait for the mux.
fn stalled(Seen { fabric, waits }: &Seen) {
    assert_eq!(fabric.muxes.len(), 2);
    let mux = mux(fabric);
    assert!(mux.facts.status.is("READY_FOR_TRAFFIC"), "{:?}", mux.facts.status);
    assert_eq!(mux.channels.len(), 2);
    for MuxChannelState { facts, candidates, .. } in &mux.channels {
        assert_eq!((&facts.slots, &facts.queued), (&Reading::Known(SLOTS), &Reading::Known(SLOTS)));
        assert!(facts.connection.is("OPEN_CONNECTION"), "{:?}", facts.connection);
        let packet = candidates[0].packet.known().unwrap();
        assert!(packet.facts.send_type.is("NOC_UNICAST_WRITE"));
    }
    assert_eq!(router(fabric, FAR).receivers[0].facts.arrived, Reading::Known(SLOTS));
    // A mux is a client of its router; two workers are clients of the mux.
    let of_mux = fabric.clients.iter().filter(|client| client.mux() == Some(mux.at));
    assert!(of_mux.clone().all(|client| client.facts.waits == Reading::Known(true)));
    assert_eq!((of_mux.count(), fabric.clients.len()), (2, 6));
    assert_eq!(waits.roots(), [Party::Router(FAR)], "{:?}", waits.all);
    let waiting = |party: &Party| matches!(party, Party::MuxChannel(core, _) if *core == mux.at);
    assert_eq!(waits.all.iter().filter(|wait| waiting(&wait.waiter)).count(), 2);
}

fn ended(Seen { fabric, waits }: &Seen) {
    for mux in &fabric.muxes {
        assert!(mux.facts.status.is("TERMINATED"), "{:?}", mux.facts.status);
        // Streams belong to firmware again.
        assert!(mux.channels.iter().all(|channel| channel.facts.queued == Reading::Absent));
        if let Reading::Known(handed_over) = mux.facts.handed_over {
            assert_eq!(mux.facts.retired, Reading::Known(handed_over));
            assert_eq!(mux.facts.forwarder_done, Reading::Known(true));
        }
    }
    assert_eq!((fabric.clients.len(), waits.all.len()), (0, 0), "{:?}", waits.notes);
}

fn on_the_emulator(route: Route) {
    let Some(request) = kernels(route) else { return };
    let name = format!("{route:?}").to_lowercase();
    lead(&mut emulated(&request), |on, state| on.record(&format!("{name}_{state}")));
}

#[test]
fn packets_pass_tt_metals_mux() {
    on_the_emulator(Route::Mux);
}

#[test]
fn packets_pass_the_second_version_of_tt_metals_mux() {
    on_the_emulator(Route::MuxV2);
}

#[test]
fn muxes_are_the_same_on_the_vendors_simulator() {
    let Some((library, host)) = children::simulator("wh_x2") else { return };
    for route in [Route::Mux, Route::MuxV2] {
        let Some(request) = kernels(route) else { return };
        let bar = transport::ttsim::open(&library, &host).unwrap();
        let abilities = bar.welcome().abilities.clone();
        let all = |on: &mut Walk| {
            let mut all = Vec::new();
            lead(on, |on, name| {
                let seen = on.see();
                all.push((name.to_owned(), facts(name, &seen)));
                seen
            });
            all
        };
        let there = all(&mut Walk::new(&request, Box::new(bar), abilities));
        let here = all(&mut emulated(&request));
        here.iter().zip(&there).for_each(|((state, a), (_, b))| compare(state, a, b));
    }
}
