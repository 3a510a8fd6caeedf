//! Source files of the firmware, as its debug information names them.

use std::path::Path;
use std::sync::Arc;

/// Returns the text of a source file, if the path exists here.
pub(crate) fn read(file: &str) -> Option<Arc<str>> {
    files::read_text(Path::new(file), files::Kind::SOURCE).ok().map(Arc::from)
}
