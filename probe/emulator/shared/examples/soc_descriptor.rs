//! Prints the `soc_descriptor.yaml` that UMD requires beside the library, for the mesh that
//! `MESHSCOPE_MESH` names.

use std::process::ExitCode;

fn main() -> ExitCode {
    let words = std::env::var(meshscope_ttsim::MESH);
    let words = words.as_deref().unwrap_or(meshscope_ttsim::DEFAULT_MESH);
    match meshscope_ttsim::soc_descriptor(words) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{words}: {error}");
            ExitCode::from(2)
        }
    }
}
