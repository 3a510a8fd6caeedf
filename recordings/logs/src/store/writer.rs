//! Writes rows: a file for each day and host, and further ones when there are more rows than memory should
//! hold.

use super::columns::{batch, schema};
use crate::error::LogError;
use crate::row::{Row, Text, host_name};
use datafusion::arrow::datatypes::DataType;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, Encoding, ZstdLevel};
use datafusion::parquet::file::properties::WriterProperties;
use datafusion::parquet::schema::types::ColumnPath;
use jiff::civil::Date;
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Bytes of rows that are held in memory, more or less.
const HELD_BYTES: usize = 256 << 20;
/// Rows of a group, whose least and greatest values let a question skip it.
const GROUP_ROWS: usize = 1 << 17;

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Rows.
    pub rows: u64,
    /// Files.
    pub files: u64,
    /// Bytes of the files.
    pub bytes: u64,
}

/// Writes rows below a folder.
pub struct Writer {
    folder: PathBuf,
    waiting: BTreeMap<(Date, Text), Vec<Row>>,
    held_bytes: usize,
    /// The number of the next file of each day and host.
    part: u32,
    written: Written,
}

impl Writer {
    /// Returns a writer to a folder that is new or empty.
    ///
    /// # Errors
    /// The folder has something in it, or cannot be made.
    pub fn new(folder: &Path) -> Result<Self, LogError> {
        let io = |error| LogError::Io { path: folder.to_owned(), error };
        std::fs::create_dir_all(folder).map_err(io)?;
        if std::fs::read_dir(folder).map_err(io)?.next().is_some() {
            return Err(LogError::NotEmpty(folder.to_owned()));
        }
        Ok(Self {
            folder: folder.to_owned(),
            waiting: BTreeMap::new(),
            held_bytes: 0,
            part: 0,
            written: Written::default(),
        })
    }

    /// Takes a row. One whose time is out of any calendar is of 1970-01-01.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn push(&mut self, row: Row) -> Result<(), LogError> {
        let day = row.day().unwrap_or(Date::constant(1970, 1, 1));
        self.held_bytes += size_of::<Row>() + row.text.as_ref().map_or(0, |text| text.len());
        self.waiting.entry((day, row.host.clone())).or_default().push(row);
        if self.held_bytes < HELD_BYTES { Ok(()) } else { self.flush() }
    }

    /// Writes what waits, and returns what was written in all.
    ///
    /// # Errors
    /// A file cannot be written.
    pub fn finish(mut self) -> Result<Written, LogError> {
        self.flush()?;
        Ok(self.written)
    }

    fn flush(&mut self) -> Result<(), LogError> {
        let waiting: Vec<_> = std::mem::take(&mut self.waiting).into_iter().collect();
        let files =
            waiting.into_par_iter().map(|of| self.file(of)).collect::<Result<Vec<_>, _>>()?;
        for file in files {
            self.written.rows += file.rows;
            self.written.files += file.files;
            self.written.bytes += file.bytes;
        }
        (self.held_bytes, self.part) = (0, self.part + 1);
        Ok(())
    }

    /// Writes the file of a day and host.
    fn file(&self, ((day, host), mut rows): ((Date, Text), Vec<Row>)) -> Result<Written, LogError> {
        let folder =
            self.folder.join(format!("day={day}")).join(format!("host={}", host_name(&host)));
        let io = |error| LogError::Io { path: folder.clone(), error };
        std::fs::create_dir_all(&folder).map_err(io)?;
        // Trouble, and then each counter by itself: a question reads a few groups and pages.
        rows.sort_by(|one, other| key(one).cmp(&key(other)));
        let path = folder.join(format!("{:05}.parquet", self.part));
        let bytes = write(&path, day, &rows)?;
        Ok(Written { rows: rows.len() as u64, files: 1, bytes })
    }
}

/// The order of the rows of a file.
fn key(row: &Row) -> impl Ord {
    let what = (!row.trouble, row.kind, &*row.name);
    (what, row.cable.as_deref(), row.chip, row.channel, row.time_micros)
}

fn properties() -> WriterProperties {
    let times = ColumnPath::from("time");
    WriterProperties::builder()
        .set_created_by(format!("meshscope {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(GROUP_ROWS))
        .set_column_dictionary_enabled(times.clone(), false)
        .set_column_encoding(times, Encoding::DELTA_BINARY_PACKED)
        .build()
}

/// Writes a file and returns its bytes.
fn write(path: &Path, day: Date, rows: &[Row]) -> Result<u64, LogError> {
    let file = files::create(path)?;
    let parquet = |error: &dyn std::fmt::Display| LogError::Parquet {
        path: path.to_owned(),
        why: error.to_string(),
    };
    let days = day.duration_since(Date::constant(1970, 1, 1)).as_hours() / 24;
    let columns = schema(&DataType::Utf8);
    let writer = ArrowWriter::try_new(&file, columns, Some(properties()));
    let mut writer = writer.map_err(|error| parquet(&error))?;
    for rows in rows.chunks(GROUP_ROWS) {
        let batch = batch(days as i32, rows).map_err(|error| parquet(&error))?;
        writer.write(&batch).map_err(|error| parquet(&error))?;
    }
    writer.close().map_err(|error| parquet(&error))?;
    let about = file.metadata();
    Ok(about.map_err(|error| LogError::Io { path: path.to_owned(), error })?.len())
}
