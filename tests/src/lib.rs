//! Behaviour across rooms, golden frames, and the arrows of the design.
#![forbid(unsafe_code)]
