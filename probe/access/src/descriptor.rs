//! Converts a discovered mesh to a cluster descriptor, for other tools and for the emulator.

use layouts::{ClusterDescriptor, DescribedBoard, DescribedChip};
use machine::target::{Chip, Mesh};

/// Describes the mesh. Chips keep their numbers, and those with PCIe are counted in their order. What discovery does not look
/// at is as where a file does not say: NIUs translate coordinates, and boards have types without ids.
///
/// # Errors
/// A chip of which is unknown what a description has to say, in one sentence.
pub fn descriptor(name: &str, mesh: &Mesh) -> Result<ClusterDescriptor, String> {
    let mut pcie = 0..;
    let short = |chip: &Chip| chip.unique_id.map(|id| id as u32);
    let of_galaxy = |chip: &Chip| {
        let known = short(chip).is_some_and(|id| id != 0);
        known && !mesh.chips.iter().any(|other| other.pcie && short(other) == short(chip))
    };
    let chips = mesh.chips.iter().map(|chip| {
        let mut described = described(chip, &mut pcie)?;
        if described.board.is_none() && of_galaxy(chip) {
            described.board = Some(DescribedBoard { id: None, kind: Some("galaxy".to_owned()) });
        }
        Ok(described)
    });
    Ok(ClusterDescriptor {
        name: name.to_owned(),
        kind: mesh.kind,
        chips: chips.collect::<Result<_, String>>()?,
        links: mesh.links.iter().map(|link| (link.a, link.b)).collect(),
        ..ClusterDescriptor::default()
    })
}

fn described(chip: &Chip, pcie: &mut impl Iterator<Item = u32>) -> Result<DescribedChip, String> {
    let unknown = || format!("which rows of chip {} are fused off is unknown", chip.id);
    // `n300 L` is a chip's name, `n300` the board's.
    let kind = chip.board.as_deref().and_then(|board| board.split(' ').next());
    let board = kind.map(|kind| DescribedBoard { id: None, kind: Some(kind.to_owned()) });
    Ok(DescribedChip {
        id: chip.id,
        coord: chip.coord,
        unique_id: chip.unique_id,
        pcie: if chip.pcie { pcie.next() } else { None },
        harvested_rows: chip.harvested_rows.clone().ok_or_else(unknown)?,
        board,
        seat: chip.seat.as_deref().cloned(),
        ..DescribedChip::blank(chip.id.0.into())
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::bar_target::BarTarget;
    use diagnosis::expect::differences;
    use images::ImageMap;
    use machine::patience::Deadlines;
    use machine::target::{Abilities, Target};
    use transport::emulator_bar::EmulatorBar;
    use workloads::scene::power_on;

    fn discovered(described: &ClusterDescriptor) -> Mesh {
        let (images, _) = ImageMap::firmware();
        let config = power_on::config(described, &images, 0).unwrap();
        let bar = Box::new(EmulatorBar::new(emulator::Mesh::new(config).unwrap()));
        let abilities = Abilities { stepped_time: true, ..Abilities::default() };
        let target = BarTarget::open("emulator", bar, abilities, Deadlines::default()).unwrap();
        target.mesh().clone()
    }

    #[test]
    fn a_mesh_that_is_described_is_discovered_again() {
        for shipped in ["n150", "n300", "t3000"] {
            let found = discovered(&ClusterDescriptor::shipped(shipped).unwrap().unwrap());
            let text = descriptor(shipped, &found).unwrap().to_yaml();
            let described = ClusterDescriptor::parse(shipped, &text).unwrap();
            assert_eq!(differences(&found, &described), []);
            // Compares ids, positions, boards, gateways, rows and links.
            assert_eq!(discovered(&described), found, "{shipped}");
        }
    }
}
