//! Where cores spend their time: sampled program counters, resolved to source lines with the images
//! on the core, and counted.

use crate::spin::Spin;
use images::code::source_at;
use images::{ImageMap, SourceLine, code_words};
use layouts::CoreId;
use machine::samples::{CoreSamples, PcSample};
use machine::snapshot::AccessError;
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Where a core was when it was sampled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CoreProfile {
    /// The core.
    #[serde(skip)]
    pub core: CoreId,
    /// Number of samples.
    pub samples: u32,
    /// From the first sample to the last, in device cycles of a nanosecond.
    pub span_cycles: u64,
    /// The places, the most frequent first.
    pub places: Vec<ProfilePlace>,
    /// The loop in which it spins, if the instructions were looked at and tell that.
    #[serde(skip)]
    pub spin: Option<Spin>,
    /// Whether the samples may have come through this core, which then is seen relaying them.
    pub relays: bool,
    /// Why there are fewer samples than ordered.
    #[serde(skip)]
    pub missing: Option<AccessError>,
}

/// A place in the code at which a core was sampled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProfilePlace {
    /// Number of samples.
    pub count: u32,
    /// Number of samples whose program counter is certainly that of an instruction in flight; the
    /// others are recent ones.
    pub certain: u32,
    /// The program counters, each once, in order.
    pub pcs: Vec<u32>,
    /// The name of the image with the code; null if no image that is known there has it.
    pub image: Option<String>,
    /// The parameters that say what is waited for, as far as the debug information has their values.
    #[serde(skip)]
    pub constants: Vec<(&'static str, u64)>,
    /// File and line, and the functions around them, innermost first; empty if they are unknown.
    #[serde(rename = "frames")]
    pub lines: Vec<SourceLine>,
}

/// The parameters of `noc_semaphore_wait` and its like, and of `cb_wait_front` and its like.
const PARAMETERS: [&str; 4] = ["val", "operand", "num_pages", "num_tiles"];

impl ProfilePlace {
    /// Returns the line, the functions around it, and the image; the program counters where no line is
    /// known.
    pub fn words(&self) -> String {
        let pcs: Vec<String> = self.pcs.iter().map(|pc| format!("{pc:#x}")).collect();
        code_words(self.image.as_deref(), &self.lines, &pcs.join(" "))
    }
}

/// What makes two samples the same place: image and lines, or the program counter where no lines
/// are known.
type PlaceKey = (Option<String>, Vec<SourceLine>, Option<u32>);

impl CoreProfile {
    /// Returns the program counters of all places.
    #[must_use]
    pub fn pcs(&self) -> Vec<u32> {
        self.places.iter().flat_map(|place| place.pcs.iter().copied()).collect()
    }
}

/// Resolves and counts the samples of a core.
pub fn profile(images: &ImageMap, of: &CoreSamples) -> CoreProfile {
    let mut resolved: BTreeMap<u32, PlaceKey> = BTreeMap::new();
    let mut places: BTreeMap<PlaceKey, ProfilePlace> = BTreeMap::new();
    for PcSample { pc, certain, .. } in &of.samples {
        let key = resolved.entry(*pc).or_insert_with(|| resolve(images, of.core, *pc));
        let place = places.entry(key.clone()).or_insert_with_key(|(image, lines, _)| {
            let (image, lines) = (image.clone(), lines.clone());
            let constants = constants_at(images, of.core, *pc);
            ProfilePlace { count: 0, certain: 0, pcs: Vec::new(), image, constants, lines }
        });
        place.count += 1;
        place.certain += u32::from(*certain);
        if let Err(at) = place.pcs.binary_search(pc) {
            place.pcs.insert(at, *pc);
        }
    }
    let mut places: Vec<_> = places.into_values().collect();
    places.sort_by_key(|place| (Reverse(place.count), place.pcs.first().copied()));
    let times = || of.samples.iter().map(|sample| sample.cycles);
    CoreProfile {
        core: of.core,
        samples: of.samples.len() as u32,
        span_cycles: times().max().zip(times().min()).map_or(0, |(last, first)| last - first),
        places,
        spin: None,
        relays: of.relays,
        missing: of.missing.clone(),
    }
}

fn resolve(images: &ImageMap, core: CoreId, pc: u32) -> PlaceKey {
    let (image, lines) = source_at(images, core, pc);
    let unknown = lines.is_empty().then_some(pc);
    (image, lines, unknown)
}

fn constants_at(images: &ImageMap, core: CoreId, pc: u32) -> Vec<(&'static str, u64)> {
    let Some(load) = images.running_at(core, pc) else { return Vec::new() };
    let value = |name| Some((name, load.constant_at(pc, name)?));
    PARAMETERS.into_iter().filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use images::Provenance;
    use layouts::{ChipId, CoreKind, NocXy};

    #[test]
    fn samples_are_counted_by_their_lines() {
        let core = CoreId { chip: ChipId(0), tile: NocXy { x: 9, y: 6 }, core: CoreKind::Erisc };
        let (mut images, _) = ImageMap::firmware();
        images.declare(core, "ring_ping", Provenance::Stated);
        let kernel = images.named("ring_ping").unwrap();
        let start = kernel.symbols.functions("kernel_main").unwrap()[0].parts[0].begin as u32;
        let at = |cycles, pc| PcSample { cycles, pc, certain: cycles > 30 };
        let pcs = [(10, start), (20, 0x3_FFFC), (30, start), (40, start), (50, 0x3_FFF8)];
        let samples = pcs.map(|(cycles, pc)| at(cycles, pc)).to_vec();
        let found = profile(&images, &CoreSamples { core, samples, relays: false, missing: None });
        assert_eq!((found.samples, found.span_cycles, found.places.len()), (5, 40, 3));
        let [first, second, third] = &found.places[..] else { unreachable!() };
        assert_eq!((first.count, first.certain, &first.pcs), (3, 1, &vec![start]));
        assert_eq!(first.image.as_deref(), Some("ring_ping"));
        assert!(first.lines.iter().any(|l| l.function.as_deref() == Some("kernel_main")));
        assert_eq!((second.count, &second.pcs, &second.image), (1, &vec![0x3_FFF8], &None));
        assert_eq!((third.count, third.lines.len()), (1, 0));
    }

    #[test]
    fn a_call_with_a_constant_tells_it_within_its_code_only() {
        let tile = NocXy { x: 1, y: 1 };
        let core = CoreId { chip: ChipId(0), tile, core: CoreKind::Brisc };
        let (mut images, _) = ImageMap::firmware();
        images.declare(core, "tensix_brisc", Provenance::Stated);
        let loads = images.resolved(core);
        let [firmware] = &loads[..] else { unreachable!() };
        let around = firmware.image.symbols.functions("firmware_main").unwrap()[0].parts[0].clone();
        let (start, end) = (around.begin as u32, around.end as u32);
        // It calls `run_kernel(0)` in line.
        let told = |at: &u32| firmware.constant_at(*at, "processor") == Some(0);
        let inside: Vec<u32> = (start..end).step_by(4).filter(told).collect();
        let frames = firmware.frames_at(inside[0]).unwrap();
        let run_kernel = |it: &SourceLine| it.function.as_deref() == Some("run_kernel");
        assert!(frames.iter().any(run_kernel), "{frames:?}");
        assert_eq!(firmware.constant_at(start, "processor"), None);
        assert_eq!(firmware.constant_at(0x3_FFFC, "processor"), None);
    }
}
