//! Host settings that limit a device.
//!
//! `cli` reads the host and passes [`HostFacts`] and one [`DoctorSubject`] per path; the rules are pure. An unknown
//! fact yields a finding that says so, never a guess. `report` words the findings.

mod check;
mod facts;
mod finding;
mod rules;

pub use check::Check;
pub use facts::{DiskFacts, DoctorSubject, FactLayerKind, FilesystemFacts, HostFacts, LayerFacts};
pub use finding::{
    CheckState, DoctorCase, DoctorFigure, DoctorFinding, DoctorValue, Purpose, PurposeVerdict, SettingChange, Want,
};

/// Returns the findings about the devices and filesystems of one path, in the order of the checks.
#[must_use]
pub fn examine(subject: &DoctorSubject, host: &HostFacts) -> Vec<DoctorFinding> {
    let mut findings: Vec<DoctorFinding> =
        subject.layers.iter().chain(&subject.parts).flat_map(|layer| rules::layer(layer, subject, host)).collect();
    findings.extend(rules::read_ahead(subject));
    findings.extend(subject.filesystems.iter().flat_map(|filesystem| rules::filesystem(filesystem, subject)));
    findings.sort_by_key(|finding| finding.check);
    findings
}

/// Returns the findings about the host as far as it serves these subjects.
#[must_use]
pub fn examine_host(host: &HostFacts, subjects: &[DoctorSubject]) -> Vec<DoctorFinding> {
    rules::host(host, subjects)
}
