//! Asks Parquet files with SQL. The SQL only reads, and only the table `log`.

use super::columns::{difference, schema};
use crate::error::LogError;
use crate::walk::FoundFile;
use datafusion::arrow::array::{ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Float64Type, Int64Type};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::error::DataFusionError;
use datafusion::execution::context::SQLOptions;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::logical_expr::LogicalPlan;
use datafusion::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use datafusion::prelude::{SessionConfig, SessionContext};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::available_parallelism;
use url::Url;

/// Memory that a question may take, in bytes. Nothing is moved to a disk.
const MOST_MEMORY: usize = 1 << 30;
/// Rows of an answer at most.
const MOST_ROWS: usize = 10_000;
/// The stack of a thread, in bytes: plans are walked by recursion.
const STACK_BYTES: usize = 16 << 20;

/// An answer: columns, and rows of as many values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows: numbers, booleans, null, or the text of anything else.
    pub rows: Vec<Vec<Value>>,
    /// Whether there are more rows than the 10000 that are here.
    pub more: bool,
}

/// Files that are asked together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Logs {
    files: Vec<PathBuf>,
}

impl Logs {
    /// Adds a file.
    ///
    /// # Errors
    /// It cannot be read, or has other columns.
    pub fn add(&mut self, found: &FoundFile) -> Result<(), LogError> {
        let path = &found.path;
        let file = files::open(path, files::Kind::ANY_LOG)?;
        let other = |why| LogError::OtherSchema { path: path.clone(), why };
        let about = ArrowReaderMetadata::load(&file, ArrowReaderOptions::default());
        let about = about.map_err(|error| other(format!("it is no whole Parquet: {error}")))?;
        if let Some(why) = difference(about.schema()) {
            return Err(other(why));
        }
        self.files.push(path.clone());
        Ok(())
    }

    /// Returns the number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Answers a question in SQL.
    ///
    /// # Errors
    /// The SQL does more than to read, is wrong, or needs more than 1 GiB of memory.
    pub fn ask(&self, sql: &str) -> Result<Answer, LogError> {
        let engine = |error: &dyn std::fmt::Display| LogError::Engine(error.to_string());
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .thread_stack_size(STACK_BYTES)
            .build()
            .map_err(|error| engine(&error))?;
        let context = self.context().map_err(|error| engine(&error))?;
        runtime.block_on(answer(&context, sql)).map_err(|error| LogError::Sql(sentence(&error)))
    }

    fn context(&self) -> Result<SessionContext, DataFusionError> {
        let cores = available_parallelism().map_or(1, usize::from);
        let mut config =
            SessionConfig::new().with_target_partitions(cores).with_information_schema(true);
        config.options_mut().execution.parquet.pushdown_filters = true;
        let no_disk = DiskManagerBuilder::default().with_mode(DiskManagerMode::Disabled);
        let runtime = RuntimeEnvBuilder::new()
            .with_memory_limit(MOST_MEMORY, 1.0)
            .with_disk_manager_builder(no_disk)
            .build_arc()?;
        let context = SessionContext::new_with_config_rt(config, runtime);
        let urls = self.files.iter().map(|file| url(file)).collect::<Result<_, _>>()?;
        let options = ListingOptions::new(Arc::new(ParquetFormat::default()));
        let config = ListingTableConfig::new_with_multi_paths(urls)
            .with_listing_options(options.with_file_extension(""))
            .with_schema(schema(&DataType::Utf8View));
        context.register_table("log", Arc::new(ListingTable::try_new(config)?))?;
        Ok(context)
    }
}

/// The address of a file, in whose name no character has a meaning.
fn url(file: &Path) -> Result<ListingTableUrl, DataFusionError> {
    let whole = std::path::absolute(file)?;
    let url = Url::from_file_path(whole);
    let url = url.map_err(|()| DataFusionError::Plan(format!("{}: no address", file.display())))?;
    ListingTableUrl::try_new(url, None)
}

async fn answer(context: &SessionContext, sql: &str) -> Result<Answer, DataFusionError> {
    let only_reads =
        SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    let frame = context.sql_with_options(sql, only_reads).await?;
    let columns = frame.schema().fields().iter().map(|field| field.name().clone()).collect();
    // Of an endless answer only a beginning is held.
    let is_short = matches!(
        frame.logical_plan(),
        LogicalPlan::Explain(_) | LogicalPlan::Analyze(_) | LogicalPlan::DescribeTable(_)
    );
    let frame = if is_short { frame } else { frame.limit(0, Some(MOST_ROWS + 1))? };
    let batches = frame.collect().await?;
    let mut rows = Vec::new();
    for batch in &batches {
        rows.extend(values(batch)?);
    }
    let more = rows.len() > MOST_ROWS;
    rows.truncate(MOST_ROWS);
    Ok(Answer { columns, rows, more })
}

fn values(batch: &RecordBatch) -> Result<Vec<Vec<Value>>, ArrowError> {
    let columns = batch.columns().iter().map(column).collect::<Result<Vec<_>, _>>()?;
    let mut columns: Vec<_> = columns.into_iter().map(Vec::into_iter).collect();
    let row = |_| columns.iter_mut().map(|column| column.next().unwrap_or(Value::Null)).collect();
    Ok((0..batch.num_rows()).map(row).collect())
}

fn column(array: &ArrayRef) -> Result<Vec<Value>, ArrowError> {
    let kind = array.data_type();
    if kind.is_integer() {
        let numbers = cast(array, &DataType::Int64)?;
        return Ok(numbers.as_primitive::<Int64Type>().iter().map(Value::from).collect());
    }
    if kind.is_floating() {
        let numbers = cast(array, &DataType::Float64)?;
        return Ok(numbers.as_primitive::<Float64Type>().iter().map(Value::from).collect());
    }
    if let Some(whether) = array.as_boolean_opt() {
        return Ok(whether.iter().map(Value::from).collect());
    }
    let shown = ArrayFormatter::try_new(array, &FormatOptions::default())?;
    let text =
        |row| if array.is_null(row) { Value::Null } else { shown.value(row).to_string().into() };
    Ok((0..array.len()).map(text).collect())
}

/// What the engine says, in one line.
fn sentence(error: &DataFusionError) -> String {
    match error.find_root() {
        DataFusionError::ResourcesExhausted(_) => {
            "it needs more than 1 GiB of memory; ask of fewer days, or for fewer columns".to_owned()
        }
        root => root.strip_backtrace().split_whitespace().collect::<Vec<_>>().join(" "),
    }
}
