//! New files for another loop (`unlink_each_loop`).

use target::Target;
use units::{Nanos, OpKind};

use super::{DriveWorker, placeholder};
use crate::outcome::{Ending, FailureCause};

impl DriveWorker {
    /// Removes a file, so that operations create a new one. Returns the time afterwards, because this is not part of an
    /// operation. A failure ends the worker: the next loop would work on the data of the last one.
    #[cold]
    pub(super) fn renew_file<T: Target>(&mut self, target: &mut T, file: u32) -> Nanos {
        let began = target.now();
        if let Err(errno) = target.renew(file) {
            self.fail(placeholder(OpKind::Write, file, 0, began), FailureCause::Errno(errno), None);
            self.ending = Some(Ending::Failed);
        }
        target.now()
    }
}
