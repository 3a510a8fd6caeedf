//! The studies by which the house tests itself, on small meshes, and the program `study`.

mod collectives;
mod pause;
mod program;
mod reroute;
mod traffic;
mod watching;
mod why;
