//! The bytes of a file.

/// Whoever keeps them: a vector, a mapping, a static array.
pub(crate) type Bytes = Box<dyn AsRef<[u8]> + Send + Sync>;
