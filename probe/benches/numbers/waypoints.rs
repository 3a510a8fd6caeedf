//! The waypoints of all compute cores of a chip, by name: `mailboxes->watcher.debug_waypoint` of
//! each.

use crate::{best, child, peer, row, target};
use images::{ImageMap, Mailbox};
use layouts::{ChipId, ChipKind, CoreKind, NocAddr, TileKind};
use machine::snapshot::{Plan, Span};
use machine::target::Target;

/// The image whose mailbox has the addresses.
const IMAGE: &str = "tensix_brisc";

fn plan(mailbox: &Mailbox, chips: &[ChipId]) -> Plan {
    let tiles =
        || ChipKind::Wormhole.layout().grid().iter().filter(|tile| tile.kind == TileKind::Tensix);
    let span = |chip: ChipId, tile: layouts::NocXy, core: CoreKind| Span {
        addr: NocAddr { chip, tile, offset: mailbox.waypoint(core) },
        len: 4,
    };
    let cores = |chip: ChipId| {
        tiles().flat_map(move |t| t.kind.cores().iter().map(move |&core| span(chip, t.xy, core)))
    };
    Plan { spans: chips.iter().flat_map(|&chip| cores(chip)).collect() }
}

pub(crate) fn run() {
    let (images, _) = ImageMap::firmware();
    let mailbox = images.named(IMAGE).and_then(|image| image.mailbox.as_ref()).unwrap();
    for (build, chips) in [("wh", &[0][..]), ("wh_x2", &[0]), ("wh_x2", &[1]), ("wh_x2", &[0, 1])] {
        let Some(bar) = child(build) else {
            println!("  skipped: MESHSCOPE_TTSIM_DIR is not set");
            return;
        };
        let mut target = target(bar);
        let chips: Vec<ChipId> = chips.iter().map(|&chip| ChipId(chip)).collect();
        let plan = plan(mailbox, &chips);
        let (mut transactions, mut cycles) = (0, 0);
        let seconds = best(20, || {
            let before = target.now().unwrap();
            let snapshot = target.read(&plan);
            transactions = snapshot.transactions;
            assert_eq!(snapshot.gaps, []);
            for span in &plan.spans {
                assert!(snapshot.bytes(span.addr, 4).is_ok());
            }
            cycles = target.now().unwrap() - before;
        });
        let name = format!("{build}: {} waypoints of chips {chips:?}", plan.spans.len());
        row(&name, seconds * 1e3, "ms", &format!("{transactions} transactions, {cycles} clocks"));
    }
    peer::waypoints(IMAGE);
}
