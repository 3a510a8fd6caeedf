//! The shipped data files of a chip contradict neither themselves nor each other.
#![allow(clippy::panic, reason = "tests")]

use layouts::{
    AnyGroup, Bar, ChipKind, ChipLayout, Entry, NocXy, Range, Ranges, ReadAccess, Tiles,
};

#[test]
fn shipped_files_agree() {
    let layout = ChipKind::Wormhole.layout();
    assert_eq!(layout.grid().len(), 120);
    tiles(&layout.tiles);
    windows(layout.bar);
    ranges(&layout.ranges);
    for space in Ranges::spaces() {
        for range in layout.ranges.of(space) {
            range_group(layout, range);
        }
    }
    let registers =
        ["niu", "niu_command", "niu_counters", "debug", "stream", "txq", "rxq", "eth_ctrl"];
    for name in registers.into_iter().chain(["arc_reset", "eth_l1", "tensix_l1"]) {
        group(name, layout.group(name).unwrap_or_else(|| panic!("no group {name}")));
    }
    group("queues", &layout.eth.queues);
    group("queue", &layout.eth.queue);
    group("entry", &layout.eth.entry);
}

/// Every coordinate of the grid has one tile, and the axes name each row and column once.
fn tiles(tiles: &Tiles) {
    let all = tiles.all();
    for y in 0..tiles.rows {
        for x in 0..tiles.columns {
            let count = all.iter().filter(|tile| tile.xy == NocXy { x, y }).count();
            assert_eq!(count, 1, "tiles.toml: tiles at {x}-{y}");
        }
    }
    let outside = all.iter().find(|tile| tile.xy.x >= tiles.columns || tile.xy.y >= tiles.rows);
    assert_eq!(outside, None, "tiles.toml: outside of the grid");
    let axis = |name: &str, mut values: Vec<u8>, end: u8| {
        values.sort_unstable();
        assert_eq!(values, (0..end).collect::<Vec<_>>(), "tiles.toml: {name}");
    };
    axis("translation columns", tiles.translation.columns.clone(), tiles.columns);
    let rows = [&tiles.translation.rows[..], &tiles.tensix.rows[..]].concat();
    axis("translation rows and Tensix rows", rows, tiles.rows);
    let mut arc_rows = tiles.harvesting.arc_rows.clone();
    arc_rows.sort_unstable();
    assert_eq!(arc_rows, tiles.tensix.rows, "tiles.toml: arc_rows");
}

/// Windows abut, reach 36 bits, and are followed by their entries.
fn windows(bar: &Bar) {
    let (mut index, mut offset) = (0, 0);
    for class in &bar.windows {
        assert_eq!((class.first, class.bar_offset), (index, offset), "bar.toml: a gap or overlap");
        assert!(class.bytes.is_power_of_two(), "bar.toml: windows from {index}");
        let bits = class.bytes.trailing_zeros() + class.local_offset_bits;
        assert_eq!(bits, 36, "bar.toml: windows from {index}");
        index = class.first + class.count;
        offset = class.bar_offset + u64::from(class.count) * class.bytes;
    }
    assert!(bar.config.kernel_window < index, "bar.toml: the kernel's window is none");
    assert!(offset <= bar.config.bar_offset, "bar.toml: the entries do not follow the windows");
}

/// Ranges are sorted, do not overlap, and say why they must not be read.
fn ranges(ranges: &Ranges) {
    for space in Ranges::spaces() {
        for pair in ranges.of(space).windows(2) {
            let (a, b) = (&pair[0], &pair[1]);
            assert!(a.end() <= b.start, "ranges.toml: {} and {} in {space:?}", a.name, b.name);
        }
        for range in ranges.of(space) {
            let plain = !range.private && range.access == ReadAccess::Read;
            assert!(plain || range.why.is_some(), "{} of {space:?} has no `why`", range.name);
        }
    }
}

/// The group of a range exists and fits into it.
fn range_group(layout: &ChipLayout, range: &Range) {
    let Some(name) = &range.group else { return };
    let group = layout.group(name).unwrap_or_else(|| panic!("{}: no group {name}", range.name));
    let last = group.entries().iter().map(|(_, entry)| entry.end()).max().unwrap_or(0);
    assert!(last <= range.instance_bytes(), "{name} does not fit into {}", range.name);
}

/// Entries are not empty, do not overlap, and stay in their block.
fn group(name: &str, group: &dyn AnyGroup) {
    let entries = group.entries();
    for (i, (a_name, a)) in entries.iter().enumerate() {
        let inside = a.end() <= group.bytes() && a.count > 0 && a.bytes > 0;
        assert!(inside, "{name}.{a_name} is empty or leaves its block");
        for (b_name, b) in entries.iter().take(i) {
            let elements =
                |entry: &Entry| (0..entry.count).map(|n| entry.nth(n)).collect::<Vec<_>>();
            let touches = |x: u64, y: u64| x < y + b.bytes && y < x + a.bytes;
            let overlap = elements(a).iter().any(|x| elements(b).iter().any(|y| touches(*x, *y)));
            assert!(!overlap, "{name}.{a_name} and {b_name} overlap");
        }
    }
}
