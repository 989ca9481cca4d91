//! Findings about a host and its devices.

use analyse::doctor::{DoctorFinding, DoctorSubject, Purpose};

/// All findings of the doctor.
#[derive(Clone, Debug)]
pub struct DoctorResult {
    /// Requested names, with the findings about each.
    pub subjects: Vec<(DoctorSubject, Vec<DoctorFinding>)>,
    /// Findings about the host.
    pub host: Vec<DoctorFinding>,
    /// Purpose of the devices; `None` for both.
    pub purpose: Option<Purpose>,
}
