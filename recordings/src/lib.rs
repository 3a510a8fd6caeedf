//! Moments kept: format, writer, reader, replay.
#![forbid(unsafe_code)]
