//! Ends and begins of loops.

use units::Nanos;

use super::{Issuer, IssuerPhase};
use crate::decision::Next;
use crate::offsets::Cursor;

impl Issuer {
    /// Ends a loop and begins the next one, if any.
    pub(super) fn close(&mut self, next_file: u32, now: Nanos) -> Option<Next> {
        if self.pairs.as_ref().is_some_and(|pairs| !pairs.waiting.is_empty()) {
            return Some(Next::Blocked);
        }
        if self.syncs_at_end() && (next_file as usize) < self.files.len() {
            if self.in_flight() > 0 {
                return Some(Next::Blocked);
            }
            self.phase = IssuerPhase::Closing { next_file: next_file + 1 };
            return Some(self.issue_closing_sync(next_file, now));
        }
        if self.read_back_is_due() {
            self.phase = IssuerPhase::ReadBack;
            return Some(Next::Done);
        }
        self.next_loop();
        None
    }

    /// Begins the next loop. Returns false, and ends the job, if there is none.
    pub(super) fn next_loop(&mut self) -> bool {
        // A loop in which there was no room for any operation is the last: the next one would have none either.
        let restarts = self.limits.restarts();
        let was_empty = std::mem::replace(&mut self.loop_start, self.sequence) == self.sequence;
        if was_empty || !self.limits.next_loop() {
            self.phase = IssuerPhase::Done;
            return false;
        }
        self.phase = IssuerPhase::Load;
        self.next_renewed = self.limits.renews_files().then_some(0);
        self.within_pass = !restarts && !self.files.iter().all(Cursor::is_done);
        if !self.within_pass {
            self.renew_files();
        }
        true
    }

    /// Returns the next step of the renewal of the files, before the first operation of a loop.
    pub(super) fn due_renewal(&mut self) -> Option<Next> {
        let file = self.next_renewed?;
        if self.in_flight() > 0 {
            return Some(Next::Blocked);
        }
        self.next_renewed = (file as usize + 1 < self.files.len()).then_some(file + 1);
        Some(Next::Renew(file))
    }

    /// Reports whether the current loop ends with syncs.
    fn syncs_at_end(&self) -> bool {
        let (sync, job) = (&self.origin.job.sync, &self.origin.job);
        let last = self.limits.is_last_loop();
        let wanted =
            ((sync.end_fsync || sync.end_syncfs) && !self.limits.is_endless()) || (sync.fsync_on_close && last);
        wanted && job.pattern.direction.writes() && self.writes > 0
    }
}
