//! The versions of what made a bundle, and of the ELFs that run.

use console::machine::{Machine, Opening};
use console::words;
use decode::inspect::ReadSet;
use images::Image;
use recordings::{FORMAT, sha256};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Returns the lines.
pub(super) fn text(machine: &mut Machine, target: &Opening) -> String {
    let mut text = format!(
        "meshscope      {}\ntarget         {}\nformat         {FORMAT}, of this meshscope\n",
        env!("CARGO_PKG_VERSION"),
        target.words
    );
    if let Some(head) = machine.session().file().and_then(|file| file.head.as_ref()) {
        let _ = write!(
            text,
            "recorded by    meshscope {}\nrecorded of    {}\nasked for      {}\n",
            head.made_by, head.target, head.asked
        );
    }
    text + "\nELFs that run:\n" + &elfs(machine)
}

fn elfs(machine: &mut Machine) -> String {
    let everything = ReadSet::everything(&machine.mesh());
    let state = machine.take(&everything).state;
    let cores = state.chips.iter().flat_map(|chip| &chip.tiles).flat_map(|tile| &tile.cores);
    let names: BTreeSet<&str> =
        cores.flat_map(|core| &core.images).map(|image| image.name.as_str()).collect();
    let images = machine.images();
    let known = names.iter().filter_map(|name| images.named(name));
    known.map(|image| line(image)).collect()
}

fn line(image: &Image) -> String {
    let Image { name, role, build_id, path, .. } = image;
    let build_id = build_id.as_ref().map_or("none".to_owned(), |(_, id)| words::hex(id));
    let path = path.as_ref().map_or("built in".to_owned(), |path| path.display().to_string());
    let sha256 = sha256(image.elf());
    format!("{} {name}: build id {build_id}, SHA-256 {sha256}, {path}\n", role.name())
}
