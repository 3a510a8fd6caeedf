//! Behaviour across crates, golden frames, and the rules of the house as tests.
//!
//! `tests/house` is one program: the arrows between crates, habits, citations of the pages on silicon and tt-metal, every screen
//! on every recording as a golden frame (`BLESS=1 cargo test -p tests` writes them anew), backtraces. `tests/recipes` says how to
//! add a register decode, a screen, a kernel, a finding, a target or a chip.
//!
//! # What takes more than a clone
//!
//! Without these variables such tests say `skipped: why`.
//!
//! | variable | what it adds to `cargo test` |
//! | --- | --- |
//! | `MESHSCOPE_TTSIM_DIR` | A folder with the vendor's `libttsim_wh.so`, `libttsim_wh_x2.so`, ...: the same images and sequences run there. |
//! | `MESHSCOPE_FAKEKMD` | The program that stands in for the kernel driver under an unmodified binary (with `MESHSCOPE_TTSIM_DIR`): `--target silicon` with all its faults. |
//! | `MESHSCOPE_PEER_PYTHON` | A Python that has tt-umd and tt-exalens: they open our meshes as a simulator and, with `MESHSCOPE_FAKEKMD`, as silicon. |
//! | `MESHSCOPE_TT_METAL_ELFS` | The unpacked Python package `ttnn==0.81.1`: questions with known answers about real firmware, and its boot on the emulator. |
//! | `MESHSCOPE_MUTATE` | `seed=7,count=100000,seconds=60`: how many broken ELFs `symbols` is given, from which seed. What panics, loops or takes much memory is kept and named. |
//!
//! CI has no vendor simulator. `.ci/run` installs what it needs, checks formatting, lints and the firmware images, downloads the
//! package and runs the tests.
//!
//! # Fuzzing and benchmarks
//!
//! - `cd symbols && cargo +nightly fuzz run types` (or `load`, `values`, `unwind`, `split`): the same corpus and entry points as
//!   the tests with broken ELFs.
//! - `cargo bench -p emulator` and `cargo bench -p symbols` print figures of one crate.
//! - `cargo bench -p probe --bench mesh`: whole meshes, idle beside the vendor's simulator, and in an all-gather on one thread and
//!   two. Processor time stands beside host time, for machines that others use too.
//! - `cargo bench -p probe --bench numbers`: pipe, access layer, snapshots, waypoints and the first word side by side; with
//!   `MESHSCOPE_TTSIM_DIR` also on the vendor's simulator, and with `MESHSCOPE_PEER_PYTHON` also tt-exalens'.
#![forbid(unsafe_code)]
