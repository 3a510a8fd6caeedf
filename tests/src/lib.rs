//! Behaviour across crates, golden frames, and the project's rules as tests.
//!
//! `tests/house` is one program: the arrows between crates, coding rules, citations of the pages on
//! silicon and tt-metal, every screen on every recording as a golden frame (`BLESS=1 cargo test -p
//! tests` writes new ones), and backtraces. `tests/recipes` describes how to add a register decode, a verb,
//! a screen, a kernel, a finding, a target or a chip. [`tt_fabric`] and the example `tt-fabric` build
//! tt-metal's own routers for an emulated mesh (`tests/tt-fabric.md`). [`study`] and the program
//! `study` run seeded studies, those of `probe/studies` too (`tests/studies.md`).
//!
//! # Tests that need more than a clone
//!
//! Without these variables such tests print `skipped:` and the reason.
//!
//! - `MESHSCOPE_TTSIM_DIR`: a folder with the vendor's `libttsim_wh.so`, `libttsim_wh_x2.so`, ...;
//!   the same images and sequences run there.
//! - `MESHSCOPE_FAKEKMD`: the program that replaces the kernel driver under an unmodified binary
//!   (with `MESHSCOPE_TTSIM_DIR`); tests `--target silicon` with all its faults.
//! - `MESHSCOPE_PEER_PYTHON`: a Python with tt-umd and tt-exalens. They open emulated meshes as a
//!   simulator and, with `MESHSCOPE_FAKEKMD`, as silicon.
//! - `MESHSCOPE_TT_METAL_ELFS`: the unpacked Python package `ttnn==0.81.1`; questions with known
//!   answers about real firmware, its boot on the emulator, and, with Debian's
//!   `gcc-riscv64-unknown-elf` and `libstdc++-12-dev`, fabrics of tt-metal's own kernels (the long
//!   ones with `cargo test -p tests --test house -- --ignored`).
//! - `MESHSCOPE_TT_METAL_RUNTIME`: a folder that `tests/tt-metal/setup` has made of that package's file
//!   (Python 3.10); programs of tt-metal's own runtime run on an emulated mesh.
//! - `MESHSCOPE_READERS`: a folder with the Python packages of `.ci/python`, `target/python` without
//!   it; they read recordings and exported traces, and use tools. `MESHSCOPE_TRACE_PROCESSOR`: Perfetto's program,
//!   which is in no registry of packages; it reads the traces too.
//! - `MESHSCOPE_MUTATE`: `seed=7,count=100000,seconds=60`, the seed and the number of mutated ELFs
//!   for `symbols`. An ELF that causes a panic, a loop or high memory use is kept and named.
//!
//! # The gate, and the long rounds
//!
//! CI has no vendor simulator. `.ci/run` installs the tools, checks formatting, lints and the
//! firmware images, downloads the package, runs the tests, and ends with what each phase took and
//! with the tests over 2 s. Its limit is 20 minutes, so rounds that take longer are in `.ci/deep`,
//! which a person runs before an issue is closed (`.ci/deep routers` runs one). `.ci/run` runs a
//! part of one, which the hash of the commit chooses.
//!
//! | round | contents | part |
//! | --- | --- | --- |
//! | `mutations` | broken ELFs, with a seed of the commit | 60 s of 300 |
//! | `kills` | writers of recordings are killed | 20 of 100 |
//! | `reroute` | links of a fabric are lost under random traffic | 10 seeds of 30 |
//! | `races` | races of the vendor's Ethernet guide, routing loops, packet time-outs | 5 seeds of 20 |
//! | `verdicts` | the bank of hangs, a seed of each kind | an eighth of the kinds |
//! | `routers` | tt-metal's own routers, muxes and workers: torn down, paused, stepped, judged, and on a T3000 | one test of 9 |
//! | `pauses` | all-gathers are paused and resumed at many moments | 3 seeds of 10 |
//! | `cleanings` | killed runs are torn down at many moments | 4 moments of 20 |
//! | `matrix` | every collective over every transport, mux, layout and number of ranks | a twelfth |
//! | `mixes` | reads of several hosts through one routing queue | 12 rounds of 60 |
//! | `operations` | operations of tt-metal's own runtime, judged | 9 programs of 90 |
//! | `past` | the emulator's past at many cycles, random programs, with overflow checks | none |
//! | `figures` | the table of figures, in the profile of a release | none |
//! | `tools` | the Model Context Protocol's own client uses the tools of `meshscope mcp` | none |
//! | `scan` | 200 million rows of logs are written, and asked by this program and DuckDB | none |
//! | `package` | the wheel and the .deb are made, installed in an empty root, and run | none |
//! | `fuzz` | the fuzz targets build | none |
//!
//! # Fuzzing and benchmarks
//!
//! - `cd symbols && cargo +nightly fuzz run types` (or `load`, `values`, `unwind`, `split`): the
//!   same corpus and entry points as the tests with mutated ELFs.
//! - `cargo bench -p tests --bench table`: README's figures, each over an anchor of the same run, held
//!   by `tests/benches/table/floors.toml` in `.ci/deep figures`.
//! - `cargo bench -p emulator` and `cargo bench -p symbols` print figures of one crate.
//! - `cargo bench -p probe --bench mesh`: whole meshes, idle compared with the vendor's simulator,
//!   and in an all-gather on one thread and two. Processor time is printed next to host time, for
//!   busy machines.
//! - `cargo bench -p probe --bench numbers`: pipe, access layer, snapshots, waypoints and the first
//!   word; with `MESHSCOPE_TTSIM_DIR` also on the vendor's simulator, and with
//!   `MESHSCOPE_PEER_PYTHON` also tt-exalens'.
#![forbid(unsafe_code)]

pub mod runtime;
pub mod study;
pub mod tt_fabric;
