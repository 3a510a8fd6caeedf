//! Fabrics come up and go down on the vendor's simulator, where `MESHSCOPE_TTSIM_DIR` names its libraries, as on the emulator.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod common;

use probe::fabric::{
    Fabric, FabricPlan, FabricProgress, FabricRequest, FabricSettings, FabricTopology, Termination,
    running_fabric,
};
use probe::images::ImageMap;
use probe::target::Target;

/// Not a test of its own: the other tests start this binary again as the library's host.
#[test]
fn host_helper() {
    common::help_host();
}

#[test]
fn routers_meet_and_leave_on_wh_x2() {
    let Some(mut target) = common::open("wh_x2") else { return };
    let (mut images, _) = ImageMap::firmware();
    for (topology, way) in [
        (FabricTopology::Mesh, Termination::Gracefully),
        (FabricTopology::Line, Termination::Immediately),
    ] {
        let plan = FabricPlan::new(target.mesh(), &FabricRequest::new(topology)).unwrap();
        let began = target.now().unwrap();
        let mut fabric = Fabric::new(plan.clone(), FabricSettings::default());
        let up = fabric.finish(&mut target, &mut images, 500);
        assert_eq!(up, Ok(FabricProgress::Up));
        println!("{topology}: up after {} cycles", target.now().unwrap() - began);
        assert_eq!(running_fabric(&mut target, &images), Ok(Some(plan)));
        fabric.terminate(way);
        let down = fabric.finish(&mut target, &mut images, 500);
        assert_eq!(down, Ok(FabricProgress::Down));
    }
}
