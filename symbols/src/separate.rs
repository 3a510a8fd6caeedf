//! Debug information in a separate file, as `objcopy --only-keep-debug` makes it: found by
//! `.gnu_debuglink`, which has its checksum, or by the build id, which both files share.

use std::path::{Path, PathBuf};

use object::LittleEndian;
use object::elf::{NT_GNU_BUILD_ID, NoteHeader32};
use object::pod::from_bytes;

use crate::bytes::Bytes;
use crate::companions::Companions;
use crate::image::ElfHeaders;
use crate::problem::Problem;

/// A file that holds the debug information of another.
pub(crate) struct Separate {
    pub(crate) name: String,
    pub(crate) bytes: Bytes,
    pub(crate) image: ElfHeaders,
}

/// Finds the debug information of a file that has none. A named file that is missing or does not
/// match is a problem.
pub(crate) fn find(
    data: &[u8],
    image: &ElfHeaders,
    companions: &mut Companions<'_>,
    problems: &mut Vec<Problem>,
) -> Option<Separate> {
    let id = build_id(data, image);
    let link = link(data, image);
    let mut refused = None;
    if let Some((name, checksum)) = &link {
        let places = [companions.in_folder(name), companions.in_folder(".debug").join(name)];
        for path in places {
            match open(&path, companions, |bytes, _| checksum32(bytes) == *checksum) {
                Some(Ok(found)) => return Some(found),
                Some(Err(problem)) => refused = refused.or(Some(problem)),
                None => {}
            }
        }
    }
    if let Some(id) = id {
        for path in by_build_id(id, companions) {
            match open(&path, companions, |bytes, image| build_id(bytes, image) == Some(id)) {
                Some(Ok(found)) => return Some(found),
                Some(Err(problem)) => refused = refused.or(Some(problem)),
                None => {}
            }
        }
    }
    let missing = link.map(|(file, _)| Problem::DebugFile {
        file,
        reason: "neither in the file's folder nor in its .debug".to_owned(),
    });
    problems.push(refused.or(missing).unwrap_or(Problem::NoDebugInfo));
    None
}

/// Returns the paths where a file of this build id may be.
fn by_build_id(id: &[u8], companions: &Companions<'_>) -> Vec<PathBuf> {
    let hex = id.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
    let mut places = Vec::new();
    if let Some((start, end)) = hex.split_at_checked(2) {
        let end = format!(".build-id/{start}/{end}.debug");
        places.extend([companions.in_folder(&end), companions.in_folder(".debug").join(&end)]);
    }
    if let Some(name) = companions.name() {
        let name = format!("{name}.debug");
        places.extend([companions.in_folder(&name), companions.in_folder(".debug").join(&name)]);
    }
    places
}

/// Opens a file if it exists; refuses it if it is of another build or has no debug information.
fn open(
    path: &Path,
    companions: &mut Companions<'_>,
    fits: impl Fn(&[u8], &ElfHeaders) -> bool,
) -> Option<Result<Separate, Problem>> {
    let bytes = companions.open(path)?;
    let name = path.display().to_string();
    let refused = |reason: String| Problem::DebugFile { file: name.clone(), reason };
    let checked = ElfHeaders::parse((*bytes).as_ref(), &mut Vec::new());
    Some(match checked {
        Err(error) => Err(refused(error.to_string())),
        Ok(image) if !fits((*bytes).as_ref(), &image) => {
            Err(refused("of another build".to_owned()))
        }
        Ok(image) if image.section(".debug_info").is_none() => {
            Err(refused("no debug information".to_owned()))
        }
        Ok(image) => Ok(Separate { name, bytes, image }),
    })
}

/// Returns the file name and checksum in `.gnu_debuglink`.
fn link(data: &[u8], image: &ElfHeaders) -> Option<(String, u32)> {
    let section = image.section(".gnu_debuglink")?;
    let section = data.get(section.file.clone())?;
    let end = section.iter().position(|&byte| byte == 0)?;
    let name = std::str::from_utf8(section.get(..end)?).ok()?;
    let at = (end + 1).next_multiple_of(4);
    let checksum = section.get(at..at + 4)?.try_into().ok()?;
    // Only a file name is accepted: a path could lead anywhere.
    let plain = !name.is_empty() && !name.contains('/');
    plain.then(|| (name.to_owned(), u32::from_le_bytes(checksum)))
}

/// Returns the linker's build id (`--build-id`).
fn build_id<'a>(data: &'a [u8], image: &ElfHeaders) -> Option<&'a [u8]> {
    let section = image.section(".note.gnu.build-id")?;
    let note = data.get(section.file.clone())?;
    let (header, rest) = from_bytes::<NoteHeader32<LittleEndian>>(note).ok()?;
    if header.n_type.get(LittleEndian) != NT_GNU_BUILD_ID {
        return None;
    }
    rest.strip_prefix(b"GNU\0")?.get(..header.n_descsz.get(LittleEndian) as usize)
}

/// Returns the CRC-32 as zlib and `objcopy --add-gnu-debuglink` compute it.
fn checksum32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut at = 0;
        while at < 256 {
            let mut value = at as u32;
            let mut bit = 0;
            while bit < 8 {
                value = if value & 1 == 1 { value >> 1 ^ 0xedb8_8320 } else { value >> 1 };
                bit += 1;
            }
            table[at] = value;
            at += 1;
        }
        table
    };
    let step = |sum: u32, &byte: &u8| {
        let at = (sum as u8 ^ byte) as usize;
        TABLE.get(at).copied().unwrap_or_default() ^ sum >> 8
    };
    !bytes.iter().fold(!0, step)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_checksum_is_the_known_one() {
        assert_eq!(super::checksum32(b"123456789"), 0xcbf4_3926);
    }
}
