//! Carrying out options whose data is at hand: protocol document, "Option types".

use super::answer::{self, OptionRefusal, acknowledge, refuse};
use super::data::{Inquiry, Queries};
use super::{ALLOCATION_CONTEXT, Agreed, Handshake, HandshakePhase, HandshakeStep, Negotiated, Tls, Turn};
use crate::bytes::string;
use crate::number::{ALLOCATION, opt};
use crate::{Export, ReplyStyle, TransmissionFlags};

impl Handshake {
    /// Carries out one option and answers it.
    pub(super) fn obey(&mut self, option: u32, data: &[u8], exports: &[Export], out: &mut Vec<u8>) -> HandshakeStep {
        let result = match option {
            opt::EXPORT_NAME => return self.export_name(data, exports, out),
            opt::LIST => {
                self.phase = HandshakePhase::List(0);
                return HandshakeStep::More;
            }
            opt::STARTTLS => self.start_tls(),
            opt::INFO | opt::GO => self.inquire(option, data, exports, out),
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

    /// The next reply to `NBD_OPT_LIST`.
    pub(super) fn list(&mut self, next: usize, exports: &[Export], out: &mut Vec<u8>) -> Turn {
        if let Some(export) = exports.get(next) {
            answer::entry(out, opt::LIST, export);
            self.phase = HandshakePhase::List(next + 1);
        } else {
            acknowledge(out, opt::LIST);
            self.phase = HandshakePhase::Options;
        }
        Turn::Consumed(0)
    }

    /// `NBD_OPT_EXPORT_NAME`: what it asks for is given or the connection ends.
    fn export_name(&self, data: &[u8], exports: &[Export], out: &mut Vec<u8>) -> HandshakeStep {
        let Some(export) = string(data).and_then(|name| find(exports, name)) else { return HandshakeStep::Close };
        if self.insists_on_sizes_of(&exports[export]) {
            return HandshakeStep::Close;
        }
        let agreed = self.agree(export, exports);
        answer::export_name(out, exports[export].size, agreed.flags, self.no_zeroes);
        HandshakeStep::Ready(agreed)
    }

    /// `NBD_OPT_STARTTLS`: what was negotiated in the clear is forgotten.
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

    /// `NBD_OPT_INFO` and `NBD_OPT_GO`.
    fn inquire(
        &self,
        option: u32,
        data: &[u8],
        exports: &[Export],
        out: &mut Vec<u8>,
    ) -> Result<HandshakeStep, OptionRefusal> {
        let inquiry = Inquiry::read(data).ok_or(OptionRefusal::MALFORMED)?;
        let index = find(exports, inquiry.export).ok_or(OptionRefusal::UNKNOWN_EXPORT)?;
        let export = &exports[index];
        if !inquiry.block_sizes && self.insists_on_sizes_of(export) {
            answer::block_sizes(out, option, export);
            return Err(OptionRefusal::BLOCK_SIZE);
        }
        let agreed = self.agree(index, exports);
        answer::export(out, option, export.size, agreed.flags);
        if inquiry.name {
            answer::name(out, option, export);
        }
        if inquiry.description && !export.description.is_empty() {
            answer::description(out, option, export);
        }
        if inquiry.block_sizes {
            answer::block_sizes(out, option, export);
        }
        Ok(if option == opt::GO { HandshakeStep::Ready(agreed) } else { HandshakeStep::More })
    }

    /// `NBD_OPT_STRUCTURED_REPLY`; asking twice does no harm.
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

    /// `NBD_OPT_EXTENDED_HEADERS`; asking twice does no harm.
    fn extend(&mut self) -> Result<HandshakeStep, OptionRefusal> {
        if self.settings.style != ReplyStyle::Extended {
            return Err(OptionRefusal::NOT_OFFERED);
        }
        self.negotiated.extended = true;
        Ok(HandshakeStep::More)
    }

    /// `NBD_OPT_LIST_META_CONTEXT`.
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

    /// `NBD_OPT_SET_META_CONTEXT`: replaces what was selected before, also where it fails.
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

    fn queries<'a>(&self, data: &'a [u8], exports: &[Export]) -> Result<(Queries<'a>, usize), OptionRefusal> {
        if !self.has_chunks() {
            return Err(OptionRefusal::NO_CHUNKS);
        }
        let queries = Queries::read(data).ok_or(OptionRefusal::MALFORMED)?;
        if queries.nonsense {
            return Err(OptionRefusal::NO_NAMESPACE);
        }
        let export = find(exports, queries.export).ok_or(OptionRefusal::UNKNOWN_EXPORT)?;
        Ok((queries, export))
    }

    fn has_chunks(&self) -> bool {
        self.negotiated.structured || self.negotiated.extended
    }

    /// Whether an export is kept from clients that have not promised to abide by its block sizes.
    fn insists_on_sizes_of(&self, export: &Export) -> bool {
        self.settings.insist_on_block_sizes && export.block.is_stricter_than_default()
    }

    fn agree(&self, export: usize, exports: &[Export]) -> Agreed {
        let allocation = (self.negotiated.allocation == Some(export)).then_some(ALLOCATION_CONTEXT);
        Agreed {
            export,
            flags: self.told(exports[export].flags, allocation.is_some()),
            structured: self.has_chunks(),
            extended: self.negotiated.extended,
            allocation,
        }
    }

    /// "Transmission flags": without those that make no sense after what was, or was not, negotiated.
    fn told(&self, flags: TransmissionFlags, has_context: bool) -> TransmissionFlags {
        type Flags = TransmissionFlags;
        let mut told = flags.with(Flags::HAS_FLAGS);
        if !self.has_chunks() {
            told = told.without(Flags::SEND_DF);
        }
        if !told.contains(Flags::SEND_WRITE_ZEROES) {
            told = told.without(Flags::SEND_FAST_ZERO);
        }
        if !self.negotiated.extended || !has_context {
            told = told.without(Flags::BLOCK_STATUS_PAYLOAD);
        }
        told
    }
}

/// The export of a name. The empty name means the first unless one is called so.
fn find(exports: &[Export], name: &str) -> Option<usize> {
    let named = exports.iter().position(|export| export.name == name);
    named.or_else(|| (name.is_empty() && !exports.is_empty()).then_some(0))
}
