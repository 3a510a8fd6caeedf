//! The arguments of `launch`, parsed before a target is opened.

use crate::args::LaunchArguments;
use crate::exit::Failure;
use crate::locate::{self, Where};
use images::core_named;
use launch::elf_kernel::{CircularBuffer, ElfKernel};
use layouts::CoreKind;
use machine::place::Place;
use std::path::Path;
use symbols::{Problem, Symbols};

/// How long `--wait` waits, in cycles of a nanosecond, if nothing else is said: 100 ms.
const PATIENCE_CYCLES: u64 = 100_000_000;
/// Circular buffers of a core (tt-metal.md 1.2: `local_cb_mask` has 64 bits).
const BUFFERS: u8 = 64;

/// What to do.
pub(crate) struct Order {
    /// The ELF; none if what runs is to be taken away.
    pub(crate) elf: Option<Elf>,
    pub(crate) places: Vec<Place>,
    pub(crate) core: Option<CoreKind>,
    /// The kernel without the name of its image.
    pub(crate) kernel: ElfKernel,
    pub(crate) wait: bool,
    /// Time after which the kernel is taken away, in cycles.
    pub(crate) over_cycles: Option<u64>,
}

/// An opened ELF.
pub(crate) struct Elf {
    /// The path as given.
    pub(crate) path: String,
    /// The file's name without `.elf`.
    pub(crate) name: String,
    pub(crate) symbols: Symbols,
}

impl Order {
    pub(crate) fn of(options: &LaunchArguments) -> Result<Self, Failure> {
        Self::parse(options).map_err(Failure::Usage)
    }

    fn parse(options: &LaunchArguments) -> Result<Self, String> {
        let cores = options.on.iter().map(|text| locate::core(text));
        let cores = cores.collect::<Result<Vec<Where>, _>>()?;
        let over = options.over.as_deref().map(|text| probe::spec::time("--for", text));
        let over = over.transpose().map_err(|error| error.to_string())?;
        let kernel = ElfKernel {
            image: String::new(),
            arguments: words("--args", &options.args)?,
            common: words("--common-args", &options.common_args)?,
            semaphores: words("--semaphores", &options.semaphores)?,
            buffers: options.cb.iter().map(|text| buffer(text)).collect::<Result<_, _>>()?,
        };
        Ok(Self {
            core: one_core(options.core.as_deref(), &cores)?,
            places: places(&cores)?,
            kernel,
            wait: options.wait,
            over_cycles: over.or(options.wait.then_some(PATIENCE_CYCLES)),
            elf: options.kernel.as_deref().map(Elf::open).transpose()?,
        })
    }
}

impl Elf {
    fn open(path: &Path) -> Result<Self, String> {
        let shown = path.display().to_string();
        let named =
            |what: String| if what.contains(&shown) { what } else { format!("{shown}: {what}") };
        let (symbols, problems) = Symbols::open(path).map_err(|error| named(error.to_string()))?;
        if problems.contains(&Problem::Relocatable) {
            return Err(named("it is an object file, which has no addresses: link it".to_owned()));
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { path: shown, name: stem, symbols })
    }
}

/// Returns the tiles, each once.
fn places(cores: &[Where]) -> Result<Vec<Place>, String> {
    let mut places: Vec<Place> = Vec::new();
    for &Where { chip, tile, .. } in cores {
        let place = Place { chip, tile };
        if places.contains(&place) {
            return Err(format!("--on names {place} twice; a tile runs one launch at a time"));
        }
        places.push(place);
    }
    Ok(places)
}

/// Returns the core that the places and `--core` state.
fn one_core(given: Option<&str>, cores: &[Where]) -> Result<Option<CoreKind>, String> {
    let parse = |text: &str| core_named(text).ok_or_else(|| format!("--core: '{text}' is no core"));
    let mut stated = given.map(parse).transpose()?;
    for core in cores.iter().filter_map(|place| place.core) {
        match stated {
            Some(other) if other != core => {
                let (core, other) = (core.name(), other.name());
                return Err(format!("an ELF is linked for one core, not for {other} and {core}"));
            }
            _ => stated = Some(core),
        }
    }
    Ok(stated)
}

fn words(option: &str, texts: &[String]) -> Result<Vec<u32>, String> {
    texts.iter().map(|text| word(option, text)).collect()
}

fn word(option: &str, text: &str) -> Result<u32, String> {
    let number = locate::number(text).map_err(|why| format!("{option}: {why}"))?;
    let beyond = |_| format!("{option}: '{text}' is more than a word of 32 bits");
    u32::try_from(number).map_err(beyond)
}

fn buffer(text: &str) -> Result<CircularBuffer, String> {
    let wrong = || format!("--cb: '{text}' is not N:ADDR:PAGES:BYTES, such as 0:0x40000:4:2048");
    let parts: Vec<&str> = text.split(':').collect();
    let [number, address, pages, page_bytes] = parts[..] else { return Err(wrong()) };
    let number = u8::try_from(word("--cb", number)?).ok().filter(|number| *number < BUFFERS);
    let number = number.ok_or_else(|| format!("--cb: '{text}': a core has {BUFFERS} buffers"))?;
    let [address, pages, page_bytes] =
        [word("--cb", address)?, word("--cb", pages)?, word("--cb", page_bytes)?];
    if pages.checked_mul(page_bytes).is_none_or(|bytes| bytes == 0) {
        return Err(wrong());
    }
    Ok(CircularBuffer { number, address, pages, page_bytes })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn a_circular_buffer_is_read_as_people_write_it() {
        let found = buffer("3:0x50000:4:64").unwrap();
        let expected = CircularBuffer { number: 3, address: 0x5_0000, pages: 4, page_bytes: 64 };
        assert_eq!(found, expected);
        for wrong in ["3:0x50000:4", "64:0:1:1", "0:0:0:16", "x:0:1:1", "0:0:0x10000:0x10000"] {
            assert!(buffer(wrong).unwrap_err().starts_with("--cb: '"), "{wrong}");
        }
    }

    #[test]
    fn places_state_one_core() {
        let cores =
            |texts: &[&str]| texts.iter().map(|t| locate::core(t).unwrap()).collect::<Vec<_>>();
        let trisc = one_core(None, &cores(&["0:1-2:trisc1", "0:1-3"])).unwrap();
        assert_eq!(trisc, Some(CoreKind::Trisc1));
        let error = one_core(Some("brisc"), &cores(&["0:1-2:trisc1"])).unwrap_err();
        assert_eq!(error, "an ELF is linked for one core, not for brisc and trisc1");
        assert!(places(&cores(&["0:9-6", "0:e8"])).unwrap_err().contains("twice"));
    }
}
