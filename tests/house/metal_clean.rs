//! `clean` on tt-metal's own routers, muxes and workers whose host is dead.
//!
//! Runs under the conditions of `tt_fabric`.

use crate::tt_fabric::{build, request, scene};
use collectives::clean::{CleanReport, Done, Found};
use collectives::{Clean, CleanSettings};
use images::{Catalog, ImageMap};
use layouts::TileKind;
use machine::fabric::FabricTopology;
use probe::session::Session;
use tests::tt_fabric::Route;

const STEP_CYCLES: u64 = 20_000;
/// More packets than workers send before they are left alone.
const PACKETS: u64 = 1_000_000;

fn clean(session: &mut Session, escalate: bool) -> CleanReport {
    session.verify_all();
    let (target, images) = session.parts();
    Clean::new(CleanSettings { escalate }).finish(target, images, STEP_CYCLES).unwrap()
}

fn is_torn_down(route: Route) {
    let Some(request) = request("n300", FabricTopology::Line, route) else { return };
    build(&request);
    let mut images = ImageMap::firmware().0;
    let target = scene("n300", &request.folder, PACKETS).build(&mut images).unwrap();
    let mut session = Session::with_target(Box::new(target), ImageMap::firmware().0);
    session.add_catalog(Catalog::read(&[request.folder]).unwrap());

    let named = clean(&mut session, false);
    let running: Vec<_> =
        named.tiles.iter().filter(|tile| matches!(tile.found, Found::Kernels(_))).collect();
    assert!(running.len() >= 4, "two routers and two workers at least: {named:#?}");
    for tile in &running {
        let left = tile.left.as_ref().unwrap();
        assert_eq!(tile.done, [], "{tile:?}");
        assert!(left.why.contains("another tool") && left.next.contains("--escalate"), "{left:?}");
    }

    let ended = clean(&mut session, true);
    assert!(ended.is_clean(), "{ended:#?}");
    let layout = session.target().mesh().layout();
    for tile in &ended.tiles {
        let ethernet = layout.kind_at(tile.place.tile) == TileKind::Eth;
        let reset = tile.done.iter().any(|it| [Done::Rebooted, Done::HeldInReset].contains(it));
        assert!(!(ethernet && reset), "{tile:?}");
    }
    assert_eq!(clean(&mut session, false).tiles, []);
}

#[test]
#[ignore = "long: .ci/deep routers"]
fn tt_metals_routers_and_workers_end() {
    is_torn_down(Route::Direct);
}

#[test]
#[ignore = "long: .ci/deep routers"]
fn tt_metals_muxes_end() {
    is_torn_down(Route::Mux);
}
