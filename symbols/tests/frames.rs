//! Addresses to frames: deep chains, code without debug information, and lines. `questions` covers
//! every instruction.

#![allow(clippy::unwrap_used, reason = "a failed test stops")]

use std::fmt::Write;

use symbols::{Location, Symbols};

fn open(name: &str) -> Symbols {
    let (symbols, problems) =
        Symbols::open(format!("{}/../firmware/cases/images/{name}", env!("CARGO_MANIFEST_DIR")))
            .unwrap();
    assert_eq!(problems, []);
    symbols
}

/// Returns the frames in the format of llvm-symbolizer, without columns.
fn text(frames: &[Location]) -> String {
    let mut text = String::new();
    for frame in frames {
        let function = frame.function.as_deref().unwrap_or("??");
        let file = frame.file.as_deref().unwrap_or("??");
        writeln!(text, "{function}\n{file}:{}", frame.line.unwrap_or(0)).unwrap();
    }
    text
}

#[test]
fn sixteen_frames_of_one_address() {
    let symbols = open("frames.elf");
    let function = symbols.symbol("_ZN4deep14start_of_chainILi7EEEvj").unwrap();
    let addresses = function.address..function.address + function.size;
    let chains = addresses.map(|address| symbols.frames_at(address));
    let frames = chains.max_by_key(Vec::len).unwrap();
    let names: Vec<&str> = frames.iter().map(|frame| frame.function.as_deref().unwrap()).collect();
    let mut want: Vec<String> = (0..15).map(|level| format!("level_{level}")).collect();
    want.push("start_of_chain<7>".to_owned());
    assert_eq!(names, want);
    assert!(frames[..15].iter().all(|frame| frame.inlined) && !frames[15].inlined);
    assert_eq!(frames[15].linkage_name.as_deref(), Some("_ZN4deep14start_of_chainILi7EEEvj"));
    assert_eq!(frames[15].line, Some(34));
}

#[test]
fn nameless_inlined_frames_keep_their_place() {
    let symbols = open("nameless.elf");
    let function = symbols.symbol("_Z5twicej").unwrap();
    let frames = symbols.frames_at(function.address);
    let library = "/meshscope/firmware/cases/nameless/library.cpp";
    let caller = "/meshscope/firmware/cases/nameless/caller.cpp";
    assert_eq!(text(&frames), format!("??\n{library}:8\n??\n{library}:12\ntwice\n{caller}:9\n"));
    assert!(frames[0].inlined && frames[1].inlined && !frames[2].inlined);
}

#[test]
fn a_router_is_fifteen_frames_deep() {
    let symbols = open("router.elf");
    let main = symbols.symbol("kernel_main").unwrap();
    let chains = (main.address..main.address + main.size).map(|at| symbols.frames_at(at));
    let deepest = chains.max_by_key(Vec::len).unwrap();
    let names: Vec<&str> = deepest.iter().filter_map(|frame| frame.function.as_deref()).collect();
    assert_eq!((names.len(), names[0], names[14]), (15, "noc_mid", "kernel_main"));
    assert!(names.contains(&"update_edm_buffer_slot"), "{names:?}");
    assert!(names.contains(&"run_receiver_channel_step_impl<15>"), "{names:?}");
}

#[test]
fn a_clone_is_named_whole() {
    let symbols = open("parts.elf");
    let name = |symbol: &str| {
        let at = symbols.symbol(symbol).unwrap().address;
        symbols.frames_at(at).last().unwrap().name().unwrap().into_owned()
    };
    assert_eq!(name("_ZL4scanPKjii.constprop.0"), "scan [clone .constprop.0]");
    assert_eq!(name("_Z7dividedj.part.0"), "divided [clone .part.0]");
    assert_eq!(name("start"), "start");
}

#[test]
fn clones_of_clones_in_tt_metals_router() {
    let Some(folder) = std::env::var_os("MESHSCOPE_TT_KERNELS") else {
        println!("skipped: MESHSCOPE_TT_KERNELS is not set");
        return;
    };
    let elf = std::path::PathBuf::from(folder).join("router_a_waypoints/erisc.elf");
    let (symbols, _) = Symbols::open(elf).unwrap();
    let clones = symbols.functions("noc_inline_dw_write").unwrap().into_iter();
    let parts = clones.flat_map(|function| function.parts);
    let names: Vec<_> = parts
        .map(|part| symbols.frames_at(part.begin).last().unwrap().name().unwrap().into_owned())
        .collect();
    let whole = "noc_inline_dw_write<(InlineWriteDst)0, true> [clone .constprop.0] [clone .isra.0]";
    assert_eq!(names, [whole]);
}

#[test]
fn code_that_the_linker_threw_away_is_nowhere() {
    let symbols = open("parts.elf");
    assert!(symbols.function_names().iter().any(|name| name == "divided"));
    let thrown_away = symbols.functions("thrown_away").ok();
    assert!(thrown_away.is_none_or(|found| found.iter().all(|function| function.parts.is_empty())));
    assert_eq!(symbols.frames_at(0), []);
    assert_eq!(symbols.code_of_line("cases/parts.cpp", 74).unwrap(), []);
}

#[test]
fn code_without_debug_information_has_its_symbol() {
    let symbols = open("frames.elf");
    let helper = symbols.symbol("unnamed_helper").unwrap();
    let frames = symbols.frames_at(helper.address);
    assert_eq!(text(&frames), "unnamed_helper\n??:0\n");
    assert_eq!(symbols.symbol_at(helper.address + 4).unwrap().name, "unnamed_helper");
    assert_eq!(symbols.frames_at(0), []);
    assert_eq!(symbols.frames_at(u64::MAX), []);
    let symbol = symbols.symbol("_ZN4deep14start_of_chainILi7EEEvj").unwrap();
    assert_eq!(symbol.demangled().unwrap(), "void deep::start_of_chain<7>(unsigned int)");
}

#[test]
fn lines_lead_to_addresses_and_back() {
    let symbols = open("frames.elf");
    let found = symbols.code_of_line("cases/frames.cpp", 53).unwrap();
    assert!(!found.is_empty());
    for code in found {
        assert_eq!(symbols.frames_at(code.begin)[0].line, Some(53));
    }
    assert!(symbols.code_of_line("rames.cpp", 48).is_err());
    assert_eq!(symbols.code_of_line("frames.cpp", 4).unwrap(), []);
}
