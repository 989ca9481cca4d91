//! Traces with a request or an event in each line.

use super::FieldError;
use super::blkparse::Blkparse;
use super::iolog::Iolog;
use super::lines::{LineStep, Lines};
use super::{NameNumbers, REQUESTS_AT_ONCE, Rebase, RebasedEvents, TraceStep, csv};
use crate::trace_format::TraceFormat;
use crate::{TraceEnd, TraceInfo, TraceRequest};
use units::Problem;

/// Reads lines of any format.
#[derive(Debug)]
pub(super) struct Text {
    format: TraceFormat,
    lines: Lines,
    is_first: bool,
    iolog: Iolog,
    blkparse: Blkparse,
    pub(super) events: RebasedEvents,
    devices: NameNumbers,
    device: Vec<u8>,
}

impl Text {
    pub(super) fn new(format: TraceFormat) -> Self {
        // fio's logs count from the start of their job.
        let has_start = matches!(format, TraceFormat::FioIolog2 | TraceFormat::FioIolog3);
        Self {
            format,
            lines: Lines::default(),
            is_first: true,
            iolog: Iolog::new(format == TraceFormat::FioIolog3),
            blkparse: Blkparse::default(),
            events: RebasedEvents {
                rebase: Rebase { start_ns: has_start.then_some(0), ..Rebase::default() },
                ..RebasedEvents::default()
            },
            devices: NameNumbers::default(),
            device: Vec::new(),
        }
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.lines.feed(bytes);
    }

    pub(super) fn end_input(&mut self) {
        self.lines.end();
    }

    pub(super) fn next(
        &mut self,
        name: &str,
        info: &mut TraceInfo,
        requests: &mut Vec<TraceRequest>,
    ) -> Result<TraceStep, Problem> {
        let before = requests.len();
        while requests.len() - before < REQUESTS_AT_ONCE {
            match self.lines.next() {
                LineStep::Line(line) => {
                    let is_first = std::mem::take(&mut self.is_first);
                    let result = self.line(line.clone(), is_first, info, requests);
                    result.map_err(|error| self.lines.place(name, self.lines.get(line), error, self.remedy()))?;
                    self.set_start(info);
                }
                LineStep::TooLong => {
                    let error = FieldError { column: 0, what: "the line is longer than 4,096 bytes".to_owned() };
                    return Err(self.lines.place(name, &[], error, self.remedy()));
                }
                LineStep::NeedsInput if requests.len() > before => break,
                LineStep::NeedsInput => return Ok(TraceStep::NeedsInput(0)),
                LineStep::End => return Ok(self.end(info, requests)),
            }
        }
        Ok(TraceStep::Requests)
    }

    /// Returns the last requests, then the end.
    fn end(&mut self, info: &mut TraceInfo, requests: &mut Vec<TraceRequest>) -> TraceStep {
        let before = requests.len();
        self.events.finish(requests);
        self.set_start(info);
        if requests.len() > before { TraceStep::Requests } else { TraceStep::End(TraceEnd::Complete) }
    }

    fn line(
        &mut self,
        line: std::ops::Range<usize>,
        is_first: bool,
        info: &mut TraceInfo,
        requests: &mut Vec<TraceRequest>,
    ) -> Result<(), FieldError> {
        let line = self.lines.get(line);
        match self.format {
            TraceFormat::FioIolog2 | TraceFormat::FioIolog3 => {
                let Some(logged) = self.iolog.line(line, is_first)? else { return Ok(()) };
                requests.push(TraceRequest {
                    issued_ns: logged.time_ns,
                    offset: logged.offset,
                    length: logged.length,
                    operation: logged.operation,
                    device: self.devices.number(logged.file, |name| info.devices.push((name, None))),
                    ..TraceRequest::default()
                });
            }
            TraceFormat::Blkparse => {
                let Some(event) = self.blkparse.line(line, info)? else { return Ok(()) };
                self.events.add(&event, requests);
            }
            _ if line.is_empty() => {}
            _ => {
                let Some(row) = csv::row(self.format, line, is_first)? else { return Ok(()) };
                self.device.clear();
                self.device.extend_from_slice(row.device[0]);
                if !row.device[1].is_empty() {
                    self.device.push(b'.');
                    self.device.extend_from_slice(row.device[1]);
                }
                let request = TraceRequest {
                    issued_ns: row.time_ns,
                    service_ns: row.service_ns,
                    offset: row.offset,
                    length: row.length,
                    operation: row.operation,
                    device: self.devices.number(&self.device, |name| info.devices.push((name, None))),
                    ..TraceRequest::default()
                };
                self.events.rebase.push(request, requests);
            }
        }
        Ok(())
    }

    /// Notes the time of day of the start, in formats that have it.
    fn set_start(&self, info: &mut TraceInfo) {
        let has_date =
            matches!(self.format, TraceFormat::Msr | TraceFormat::Systor | TraceFormat::Alibaba | TraceFormat::Tencent);
        if has_date && info.started_unix_ms.is_none() {
            info.started_unix_ms = self.events.rebase.start_ns.map(|start| start / 1_000_000);
        }
    }

    fn remedy(&self) -> &'static str {
        match self.format {
            TraceFormat::FioIolog2 => "lines are `FILE ACTION [OFFSET LENGTH]`",
            TraceFormat::FioIolog3 => "lines are `TIME FILE ACTION [OFFSET LENGTH]`",
            TraceFormat::Blkparse => "use the default format of `blkparse`, without `-f` and `-F`",
            TraceFormat::Msr => "lines are `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`",
            TraceFormat::Systor => "lines are `Timestamp,Response,IOType,LUN,Offset,Size`",
            TraceFormat::Alibaba => "lines are `device_id,opcode,offset,length,timestamp`",
            TraceFormat::Tencent => "lines are `Timestamp,Offset,Size,IOType,VolumeID`",
            TraceFormat::Vscsi | TraceFormat::VscsiSeconds => {
                "lines are `version,time,op,size,lbn`, with `op` in hexadecimal"
            }
            _ => "lines are `ts,lba,op,size`",
        }
    }
}
