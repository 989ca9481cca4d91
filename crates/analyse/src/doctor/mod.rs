//! Host settings that limit a device.
//!
//! `cli` reads the host and hands over [`HostFacts`] and one [`DoctorSubject`] for each name; the rules are pure. A figure that is
//! not known makes a finding that says so, never a guess. What a finding means in words is `report`'s.

mod check;
mod facts;
mod finding;
mod rules;

pub use check::Check;
pub use facts::{
    Bottom, DiskFacts, DoctorSubject, FactLayerKind, FilesystemFacts, HostFacts, InterruptFacts, IoLimitFacts, Known,
    LayerFacts, Number, RingFacts, SwapFacts, UnreadCause, UnreadFact,
};
pub use finding::{
    CheckState, DoctorCase, DoctorFigure, DoctorFinding, DoctorValue, Purpose, PurposeVerdict, SettingChange, Want,
};

/// Everything that was found about the devices and the filesystem of one name, in the order of the checks.
#[must_use]
pub fn examine(subject: &DoctorSubject, host: &HostFacts) -> Vec<DoctorFinding> {
    let mut findings: Vec<DoctorFinding> =
        subject.layers.iter().chain(&subject.parts).flat_map(|layer| rules::layer(layer, subject, host)).collect();
    findings.extend(rules::read_ahead(subject));
    findings.extend(subject.filesystems.iter().flat_map(|filesystem| rules::filesystem(filesystem, subject)));
    findings.sort_by_key(|finding| finding.check);
    findings
}

/// Everything that was found about the host, for work on these subjects.
#[must_use]
pub fn examine_host(host: &HostFacts, subjects: &[DoctorSubject]) -> Vec<DoctorFinding> {
    rules::host(host, subjects)
}
