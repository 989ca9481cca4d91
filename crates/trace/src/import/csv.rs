//! Public collections of traces, as text with a request in each line.

use super::FieldError;
use super::TraceFormat;
use super::lines::{Field, comma_fields};
use crate::TraceOperation;

/// Size of a sector, in bytes.
const SECTOR: u64 = 512;

/// Nanoseconds from 1601, where the time of Windows begins, to 1970.
const WINDOWS_EPOCH_NS: u64 = 11_644_473_600_000_000_000;

/// What a line says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    /// In nanoseconds since some instant.
    pub(super) time_ns: u64,
    pub(super) service_ns: Option<u64>,
    pub(super) offset: u64,
    pub(super) length: u32,
    pub(super) operation: TraceOperation,
    /// Parts of the name of the device.
    pub(super) device: [&'a [u8]; 2],
}

/// Reads a line; `None` for a header.
pub(super) fn row(format: TraceFormat, line: &[u8], is_first: bool) -> Result<Option<Row<'_>>, FieldError> {
    // A header is the only line whose times are words.
    if is_first && is_header(line) {
        return Ok(None);
    }
    let row = match format {
        TraceFormat::Msr => msr(line),
        TraceFormat::Systor => systor(line),
        TraceFormat::Alibaba => alibaba(line),
        TraceFormat::Tencent => tencent(line),
        TraceFormat::Vscsi => vscsi(line, 3),
        TraceFormat::VscsiSeconds => vscsi(line, 9),
        _ => cloud_physics(line),
    };
    row.map(Some)
}

pub(super) fn is_header(line: &[u8]) -> bool {
    let (fields, _) = comma_fields::<1>(line);
    let first = fields[0].text.to_ascii_lowercase();
    matches!(first.as_slice(), b"timestamp" | b"device_id" | b"ts" | b"time" | b"version")
}

/// `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`: times in 100 ns since 1601, sizes in bytes.
fn msr(line: &[u8]) -> Result<Row<'_>, FieldError> {
    let [time, host, disk, kind, offset, size, response] = fields(line)?;
    let since_1601 = time.number("a time")?.checked_mul(100).ok_or_else(|| time.error("a time in units of 100 ns"))?;
    Ok(Row {
        // Some copies of the traces count from their start.
        time_ns: since_1601.checked_sub(WINDOWS_EPOCH_NS).unwrap_or(since_1601),
        service_ns: Some(response.number("a response time")?.saturating_mul(100)),
        offset: offset.offset(1)?,
        length: size.length(1)?,
        operation: operation(kind, "Read", "Write")?,
        device: [host.text, disk.text],
    })
}

/// `Timestamp,Response,IOType,LUN,Offset,Size`: times in seconds since 1970, sizes in bytes; the type may be missing.
fn systor(line: &[u8]) -> Result<Row<'_>, FieldError> {
    let [time, response, kind, lun, offset, size] = fields(line)?;
    let service_ns = if response.text.is_empty() { None } else { Some(response.decimal(9, "a response time")?) };
    Ok(Row {
        time_ns: time.decimal(9, "a time")?,
        service_ns,
        offset: offset.offset(1)?,
        length: size.length(1)?,
        operation: if kind.text.is_empty() { TraceOperation::Other } else { operation(kind, "R", "W")? },
        device: [b"LUN", lun.text],
    })
}

/// `device_id,opcode,offset,length,timestamp`: times in microseconds since 1970, sizes in bytes.
fn alibaba(line: &[u8]) -> Result<Row<'_>, FieldError> {
    let [device, kind, offset, length, time] = fields(line)?;
    Ok(Row {
        time_ns: microseconds(time)?,
        service_ns: None,
        offset: offset.offset(1)?,
        length: length.length(1)?,
        operation: operation(kind, "R", "W")?,
        device: [device.text, b""],
    })
}

/// `Timestamp,Offset,Size,IOType,VolumeID`: times in seconds since 1970, sizes in sectors, 0 reads and 1 writes.
fn tencent(line: &[u8]) -> Result<Row<'_>, FieldError> {
    let [time, offset, size, kind, volume] = fields(line)?;
    Ok(Row {
        time_ns: time.decimal(9, "a time")?,
        service_ns: None,
        offset: offset.offset(SECTOR)?,
        length: size.length(SECTOR)?,
        operation: operation(kind, "0", "1")?,
        device: [volume.text, b""],
    })
}

/// `ts,lba,op,size`: times in microseconds, addresses in sectors, sizes in bytes.
fn cloud_physics(line: &[u8]) -> Result<Row<'_>, FieldError> {
    let [time, address, kind, size] = fields(line)?;
    Ok(Row {
        time_ns: microseconds(time)?,
        service_ns: None,
        offset: address.offset(SECTOR)?,
        length: size.length(1)?,
        operation: operation(kind, "r", "w")?,
        device: [b"disk", b""],
    })
}

/// `version,time,op,size,lbn`: times in units of 10 to the power of `digits` nanoseconds, operation codes of SCSI in
/// hexadecimal, sizes in bytes, addresses in sectors.
fn vscsi(line: &[u8], digits: usize) -> Result<Row<'_>, FieldError> {
    let [_, time, code, size, address] = fields(line)?;
    Ok(Row {
        time_ns: time.decimal(digits, "a time")?,
        service_ns: None,
        offset: address.offset(SECTOR)?,
        length: size.length(1)?,
        operation: scsi_operation(code)?,
        device: [b"disk", b""],
    })
}

/// Reads an operation code of SCSI: the forms with 6, 10, 12 and 16 bytes.
fn scsi_operation(field: Field) -> Result<TraceOperation, FieldError> {
    let text = std::str::from_utf8(field.text).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let code = text.and_then(|text| u8::from_str_radix(text, 16).ok());
    Ok(match code.ok_or_else(|| field.error("a SCSI operation code in hexadecimal, such as `28` or `2a`"))? {
        0x08 | 0x28 | 0xa8 | 0x88 => TraceOperation::Read,
        0x0a | 0x2a | 0xaa | 0x8a => TraceOperation::Write,
        0x35 | 0x91 => TraceOperation::Flush,
        0x42 => TraceOperation::Discard,
        0x41 | 0x93 => TraceOperation::WriteZeroes,
        _ => TraceOperation::Other,
    })
}

fn microseconds(field: Field) -> Result<u64, FieldError> {
    field.number("a time")?.checked_mul(1_000).ok_or_else(|| field.error("a time in microseconds"))
}

fn fields<const N: usize>(line: &[u8]) -> Result<[Field<'_>; N], FieldError> {
    let (fields, count) = comma_fields(line);
    if count == N {
        return Ok(fields);
    }
    Err(FieldError { column: line.len(), what: format!("{count} fields instead of {N}") })
}

/// Compares with the words of the format in any case: copies of the traces differ in it.
fn operation(field: Field, read: &str, write: &str) -> Result<TraceOperation, FieldError> {
    if field.text.eq_ignore_ascii_case(read.as_bytes()) {
        Ok(TraceOperation::Read)
    } else if field.text.eq_ignore_ascii_case(write.as_bytes()) {
        Ok(TraceOperation::Write)
    } else {
        Err(field.error(&format!("`{read}` or `{write}`")))
    }
}
