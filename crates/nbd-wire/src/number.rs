//! Constants: protocol document, "Protocol phases" and "Values".

/// Start of a server's greeting (`NBDMAGIC`).
pub(crate) const GREETING: u64 = 0x4e42_444d_4147_4943;
/// Magic of newstyle negotiation, and of every option (`IHAVEOPT`).
pub(crate) const OPTION: u64 = 0x4948_4156_454f_5054;
/// Magic of oldstyle negotiation, after the greeting.
pub(crate) const OLDSTYLE: u64 = 0x0000_4202_8186_1253;
pub(crate) const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;

/// Handshake and client flag: negotiation of options with replies.
pub(crate) const FIXED_NEWSTYLE: u16 = 1;
/// Handshake and client flag: no padding after the reply to `NBD_OPT_EXPORT_NAME`.
pub(crate) const NO_ZEROES: u16 = 2;
pub(crate) const ZEROES: usize = 124;
/// Longest string, in bytes ("Conventions").
pub(crate) const MAX_STRING: usize = 4096;
/// The only metadata context of the document.
pub(crate) const ALLOCATION: &str = "base:allocation";
/// Length of an option's header, in bytes.
pub(crate) const OPTION_HEADER: usize = 16;
/// Length of an option reply's header, in bytes.
pub(crate) const OPTION_REPLY_HEADER: usize = 20;

/// Option types.
pub(crate) mod opt {
    pub(crate) const EXPORT_NAME: u32 = 1;
    pub(crate) const ABORT: u32 = 2;
    pub(crate) const LIST: u32 = 3;
    pub(crate) const STARTTLS: u32 = 5;
    pub(crate) const INFO: u32 = 6;
    pub(crate) const GO: u32 = 7;
    pub(crate) const STRUCTURED_REPLY: u32 = 8;
    pub(crate) const LIST_META_CONTEXT: u32 = 9;
    pub(crate) const SET_META_CONTEXT: u32 = 10;
    pub(crate) const EXTENDED_HEADERS: u32 = 11;
}

/// Option reply types of successful options.
pub(crate) mod rep {
    pub(crate) const ACK: u32 = 1;
    pub(crate) const SERVER: u32 = 2;
    pub(crate) const INFO: u32 = 3;
    pub(crate) const META_CONTEXT: u32 = 4;
    /// Bit of all error types.
    pub(crate) const ERROR: u32 = 1 << 31;
}

/// Option reply types of errors.
pub(crate) mod err {
    use super::rep::ERROR;

    pub(crate) const UNSUP: u32 = ERROR + 1;
    pub(crate) const POLICY: u32 = ERROR + 2;
    pub(crate) const INVALID: u32 = ERROR + 3;
    pub(crate) const TLS_REQD: u32 = ERROR + 5;
    pub(crate) const UNKNOWN: u32 = ERROR + 6;
    pub(crate) const SHUTDOWN: u32 = ERROR + 7;
    pub(crate) const BLOCK_SIZE_REQD: u32 = ERROR + 8;
    pub(crate) const TOO_BIG: u32 = ERROR + 9;
    pub(crate) const EXT_HEADER_REQD: u32 = ERROR + 10;
}

/// Information types.
pub(crate) mod info {
    pub(crate) const EXPORT: u16 = 0;
    pub(crate) const NAME: u16 = 1;
    pub(crate) const DESCRIPTION: u16 = 2;
    pub(crate) const BLOCK_SIZE: u16 = 3;
}
