//! Scenes, which an emulated mesh runs, and studies, which measure what runs.

pub mod scene;
pub mod study;
