//! The options of `launch`, and the order that they state.

use clap::Args;
use console::exit::Failure;
use console::launching::Order;
use console::locate::{self, Where};
use images::core_named;
use launch::elf_kernel::{CircularBuffer, ElfKernel};
use layouts::CoreKind;
use machine::place::Place;
use std::path::PathBuf;

/// How long `--wait` waits, in cycles of a nanosecond, if nothing else is said: 100 ms.
const PATIENCE_CYCLES: u64 = 100_000_000;
/// Circular buffers of a core (tt-metal.md 1.2: `local_cb_mask` has 64 bits).
const BUFFERS: u8 = 64;

/// Launch a kernel of your own, watch it, and take it away.
///
/// The ELF is launched by tt-metal's host protocol on free tiles, whose firmware is booted if it
/// does not run; afterwards the kernel is an image like the others. On a target outside this
/// process it needs --allow launch,write, and reset where a compute tile is booted or reset.
/// Without --target, and for an emulated mesh without run=, nothing else runs there.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub(crate) struct LaunchArguments {
    /// The kernel: an executable ELF, linked for the address at which it runs.
    #[arg(value_name = "KERNEL.elf", required_unless_present = "stop")]
    pub(crate) kernel: Option<PathBuf>,
    /// The tiles or cores: 0:1-2, 0:e8 or 0:1-2:trisc1.
    #[arg(long, value_name = "PLACE,...", value_delimiter = ',', required = true)]
    pub(crate) on: Vec<String>,
    /// The core of each tile: brisc, ncrisc, trisc0, trisc1, trisc2 or erisc; by default the one
    /// for which the ELF was linked.
    #[arg(long, value_name = "CORE")]
    pub(crate) core: Option<String>,
    /// Runtime arguments, words of 32 bits, decimal or 0x hexadecimal.
    #[arg(long, value_name = "WORD,...", value_delimiter = ',', num_args = 1.., conflicts_with = "stop")]
    pub(crate) args: Vec<String>,
    /// Common runtime arguments, likewise.
    #[arg(long, value_name = "WORD,...", value_delimiter = ',', num_args = 1.., conflicts_with = "stop")]
    pub(crate) common_args: Vec<String>,
    /// Initial values of the semaphores, likewise.
    #[arg(long, value_name = "WORD,...", value_delimiter = ',', num_args = 1.., conflicts_with = "stop")]
    pub(crate) semaphores: Vec<String>,
    /// Circular buffers: number, address in L1, pages and bytes of a page, such as 0:0x40000:4:2048.
    #[arg(
        long,
        value_name = "N:ADDR:PAGES:BYTES,...",
        value_delimiter = ',',
        conflicts_with = "stop"
    )]
    pub(crate) cb: Vec<String>,
    /// Wait until the kernel has returned; one that has not when the time is over is taken away,
    /// and the exit code is 1.
    #[arg(long, conflicts_with = "stop")]
    pub(crate) wait: bool,
    /// Let it run for this time of the target, such as 500us or 2ms, and take it away then; with
    /// --wait this long at most [default: 100ms].
    #[arg(long = "for", value_name = "TIME", conflicts_with = "stop")]
    pub(crate) over: Option<String>,
    /// Take away the kernel that runs on the tiles, instead of launching one.
    #[arg(long, conflicts_with = "kernel")]
    pub(crate) stop: bool,
}

impl LaunchArguments {
    /// Returns the order that the options state; the ELF is not opened yet.
    ///
    /// # Errors
    /// `Usage` with the first option that is wrong.
    pub(crate) fn order(&self) -> Result<Order, Failure> {
        self.parse().map_err(Failure::Usage)
    }

    fn parse(&self) -> Result<Order, String> {
        let cores = self.on.iter().map(|text| locate::core(text));
        let cores = cores.collect::<Result<Vec<Where>, _>>()?;
        let over = self.over.as_deref().map(|text| probe::spec::time("--for", text));
        let over = over.transpose().map_err(|error| error.to_string())?;
        let kernel = ElfKernel {
            image: String::new(),
            arguments: words("--args", &self.args)?,
            common: words("--common-args", &self.common_args)?,
            semaphores: words("--semaphores", &self.semaphores)?,
            buffers: self.cb.iter().map(|text| buffer(text)).collect::<Result<_, _>>()?,
        };
        Ok(Order {
            elf: self.kernel.clone(),
            places: places(&cores)?,
            on: self.on.join(","),
            core: one_core(self.core.as_deref(), &cores)?,
            kernel,
            wait: self.wait,
            over_cycles: over.or(self.wait.then_some(PATIENCE_CYCLES)),
        })
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
