//! `fathom doctor`: finds host settings that limit a device.

use std::path::Path;

use analyse::doctor::{DoctorSubject, examine, examine_host};
use device::{doctor_facts, doctor_targets};
use report::{ResultDocument, ResultFormat};
use results::doctor::DoctorResult;

use crate::args::DoctorOptions;
use crate::exit::Exit;
use crate::outputs::{Output, deliver_and_print, print_text, printed};

/// Examines the host and the given files and devices. Changes nothing.
pub(crate) fn command(options: &DoctorOptions) -> Result<Exit, Exit> {
    if options.checks {
        return Ok(print_text(&report::doctor_checks()));
    }
    let root = options.root.as_deref().unwrap_or(Path::new("/"));
    doctor_targets::check_root(root).map_err(Exit::environment)?;
    let names = match options.things.as_slice() {
        [] => doctor_targets::mounted(root).map_err(Exit::invalid)?,
        names => names.to_vec(),
    };
    let stacks = doctor_targets::stacks(root, &names).map_err(Exit::invalid)?;
    let mut files = Output::open(&options.output, ResultFormat::OF_FINDINGS).map_err(Exit::invalid)?;
    let host = doctor_facts::host(root);
    let subjects: Vec<DoctorSubject> =
        names.iter().zip(stacks).map(|(name, stack)| doctor_facts::subject(root, name, &stack)).collect();
    let host_findings = examine_host(&host, &subjects);
    let examined = |subject: DoctorSubject| {
        let findings = examine(&subject, &host);
        (subject, findings)
    };
    let subjects = subjects.into_iter().map(examined).collect();
    let diagnosis = DoctorResult { subjects, host: host_findings, purpose: options.purpose };
    let text = printed(ResultDocument::Diagnosis(&diagnosis, options.all), options.format, options.details);
    Ok(deliver_and_print(&mut files, &text, ResultDocument::Diagnosis(&diagnosis, true)))
}
