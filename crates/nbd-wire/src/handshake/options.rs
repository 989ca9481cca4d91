//! Executes options: protocol document, "Option types".

use super::answer::{self, OptionRefusal, acknowledge, refuse};
use super::data::{ContextQueries, InfoRequest};
use super::{ALLOCATION_CONTEXT, Agreed, Handshake, HandshakePhase, HandshakeStep, Negotiated, ProcessResult, Tls};
use crate::bytes::string;
use crate::number::{ALLOCATION, opt};
use crate::{Export, ReplyStyle, TransmissionFlags};

impl Handshake {
    pub(super) fn execute(&mut self, option: u32, data: &[u8], exports: &[Export], out: &mut Vec<u8>) -> HandshakeStep {
        let result = match option {
            opt::EXPORT_NAME => return self.export_name(data, exports, out),
            opt::LIST => {
                self.phase = HandshakePhase::List(0);
                return HandshakeStep::More;
            }
            opt::STARTTLS => self.start_tls(),
            opt::INFO | opt::GO => self.info(option, data, exports, out),
            opt::STRUCTURED_REPLY => self.structure(),
            opt::EXTENDED_HEADERS => self.extend(),
            opt::LIST_META_CONTEXT => self.list_contexts(data, exports, out),
            opt::SET_META_CONTEXT => self.set_contexts(data, exports, out),
            _ => Err(OptionRefusal::UNKNOWN_OPTION),
        };
        match result {
            Ok(step) => {
                acknowledge(out, option);
                step
            }
            Err(refusal) => {
                refuse(out, option, refusal);
                HandshakeStep::More
            }
        }
    }

    /// Sends the next reply to `NBD_OPT_LIST`.
    pub(super) fn list(&mut self, next: usize, exports: &[Export], out: &mut Vec<u8>) -> ProcessResult {
        if let Some(export) = exports.get(next) {
            answer::entry(out, opt::LIST, export);
            self.phase = HandshakePhase::List(next + 1);
        } else {
            acknowledge(out, opt::LIST);
            self.phase = HandshakePhase::Options;
        }
        ProcessResult::Consumed(0)
    }

    /// Handles `NBD_OPT_EXPORT_NAME`, which has no negative reply.
    fn export_name(&self, data: &[u8], exports: &[Export], out: &mut Vec<u8>) -> HandshakeStep {
        let Some(export) = string(data).and_then(|name| find(exports, name)) else { return HandshakeStep::Close };
        if self.requires_block_sizes(&exports[export]) {
            return HandshakeStep::Close;
        }
        let agreed = self.agree(export, exports);
        answer::export_name(out, exports[export].size, agreed.flags, self.no_zeroes);
        HandshakeStep::Ready(agreed)
    }

    /// Handles `NBD_OPT_STARTTLS`, which discards what was negotiated in the clear.
    fn start_tls(&mut self) -> Result<HandshakeStep, OptionRefusal> {
        if self.encrypted {
            return Err(OptionRefusal::TLS_TWICE);
        }
        if self.settings.tls == Tls::Off {
            return Err(OptionRefusal::NO_TLS);
        }
        self.encrypted = true;
        self.negotiated = Negotiated::default();
        Ok(HandshakeStep::StartTls)
    }

    /// Handles `NBD_OPT_INFO` and `NBD_OPT_GO`.
    fn info(
        &self,
        option: u32,
        data: &[u8],
        exports: &[Export],
        out: &mut Vec<u8>,
    ) -> Result<HandshakeStep, OptionRefusal> {
        let info_request = InfoRequest::read(data).ok_or(OptionRefusal::MALFORMED)?;
        let index = find(exports, info_request.export).ok_or(OptionRefusal::UNKNOWN_EXPORT)?;
        let export = &exports[index];
        if !info_request.block_sizes && self.requires_block_sizes(export) {
            answer::block_sizes(out, option, export);
            return Err(OptionRefusal::BLOCK_SIZE);
        }
        let agreed = self.agree(index, exports);
        answer::export(out, option, export.size, agreed.flags);
        if info_request.name {
            answer::name(out, option, export);
        }
        if info_request.description && !export.description.is_empty() {
            answer::description(out, option, export);
        }
        if info_request.block_sizes {
            answer::block_sizes(out, option, export);
        }
        Ok(if option == opt::GO { HandshakeStep::Ready(agreed) } else { HandshakeStep::More })
    }

    /// Handles `NBD_OPT_STRUCTURED_REPLY`, which may be repeated.
    fn structure(&mut self) -> Result<HandshakeStep, OptionRefusal> {
        if self.negotiated.extended {
            return Err(OptionRefusal::EXTENDED);
        }
        if self.settings.style == ReplyStyle::Simple {
            return Err(OptionRefusal::NOT_OFFERED);
        }
        self.negotiated.structured = true;
        Ok(HandshakeStep::More)
    }

    /// Handles `NBD_OPT_EXTENDED_HEADERS`, which may be repeated.
    fn extend(&mut self) -> Result<HandshakeStep, OptionRefusal> {
        if self.settings.style != ReplyStyle::Extended {
            return Err(OptionRefusal::NOT_OFFERED);
        }
        self.negotiated.extended = true;
        Ok(HandshakeStep::More)
    }

    /// Handles `NBD_OPT_LIST_META_CONTEXT`.
    fn list_contexts(
        &self,
        data: &[u8],
        exports: &[Export],
        out: &mut Vec<u8>,
    ) -> Result<HandshakeStep, OptionRefusal> {
        let (queries, _) = self.queries(data, exports)?;
        if queries.none || queries.wildcard || queries.allocation {
            answer::context(out, opt::LIST_META_CONTEXT, 0, ALLOCATION);
        }
        Ok(HandshakeStep::More)
    }

    /// Handles `NBD_OPT_SET_META_CONTEXT`, which replaces the previous selection even if it fails.
    fn set_contexts(
        &mut self,
        data: &[u8],
        exports: &[Export],
        out: &mut Vec<u8>,
    ) -> Result<HandshakeStep, OptionRefusal> {
        self.negotiated.allocation = None;
        let (queries, export) = self.queries(data, exports)?;
        if queries.allocation {
            self.negotiated.allocation = Some(export);
            answer::context(out, opt::SET_META_CONTEXT, ALLOCATION_CONTEXT, ALLOCATION);
        }
        Ok(HandshakeStep::More)
    }

    fn queries<'a>(&self, data: &'a [u8], exports: &[Export]) -> Result<(ContextQueries<'a>, usize), OptionRefusal> {
        if !self.has_chunks() {
            return Err(OptionRefusal::NO_CHUNKS);
        }
        let queries = ContextQueries::read(data).ok_or(OptionRefusal::MALFORMED)?;
        if queries.invalid {
            return Err(OptionRefusal::NO_NAMESPACE);
        }
        let export = find(exports, queries.export).ok_or(OptionRefusal::UNKNOWN_EXPORT)?;
        Ok((queries, export))
    }

    fn has_chunks(&self) -> bool {
        self.negotiated.structured || self.negotiated.extended
    }

    /// Reports whether clients must request the block sizes of an export.
    fn requires_block_sizes(&self, export: &Export) -> bool {
        self.settings.insist_on_block_sizes && export.block.is_stricter_than_default()
    }

    fn agree(&self, export: usize, exports: &[Export]) -> Agreed {
        let allocation = (self.negotiated.allocation == Some(export)).then_some(ALLOCATION_CONTEXT);
        Agreed {
            export,
            flags: self.announced(exports[export].flags, allocation.is_some()),
            structured: self.has_chunks(),
            extended: self.negotiated.extended,
            allocation,
        }
    }

    /// "Transmission flags": removes those that contradict the negotiated options.
    fn announced(&self, flags: TransmissionFlags, has_context: bool) -> TransmissionFlags {
        type Flags = TransmissionFlags;
        let mut announced = flags.with(Flags::HAS_FLAGS);
        if !self.has_chunks() {
            announced = announced.without(Flags::SEND_DF);
        }
        if !announced.contains(Flags::SEND_WRITE_ZEROES) {
            announced = announced.without(Flags::SEND_FAST_ZERO);
        }
        if !self.negotiated.extended || !has_context {
            announced = announced.without(Flags::BLOCK_STATUS_PAYLOAD);
        }
        announced
    }
}

/// Returns the index of a named export. The empty name selects the first, unless an export has that name.
fn find(exports: &[Export], name: &str) -> Option<usize> {
    let named = exports.iter().position(|export| export.name == name);
    named.or_else(|| (name.is_empty() && !exports.is_empty()).then_some(0))
}
