//! The pipe: the vendor's library in a child process, compared with the same library in this
//! process.

use crate::{best, child, library, row};
use layouts::{ChipKind, NocXy, TileKind};
use machine::bar::{Bar, BarOp};
use machine::window::WindowOrdering;
use transport::ttsim;

/// A window of 2 MiB, which covers the whole L1 of a tile.
const WINDOW: u16 = 156;
const BLOCK_BYTES: u32 = 1 << 20;
const TILES: usize = 80;

/// Returns the operation that points the window at tile 1-1.
pub(crate) fn point() -> BarOp {
    BarOp::Point { device: 0, window: WINDOW, x: 1, y: 1, page: 0, order: WindowOrdering::Memory }
}

/// Reads 1 MiB of the L1 of every tile and keeps it, as a full snapshot does; returns seconds.
fn bulk(bar: &mut dyn Bar) -> f64 {
    let tiles =
        || ChipKind::Wormhole.layout().grid().iter().filter(|tile| tile.kind == TileKind::Tensix);
    best(5, || {
        let mut kept = Vec::new();
        for NocXy { x, y } in tiles().map(|tile| tile.xy) {
            let order = WindowOrdering::Memory;
            let point = BarOp::Point { device: 0, window: WINDOW, x, y, page: 0, order };
            let mut answer = Vec::with_capacity(BLOCK_BYTES as usize);
            bar.submit(&[point, read(0x1_0000, BLOCK_BYTES)], &mut answer).unwrap();
            kept.push(answer);
        }
        assert_eq!(kept.len(), TILES);
    })
}

/// Returns a read of the tile's L1 through the window.
pub(crate) fn read(at: u64, len: u32) -> BarOp {
    let class =
        ChipKind::Wormhole.layout().bar.windows.iter().find(|class| class.first == WINDOW).unwrap();
    BarOp::Read { device: 0, bar: 0, offset: class.bar_offset + at, len, ones: 0 }
}

pub(crate) fn run() {
    let (Some(library), Some(mut child)) = (library("wh"), child("wh")) else {
        println!("  skipped: MESHSCOPE_TTSIM_DIR is not set");
        return;
    };
    let mut here = ttsim::load_here(&library).unwrap();
    let mut rates = [[0.0; 4]; 2];
    let bars: [&mut dyn Bar; 2] = [&mut here, child.as_mut()];
    for (rates, bar) in rates.iter_mut().zip(bars) {
        rates[3] = TILES as f64 * f64::from(BLOCK_BYTES) / 1e6 / bulk(bar);
        let mut answer = Vec::new();
        bar.submit(&[point()], &mut answer).unwrap();
        let mut time = |ops: &[BarOp], rounds| {
            best(rounds, || {
                answer.clear();
                bar.submit(ops, &mut answer).unwrap();
            })
        };
        let words: Vec<BarOp> = (0..64).map(|i| read(0x1000 + 256 * i, 4)).collect();
        rates[0] = f64::from(BLOCK_BYTES) / 1e6 / time(&[read(0x1_0000, BLOCK_BYTES)], 300);
        rates[1] = 64.0 / 1e3 / time(&words, 3000);
        rates[2] = time(&[read(0x1000, 4)], 10_000) * 1e6;
    }
    let [here, child] = rates;
    let both = |name: &str, index: usize, unit: &str| {
        row(&format!("{name}, in this process"), here[index], unit, "");
        let part = format!("{:.2} of it", child[index] / here[index]);
        row(&format!("{name}, child"), child[index], unit, &part);
    };
    both("1 MiB of every tile, kept", 3, "MB/s");
    both("the same 1 MiB in cache", 0, "MB/s");
    both("64 words a batch", 1, "k words/s");
    row("one word, in this process", here[2], "us", "");
    row("one word, child: a round trip", child[2], "us", "");
}
