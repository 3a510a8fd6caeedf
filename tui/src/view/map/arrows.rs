//! Links to chips that are not beside a chip: arrows with the number of the other chip.

use crate::lists::standing;
use crate::model::Model;
use crate::place::GridCell;
use console::glyph::Glyphs;
use decode::state::{LinkCondition, LinkState};
use layouts::ChipId;
use ratatui::style::Style;
use ratatui::text::Span;
use std::collections::BTreeMap;

/// How bad a link is that is held.
const HELD: u8 = 2;

/// The links of a chip to another one.
#[derive(Clone, Debug)]
pub(super) struct Arrow {
    peer: ChipId,
    sign: &'static str,
    /// The number of links.
    pub(super) count: usize,
    /// How bad the worst of them is, and its style.
    worst: (u8, Style),
}

impl Arrow {
    /// The arrow as a text: a letter before it if a link is held, a cross for one that is down.
    pub(super) fn span(&self) -> Span<'static> {
        let held = if self.worst.0 == HELD { "H" } else { "" };
        Span::styled(format!("{held}{}{}", self.sign, self.peer), self.worst.1)
    }
}

/// The arrows of every chip.
pub(super) fn of_links<'a>(
    model: &Model,
    links: impl Iterator<Item = &'a LinkState>,
    place: impl Fn(ChipId) -> Option<GridCell>,
) -> BTreeMap<ChipId, Vec<Arrow>> {
    let mut arrows: BTreeMap<ChipId, Vec<Arrow>> = BTreeMap::new();
    for link in links {
        let (a, b) = (link.link.a.chip, link.link.b.chip);
        let style = standing(model, link).2;
        let badness = match link.condition {
            LinkCondition::Down | LinkCondition::Disagree => 3,
            _ if model.pulse.holds(link) => HELD,
            LinkCondition::Unread => 1,
            LinkCondition::Up => 0,
        };
        for (own, peer) in [(a, b), (b, a)] {
            let all = arrows.entry(own).or_default();
            if let Some(arrow) = all.iter_mut().find(|arrow| arrow.peer == peer) {
                arrow.count += 1;
                if badness > arrow.worst.0 {
                    arrow.worst = (badness, style);
                }
                continue;
            }
            let sign = sign(model.glyphs, place(own), place(peer), badness > HELD);
            all.push(Arrow { peer, sign, count: 1, worst: (badness, style) });
        }
    }
    arrows
}

/// The arrow to another chip: links that wrap around leave at the outer side.
fn sign(glyphs: Glyphs, own: Option<GridCell>, peer: Option<GridCell>, down: bool) -> &'static str {
    let pick = |unicode, ascii| if glyphs.ascii { ascii } else { unicode };
    if down {
        return glyphs.link(LinkCondition::Down);
    }
    match own.zip(peer) {
        Some((own, peer)) if own.row == peer.row && own.column < peer.column => pick("◀", "<"),
        Some((own, peer)) if own.row == peer.row => pick("▶", ">"),
        Some((own, peer)) if own.column == peer.column && own.row < peer.row => pick("▲", "^"),
        Some((own, peer)) if own.column == peer.column => pick("▼", "v"),
        _ => pick("↗", "*"),
    }
}
