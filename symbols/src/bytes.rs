//! The bytes of a file.

/// The owner of the bytes: a vector, a mapping or a static array.
pub(crate) type Bytes = Box<dyn AsRef<[u8]> + Send + Sync>;
