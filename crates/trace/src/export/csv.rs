//! The formats of public collections: see `import/csv.rs` for their fields.

use super::{SECTOR, device_name, push_text};
use crate::trace_format::TraceFormat;
use crate::{TraceInfo, TraceOperation, TraceRequest};

/// Units of 100 ns from 1601, where the time of Windows begins, to 1970.
const WINDOWS_EPOCH: u64 = 116_444_736_000_000_000;

/// Writes lines of a CSV format.
#[derive(Debug)]
pub(super) struct CsvExport {
    format: TraceFormat,
    has_begun: bool,
}

impl CsvExport {
    pub(super) fn new(format: TraceFormat) -> Self {
        Self { format, has_begun: false }
    }

    /// Returns whether the format can express the request.
    pub(super) fn push(&mut self, request: &TraceRequest, info: &TraceInfo, output: &mut Vec<u8>) -> bool {
        if !std::mem::replace(&mut self.has_begun, true) {
            match self.format {
                TraceFormat::Systor => output.extend_from_slice(b"Timestamp,Response,IOType,LUN,Offset,Size\n"),
                TraceFormat::Vscsi | TraceFormat::VscsiSeconds => {
                    output.extend_from_slice(b"version,time,op,size,lbn\n");
                }
                _ => {}
            }
        }
        let is_read = match request.operation {
            TraceOperation::Read => true,
            TraceOperation::Write => false,
            TraceOperation::Other if self.format == TraceFormat::Systor => false,
            _ => return false,
        };
        let start_ns = info.started_unix_ms.unwrap_or(0).saturating_mul(1_000_000);
        let time_ns = start_ns.saturating_add(request.issued_ns);
        let TraceRequest { offset, length, .. } = *request;
        let sector = offset / SECTOR;
        let letter = if is_read { "R" } else { "W" };
        match self.format {
            TraceFormat::Msr => {
                let (host, disk) = host_and_disk(&device_name(info, request.device));
                let (kind, service) = (if is_read { "Read" } else { "Write" }, request.service_ns.unwrap_or(0) / 100);
                let time = time_ns / 100 + WINDOWS_EPOCH;
                push_text(output, format_args!("{time},{host},{disk},{kind},{offset},{length},{service}\n"));
            }
            TraceFormat::Systor => {
                let name = device_name(info, request.device);
                let lun = number_at_end(&name).unwrap_or(request.device.into());
                let kind = if request.operation == TraceOperation::Other { "" } else { letter };
                push_text(output, format_args!("{},", Seconds(time_ns)));
                if let Some(service) = request.service_ns {
                    push_text(output, format_args!("{}", Seconds(service)));
                }
                push_text(output, format_args!(",{kind},{lun},{offset},{length}\n"));
            }
            TraceFormat::Alibaba => {
                let device = number_at_end(&device_name(info, request.device)).unwrap_or(request.device.into());
                push_text(output, format_args!("{device},{letter},{offset},{length},{}\n", time_ns / 1_000));
            }
            TraceFormat::Tencent => {
                let volume = number_at_end(&device_name(info, request.device)).unwrap_or(request.device.into());
                let (time, sectors) = (time_ns / 1_000_000_000, u64::from(length).div_ceil(SECTOR));
                push_text(output, format_args!("{time},{sector},{sectors},{},{volume}\n", u8::from(!is_read)));
            }
            TraceFormat::Vscsi | TraceFormat::VscsiSeconds => {
                let (time, code) = (time_ns / self.format.resolution_ns(), if is_read { "28" } else { "2a" });
                push_text(output, format_args!("1,{time},{code},{length},{sector}\n"));
            }
            _ => {
                let kind = if is_read { "r" } else { "w" };
                push_text(output, format_args!("{},{sector},{kind},{length}\n", time_ns / 1_000));
            }
        }
        true
    }
}

/// A time in seconds with nine digits after the point.
struct Seconds(u64);

impl std::fmt::Display for Seconds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:09}", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

/// Divides a name such as `hm.0`.
fn host_and_disk(name: &str) -> (String, u64) {
    let plain = |name: &str| name.replace(|letter: char| letter == ',' || letter.is_whitespace(), "_");
    match name.rsplit_once('.').and_then(|(host, disk)| Some((host, disk.parse().ok()?))) {
        Some((host, disk)) => (plain(host), disk),
        None => (plain(name), 0),
    }
}

/// Returns the number after the last point of a name, or the number that it is.
fn number_at_end(name: &str) -> Option<u64> {
    name.rsplit('.').next()?.parse().ok()
}
