//! tt-metal's sources in the wheel: the names of their arguments, and a fingerprint.

use super::BuildError;
use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

/// The kernels.
const MUX: &str = "tt_metal/fabric/impl/kernels/tt_fabric_mux.cpp";
const MUX_V2: &str = "tt_metal/fabric/impl/kernels/tt_fabric_mux_v2.cpp";
const ROUTER: &str = "tt_metal/fabric/impl/kernels/edm_fabric/fabric_erisc_router.cpp";
/// How sources read an argument by its name.
const READS: [&str; 2] = ["NAMED_CT_ARG(\"", "get_named_compile_time_arg_val(\""];

/// The sources.
pub(super) struct Sources {
    /// The router's source.
    pub(super) router: PathBuf,
    /// The mux's source.
    pub(super) mux: PathBuf,
    /// That of its second version, for both cores.
    pub(super) mux_v2: PathBuf,
    /// The arguments that the router reads by name.
    pub(super) names: BTreeSet<String>,
    /// Differs for other sources.
    pub(super) fingerprint: u64,
}

impl Sources {
    /// Reads the sources in the wheel's folder `ttnn`.
    pub(super) fn read(ttnn: &Path) -> Result<Self, BuildError> {
        let router = ttnn.join(ROUTER);
        if !router.is_file() {
            return Err(BuildError::at(ttnn, "this is not the folder `ttnn` of tt-metal's wheel"));
        }
        let mut hasher = DefaultHasher::new();
        let (mut names, mut files) = (BTreeSet::new(), Vec::new());
        for folder in ["tt_metal/fabric", "tt_metal/hostdevcommon", "tt_metal/hw/inc"] {
            files_of(&ttnn.join(folder), &mut files)?;
        }
        files.sort();
        let edm = ttnn.join("tt_metal/fabric/hw/inc/edm_fabric");
        for path in files {
            let bytes = fs::read(&path).map_err(|error| BuildError::at(&path, error))?;
            bytes.hash(&mut hasher);
            if path == router || path.starts_with(&edm) {
                names_in(&String::from_utf8_lossy(&bytes), &mut names);
            }
        }
        Ok(Self {
            mux: ttnn.join(MUX),
            mux_v2: ttnn.join(MUX_V2),
            router,
            names,
            fingerprint: hasher.finish(),
        })
    }
}

fn files_of(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), BuildError> {
    let entries = fs::read_dir(folder).map_err(|error| BuildError::at(folder, error))?;
    for entry in entries {
        let path = entry.map_err(|error| BuildError::at(folder, error))?.path();
        if path.is_dir() {
            files_of(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// Collects the names by which a source reads arguments.
fn names_in(text: &str, names: &mut BTreeSet<String>) {
    for read in READS {
        let found = text.match_indices(read).filter_map(|(at, _)| {
            let rest = text.get(at + read.len()..)?;
            rest.split_once('"').map(|(name, _)| name.to_owned())
        });
        names.extend(found);
    }
}
