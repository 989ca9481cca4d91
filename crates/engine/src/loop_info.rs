//! The kernel's description of a loop device (`linux/loop.h`).

/// `struct loop_info64`
#[repr(C)]
pub(crate) struct LoopInfo {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) rdevice: u64,
    pub(crate) offset: u64,
    pub(crate) size_limit: u64,
    pub(crate) number: u32,
    pub(crate) encrypt_type: u32,
    pub(crate) encrypt_key_size: u32,
    pub(crate) flags: u32,
    pub(crate) file_name: [u8; 64],
    pub(crate) crypt_name: [u8; 64],
    pub(crate) encrypt_key: [u8; 32],
    pub(crate) init: [u64; 2],
}
