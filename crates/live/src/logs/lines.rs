//! Lines of log files in fio's format.

use job::{IoPriority, WindowValues};
use meter::{BUCKETS, LogAverage, LogKind, LoggedHistogram, LoggedOperation};
use runner::LogColumns;
use units::{DataKind, Nanos};

/// Formats entries as lines: time in milliseconds, value, kind (0 for a read, 1 for a write, 2 for a trim), block size in
/// bytes, and the columns of [`LogColumns`].
#[derive(Debug)]
pub(super) struct LineFormat {
    columns: LogColumns,
    epoch: Option<u64>,
    coarseness: u32,
    /// Priorities of operations, as the kernel encodes them.
    priorities: Vec<u16>,
    line: LineBuffer,
}

/// The values of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogFields {
    pub(super) time_ms: u64,
    pub(super) value: u64,
    pub(super) max: u64,
    pub(super) direction: DataKind,
    pub(super) block_size: u32,
    pub(super) offset: u64,
    pub(super) issue_ns: u64,
    /// I/O priority as the kernel encodes it.
    pub(super) priority: u16,
}

impl LineFormat {
    pub(super) fn new(columns: LogColumns, epoch: Option<u64>, coarseness: u32) -> Self {
        Self { columns, epoch, coarseness, priorities: Vec::new(), line: LineBuffer::new() }
    }

    /// Sets the priorities to which operations refer.
    pub(super) fn with_priorities(self, priorities: Vec<u16>) -> Self {
        Self { priorities, ..self }
    }

    pub(super) const fn columns(&self) -> LogColumns {
        self.columns
    }

    /// Returns the entry of an operation in a log.
    #[inline]
    pub(super) fn of_operation(&self, kind: LogKind, operation: &LoggedOperation, begun: Nanos) -> LogFields {
        let (submission, service) = (operation.submission.get(), operation.service.get());
        let value = match kind {
            LogKind::Submission => submission,
            LogKind::Service => service,
            LogKind::Latency => submission + service,
            LogKind::Bandwidth => {
                // Where operations complete when they are submitted, only their submission takes time.
                let ns = if service > 0 { service } else { submission.max(1) };
                u64::from(operation.block_size) * 1_000_000_000 / ns / 1024
            }
            LogKind::Iops | LogKind::Histogram => 1,
        };
        let has_issue = matches!(kind, LogKind::Submission | LogKind::Service);
        LogFields {
            time_ms: self.time_ms(operation.at, begun),
            value,
            max: 0,
            direction: operation.direction,
            block_size: operation.block_size,
            offset: operation.offset,
            issue_ns: if has_issue { operation.at.get().saturating_sub(service) } else { 0 },
            priority: self.priorities.get(usize::from(operation.priority)).copied().unwrap_or(0),
        }
    }

    /// Returns the entry of a window.
    pub(super) fn of_average(&self, average: &LogAverage, begun: Nanos) -> LogFields {
        let (time_ms, direction) = (self.time_ms(average.at, begun), average.direction);
        let value = if self.columns.values == WindowValues::Max { average.max } else { average.mean };
        LogFields { time_ms, value, max: average.max, direction, block_size: 0, offset: 0, issue_ns: 0, priority: 0 }
    }

    /// Appends the line of an entry.
    #[inline]
    pub(super) fn push(&mut self, text: &mut Vec<u8>, entry: &LogFields) {
        let (columns, line) = (self.columns, &mut self.line);
        line.begin();
        if columns.issue_time {
            line.number(entry.issue_ns);
            line.separate();
        }
        if columns.priority {
            line.hexadecimal(entry.priority);
        } else {
            line.text(if is_real_time(entry.priority) { b"1" } else { b"0" });
        }
        line.separate();
        if columns.offset {
            line.number(entry.offset);
            line.separate();
        }
        line.number(u64::from(entry.block_size));
        line.separate();
        line.number(entry.direction as u64);
        line.separate();
        if columns.values == WindowValues::Both {
            line.number(entry.max);
            line.separate();
        }
        line.number(entry.value);
        line.separate();
        line.number(entry.time_ms);
        text.extend_from_slice(line.bytes());
    }

    /// Appends the line of a histogram: time in milliseconds, kind, block size of the last operation, and the counts of
    /// all buckets.
    pub(super) fn push_histogram(&mut self, text: &mut Vec<u8>, histogram: &LoggedHistogram, begun: Nanos) {
        let mut counts = [0_u64; BUCKETS];
        for &(bucket, count) in &histogram.buckets {
            counts[bucket >> self.coarseness] += count;
        }
        let head = [self.time_ms(histogram.at, begun), histogram.direction as u64, u64::from(histogram.block_size)];
        let numbers = head.iter().chain(&counts[..BUCKETS >> self.coarseness]);
        for (index, number) in numbers.enumerate() {
            if index > 0 {
                text.extend_from_slice(b", ");
            }
            self.line.clear();
            self.line.number(*number);
            text.extend_from_slice(self.line.bytes());
        }
        text.push(b'\n');
    }

    #[inline]
    fn time_ms(&self, at: Nanos, begun: Nanos) -> u64 {
        match self.epoch {
            None => at.millis(),
            Some(epoch) => (begun + at).get().wrapping_add(epoch) / 1_000_000,
        }
    }
}

/// Reports whether a priority is of the real-time class, the highest.
pub(super) fn is_real_time(priority: u16) -> bool {
    IoPriority::from_raw(priority).class == 1
}

/// Size of the longest line, with seven numbers of twenty digits.
const LINE_BYTES: usize = 192;

/// A line, filled from its end, so that numbers need not be measured.
#[derive(Debug)]
struct LineBuffer {
    bytes: [u8; LINE_BYTES],
    start: usize,
}

impl LineBuffer {
    const fn new() -> Self {
        Self { bytes: [0; LINE_BYTES], start: LINE_BYTES }
    }

    fn clear(&mut self) {
        self.start = LINE_BYTES;
    }

    fn begin(&mut self) {
        self.clear();
        self.text(b"\n");
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    #[inline]
    fn text<const N: usize>(&mut self, text: &[u8; N]) {
        self.start -= N;
        self.bytes[self.start..self.start + N].copy_from_slice(text);
    }

    #[inline]
    fn separate(&mut self) {
        self.text(b", ");
    }

    #[inline]
    fn number(&mut self, mut number: u64) {
        while number >= 100 {
            self.pair((number % 100) as usize);
            number /= 100;
        }
        if number >= 10 {
            self.pair(number as usize);
        } else {
            self.text(&[b'0' + number as u8]);
        }
    }

    #[inline]
    fn hexadecimal(&mut self, mut number: u16) {
        for _ in 0..4 {
            self.text(&[b"0123456789abcdef"[usize::from(number & 15)]]);
            number >>= 4;
        }
        self.text(b"0x");
    }

    #[inline]
    fn pair(&mut self, pair: usize) {
        self.text(&PAIRS[pair]);
    }
}

/// The digits of 0 to 99.
const PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[0; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
};

#[cfg(test)]
mod tests {
    use super::*;

    fn line(columns: LogColumns, entry: LogFields) -> String {
        let mut text = Vec::new();
        LineFormat::new(columns, None, 0).push(&mut text, &entry);
        String::from_utf8(text).expect("digits")
    }

    const ENTRY: LogFields = LogFields {
        time_ms: 7,
        value: 1234,
        max: 5678,
        direction: DataKind::Write,
        block_size: 4096,
        offset: 8192,
        issue_ns: 99,
        priority: 0x2003,
    };

    #[test]
    fn columns_are_those_of_fio() {
        let none = LogColumns::default();
        assert_eq!(line(none, ENTRY), "7, 1234, 1, 4096, 1\n");
        assert_eq!(line(LogColumns { offset: true, ..none }, ENTRY), "7, 1234, 1, 4096, 8192, 1\n");
        assert_eq!(line(LogColumns { priority: true, ..none }, ENTRY), "7, 1234, 1, 4096, 0x2003\n");
        let low = LogFields { priority: 0x40af, ..ENTRY };
        assert_eq!(line(none, low), "7, 1234, 1, 4096, 0\n");
        assert_eq!(line(LogColumns { priority: true, ..none }, low), "7, 1234, 1, 4096, 0x40af\n");
        let all = LogColumns { values: WindowValues::Both, offset: true, priority: true, issue_time: true };
        assert_eq!(line(all, ENTRY), "7, 1234, 5678, 1, 4096, 8192, 0x2003, 99\n");
    }

    #[test]
    fn the_longest_line_fits() {
        let (most, direction) = (u64::MAX, DataKind::Trim);
        let entry = LogFields {
            time_ms: most,
            value: most,
            max: most,
            direction,
            block_size: u32::MAX,
            offset: most,
            issue_ns: most,
            priority: u16::MAX,
        };
        let all = LogColumns { values: WindowValues::Both, offset: true, priority: true, issue_time: true };
        let expected = format!("{most}, {most}, {most}, 2, {}, {most}, 0xffff, {most}\n", u32::MAX);
        assert_eq!(line(all, entry), expected);
    }

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        for number in (0..20).map(|power| 10_u64.pow(power)).flat_map(|power| [power - 1, power, power + 1]) {
            let mut buffer = LineBuffer::new();
            buffer.number(number);
            assert_eq!(buffer.bytes(), number.to_string().as_bytes());
        }
    }

    #[test]
    fn histograms_have_a_column_for_each_merged_bucket() {
        let histogram = LoggedHistogram {
            at: Nanos::from_millis(500),
            direction: DataKind::Read,
            block_size: 4096,
            buckets: vec![(0, 1), (63, 2), (64, 3), (BUCKETS - 1, 4)],
        };
        for (coarseness, buckets) in [(0, 1856), (3, 232), (6, 29)] {
            let mut text = Vec::new();
            LineFormat::new(LogColumns::default(), None, coarseness).push_histogram(&mut text, &histogram, Nanos::ZERO);
            let text = String::from_utf8(text).expect("digits");
            let columns: Vec<u64> =
                text.trim_end().split(", ").map(|column| column.parse().expect("a number")).collect();
            assert_eq!((columns[..3].to_vec(), columns.len()), (vec![500, 0, 4096], buckets + 3));
            assert_eq!(columns[3..].iter().sum::<u64>(), 10);
            assert_eq!((columns[3], columns[buckets + 2]), (if coarseness == 6 { 3 } else { 1 }, 4));
        }
    }

    #[test]
    fn times_follow_an_epoch() {
        let average =
            LogAverage { kind: LogKind::Iops, at: Nanos::from_millis(500), direction: DataKind::Read, mean: 3, max: 9 };
        // A clock that is two seconds behind that of the target.
        let epoch = Some(2_000_000_000_u64.wrapping_neg());
        let columns = LogColumns { values: WindowValues::Max, ..LogColumns::default() };
        let format = LineFormat::new(columns, epoch, 0);
        let entry = format.of_average(&average, Nanos::from_secs(5));
        assert_eq!((entry.time_ms, entry.value), (3_500, 9));
    }
}
