//! fio's logs of operations: see `import/iolog.rs`.

use super::{device_name, push_text};
use crate::{TraceInfo, TraceOperation, TraceRequest};

/// Writes lines of a log.
#[derive(Debug)]
pub(super) struct IologExport {
    has_times: bool,
    has_begun: bool,
    /// Names of the devices that were opened.
    files: Vec<Option<String>>,
    /// Latest time, in microseconds, and milliseconds of the latest `wait`.
    now_us: u64,
    waited_ms: u64,
}

impl IologExport {
    /// `has_times` for version 3.
    pub(super) fn new(has_times: bool) -> Self {
        Self { has_times, has_begun: false, files: Vec::new(), now_us: 0, waited_ms: 0 }
    }

    /// Returns whether the format can express the request.
    pub(super) fn push(&mut self, request: &TraceRequest, info: &TraceInfo, output: &mut Vec<u8>) -> bool {
        let action = match request.operation {
            TraceOperation::Flush => "sync",
            TraceOperation::Read if request.length > 0 => "read",
            TraceOperation::Write if request.length > 0 => "write",
            TraceOperation::Discard if request.length > 0 => "trim",
            _ => return false,
        };
        self.begin(output);
        self.now_us = request.issued_ns / 1_000;
        let file = self.file(request.device, info, output);
        let (offset, length) = if action == "sync" { (0, 0) } else { (request.offset, request.length) };
        if self.has_times {
            push_text(output, format_args!("{} {file} {action} {offset} {length}\n", self.now_us));
            return true;
        }
        let now_ms = self.now_us / 1_000;
        if now_ms > self.waited_ms {
            self.waited_ms = now_ms;
            push_text(output, format_args!("{file} wait {now_ms} 0\n"));
        }
        push_text(output, format_args!("{file} {action} {offset} {length}\n"));
        true
    }

    pub(super) fn finish(mut self, output: &mut Vec<u8>) {
        self.begin(output);
        for file in std::mem::take(&mut self.files).into_iter().flatten() {
            self.file_action(&file, "close", output);
        }
    }

    fn begin(&mut self, output: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.has_begun, true) {
            push_text(output, format_args!("fio version {} iolog\n", if self.has_times { 3 } else { 2 }));
        }
    }

    /// Returns the name of the file of a device, which is opened at its first use.
    fn file(&mut self, device: u16, info: &TraceInfo, output: &mut Vec<u8>) -> String {
        let index = usize::from(device);
        if index >= self.files.len() {
            self.files.resize(index + 1, None);
        }
        if let Some(file) = &self.files[index] {
            return file.clone();
        }
        let name = device_name(info, device).replace(char::is_whitespace, "_");
        let is_path = info.names_are_paths || name.starts_with('/');
        let file = if is_path { name } else { format!("/dev/{name}") };
        self.file_action(&file, "add", output);
        self.file_action(&file, "open", output);
        self.files[index] = Some(file.clone());
        file
    }

    fn file_action(&self, file: &str, action: &str, output: &mut Vec<u8>) {
        if self.has_times {
            push_text(output, format_args!("{} ", self.now_us));
        }
        push_text(output, format_args!("{file} {action}\n"));
    }
}
