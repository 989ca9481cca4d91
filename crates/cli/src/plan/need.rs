//! The file that `fathom plan` takes the load from.

use std::path::Path;

use plan::workload::Derived;
use procedure::purchase;

use crate::source::LocalSource;
use device::input_file;
use units::{Place, Problem, ProblemCode};

/// Derives the need from a run or a job file.
pub(super) fn of_file(path: &Path, device: Option<&str>) -> Result<Derived, Vec<Problem>> {
    let (file, number) = input_file::numbered(path);
    let name = file.display().to_string();
    let bytes = device::input::read(file, device::input::RECORD).map_err(|error| {
        let place = Place::in_option("--from", &name, 0..name.len());
        let remedy = "give a record, fio's output or a job file";
        vec![Problem::error(ProblemCode::UnreadableInput, error.to_string()).at(place).help(remedy)]
    })?;
    purchase::need_of(&name, &bytes, (number, device), &LocalSource::default())
}
