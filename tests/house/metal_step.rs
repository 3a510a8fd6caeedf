//! Steps of tt-metal's kernels, which nothing holds: a worker with a connection to a mux is followed
//! to its close.
//!
//! Runs where `tt_fabric` runs: the kernels are built out of the wheel's sources.

use crate::children::meshscope;
use crate::metal_why::kernels;
use serde_json::{Value, json};
use tests::tt_fabric::Route;
use workloads::scene::tt_fabric::Document;

#[test]
#[ignore = "long: .ci/deep routers"]
fn tt_metals_worker_is_followed_to_its_close() {
    let Some(request) = kernels(Route::Mux) else { return };
    let folder = request.folder.display().to_string();
    let document = Document::read(&request.folder).unwrap();
    let [tile, mux] = [document.workers[0].kernel.place(), document.muxes[0].kernel.place()]
        .map(|place| format!("{}:{}", place.chip.0, place.tile));
    // Its workers still send when the images of the chip are identified.
    let target = format!("emulator:n300,run=tt-fabric,kernels={folder},traffic=60000");
    let (printed, code) =
        meshscope(&["--target", &target, "--elfs", &folder, "--json", "step", &tile, &mux]);
    assert_eq!(code, 0, "{printed}");
    let mut stepped: Value = serde_json::from_str(&printed).unwrap();
    let kernels = stepped["steps"][0].take();
    let of = |name: &str| {
        let mut all = kernels.as_array().unwrap().iter();
        all.find(|it| it["kernel"].as_str().unwrap().starts_with(name)).unwrap()
    };
    println!("{kernels:#}");
    let (worker, mux) = (of("worker"), of("tt_fabric_mux"));
    // Its client closes, or is gone already.
    let closes = worker["left"] == json!([{ "party": "connection 0", "stage": "sends" }])
        || worker["parties"][0]["before"] == "sends";
    assert!(closes, "{worker}");
    assert_eq!(mux["state"], Value::Null, "{mux}");
}
