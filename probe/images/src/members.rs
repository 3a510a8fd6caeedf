//! Scalar members with name and L1 address, from DWARF.

use super::pointers::place;
use layouts::ChipLayout;
use std::sync::Arc;
use symbols::{Kind, Symbols, Type};

/// The number of elements shown of a longer array.
const SHOWN_ELEMENTS: u64 = 8;
/// The most scalar members shown of a global.
const MOST: usize = 400;

/// A scalar with name and address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Member path from the global, such as `mailboxes.go_messages[0].signal`.
    pub name: Arc<str>,
    /// Tile-local address.
    pub addr: u64,
    /// Size in bytes, 1 to 8.
    pub size: u32,
}

impl Member {
    /// Returns the zero-extended value of the bytes at [`Member::addr`].
    pub fn value(bytes: &[u8]) -> u64 {
        bytes.iter().take(8).rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
    }
}

/// The mailbox members in a core's summary. The outlines have all members.
const SUMMARY: [&str; 10] = [
    "mailboxes->subordinate_sync",
    "erisc_info->channels",
    "mailboxes->launch_msg_rd_ptr",
    "mailboxes->launch[0].kernel_config",
    "mailboxes->go_messages[0]",
    "mailboxes->go_message_index",
    "mailboxes->watcher.enable",
    "mailboxes->watcher.debug_waypoint",
    "mailboxes->watcher.pause_status",
    "mailboxes->core_info.core_magic_number",
];

/// Returns the scalars of a core's summary.
pub(super) fn summary(layout: &ChipLayout, symbols: &Symbols) -> Vec<Member> {
    SUMMARY.iter().flat_map(|path| members(layout, symbols, path)).collect()
}

/// Returns all scalar members under a path such as `ring_ping_state` or `mailboxes->launch[0]`;
/// empty if the image does not have the path.
pub fn members(layout: &ChipLayout, symbols: &Symbols, path: &str) -> Vec<Member> {
    let mut found = Vec::new();
    let through = path.split_once("->").and_then(|(name, rest)| place(layout, symbols, name, rest));
    let located = || symbols.locate(path).ok().map(|place| (place.address(), place.ty));
    if let Some((address, ty)) = through.or_else(located) {
        walk(&ty, &path.replace("->", "."), address, &mut found);
    }
    found
}

fn walk(ty: &Type, name: &str, addr: u64, found: &mut Vec<Member>) {
    if found.len() >= MOST {
        return;
    }
    match ty.plain().kind() {
        Kind::Record(record) => {
            for member in &record.members {
                let (Some(own), None) = (&member.name, member.bits) else { continue };
                walk(&member.ty, &format!("{name}.{own}"), addr + member.offset, found);
            }
        }
        Kind::Array(array) => {
            let (Some(count), Some(size)) = (array.count(), array.element.size()) else { return };
            for index in 0..count.min(SHOWN_ELEMENTS) {
                walk(&array.element, &format!("{name}[{index}]"), addr + index * size, found);
            }
        }
        Kind::Base(_) | Kind::Enum(_) | Kind::Pointer(_) => {
            if let Some(size @ 1..=8) = ty.size() {
                found.push(Member { name: name.into(), addr, size: size as u32 });
            }
        }
        _ => {}
    }
}
