//! Zones of zoned block devices.

/// Kinds of zones, by the rules for writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneKind {
    /// Writes may fall anywhere, as on other devices.
    Conventional,
    /// Writes must begin at the write pointer, or should.
    Sequential,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneCondition {
    /// Nothing was written since the last reset, or the zone has no write pointer.
    Empty,
    /// Written in part, and open: it takes resources of the device.
    Open,
    /// Written in part, and closed: it takes resources of devices that limit their active zones.
    Closed,
    /// Written or finished: it takes no data before a reset.
    Full,
    /// It takes no data, or has lost them.
    Unusable,
}

/// A zone of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Offset of the first byte.
    pub start: u64,
    /// Bytes that can be written, from the start on.
    pub capacity: u64,
    /// Offset of the next write; the end of the capacity if the zone is full.
    pub write_pointer: u64,
    /// Rules for writes.
    pub kind: ZoneKind,
    pub condition: ZoneCondition,
}

impl Zone {
    /// Returns the offset of the first byte after the capacity.
    #[must_use]
    pub const fn end(&self) -> u64 {
        self.start + self.capacity
    }
}

/// Zones of a device and its limits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ZoneReport {
    /// Distance of the starts of zones, in bytes.
    pub zone_bytes: u64,
    /// All zones, in the order of their offsets.
    pub zones: Vec<Zone>,
    /// Maximum number of open zones; zero for no limit.
    pub max_open: u32,
    /// Maximum number of open and closed zones; zero for no limit.
    pub max_active: u32,
}

impl ZoneReport {
    /// Returns the maximum number of zones that can be written in part at the same time; zero for no limit.
    #[must_use]
    pub const fn max_written(&self) -> u32 {
        match (self.max_open, self.max_active) {
            (0, most) | (most, 0) => most,
            (open, active) => {
                if open < active {
                    open
                } else {
                    active
                }
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneCommand {
    /// Discard the data of the zone and return its write pointer to its start.
    Reset,
    /// Make the zone full, so that it takes no resources.
    Finish,
    /// Report the write pointer.
    Report,
}
