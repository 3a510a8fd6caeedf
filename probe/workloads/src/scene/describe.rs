//! Resolves the mesh words of a scene: a shipped system, or the file of a descriptor or
//! specification.

use super::SceneError;
use layouts::{ClusterDescriptor, PLAIN_CABLING, SystemSpec};
use std::path::Path;

/// Returns the descriptor for words such as `t3000`, `galaxy,cabling=torus`, `tgg,host=0` or the
/// path of a file. Messages use the name `called`.
///
/// # Errors
/// `NoMesh`, `BadOption`, `File` or `Descriptor`.
pub fn described(words: &str, called: &str) -> Result<ClusterDescriptor, SceneError> {
    let (mut mesh, mut cabling, mut host) = (words, None, None);
    while let Some((before, (key, value))) =
        mesh.rsplit_once(',').and_then(|(before, last)| Some((before, last.split_once('=')?)))
    {
        let setting = match key {
            "cabling" => &mut cabling,
            "host" => &mut host,
            _ => break,
        };
        if setting.replace(value).is_some() {
            return Err(SceneError::BadOption(format!("{called}: {key} is given twice")));
        }
        mesh = before;
    }
    let descriptor = cabled(mesh, cabling, called)?;
    let Some(host) = host else { return Ok(descriptor) };
    let number = host.parse().map_err(|_| no_host(called, host, &descriptor))?;
    checked(number, called, &descriptor)?;
    Ok(descriptor.of_host(number))
}

/// Returns the descriptor of a mesh with its cabling and all its hosts.
pub(super) fn cabled(
    mesh: &str,
    cabling: Option<&str>,
    called: &str,
) -> Result<ClusterDescriptor, SceneError> {
    if let Some(shipped) = SystemSpec::shipped(mesh) {
        return with_cabling(&shipped?, cabling, called);
    }
    if !mesh.contains(['/', '.']) {
        let names: Vec<&str> = ClusterDescriptor::shipped_names().collect();
        return Err(SceneError::NoMesh(mesh.to_owned(), names.join(", ")));
    }
    let text = files::read_text(Path::new(mesh), files::Kind::DESCRIPTOR);
    let text = text.map_err(|e| SceneError::File(format!("{called}: {}", e.reason())))?;
    if SystemSpec::is_spec(&text) {
        return with_cabling(&SystemSpec::parse(called, &text)?, cabling, called);
    }
    match cabling {
        Some(_) => Err(SceneError::BadOption(format!(
            "{called}: a cluster descriptor defines its cabling; only a system specification has a choice of cablings"
        ))),
        None => Ok(ClusterDescriptor::parse(called, &text)?),
    }
}

fn with_cabling(
    system: &SystemSpec,
    cabling: Option<&str>,
    called: &str,
) -> Result<ClusterDescriptor, SceneError> {
    let word = cabling.unwrap_or(PLAIN_CABLING);
    system.describe(word).ok_or_else(|| {
        let words: Vec<_> = system.cablings().collect();
        SceneError::BadOption(format!(
            "{called} has no cabling `{word}`; there is {}",
            words.join(", ")
        ))
    })
}

/// Returns an error if the mesh has no host of this number.
pub(super) fn checked(
    host: u16,
    called: &str,
    descriptor: &ClusterDescriptor,
) -> Result<(), SceneError> {
    let exists = host < descriptor.host_count();
    exists.then_some(()).ok_or_else(|| no_host(called, &host.to_string(), descriptor))
}

fn no_host(called: &str, host: &str, descriptor: &ClusterDescriptor) -> SceneError {
    let last = descriptor.host_count() - 1;
    SceneError::BadOption(format!(
        "{called} has no host `{host}`: they are numbered from 0 to {last}"
    ))
}
