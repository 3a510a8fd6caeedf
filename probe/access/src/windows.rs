//! TLB windows of one device: their targets, reused on demand, the least recently used first.

use layouts::{ChipLayout, NocXy, WindowClass};
use machine::bar::BarOp;
use machine::window::WindowOrdering;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The target of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct WindowView {
    class: usize,
    tile: NocXy,
    page: u64,
    order: WindowOrdering,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Index of the window in hardware.
    window: u16,
    view: Option<WindowView>,
    last_used: u64,
}

/// An access's offset in BAR0, and how to point the window before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WindowSlot {
    /// BAR0 offset of the first byte.
    pub(crate) bar_offset: u64,
    /// Bytes from there to the window's end.
    pub(crate) room: u64,
    /// The window to point first, unless it already has this target.
    pub(crate) point: Option<Point>,
}

/// A window and the target to point it to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    window: u16,
    tile: NocXy,
    page: u64,
    order: WindowOrdering,
}

impl Point {
    /// Returns the operation for `device`.
    pub(crate) fn on(self, device: u8) -> BarOp {
        let Self { window, tile: NocXy { x, y }, page, order } = self;
        BarOp::Point { device, window, x, y, page, order }
    }
}

/// The windows of one device.
#[derive(Clone, Debug)]
pub(crate) struct Windows {
    classes: &'static [WindowClass],
    slots: Vec<Vec<Slot>>,
    shown: HashMap<WindowView, usize, BuildHasherDefault<Mixer>>,
    uses: u64,
}

impl Windows {
    /// Creates the windows with these hardware indices, with unknown targets.
    pub(crate) fn new(layout: &'static ChipLayout, usable: &[u16]) -> Self {
        let slot = |window| Slot { window, view: None, last_used: 0 };
        let of_class = |class: &WindowClass| {
            let usable_here =
                usable.iter().filter(|w| (class.first..class.first + class.count).contains(w));
            usable_here.map(|&window| slot(window)).collect()
        };
        let slots = layout.bar.windows.iter().map(of_class).collect();
        Self { classes: &layout.bar.windows, slots, shown: HashMap::default(), uses: 0 }
    }

    /// Finds or points a window onto `len` bytes at `offset` of `tile`, of the smallest class that
    /// holds them whole. Returns None if there is no window.
    #[inline]
    pub(crate) fn place(
        &mut self,
        tile: NocXy,
        offset: u64,
        len: u64,
        order: WindowOrdering,
    ) -> Option<WindowSlot> {
        let classes = self.classes;
        let last = offset + len.max(1) - 1;
        let has_slots = |class: &usize| !self.slots[*class].is_empty();
        // Window sizes are powers of two, so that an access needs no division.
        let page = |class: usize, at: u64| at >> classes[class].bytes.trailing_zeros();
        let holds_whole = |class: &usize| page(*class, offset) == page(*class, last);
        let view = |class: usize| WindowView { class, tile, page: page(class, offset), order };
        let usable = || (0..classes.len()).filter(has_slots);
        let shown = |class| Some((class, *self.shown.get(&view(class))?));
        let (class, slot, fresh) =
            if let Some((class, slot)) = usable().filter(holds_whole).find_map(shown) {
                self.uses += 1;
                self.slots[class][slot].last_used = self.uses;
                (class, slot, false)
            } else {
                let mut fitting: Vec<WindowView> = usable().filter(holds_whole).map(view).collect();
                if fitting.is_empty() {
                    fitting.push(view(usable().next_back()?));
                }
                self.show(&fitting)
            };
        let (spec, window) = (&classes[class], self.slots[class][slot].window);
        let within = offset & (spec.bytes - 1);
        let point = Point { window, tile, page: offset - within, order };
        Some(WindowSlot {
            bar_offset: spec.bar_offset + u64::from(window - spec.first) * spec.bytes + within,
            room: spec.bytes - within,
            point: fresh.then_some(point),
        })
    }

    /// Forgets the target of a window that was not pointed.
    pub(crate) fn forget_one(&mut self, window: u16) {
        let slot = self.slots.iter_mut().flatten().find(|slot| slot.window == window);
        if let Some(view) = slot.and_then(|slot| slot.view.take()) {
            self.shown.remove(&view);
        }
    }

    /// Forgets all targets: after an error it is unknown which entries arrived.
    pub(crate) fn forget(&mut self) {
        self.shown.clear();
        self.slots.iter_mut().flatten().for_each(|slot| slot.view = None);
    }

    /// Returns a window with one of these targets: one that has it, else the least recently used
    /// one, smaller classes first among those never used.
    fn show(&mut self, views: &[WindowView]) -> (usize, usize, bool) {
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
                .map(move |(slot, index)| (slot.last_used, *view, index))
        });
        let Some((_, view, index)) = slots.min_by_key(|(last_used, ..)| *last_used) else {
            return (0, 0, true);
        };
        let slot = &mut self.slots[view.class][index];
        slot.last_used = self.uses;
        if let Some(old) = slot.view.replace(view) {
            self.shown.remove(&old);
        }
        self.shown.insert(view, index);
        (view.class, index, true)
    }
}

/// Hashes views in a few instructions; they are not chosen by an attacker.
#[derive(Clone, Debug, Default)]
struct Mixer(u64);

impl Hasher for Mixer {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u8(*byte);
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    fn write_isize(&mut self, value: isize) {
        self.write_u64(value as u64);
    }

    fn write_u64(&mut self, value: u64) {
        // Odd, with as many ones as zeros, irregularly spaced: 2^64 over the golden ratio.
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn finish(&self) -> u64 {
        // The table uses the lowest bits; the multiplication mixes the highest best.
        self.0.rotate_left(26)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use layouts::ChipKind;
    use machine::window::{all_but_the_drivers, entry};

    fn windows() -> Windows {
        let layout = ChipKind::Wormhole.layout();
        Windows::new(layout, &all_but_the_drivers(layout))
    }

    fn entry_of(place: &WindowSlot) -> Option<(u64, u64)> {
        place.point.and_then(|point| {
            entry(ChipKind::Wormhole.bar(), point.window, point.tile, point.page, point.order)
        })
    }

    const E8: NocXy = NocXy { x: 9, y: 6 };

    #[test]
    fn the_worked_entry_of_the_reference() {
        let place = windows().place(E8, 0x210, 4, WindowOrdering::Strict).unwrap();
        assert_eq!(entry_of(&place), Some((0x1FC0_0000, 0x0000_2400_0189_0000)));
        assert_eq!(place.bar_offset, 0x210);
        assert_eq!(place.room, 0x10_0000 - 0x210);
    }

    #[test]
    fn a_register_window_of_the_reference() {
        let place = windows().place(E8, 0xFFB2_002C, 4, WindowOrdering::Strict).unwrap();
        assert_eq!(entry_of(&place), Some((0x1FC0_0000, 0x0000_2400_0189_0FFB)));
        assert_eq!(place.bar_offset, 0x2_002C);
    }

    #[test]
    fn windows_are_reused_and_the_oldest_goes_first() {
        let mut windows = windows();
        let page = |i: u64| i << 24;
        let count = 156 + 10 + 19;
        for i in 0..count {
            assert!(windows.place(E8, page(i), 4, WindowOrdering::Memory).unwrap().point.is_some());
        }
        for i in 0..count {
            assert!(windows.place(E8, page(i), 4, WindowOrdering::Memory).unwrap().point.is_none());
        }
        for i in 0..7 {
            windows.place(NocXy { x: 1, y: i }, 0, 4, WindowOrdering::Memory).unwrap();
        }
        assert!(windows.place(E8, page(0), 4, WindowOrdering::Memory).unwrap().point.is_some());
        assert!(windows.place(E8, page(8), 4, WindowOrdering::Memory).unwrap().point.is_none());
    }

    #[test]
    fn no_access_ever_uses_the_kernels_window() {
        let mut windows = windows();
        for i in 0..64 {
            let place = windows
                .place(NocXy { x: 0, y: 0 }, i << 24, 1 << 23, WindowOrdering::Memory)
                .unwrap();
            assert!(place.bar_offset + place.room <= 0x1E00_0000);
            let big = windows
                .place(NocXy { x: 0, y: 0 }, i << 24, 1 << 30, WindowOrdering::Memory)
                .unwrap();
            assert_eq!(big.room, 1 << 24);
        }
    }

    #[test]
    fn a_range_across_one_megabyte_gets_a_larger_window() {
        let place = windows().place(E8, 0xF_FFF0, 0x20, WindowOrdering::Memory).unwrap();
        assert!(place.bar_offset >= 0x09C0_0000);
        assert!(place.room >= 0x20);
    }
}
