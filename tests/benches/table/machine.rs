//! The emulated machine, busy and idle, by the client in C: over a loop of this machine's own code,
//! and over the vendor's simulator.

use crate::process::{Programs, vendor};
use crate::{Held, Row};

/// Tiles and cores that run the loop, and the clocks on the emulator and on the vendor's simulator.
const BUSY: [([&str; 2], &str, &str); 4] = [
    (["1", "1"], "100000000", "2000000"),
    (["1", "5"], "10000000", "2000000"),
    (["16", "1"], "5000000", "300000"),
    (["16", "5"], "1000000", "100000"),
];
/// Idle meshes, and the clocks and build of the vendor's simulator.
const IDLE: [(&str, &str, &str); 4] = [
    ("n150", "3000000", "wh"),
    ("n300", "1000000", "wh_x2"),
    ("t3000", "200000", "wh_x8"),
    ("galaxy", "50000", "wh_x32"),
];
/// An idle mesh is asleep: clocks enough to be measured.
const IDLE_CLOCKS: &str = "4000000000";

pub(crate) fn rows(programs: &Programs) -> Vec<Row> {
    let busy = BUSY.iter().flat_map(|(cores, ours, vendors)| {
        let run = |library: &_, clocks| {
            let words = ["busy", cores[0], cores[1], clocks];
            programs.client(library, "n150", &words, " MIPS")
        };
        let name = format!("busy n150, {} tiles x {} cores", cores[0], cores[1]);
        let value = run(&programs.ours, ours);
        let peer = vendor("wh").map(|library| run(&library, vendors));
        pair(programs, &name, value, "MIPS", peer)
    });
    let idle = IDLE.iter().flat_map(|(mesh, vendors, build)| {
        let run =
            |library: &_, clocks| programs.client(library, mesh, &["idle", clocks], " M clocks/s");
        let value = run(&programs.ours, IDLE_CLOCKS);
        let peer = vendor(build).map(|library| run(&library, vendors));
        pair(programs, &format!("idle {mesh}"), value, "M clocks/s", peer)
    });
    busy.chain(idle).collect()
}

/// Returns the row over the loop in C, and that over the peer if there is one.
fn pair(programs: &Programs, name: &str, value: f64, unit: &str, peer: Option<f64>) -> Vec<Row> {
    let row = |name: &str, anchor, held| Row {
        name: name.to_owned(),
        value: format!("{value:.1} {unit}"),
        anchor,
        held,
    };
    let native = programs.native;
    let mut rows =
        vec![row(name, format!("loop in C {native:.0} MIPS"), Held::Ratio(value / native))];
    rows.extend(peer.map(|peer| {
        let anchor = format!("vendor's {peer:.3} {unit}");
        row(&format!("{name} (vendor)"), anchor, Held::Peer(value / peer))
    }));
    rows
}
