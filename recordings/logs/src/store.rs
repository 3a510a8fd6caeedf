//! Rows in Parquet files: written below `day=.../host=...`, and asked with SQL.

mod ask;
mod columns;
mod writer;

pub use ask::{Answer, Logs};
pub use writer::{Writer, Written};
