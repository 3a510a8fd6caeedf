//! Disruptions take effect at their cycle, and where they do on silicon.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::common;

use common::{Host, T0, T1, addi, jal, li, lw, store, sw};
use emulator::Disruption::{
    BitErrors, CoreReleased, LinkDown, LinkFlap, LinkMended, LinkSlow, SlowAck, StreamFreed,
    StreamHeld, StuckCore,
};
use emulator::{HartId, LoadImage, Mesh, MeshConfig, PowerOn, StreamId};

/// E8 of the first chip, and E0 of the second at the other end of link 0.
const NEAR: (u8, u8) = (9, 6);
const FAR: (u8, u8) = (9, 0);
const TXQ: u32 = 0xFFB9_0000;

/// An n300 with bytes to send in the tile of E8, and no running hart.
fn n300() -> Host {
    let mut config = MeshConfig::n300();
    let bytes = (1..=64).cycle().take(4096).collect();
    let image = LoadImage::Load { addr: 0x2_0000, bytes };
    config.chips[0].power_on.push(PowerOn { x: NEAR.0, y: NEAR.1, image, start: false });
    Host::new(config)
}

/// Sends bytes from E8 to the same address of its peer.
fn send(host: &mut Host, addr: u32, len: u32) {
    for (offset, value) in [(0x14, addr), (0x18, len), (0x1C, addr), (4, 2)] {
        host.set_register(NEAR, TXQ + offset, value);
    }
}

fn far_word(mesh: &mut Mesh, addr: u32) -> u32 {
    let mut word = [0; 4];
    mesh.l1(1, FAR.0, FAR.1).unwrap().read(addr, &mut word).unwrap();
    u32::from_le_bytes(word)
}

/// Returns the cycles until a word arrives at the peer.
fn wait(host: &mut Host, addr: u32, most: u64) -> Option<u64> {
    let start = host.mesh.now();
    while far_word(&mut host.mesh, addr) == 0 {
        if host.mesh.now() - start > most {
            return None;
        }
        host.mesh.clock(1);
    }
    Some(host.mesh.now() - start)
}

/// Returns the cycles until the last word of `len` bytes is at the peer of a disrupted link.
fn transfer_cycles(disruption: emulator::Disruption, len: u32) -> u64 {
    let mut host = n300();
    assert!(host.mesh.disrupt(disruption, 0, None));
    send(&mut host, 0x2_0000, len);
    wait(&mut host, 0x2_0000 + len - 4, 200_000).unwrap()
}

#[test]
fn a_link_goes_down_at_its_cycle_and_comes_back() {
    let mut host = n300();
    let start = host.mesh.now() + 5000;
    assert!(host.mesh.disrupt(LinkDown { link: 0 }, start, Some(start + 10_000)));
    host.mesh.clock(5100);
    send(&mut host, 0x2_0000, 16);
    let arrived = wait(&mut host, 0x2_0000, 20_000).map(|_| host.mesh.now()).unwrap();
    let delay = arrived - (start + 10_000);
    assert!((500..520).contains(&delay), "{delay} after it came up");
}

#[test]
fn a_link_that_is_not_there_cannot_fail() {
    let mut host = n300();
    let core = |x, y, hart| HartId { chip: 0, x, y, hart };
    assert!(!host.mesh.disrupt(LinkDown { link: 2 }, 0, None));
    assert!(!host.mesh.disrupt(StuckCore(core(9, 6, 1)), 0, None));
    assert!(!host.mesh.disrupt(StuckCore(core(0, 0, 0)), 0, None));
    assert!(!host.mesh.disrupt(StuckCore(core(99, 0, 0)), 0, None));
    assert!(host.mesh.disrupt(StuckCore(core(9, 6, 0)), 0, None));
}

#[test]
fn a_mended_link_carries_packets_whatever_took_it_down() {
    let mut host = n300();
    for disruption in [LinkDown { link: 0 }, LinkFlap { link: 0, period_cycles: 1_000_000 }] {
        host.mesh.disrupt(disruption, 0, None);
    }
    host.mesh.set_link(0, false);
    send(&mut host, 0x2_0000, 16);
    assert_eq!(wait(&mut host, 0x2_0000, 3000), None);
    host.mesh.disrupt(LinkMended { link: 0 }, 0, None);
    assert!(wait(&mut host, 0x2_0000, 600).is_some());
}

#[test]
fn a_slow_link_takes_longer_for_bytes_but_not_for_the_latency() {
    // 1024 + 50 bytes at 12.5 bytes per cycle are 86 cycles.
    let usual = transfer_cycles(LinkSlow { link: 0, factor: 1 }, 1024);
    let slow = transfer_cycles(LinkSlow { link: 0, factor: 10 }, 1024);
    assert!((770..=780).contains(&(slow - usual)), "{usual} {slow}");
}

#[test]
fn slow_acknowledges_are_late_and_payload_is_not() {
    let none = LinkSlow { link: 0, factor: 1 };
    let by_near = SlowAck { link: 0, end: 0, delay_cycles: 2000 };
    let by_far = SlowAck { link: 0, end: 1, delay_cycles: 2000 };
    let usual = [16, 32].map(|len| transfer_cycles(none, len));
    assert_eq!([16, 32].map(|len| transfer_cycles(by_near, len)), [usual[0] + 2000, usual[1]]);
    assert_eq!([16, 32].map(|len| transfer_cycles(by_far, len)), usual);
    // A later packet does not overtake an acknowledgement.
    let mut host = n300();
    host.mesh.disrupt(by_near, 0, None);
    send(&mut host, 0x2_0000, 16);
    host.mesh.clock(30);
    send(&mut host, 0x2_0100, 64);
    wait(&mut host, 0x2_0100, 5000).unwrap();
    assert_ne!(far_word(&mut host.mesh, 0x2_0000), 0);
}

#[test]
fn broken_packets_are_sent_again_and_counted() {
    let mut host = n300();
    // About 12,400 bits per packet: about every eighth packet is corrupt.
    host.mesh.disrupt(BitErrors { link: 0, per_terabit: 10_000_000 }, 0, None);
    for _ in 0..20 {
        send(&mut host, 0x2_0000, 4096);
        host.mesh.clock(2000);
    }
    host.mesh.clock(100_000);
    let sent = host.register(NEAR, TXQ + 0x3C);
    let resent = host.register(NEAR, TXQ + 0x68);
    assert_eq!(sent, 60);
    assert!((2..20).contains(&resent), "{resent}");
    // The other direction was idle, and the payload is intact.
    assert_eq!(far_word(&mut host.mesh, 0x2_0FFC), u32::from_le_bytes([61, 62, 63, 64]));
    assert!(host.mesh.conditions().is_empty());
}

/// A core that polls a counter sees neither what is in it nor what is added, until it is freed.
#[test]
fn the_credits_of_a_held_stream_are_not_seen() {
    let mut host = n300();
    let (update, space) = (0xFFB4_0000 + 3 * 0x1000 + 0x88, 0xFFB4_0000 + 3 * 0x1000 + 0x100);
    let stream = StreamId { chip: 0, x: NEAR.0, y: NEAR.1, stream: 3 };
    // Copies the counter to L1, again and again.
    let copy = [lw(T0, T1, 0), sw(T0, 0, 0x700), jal(0, -8)];
    host.set_register(NEAR, update, 5 << 6);
    host.run(NEAR, &[&li(T1, space)[..], &copy].concat());
    host.mesh.clock(4000);
    assert_eq!((host.register(NEAR, 0x700), host.register(NEAR, space)), (5, 5));
    let start = host.mesh.now() + 1000;
    assert!(host.mesh.disrupt(StreamHeld(stream), start, Some(start + 9000)));
    host.mesh.clock(2000);
    host.set_register(NEAR, update, 2 << 6);
    host.mesh.clock(1000);
    assert_eq!((host.register(NEAR, 0x700), host.register(NEAR, space)), (0, 0));
    host.mesh.clock(9000);
    assert_eq!((host.register(NEAR, 0x700), host.register(NEAR, space)), (7, 7));
    assert!(host.mesh.disrupt(StreamHeld(stream), 0, None));
    host.mesh.clock(1000);
    assert_eq!(host.register(NEAR, 0x700), 0);
    assert!(host.mesh.disrupt(StreamFreed(stream), 0, None));
    host.mesh.clock(1000);
    assert_eq!(host.register(NEAR, 0x700), 7);
    assert!(!host.mesh.disrupt(StreamHeld(StreamId { stream: 32, ..stream }), 0, None));
    assert!(!host.mesh.disrupt(StreamHeld(StreamId { x: 0, y: 0, ..stream }), 0, None));
}

#[test]
fn a_stuck_core_stands_still_until_it_is_released() {
    let mut host = n300();
    let count = [lw(T0, 0, 0x700), addi(T0, T0, 1), sw(T0, 0, 0x700), jal(0, -12)];
    host.run(NEAR, &[&store(0x700, 0)[..], &count].concat());
    let core = HartId { chip: 0, x: NEAR.0, y: NEAR.1, hart: 0 };
    let start = host.mesh.now() + 4000;
    host.mesh.disrupt(StuckCore(core), start, Some(start + 9000));
    host.mesh.clock(4100);
    let stuck = host.register(NEAR, 0x700);
    assert!(stuck > 900);
    host.mesh.clock(1000);
    assert_eq!(host.register(NEAR, 0x700), stuck);
    host.mesh.clock(9000);
    assert!(host.register(NEAR, 0x700) > stuck);
    host.mesh.disrupt(StuckCore(core), 0, None);
    host.mesh.clock(100);
    let stuck = host.register(NEAR, 0x700);
    host.mesh.clock(1000);
    assert_eq!(host.register(NEAR, 0x700), stuck);
    host.mesh.disrupt(CoreReleased(core), 0, None);
    host.mesh.clock(1000);
    assert!(host.register(NEAR, 0x700) > stuck);
}
