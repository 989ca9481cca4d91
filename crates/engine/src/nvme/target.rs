//! The target that sends NVMe commands.

use std::os::fd::RawFd;

use io_uring::squeue::Entry128;
use io_uring::{cqueue, opcode, types};
use target::{Completion, Op, Tag, WriteBackSource};
use units::random::Random;
use units::{Nanos, OpKind, ZoneCommand};

use super::command::{self, COMPARE, MAX_BLOCKS, READ, WRITE};
use super::fit;
use super::placement::NamespacePlacement;
use super::protection::ProtectedBlocks;
use super::ranges::TrimRanges;
use crate::buffers::Buffers;
use crate::error::Error;
use crate::files::{File, ZoneTrim};
use crate::namespace::{self, GuardFormat, Namespace, NvmeCommand};
use target::spec::{EngineSpec, NvmeOptions, NvmeWrite, PlacementKind};

use crate::opening::{Opening, PlacementRange};
use crate::queue::{self, Backend, QueueState, QueueTarget, Submission};
use crate::ring::{self, KernelRing};

/// `NVME_URING_CMD_IO`: `_IOWR('N', 0x80, struct nvme_uring_cmd)`.
const NVME_URING_CMD_IO: u32 = 0xc048_4e80;
/// `NVME_URING_CMD_IO_VEC`: `_IOWR('N', 0x81, struct nvme_uring_cmd)`.
const NVME_URING_CMD_IO_VEC: u32 = 0xc048_4e81;

/// What is in flight under a tag.
#[derive(Clone, Copy)]
struct CommandInFlight {
    /// Result of a success.
    length: i32,
    /// File and first block, if the protection information of what is read must be checked.
    checked: Option<(u32, u64)>,
}

/// The backend on the character devices of NVMe namespaces.
pub(crate) struct Passthrough {
    ring: KernelRing<Entry128, cqueue::Entry32>,
    namespaces: Vec<Namespace>,
    /// Size in bytes of the zones of each file whose trims reset them; zero for others.
    zone_bytes: Vec<u64>,
    /// Whether the next read compares.
    compares: bool,
    /// Placements per file, if data are placed.
    placements: Vec<NamespacePlacement>,
    spec: EngineSpec,
    /// Ranges to deallocate, per tag.
    ranges: TrimRanges,
    /// Separate metadata, per tag.
    metadata: Option<Buffers>,
    in_flight: Vec<CommandInFlight>,
    random: Random,
}

impl Passthrough {
    pub(crate) fn target(setup: &Opening, files: Vec<File>) -> Result<QueueTarget<Self>, Error> {
        let (spec, used) = (setup.spec.clone(), setup.nvme.clone().unwrap_or_default());
        let nvme = &spec.nvme;
        if setup.spec.hipri {
            files.iter().try_for_each(ring::check_polled)?;
        }
        let namespaces = files
            .iter()
            .map(|file| with_descriptor(file, |fd| namespace::of_fd(fd, file.path())))
            .collect::<Result<Vec<_>, _>>()?;
        for (file, namespace) in files.iter().zip(&namespaces) {
            fit::check(file.path(), namespace, nvme, &used)?;
        }
        let zone_bytes = files
            .iter()
            .zip(&namespaces)
            .map(|(file, namespace)| zone_bytes(file, namespace, nvme))
            .collect::<Result<_, _>>()?;
        let placements = placements(&files, &namespaces, nvme, used.scheme.as_deref())?;
        let mut ring = KernelRing::new(setup).map_err(|error| match error.errno {
            Some(libc::EINVAL) => {
                error.with_remedy("use Linux 5.19 or later: older kernels do not support io_uring commands")
            }
            _ => error,
        })?;
        let state = QueueState::new(setup, files)?;
        let has_metadata = namespaces.iter().any(|namespace| namespace.separate_bytes(nvme.pi_act) > 0);
        let metadata =
            Opening { buffer_bytes: nvme.metadata_bytes, ..Opening::new(setup.spec.kind, setup.depth, 0, setup.clock) };
        let mut metadata = if has_metadata { Some(Buffers::new(&metadata)?) } else { None };
        metadata.iter_mut().for_each(Buffers::write_all);
        ring.register(setup, &state)?;
        let depth = setup.depth as usize;
        let backend = Self {
            ring,
            namespaces,
            zone_bytes,
            placements,
            compares: false,
            random: Random::new(used.seed, 0),
            ranges: TrimRanges::new(depth, nvme.ranges as usize),
            spec,
            metadata,
            in_flight: vec![CommandInFlight { length: 0, checked: None }; depth],
        };
        Ok(QueueTarget::new(backend, state))
    }

    /// Returns the entry of an operation, or its result if that is known without a command: a negated error number, or
    /// the bytes of a trim of zones that the device does not have.
    #[inline]
    fn entry(&mut self, state: &mut QueueState, op: &Op) -> Result<Entry128, i32> {
        let file = state.files.get(op.file as usize).ok_or(-libc::EINVAL)?;
        let namespace = self.namespaces[op.file as usize];
        if self.in_flight.len() <= op.tag.index() {
            return Err(-libc::EINVAL);
        }
        let fd = self.ring.descriptor(file, op)?;
        let access = file.access();
        let (command, data) = match op.kind {
            OpKind::Read if std::mem::take(&mut self.compares) => self.transfer(state, COMPARE, namespace, op)?,
            OpKind::Read => self.transfer(state, READ, namespace, op)?,
            OpKind::Write => {
                let write = self.next_write();
                if write.changes() && !access.write {
                    return Err(-libc::EBADF);
                }
                self.transfer(state, command::opcode_of(write), namespace, op)?
            }
            OpKind::Trim if !access.write => return Err(-libc::EBADF),
            OpKind::Trim if access.zone_trim == ZoneTrim::Nothing => return Err(op.length as i32),
            // A reset has no length, so any other trim would change more than it says.
            OpKind::Trim
                if access.zone_trim == ZoneTrim::Reset && u64::from(op.length) != self.zone_bytes[op.file as usize] =>
            {
                return Err(-libc::EINVAL);
            }
            OpKind::Trim if access.zone_trim == ZoneTrim::Reset => {
                let unit = namespace.block_bytes(self.spec.nvme.pi_act);
                (namespace.reset_zone(op.offset / u64::from(unit)), Data::None)
            }
            OpKind::Trim => (self.deallocation(namespace, op)?, Data::Own),
            _ => (NvmeCommand::flush(namespace.nsid), Data::None),
        };
        self.in_flight[op.tag.index()].length = op.length as i32;
        Ok(self.finish(fd, op, command, data))
    }

    /// Returns the submission entry of a command.
    #[inline]
    fn finish(&mut self, fd: types::Fd, op: &Op, mut command: NvmeCommand, data: Data) -> Entry128 {
        let mut call = NVME_URING_CMD_IO;
        let mut buffer = None;
        if let Data::Buffer(start) = data {
            match self.ring.vector(op, start) {
                Some(vector) => {
                    (call, command.addr, command.data_len) = (NVME_URING_CMD_IO_VEC, vector as u64, 1);
                }
                None => {
                    (command.addr, command.data_len) = (start as u64, op.length);
                    buffer = self.ring.registered_buffer(op.tag);
                }
            }
        }
        let entry = opcode::UringCmd80::new(fd, call).cmd(command.bytes()).buf_index(buffer).build();
        entry.flags(self.ring.flags()).user_data(u64::from(op.tag.0))
    }

    /// Returns the command of the next write.
    #[inline]
    fn next_write(&mut self) -> NvmeWrite {
        match self.spec.nvme.writes.as_slice() {
            [(only, _)] => *only,
            several => {
                let mut drawn = self.random.below(100);
                let chosen = several.iter().find(|(_, percentage)| {
                    let is_it = drawn < u64::from(*percentage);
                    drawn = drawn.saturating_sub(u64::from(*percentage));
                    is_it
                });
                chosen.or(several.last()).map_or(NvmeWrite::Write, |(command, _)| *command)
            }
        }
    }

    /// Returns the command for the blocks of a read or write, and the data it transfers.
    #[inline]
    fn transfer(
        &mut self,
        state: &mut QueueState,
        opcode: u8,
        namespace: Namespace,
        op: &Op,
    ) -> Result<(NvmeCommand, Data), i32> {
        let start = state.buffers.span(op.tag, op.skip, op.length).ok_or(-libc::EINVAL)?;
        let (first, blocks) = blocks_of(namespace, self.spec.nvme.pi_act, op)?;
        let mut command = NvmeCommand::on_blocks(opcode, namespace.nsid, first, blocks).with_flags(&self.spec);
        self.in_flight[op.tag.index()].checked = None;
        let has_data = matches!(opcode, READ | WRITE | COMPARE);
        if let Some(protection) = namespace.protection
            && opcode != command::WRITE_UNCORRECTABLE
        {
            let wide = protection.guard == GuardFormat::Crc64;
            command = command.with_protection(&self.spec.nvme, protection.counts, wide);
        }
        if opcode == WRITE
            && let Some(placement) = self.placements.get_mut(op.file as usize)
        {
            let (kind, specific) = placement.next(op.offset, &mut self.random);
            command = command.with_directive(kind, specific);
        }
        if has_data {
            self.add_metadata(state, &mut command, namespace, op, first, blocks)?;
        }
        Ok((command, if has_data { Data::Buffer(start) } else { Data::None }))
    }

    /// Adds separate metadata, and generates the protection information of a write.
    #[inline]
    fn add_metadata(
        &mut self,
        state: &mut QueueState,
        command: &mut NvmeCommand,
        namespace: Namespace,
        op: &Op,
        first: u64,
        blocks: u64,
    ) -> Result<(), i32> {
        let separate = blocks * u64::from(namespace.separate_bytes(self.spec.nvme.pi_act));
        if separate > 0 {
            let metadata = self.metadata.as_ref().ok_or(-libc::EINVAL)?;
            let start = metadata.span(op.tag, 0, separate as u32).ok_or(-libc::EINVAL)?;
            (command.metadata, command.metadata_len) = (start as u64, separate as u32);
        }
        let Some(protection) = namespace.protection.filter(|_| !self.spec.nvme.pi_act) else { return Ok(()) };
        if command.opcode == READ {
            self.in_flight[op.tag.index()].checked = Some((op.file, first));
            return Ok(());
        }
        let blocks = ProtectedBlocks { namespace: &namespace, options: &self.spec.nvme, protection, start: first };
        let range = op.skip as usize..op.skip as usize + op.length as usize;
        let data = state.buffers.slice(op.tag).and_then(|buffer| buffer.get_mut(range)).ok_or(-libc::EINVAL)?;
        let separate = match &mut self.metadata {
            Some(metadata) if separate > 0 => metadata.slice(op.tag),
            _ => None,
        };
        blocks.generate(data, separate);
        Ok(())
    }

    fn deallocation(&mut self, namespace: Namespace, op: &Op) -> Result<NvmeCommand, i32> {
        let unit = namespace.block_bytes(self.spec.nvme.pi_act);
        let (addr, count) = self.ranges.command(op, unit).ok_or(-libc::EINVAL)?;
        Ok(NvmeCommand::deallocate(namespace.nsid, addr, count))
    }
}

/// What a command transfers.
#[derive(Clone, Copy)]
enum Data {
    None,
    /// From or to the buffer of the tag.
    Buffer(*mut u8),
    /// From memory that the command names already.
    Own,
}

/// Returns the first block of an operation and their number.
#[inline]
fn blocks_of(namespace: Namespace, device_protects: bool, op: &Op) -> Result<(u64, u64), i32> {
    let unit = u64::from(namespace.block_bytes(device_protects));
    let blocks = u64::from(op.length) / unit;
    if !op.offset.is_multiple_of(unit) || !u64::from(op.length).is_multiple_of(unit) {
        return Err(-libc::EINVAL);
    }
    if !(1..=MAX_BLOCKS).contains(&blocks) {
        return Err(-libc::EINVAL);
    }
    Ok((op.offset / unit, blocks))
}

/// Returns the placements of each file; none if the device chooses.
fn placements(
    files: &[File],
    namespaces: &[Namespace],
    options: &NvmeOptions,
    scheme: Option<&[PlacementRange]>,
) -> Result<Vec<NamespacePlacement>, Error> {
    let wanted = &options.placement;
    if wanted.effective() == PlacementKind::None {
        return Ok(Vec::new());
    }
    let place = |(file, namespace): (&File, &Namespace)| {
        with_descriptor(file, |fd| NamespacePlacement::new(wanted, scheme, fd, namespace.nsid, file.path()))
    };
    files.iter().zip(namespaces).map(place).collect()
}

/// Returns the size of the zones of a namespace in bytes if trims of its file reset them, and zero otherwise.
fn zone_bytes(file: &File, namespace: &Namespace, options: &NvmeOptions) -> Result<u64, Error> {
    if file.access().zone_trim != ZoneTrim::Reset {
        return Ok(0);
    }
    let unit = namespace.block_bytes(options.pi_act);
    let failed = |error| Error::file("get the zone size of", file.path(), &error);
    let blocks = with_descriptor(file, |fd| namespace.zone_blocks(fd).map_err(failed))?;
    Ok(blocks.unwrap_or(0).saturating_mul(u64::from(unit)))
}

/// Calls `ask` with the descriptor of a file, and closes it again if it was closed.
fn with_descriptor<T>(file: &File, ask: impl FnOnce(RawFd) -> Result<T, Error>) -> Result<T, Error> {
    let was_closed = file.is_closed();
    let failed = |errno: i32| Error::file("open", file.path(), &std::io::Error::from_raw_os_error(-errno));
    let answer = file.live_fd().map_err(failed).and_then(ask);
    if was_closed {
        file.close();
    }
    answer
}

impl Backend for Passthrough {
    #[inline]
    fn submit(&mut self, state: &mut QueueState, op: &Op) -> Submission {
        match self.entry(state, op) {
            // SAFETY: an entry points into buffers, `metadata`, vectors or `ranges` at the place of its tag. They stay until
            // nothing is in flight (see `end`), and `entry` has checked that each range lies within them.
            Ok(entry) => unsafe { self.ring.queue(state, op.tag, &entry) },
            Err(result) => Submission::Done(result),
        }
    }

    #[inline]
    fn collect(&mut self, state: &mut QueueState, done: &mut Vec<Completion>) {
        let Self { ring, in_flight, namespaces, spec, metadata, .. } = self;
        let options = &spec.nvme;
        ring.collect(state, done, |state, user_data, reported| {
            let tag = ring::tag_of(user_data);
            let CommandInFlight { length, checked } = in_flight[tag.index()];
            match reported {
                0 => {}
                errno if errno < 0 => return errno,
                status => return -namespace::errno_of_status(status),
            }
            match checked {
                Some((file, first))
                    if !is_sound(
                        tag,
                        length,
                        first,
                        namespaces[file as usize],
                        options,
                        &state.buffers,
                        metadata.as_ref(),
                    ) =>
                {
                    -libc::EILSEQ
                }
                _ => length,
            }
        });
    }

    #[inline]
    fn poll(&mut self, state: &mut QueueState) {
        self.ring.poll(state);
    }

    #[inline]
    fn flush(&mut self, state: &mut QueueState) {
        self.ring.flush(state);
    }

    #[inline]
    fn block(&mut self, state: &mut QueueState, want: u32, limit: Option<Nanos>) -> bool {
        self.ring.block(state, want, limit)
    }

    fn compare(&mut self) {
        self.compares = true;
    }

    fn divide(&mut self, tag: Tag, ranges: &[(u64, u32)]) {
        self.ranges.divide(tag, ranges);
    }

    /// Writes the device's cache back.
    fn settle(&mut self, state: &QueueState, file: u32, _: u64, _: u64) -> Result<WriteBackSource, i32> {
        if let (Some(file), Some(namespace)) = (state.files.get(file as usize), self.namespaces.get(file as usize)) {
            let fd = file.live_fd().map_err(|errno| -errno)?;
            let flushed = namespace::execute(fd, NvmeCommand::flush(namespace.nsid));
            flushed.map_err(|error| namespace::errno_of(&error))?;
        }
        Ok(WriteBackSource::Stored)
    }

    fn command_zone(
        &mut self,
        state: &QueueState,
        file: u32,
        command: ZoneCommand,
        range: (u64, u64),
    ) -> Result<u64, i32> {
        let (Some(at), Some(namespace)) = (state.files.get(file as usize), self.namespaces.get(file as usize)) else {
            return Err(libc::EBADF);
        };
        if command != ZoneCommand::Report && !at.access().write {
            return Err(libc::EBADF);
        }
        let unit = namespace.block_bytes(self.spec.nvme.pi_act);
        let fd = at.live_fd().map_err(|errno| -errno)?;
        let execute = || namespace.command_zone(fd, unit, command, range);
        state.in_call.command_zone(file, range, state.clock.now(), execute)
    }

    fn let_close(&mut self, state: &mut QueueState, _: u32) -> bool {
        if !self.ring.has_registered_files() && self.ring.hand_over(state) {
            queue::drain(self, state);
        }
        !self.ring.has_registered_files()
    }

    /// Waits for all operations in flight, because the kernel uses the buffers until then.
    fn end(&mut self, state: &mut QueueState) {
        queue::drain(self, state);
    }
}

/// Reports whether the protection information of what was read agrees with it.
#[cold]
fn is_sound(
    tag: Tag,
    length: i32,
    first: u64,
    namespace: Namespace,
    options: &NvmeOptions,
    buffers: &Buffers,
    metadata: Option<&Buffers>,
) -> bool {
    let Some(protection) = namespace.protection else { return true };
    let blocks = ProtectedBlocks { namespace: &namespace, options, protection, start: first };
    let Some(data) = buffers.peek(tag).and_then(|buffer| buffer.get(..length as usize)) else { return false };
    let has_separate = namespace.separate_bytes(options.pi_act) > 0;
    let separate = metadata.filter(|_| has_separate).and_then(|metadata| metadata.peek(tag));
    blocks.check(data, separate).is_ok()
}
