//! Tests of the shipped Wormhole data: they load, are consistent, and match the published values.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use layouts::{
    ChipId, ChipKind, CoreAddr, CoreId, CoreKind, NocXy, Ordering, Ranges, Reason, Space, TileKind,
    WritePermission,
};

const ETH: Space = Space::Tile(TileKind::Eth);
const TENSIX: Space = Space::Tile(TileKind::Tensix);

fn xy(x: u8, y: u8) -> NocXy {
    NocXy { x, y }
}

#[test]
fn tiles_are_where_the_documentation_puts_them() {
    let count =
        |kind| ChipKind::Wormhole.layout().grid().iter().filter(|tile| tile.kind == kind).count();
    let kinds = [TileKind::Tensix, TileKind::Eth, TileKind::Dram, TileKind::Router];
    assert_eq!(kinds.map(count), [80, 16, 18, 4]);
    assert_eq!(ChipKind::Wormhole.layout().eth_channel(8), Some(xy(9, 6)));
    assert_eq!(ChipKind::Wormhole.layout().eth_channel(16), None);
    let port = ChipKind::Wormhole.layout().tile_at(xy(5, 9)).unwrap();
    assert_eq!((port.kind, port.channel, port.port), (TileKind::Dram, Some(3), Some(1)));
}

#[test]
fn windows_abut_and_entries_match_the_worked_values() {
    let w = ChipKind::Wormhole.layout();
    assert_eq!(w.bar.window_count(), 186);
    assert_eq!(w.bar.window(165).unwrap().base, 0x0AE0_0000);
    assert_eq!(w.bar.window(166).unwrap().base, 0x0B00_0000);
    assert_eq!(w.bar.window(185).unwrap().base, 0x1E00_0000);
    assert_eq!(w.bar.window(156).unwrap().entry, 0x1FC0_04E0);
    assert_eq!(w.bar.window(186), None);
    // wormhole.md 1.3: window 0, tile (9,6), address 0, strict, static VC; wormhole.md 10.6.A: the
    // NIU behind it.
    let entry = |offset| {
        w.bar.tlb_entry(&w.bar.window(0).unwrap(), xy(9, 6), offset, Ordering::Strict, true)
    };
    assert_eq!(entry(0), 0x0000_2400_0189_0000);
    assert_eq!(entry(0xFFB2_002C), 0x0000_2400_0189_0FFB);
}

#[test]
fn translated_and_physical_coordinates_name_each_tile_once() {
    let tiles = &ChipKind::Wormhole.layout().tiles;
    assert_eq!(tiles.untranslated(25, 17, &[]), Some(xy(9, 6)));
    assert_eq!(tiles.untranslated(25, 16, &[1, 7]), Some(xy(9, 0)));
    assert_eq!(tiles.untranslated(18, 18, &[]), Some(xy(1, 1)));
    assert_eq!(tiles.untranslated(18, 18, &[1, 7]), Some(xy(1, 2)));
    assert_eq!(tiles.untranslated(18, 27, &[1, 7]), Some(xy(1, 7)));
    let mut there: Vec<_> = (16..28)
        .flat_map(|y| (16..26).map(move |x| (x, y)))
        .filter_map(|(x, y)| tiles.untranslated(x, y, &[5, 9]))
        .collect();
    there.sort_by_key(|xy| (xy.y, xy.x));
    let all = ChipKind::Wormhole.layout().grid().iter().map(|tile| tile.xy);
    assert_eq!(there, all.clone().collect::<Vec<_>>());
    for xy in all {
        assert_eq!(tiles.untranslated(xy.x, xy.y, &[5, 9]), Some(xy));
    }
    assert_eq!(tiles.untranslated(26, 18, &[]), None);
    assert_eq!(tiles.untranslated(10, 0, &[]), None);
}

#[test]
fn harvested_rows_are_bits_of_a_mask() {
    let tiles = &ChipKind::Wormhole.layout().tiles;
    // Bits 0 and 6 of a descriptor's mask are the first and the seventh compute row.
    assert_eq!(tiles.rows_from_descriptor_mask(65), [1, 8]);
    assert_eq!(tiles.descriptor_mask_from_rows(&[1, 8]), 65);
}

#[test]
fn core_addresses_go_to_the_noc_or_are_private() {
    let core = CoreId { chip: ChipId(1), tile: xy(9, 6), core: CoreKind::Erisc };
    let to_noc = |addr| ChipKind::Wormhole.layout().core_to_noc(core, CoreAddr(addr));
    assert_eq!(to_noc(0x9040).unwrap().to_string(), "1:9-6:0x9040");
    let private = to_noc(0xFFB0_0600).unwrap_err().to_string();
    assert_eq!(
        private,
        "local_ram is private to the core: ERISC local RAM is not connected to the NoC"
    );
    assert_eq!(to_noc(0x4_0000), Err(Reason::Unmapped { offset: 0x4_0000 }));
}

#[test]
fn the_allow_list_gives_reasons() {
    let reason = |space, offset, len| match ChipKind::Wormhole.layout().readable(space, offset, len)
    {
        Ok(_) => "fine".to_owned(),
        Err(reason) => reason.to_string(),
    };
    assert_eq!(reason(ETH, 0x1C, 4), "fine");
    assert_eq!(reason(ETH, 3, 2), "fine");
    assert_eq!(reason(ETH, 0xFFB2_0200, 256), "fine");
    assert_eq!(reason(TENSIX, 0x16_DFFC, 8), "runs past the end of l1 at 0x16e000");
    assert_eq!(reason(TENSIX, 0x16_E000, 4), "nothing is known at 0x16e000: l1 ends at 0x16e000");
    assert_eq!(
        reason(TENSIX, 0xFFB1_1030, 4),
        "tdma: a TDMA read can block on a FIFO, hang the NoC and then the host (tt-umd #1673)"
    );
    assert_eq!(reason(ETH, 0xFFB2_0050, 4), "niu0.clear_outstanding: it must not be read");
    assert_eq!(reason(ETH, 0xFFB2_002E, 2), "niu0 holds registers, which are aligned 4-byte words");
    assert_eq!(reason(ETH, 0xFFB2_0034, 4), "nothing is known at 0xffb20034");
    assert_eq!(reason(ETH, u64::MAX, 4), "nothing is known at 0xffffffffffffffff");
    assert_eq!(reason(ETH, 0, u64::MAX), "runs past the end of l1 at 0x40000");
    assert_eq!(
        reason(Space::Harvested, 0, 4),
        "the tile is fused off: only the registers of its NIUs answer"
    );
    assert_eq!(reason(Space::Bar0, 0x1E00_0000, 4), "kernel_window: tt-kmd owns this window");
    assert!(reason(Space::Bar0, 0x1FF3_0328, 4).contains("not safe"));
}

#[test]
fn registers_are_found_by_name_and_named_by_address() {
    let w = ChipKind::Wormhole.layout();
    assert_eq!(w.register(ETH, "niu1.router_cfg_2").unwrap().offset, 0xFFB3_010C);
    assert_eq!(w.register(ETH, "txq1.cmd").unwrap().offset, 0xFFB9_1004);
    assert_eq!(w.register(TENSIX, "stream[3].space_available").unwrap().offset, 0xFFB4_3100);
    assert_eq!(w.register(ETH, "niu0.counter[10]").unwrap().offset, 0xFFB2_0228);
    assert_eq!(w.register(ETH, "stream[32].update"), None);
    assert_eq!(w.register(ETH, "l1.launch_flag").unwrap().source, "wormhole.md 7");
    assert_eq!(w.name_of(ETH, 0x1FF0).unwrap(), "l1.remote_channel");
    assert_eq!(w.name_of(ETH, 0x1F12).unwrap(), "l1.packets_received[0]+0x2");
    assert_eq!(w.name_of(TENSIX, 0xFFB4_3100).unwrap(), "stream[3].space_available");
    assert_eq!(w.name_of(TENSIX, 0x5_0000).unwrap(), "l1");
    assert_eq!(w.name_of(TENSIX, 0xFFFF_FFFF), None);
    for space in Ranges::spaces() {
        for range in w.ranges.of(space) {
            let name = w.name_of(space, range.start).unwrap();
            assert!(name.starts_with(&range.name), "{name}");
        }
    }
}

#[test]
fn arc_addresses_are_reached_over_noc() {
    let arc = &ChipKind::Wormhole.layout().arc;
    assert_eq!(arc.to_noc(0x8003_0074), Some(0x8_8003_0074));
    assert_eq!(arc.to_noc(0x2000_0000), None);
    assert_eq!(arc.board(0x0100_0146_1183_20AE).unwrap().name, "n300");
    assert_eq!(arc.tag("harvesting"), Some(4));
    assert_eq!(layouts::short_board_id(0x0100_0146_1183_20AE), 0x6183_20AE);
}

#[test]
fn queue_words_are_where_every_client_expects_them() {
    let eth = &ChipKind::Wormhole.layout().eth;
    let base = eth.routing.fallback_base;
    let request = base + eth.queues.request.at;
    let response = base + eth.queues.response.at;
    assert_eq!(request + eth.queue.write_index.at, 0x110A0);
    assert_eq!(request + eth.queue.entry.nth(3), 0x11120);
    assert_eq!(response + eth.queue.read_index.at, 0x11230);
    assert_eq!(response + eth.queue.entry.at + eth.entry.flags.at, 0x1124C);
    assert_eq!(base + eth.queues.buffer.nth(2), 0x12800);
}

#[test]
fn each_range_has_its_write_permissions() {
    use WritePermission::{Halt, Launch, Reset, Sample, Write};
    let needs =
        |space, offset, len| ChipKind::Wormhole.layout().write_permission(space, offset, len);
    assert_eq!(needs(TENSIX, 0x2_0000, 64), Ok(vec![Write]));
    assert_eq!(needs(TENSIX, 0xFFB1_21B0, 4), Ok(vec![Reset]));
    assert_eq!(needs(TENSIX, 0xFFB1_2080, 8), Ok(vec![Halt]));
    assert_eq!(needs(TENSIX, 0xFFB1_2054, 4), Ok(vec![Sample]));
    assert_eq!(needs(TENSIX, 0x10, 4), Ok(vec![Launch]));
    assert_eq!(needs(TENSIX, 0, 0x20), Ok(vec![Write, Launch]));
    assert_eq!(needs(ETH, 0x9004, 4), Ok(vec![Launch]));
    assert_eq!(needs(ETH, 0x9000, 4), Ok(vec![Write]));
    assert_eq!(needs(ETH, 0x1EF0, 32), Ok(vec![Write, Reset]));
    assert_eq!(needs(ETH, 0xFFB4_0088, 4), Ok(vec![Write]), "write-only registers are for writing");
}

#[test]
fn some_ranges_are_never_writable() {
    let arc = Space::Tile(TileKind::Arc);
    let never = |space, offset| {
        ChipKind::Wormhole.layout().write_permission(space, offset, 4).unwrap_err().to_string()
    };
    assert_eq!(never(arc, 0x8_8003_0328), "reset_unit.forbidden must not be written");
    assert_eq!(never(arc, 0x8_1000_0000), "csm must not be written");
    assert_eq!(never(ETH, 0xFFBA_0000), "mac must not be written");
    assert_eq!(never(ETH, 0xFFB0_0000), "local_ram must not be written");
    assert_eq!(never(ETH, 0x4_0000), "nothing is known at 0x40000: l1 ends at 0x40000");
    assert_eq!(never(ETH, 0xFFB1_2000), "nothing is known at 0xffb12000");
    let past = ChipKind::Wormhole.layout().write_permission(TENSIX, 0x16_DFFC, 8).unwrap_err();
    assert_eq!(past.to_string(), "runs past the end of l1 at 0x16e000");
}
