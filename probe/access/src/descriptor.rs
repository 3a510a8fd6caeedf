//! Converts a discovered mesh to a cluster descriptor, for other tools and for the emulator.

use layouts::{ClusterDescriptor, DescribedBoard, DescribedChip};
use machine::target::{Chip, Mesh};

/// Describes the mesh. Chips keep their ids, and PCIe chips are numbered in that order. Facts that
/// discovery does not determine get the values that a file without them has: NIUs translate
/// coordinates, and boards have types without ids.
pub fn descriptor(name: &str, mesh: &Mesh) -> ClusterDescriptor {
    let mut pcie = 0..;
    let chips = mesh.chips.iter().map(|chip| described(chip, &mut pcie));
    ClusterDescriptor {
        name: name.to_owned(),
        kind: mesh.kind,
        chips: chips.collect(),
        links: mesh.links.iter().map(|link| (link.a, link.b)).collect(),
        ..ClusterDescriptor::default()
    }
}

fn described(chip: &Chip, pcie: &mut impl Iterator<Item = u32>) -> DescribedChip {
    // The chip's name is `n300 L`, the board's `n300`.
    let kind = chip.board.as_deref().and_then(|board| board.split(' ').next());
    let board = kind.map(|kind| DescribedBoard { id: None, kind: Some(kind.to_owned()) });
    DescribedChip {
        id: chip.id,
        file_id: chip.id.0.into(),
        coord: chip.coord,
        unique_id: chip.unique_id,
        pcie: if chip.pcie { pcie.next() } else { None },
        noc_translation: true,
        harvested_rows: chip.harvested_rows.clone(),
        board,
        asic_location: None,
        pci_address: None,
        host: 0,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::bar_target::BarTarget;
    use crate::expect::differences;
    use decode::images::ImageMap;
    use machine::patience::Patience;
    use machine::target::{Abilities, Target};
    use transport::emulator_bar::EmulatorBar;
    use workloads::scene::power_on;

    fn discovered(described: &ClusterDescriptor) -> Mesh {
        let (images, _) = ImageMap::firmware();
        let config = power_on::config(described, &images, 0).unwrap();
        let bar = Box::new(EmulatorBar::new(emulator::Mesh::new(config).unwrap()));
        let abilities = Abilities { stepped_time: true, ..Abilities::default() };
        let target = BarTarget::open("emulator", bar, abilities, Patience::default()).unwrap();
        target.mesh().clone()
    }

    #[test]
    fn a_mesh_that_is_described_is_discovered_again() {
        for shipped in ["n150", "n300", "t3000"] {
            let found = discovered(&ClusterDescriptor::shipped(shipped).unwrap().unwrap());
            let text = descriptor(shipped, &found).to_yaml();
            let described = ClusterDescriptor::parse(shipped, &text).unwrap();
            assert_eq!(differences(&found, &described), []);
            // Compares ids, positions, boards, gateways, rows and links.
            assert_eq!(discovered(&described), found, "{shipped}");
        }
    }
}
