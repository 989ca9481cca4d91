//! Commands to zones.

use target::Target;
use units::{Nanos, OpKind, ZoneCommand};
use workload::ZoneTask;

use super::{DriveWorker, placeholder};
use crate::outcome::{Ending, FailureCause};

impl DriveWorker {
    /// Sends a command to a zone, and reports its result to the issuer. Returns the time afterwards, because this is not
    /// part of an operation. A command that fails ends the worker, because it would fail again.
    #[cold]
    pub(super) fn command_zone<T: Target>(&mut self, target: &mut T, task: &ZoneTask) -> Nanos {
        let began = target.now();
        let result = target.command_zone(task.file, task.command, task.start, task.length);
        self.issuer.zone_commanded(task, result.ok());
        if let Err(errno) = result {
            let kind = if task.command == ZoneCommand::Reset { OpKind::Trim } else { OpKind::Write };
            self.fail(placeholder(kind, task.file, task.start, began), FailureCause::Errno(errno), None);
            self.ending = Some(Ending::Failed);
        }
        target.now()
    }
}
