//! TLB windows of one device: which tile each shows, reused by need, the least recently used first.

use layouts::{Bar, NocXy, Ordering, WindowClass, WindowSpec, wormhole};
use std::collections::HashMap;

/// How a window orders its traffic (wormhole.md 1.4). All windows use one static virtual channel,
/// so that writes through one window never overtake each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Order {
    /// Default ordering: bulk memory.
    Memory,
    /// Strict ordering: registers, queue pointers, doorbells.
    Strict,
}

impl From<Order> for Ordering {
    fn from(order: Order) -> Self {
        match order {
            Order::Memory => Self::Relaxed,
            Order::Strict => Self::Strict,
        }
    }
}

/// What a window shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct View {
    class: usize,
    tile: NocXy,
    page: u64,
    order: Order,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    view: Option<View>,
    last_used: u64,
}

/// Where an access goes in BAR0, and the window entry to write before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// BAR0 offset of the first byte.
    pub(crate) bar_offset: u64,
    /// Bytes from there to the window's end.
    pub(crate) room: u64,
    /// BAR0 offset and value of the window's entry, if it shows something else now.
    pub(crate) entry: Option<(u64, u64)>,
}

/// The windows of one device.
#[derive(Debug)]
pub(crate) struct Windows {
    slots: Vec<Vec<Slot>>,
    shown: HashMap<View, usize>,
    uses: u64,
}

impl Default for Windows {
    fn default() -> Self {
        let slots = |class: &WindowClass| vec![Slot::default(); usable(&wormhole().bar, class)];
        let slots = wormhole().bar.windows.iter().map(slots).collect();
        Self { slots, shown: HashMap::new(), uses: 0 }
    }
}

impl Windows {
    /// A window onto `len` bytes at `offset` of `tile`; the smallest class that holds them whole.
    pub(crate) fn place(&mut self, tile: NocXy, offset: u64, len: u64, order: Order) -> Place {
        let bar = &wormhole().bar;
        let last = offset + len.max(1) - 1;
        let holds_whole = |class: &WindowClass| offset / class.bytes == last / class.bytes;
        let view =
            |class: usize| View { class, tile, page: offset / bar.windows[class].bytes, order };
        let mut fitting: Vec<View> =
            (0..bar.windows.len()).filter(|&c| holds_whole(&bar.windows[c])).map(view).collect();
        if fitting.is_empty() {
            fitting.push(view(bar.windows.len() - 1));
        }
        let (class, slot, fresh) = self.show(&fitting);
        let facts = &bar.windows[class];
        let spec = WindowSpec {
            index: facts.first + slot as u16,
            base: facts.bar_offset + slot as u64 * facts.bytes,
            bytes: facts.bytes,
            entry: bar.config.bar_offset
                + (u64::from(facts.first) + slot as u64) * bar.config.entry_bytes,
            local_offset_bits: facts.local_offset_bits,
        };
        let within = offset % facts.bytes;
        Place {
            bar_offset: spec.base + within,
            room: facts.bytes - within,
            entry: fresh
                .then(|| (spec.entry, bar.unicast_entry(&spec, tile, offset, order.into()))),
        }
    }

    /// After an error nobody knows which entries arrived: all are written again when next needed.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// A window with one of these views: one that has it, else the one that was used the longest
    /// ago, smaller classes first among those never used.
    fn show(&mut self, views: &[View]) -> (usize, usize, bool) {
        self.uses += 1;
        let shown = views.iter().find_map(|view| Some((view.class, *self.shown.get(view)?)));
        if let Some((class, slot)) = shown {
            self.slots[class][slot].last_used = self.uses;
            return (class, slot, false);
        }
        let slots = views.iter().flat_map(|view| {
            self.slots[view.class]
                .iter()
                .zip(0..)
                .map(move |(slot, at)| (slot.last_used, *view, at))
        });
        let Some((_, view, at)) = slots.min_by_key(|(last_used, ..)| *last_used) else {
            return (0, 0, true);
        };
        let slot = &mut self.slots[view.class][at];
        slot.last_used = self.uses;
        if let Some(old) = slot.view.replace(view) {
            self.shown.remove(&old);
        }
        self.shown.insert(view, at);
        (view.class, at, true)
    }
}

/// Windows of a class that are ours: tt-kmd's is the last of its class.
fn usable(bar: &Bar, class: &WindowClass) -> usize {
    let kernels = class.first + class.count - 1 == bar.config.kernel_window;
    usize::from(class.count) - usize::from(kernels)
}

#[cfg(test)]
mod tests {
    use super::*;

    const E8: NocXy = NocXy { x: 9, y: 6 };

    #[test]
    fn the_worked_entry_of_the_reference() {
        let place = Windows::default().place(E8, 0x210, 4, Order::Strict);
        assert_eq!(place.entry, Some((0x1FC0_0000, 0x0000_2400_0189_0000)));
        assert_eq!(place.bar_offset, 0x210);
        assert_eq!(place.room, 0x10_0000 - 0x210);
    }

    #[test]
    fn a_register_window_of_the_reference() {
        let place = Windows::default().place(E8, 0xFFB2_002C, 4, Order::Strict);
        assert_eq!(place.entry, Some((0x1FC0_0000, 0x0000_2400_0189_0FFB)));
        assert_eq!(place.bar_offset, 0x2_002C);
    }

    #[test]
    fn windows_are_reused_and_the_oldest_goes_first() {
        let mut windows = Windows::default();
        let page = |i: u64| i << 24;
        let count = 156 + 10 + 19;
        for i in 0..count {
            assert!(windows.place(E8, page(i), 4, Order::Memory).entry.is_some());
        }
        for i in 0..count {
            assert!(windows.place(E8, page(i), 4, Order::Memory).entry.is_none());
        }
        for i in 0..7 {
            windows.place(NocXy { x: 1, y: i }, 0, 4, Order::Memory);
        }
        assert!(windows.place(E8, page(0), 4, Order::Memory).entry.is_some());
        assert!(windows.place(E8, page(8), 4, Order::Memory).entry.is_none());
    }

    #[test]
    fn no_access_ever_uses_the_kernels_window() {
        let mut windows = Windows::default();
        for i in 0..64 {
            let place = windows.place(NocXy { x: 0, y: 0 }, i << 24, 1 << 23, Order::Memory);
            assert!(place.bar_offset + place.room <= 0x1E00_0000);
            let big = windows.place(NocXy { x: 0, y: 0 }, i << 24, 1 << 30, Order::Memory);
            assert_eq!(big.room, 1 << 24);
        }
    }

    #[test]
    fn a_range_across_one_megabyte_gets_a_larger_window() {
        let place = Windows::default().place(E8, 0xF_FFF0, 0x20, Order::Memory);
        assert!(place.bar_offset >= 0x09C0_0000);
        assert!(place.room >= 0x20);
    }
}
