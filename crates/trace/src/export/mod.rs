//! Export of traces.

mod csv;
mod events;
mod iolog;

use schemars::JsonSchema;
use serde::Serialize;

use crate::trace_format::TraceFormat;
use crate::{TraceInfo, TraceRequest, TraceWriter, TraceWriterOptions};
use csv::CsvExport;
use events::EventExport;
use iolog::IologExport;

/// Size of a sector, in bytes.
const SECTOR: u64 = 512;

/// A copy of a trace in another format.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TraceCopy {
    pub file: String,
    pub format: TraceFormat,
    pub requests: u64,
    /// Requests that the format cannot express.
    #[serde(rename = "requests_omitted")]
    pub omitted: u64,
    /// Size of the file in bytes.
    pub bytes: u64,
}

/// Writes a trace in any format, request by request in the order of their issue.
///
/// What a format does not have is lost: times are rounded down to its resolution, the CSV formats have reads and writes
/// only, and only blktrace and blkparse have processes, flags and the time in the queue. Requests that cannot be
/// written at all are counted by [`Self::omitted`].
#[derive(Debug)]
pub struct TraceExport {
    target: ExportTarget,
    omitted: u64,
}

#[derive(Debug)]
enum ExportTarget {
    Own(Box<TraceWriter>),
    Csv(CsvExport),
    Iolog(IologExport),
    Events(Box<EventExport>),
}

impl TraceExport {
    /// Begins a trace.
    #[must_use]
    pub fn new(format: TraceFormat, info: &TraceInfo) -> Self {
        let target = match format {
            TraceFormat::Fathom => {
                ExportTarget::Own(Box::new(TraceWriter::new(info.clone(), TraceWriterOptions::default())))
            }
            TraceFormat::FioIolog2 => ExportTarget::Iolog(IologExport::new(false)),
            TraceFormat::FioIolog3 => ExportTarget::Iolog(IologExport::new(true)),
            TraceFormat::Blktrace => ExportTarget::Events(Box::new(EventExport::new(true))),
            TraceFormat::Blkparse => ExportTarget::Events(Box::new(EventExport::new(false))),
            _ => ExportTarget::Csv(CsvExport::new(format)),
        };
        Self { target, omitted: 0 }
    }

    /// Adds a request and appends what follows from it to `output`. `info` may grow from call to call.
    pub fn push(&mut self, request: &TraceRequest, info: &TraceInfo, output: &mut Vec<u8>) {
        let is_written = match &mut self.target {
            ExportTarget::Own(writer) => {
                let lists = |info: &TraceInfo| (info.processes.len(), info.devices.len(), info.lost);
                if lists(&writer.info) != lists(info) {
                    writer.info = info.clone();
                }
                writer.push(request);
                output.append(writer.output());
                true
            }
            ExportTarget::Csv(csv) => csv.push(request, info, output),
            ExportTarget::Iolog(iolog) => iolog.push(request, info, output),
            ExportTarget::Events(events) => events.push(request, info, output),
        };
        self.omitted += u64::from(!is_written);
    }

    /// Returns how many requests the format cannot express.
    #[must_use]
    pub fn omitted(&self) -> u64 {
        self.omitted
    }

    /// Appends the rest to `output`; `info` is the metadata of the trace at its end.
    pub fn finish(self, info: &TraceInfo, output: &mut Vec<u8>) {
        match self.target {
            ExportTarget::Own(mut writer) => {
                writer.info = info.clone();
                output.append(&mut writer.finish());
            }
            ExportTarget::Csv(_) => {}
            ExportTarget::Iolog(iolog) => iolog.finish(output),
            ExportTarget::Events(events) => events.finish(output),
        }
    }
}

/// Appends formatted text.
fn push_text(output: &mut Vec<u8>, text: std::fmt::Arguments) {
    use std::io::Write;
    // Writing to memory does not fail.
    let _ = output.write_fmt(text);
}

/// Returns the name of a device, with words for one that has none.
fn device_name(info: &TraceInfo, device: u16) -> String {
    match info.devices.get(usize::from(device)) {
        Some((name, _)) if !name.is_empty() => name.clone(),
        _ => format!("device{device}"),
    }
}
