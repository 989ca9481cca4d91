//! The content of blocks, and what it depends on.

use std::sync::Arc;

use job::Job;

use crate::decision::{Decision, WorkerIndex};
use crate::files::JobLayout;
use crate::payload::Payload;
use crate::verify::{Checked, Mismatch, Verifier, WriteOrigin};

/// What is written and expected to be read.
#[derive(Clone, Debug)]
pub(super) struct Data {
    pub(super) payload: Payload,
    pub(super) verifier: Option<Verifier>,
    pub(super) inputs: Arc<IssuerInputs>,
}

/// Arguments of an issuer, for restarting it.
#[derive(Debug)]
pub(super) struct IssuerInputs {
    pub(super) job: Job,
    pub(super) worker: WorkerIndex,
    pub(super) layout: JobLayout,
    pub(super) seed: u64,
}

impl Data {
    #[inline]
    pub(super) fn fill(&self, op: &Decision, buffer: &mut [u8]) {
        match &self.verifier {
            Some(verifier) => verifier.fill(op, buffer),
            None => self.payload.fill(op, buffer),
        }
    }

    pub(super) fn check(&mut self, op: &Decision, data: &[u8]) -> Result<Checked, Mismatch> {
        self.verifier.as_mut().map_or(Ok(Checked::Good), |verifier| verifier.check(op, data))
    }

    pub(super) fn write_origin(&self) -> WriteOrigin {
        let seed = self.inputs.job.pattern.randseed.unwrap_or(self.inputs.seed);
        WriteOrigin { seed, nonce: self.verifier.as_ref().map_or(0, Verifier::nonce_or_none) }
    }
}
