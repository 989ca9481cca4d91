//! JSON output of `iostat -x`.

use std::ops::Range;

use serde_json::{Deserializer, Map, Value};
use units::Problem;

use super::{Iostat, IostatCpu, IostatDevice, IostatReport, REMEDY, columns, set_seconds};
use crate::input::text::{InputText, json_error, line_number};

/// Reads the documents on some lines, which may be several in a row.
pub(in crate::input) fn read(text: &InputText, lines: Range<usize>) -> Result<Iostat, Problem> {
    let (line, body) = (lines.start, &text.whole[text.start_of(lines.start)..text.start_of(lines.end)]);
    let mut reader = IostatJsonReader {
        text,
        iostat: Iostat::default(),
        device_lines: lines_with(text, line, "\"disk_device\"").into_iter(),
    };
    let mut documents = Deserializer::from_str(body).into_iter::<Value>();
    while let Some(document) = documents.next() {
        match document {
            Ok(document) => reader.document(line, &document)?,
            // Text after documents is ignored, unless it begins another document.
            Err(_)
                if !reader.iostat.reports.is_empty()
                    && !body[documents.byte_offset()..].trim_start().starts_with('{') =>
            {
                break;
            }
            Err(error) => return Err(json_error(text, lines, &error, REMEDY)),
        }
    }
    let mut iostat = reader.iostat;
    if iostat.reports.iter().all(|report| report.devices.is_empty()) {
        let remedy = "omit `-c` and `-z`, or name the device in use";
        return Err(text.error(line, "", "no report contains a device", remedy));
    }
    set_seconds(&mut iostat.reports);
    Ok(iostat)
}

/// Returns the line of each occurrence of a word.
fn lines_with(text: &InputText, from: usize, word: &str) -> Vec<usize> {
    let lines = text.lines().enumerate().skip(from);
    lines.flat_map(|(index, line)| std::iter::repeat_n(index, line.matches(word).count())).collect()
}

struct IostatJsonReader<'a> {
    text: &'a InputText,
    iostat: Iostat,
    /// Lines of the remaining devices.
    device_lines: std::vec::IntoIter<usize>,
}

impl IostatJsonReader<'_> {
    fn document(&mut self, line: usize, document: &Value) -> Result<(), Problem> {
        let hosts = document.pointer("/sysstat/hosts").and_then(Value::as_array);
        let Some(hosts) = hosts else {
            return Err(self.text.error(line, "", "this sysstat JSON contains no hosts", REMEDY));
        };
        for host in hosts {
            if host.get("file-date").is_some() {
                let remedy = "use `sar -d -p -f FILE`, which prints the same data as text";
                return Err(self.text.error(line, "", "this is `sadf -j` output", remedy));
            }
            self.iostat.host = host["nodename"].as_str().map(str::to_owned);
            self.iostat.cpus = host["number-of-cpus"].as_u64().and_then(|cpus| cpus.try_into().ok());
            let statistics = host["statistics"].as_array().map_or(&[][..], Vec::as_slice);
            let first = self.iostat.reports.len();
            for report in statistics {
                self.report(line, report)?;
            }
            let since_boot = !self.omits_first(line);
            if let Some(report) = self.iostat.reports.get_mut(first) {
                report.since_boot = since_boot;
            }
        }
        Ok(())
    }

    /// Reports whether the report since boot was omitted: with `-y` an empty line takes its place.
    fn omits_first(&self, line: usize) -> bool {
        let mut lines = self.text.lines().skip(line).skip_while(|line| !line.contains("\"statistics\""));
        lines.next().is_some_and(|line| line.trim_end().ends_with('['))
            && lines.next().is_some_and(|line| line.trim().is_empty())
    }

    fn report(&mut self, line: usize, report: &Value) -> Result<(), Problem> {
        let disks = report["disk"].as_array().map_or(&[][..], Vec::as_slice);
        let devices = disks.iter().map(|disk| self.device(line, disk)).collect::<Result<Vec<_>, _>>()?;
        let at = devices.first().map_or(line_number(line), |device| device.line);
        let states = &report["avg-cpu"];
        let cpu = states["idle"].as_f64().map(|_| {
            let fraction = |name: &str| states[name].as_f64().unwrap_or(0.0) / 100.0;
            let [user, nice, system] = ["user", "nice", "system"].map(fraction);
            let [iowait, steal, idle] = ["iowait", "steal", "idle"].map(fraction);
            IostatCpu { line: at, user, nice, system, iowait, steal, idle }
        });
        let when = report["timestamp"].as_str().map(str::to_owned);
        self.iostat.reports.push(IostatReport { when, line: at, cpu, devices, ..IostatReport::default() });
        Ok(())
    }

    fn device(&mut self, document: usize, disk: &Value) -> Result<IostatDevice, Problem> {
        let line = self.device_lines.next().unwrap_or(document);
        let empty = Map::new();
        let members = disk.as_object().unwrap_or(&empty);
        let Some(name) = members.get("disk_device").and_then(Value::as_str) else {
            return Err(self.text.error(line, "", "a device has no `disk_device`", REMEDY));
        };
        if !members.keys().any(|key| columns::is_rate(key)) {
            return Err(self.text.error(line, name, "this device has no `r/s`, `w/s` or `tps`", REMEDY));
        }
        let decimals = decimals(self.text.line(line));
        let mut device =
            IostatDevice { name: name.to_owned(), line: line_number(line), decimals, ..Default::default() };
        for (key, value) in members {
            match value.as_f64() {
                Some(value) if value >= 0.0 => columns::set(&mut device, key, value),
                Some(value) => {
                    return Err(self.text.error(line, "", format!("`{key}` is negative: {value}"), REMEDY));
                }
                None => {}
            }
        }
        Ok(device)
    }
}

/// Returns the decimals of the first number in a line; two by default.
fn decimals(line: &str) -> u32 {
    let first = line.match_indices("/s\": ").next().map(|(at, found)| &line[at + found.len()..]);
    let number = first.and_then(|rest| columns::number(rest.split([',', '}']).next()?.trim()));
    number.map_or(2, |(_, decimals)| decimals)
}
