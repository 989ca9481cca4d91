//! The need of `fathom plan`: words for `procedure::plan_words`, and the file of the load.

use std::path::Path;

use job::Diagnostic;
use plan::workload::Derived;
use procedure::plan_words::PlanWords;
use procedure::purchase;
use runner::problems;

use super::args::{PlanLoop, PlanOptions, PlanPattern};
use crate::source::LocalSource;
use device::input_file;

/// Returns the options as words.
pub(super) fn words(options: &PlanOptions) -> PlanWords {
    let given = options.clone();
    PlanWords {
        iops: given.iops,
        throughput: given.throughput,
        bs: given.bs,
        read: given.read,
        capacity: given.capacity,
        latency: given.latency,
        p50: given.p50,
        p99: given.p99,
        p999: given.p999,
        machines: given.machines,
        vcpus: given.vcpus,
        machine: given.machine,
        region: given.region,
        budget: given.budget,
        headroom: given.headroom,
        eur_usd: given.eur_usd,
        growth: given.growth,
        workload: given.workload,
        is_sequential: given.pattern.map(|pattern| pattern == PlanPattern::Sequential),
        read_only: given.read_only,
        scratch: given.scratch,
        provider: given.provider,
        has_file: given.from.is_some(),
        full: given.full,
        is_closed: given.replay_loop == PlanLoop::Closed,
        show_math: given.show_math,
        no_simulation: given.no_simulation,
    }
}

/// Derives the need from a run or a job file.
pub(super) fn of_file(path: &Path, device: Option<&str>) -> Result<Derived, Vec<Diagnostic>> {
    let (file, number) = input_file::numbered(path);
    let name = file.display().to_string();
    let bytes = device::input::read(file, device::input::RECORD).map_err(|error| {
        let place = problems::place_in_option("--from", &name, 0..name.len());
        let remedy = "give a record, fio's output or a job file";
        vec![Diagnostic::error("unreadable-input", engine::describe(&error)).at(place).remedy(remedy)]
    })?;
    purchase::need_of(&name, &bytes, (number, device), &LocalSource::default())
}
