//! The access layer: plans through it, compared with the same accesses on the same bus without it.

use crate::{best, child, row, target};
use images::ImageMap;
use layouts::{ChipId, NocAddr, NocXy};
use layouts::{ChipKind, TileKind};
use machine::bar::{Bar, BarOp};
use machine::snapshot::{Plan, Span};
use machine::target::Target;
use machine::window::WindowOrdering;
use transport::emulator_bar::EmulatorBar;
use workloads::scene::Scene;

/// The accesses of a plan.
const ACCESSES: u64 = 64;
/// Interleaved turns per side, so that a busy moment of the host affects both.
const TURNS: u32 = 5;

/// The ranges read: their length, and whether each is on another tile.
struct Shape {
    name: &'static str,
    len: u32,
    spread: bool,
    rounds: u32,
}

const SHAPES: [Shape; 3] = [
    Shape { name: "64 words of a tile", len: 4, spread: false, rounds: 400 },
    Shape { name: "a word of each of 64 tiles", len: 4, spread: true, rounds: 400 },
    Shape { name: "64 blocks of 16 KiB", len: 16 << 10, spread: false, rounds: 40 },
];

/// Returns the places to read. Harvested rows are excluded: reads there hang.
fn places(shape: &Shape, harvested: &[u8]) -> Vec<(NocXy, u64)> {
    let tiles =
        ChipKind::Wormhole.layout().grid().iter().filter(|tile| tile.kind == TileKind::Tensix);
    let tiles = tiles.filter(|tile| !harvested.contains(&tile.xy.y));
    let tiles: Vec<NocXy> = tiles.map(|tile| tile.xy).collect();
    // Far enough apart that the planner does not merge them.
    let step = u64::from(shape.len) + 256;
    let place = |i: u64| {
        if shape.spread { (tiles[i as usize], 0x1_0000) } else { (tiles[0], 0x1_0000 + i * step) }
    };
    (0..ACCESSES).map(place).collect()
}

fn plan(shape: &Shape, harvested: &[u8]) -> Plan {
    let span =
        |(tile, offset)| Span { addr: NocAddr { chip: ChipId(0), tile, offset }, len: shape.len };
    Plan { spans: places(shape, harvested).into_iter().map(span).collect() }
}

/// Returns the same accesses without the layer, and the window settings they need.
fn raw(shape: &Shape, harvested: &[u8]) -> (Vec<BarOp>, Vec<BarOp>) {
    let (mut points, mut reads) = (Vec::new(), Vec::new());
    let mut windows: Vec<NocXy> = Vec::new();
    // Windows of 2 MiB for one tile, of 1 MiB for many.
    let class = &ChipKind::Wormhole.layout().bar.windows[usize::from(!shape.spread)];
    for (NocXy { x, y }, at) in places(shape, harvested) {
        let tile = NocXy { x, y };
        let index = windows.iter().position(|shown| *shown == tile).unwrap_or_else(|| {
            let window = class.first + windows.len() as u16;
            points.push(BarOp::Point {
                device: 0,
                window,
                x,
                y,
                page: 0,
                order: WindowOrdering::Memory,
            });
            windows.push(tile);
            windows.len() - 1
        });
        let offset = class.bar_offset + index as u64 * class.bytes + at;
        reads.push(BarOp::Read { device: 0, bar: 0, offset, len: shape.len, ones: 0 });
    }
    (points, reads)
}

fn without(bar: &mut dyn Bar, shape: &Shape, harvested: &[u8]) -> f64 {
    let (points, reads) = raw(shape, harvested);
    let mut answer = Vec::new();
    bar.submit(&points, &mut answer).unwrap();
    best(shape.rounds, || {
        answer.clear();
        bar.submit(&reads, &mut answer).unwrap();
    })
}

fn compare(name: &str, mut bar: Box<dyn Bar>, share: u32) {
    let first = target(bar);
    let harvested = first.mesh().chips[0].harvested_rows.clone().unwrap();
    bar = first.into_bar();
    for shape in &SHAPES {
        let shape = &Shape { rounds: (shape.rounds / share).max(1), ..*shape };
        let (mut layered, mut bare) = (f64::INFINITY, f64::INFINITY);
        let plan = plan(shape, &harvested);
        for _ in 0..TURNS {
            bare = bare.min(without(bar.as_mut(), shape, &harvested));
            let mut target = target(bar);
            layered = layered.min(best(shape.rounds, || {
                let snapshot = target.read(&plan);
                assert_eq!((snapshot.pieces.len(), snapshot.gaps.len()), (plan.spans.len(), 0));
            }));
            bar = target.into_bar();
        }
        let amount = if shape.len == 4 { 64.0 / 1e3 } else { 64.0 * f64::from(shape.len) / 1e6 };
        let unit = if shape.len == 4 { "k words/s" } else { "MB/s" };
        let part = format!("{:.2} of {:.2} without it", bare / layered, amount / bare);
        row(&format!("{name}: {}", shape.name), amount / layered, unit, &part);
    }
}

pub(crate) fn run() {
    let (mut images, _) = ImageMap::firmware();
    let scene = Scene::new("n300").build(&mut images).unwrap();
    // A running mesh also spends time on what its cores execute during an access.
    compare("emulator:n300", scene.into_bar(), 40);
    // Nothing runs on this mesh, so an access costs little more than the call.
    let mesh = emulator::Mesh::new(emulator::MeshConfig::n300()).unwrap();
    compare("emulator, bare", Box::new(EmulatorBar::new(mesh)), 1);
    if let Some(bar) = child("wh") {
        compare("ttsim child", bar, 1);
    }
}
