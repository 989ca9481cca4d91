//! Validates requests of all clients, passes them to the store and the model, and collects their results.

use units::Nanos;
use volume::{RequestKind as Charged, Share, System};

use super::Offer;
use super::active_clients::ActiveClients;
use super::budget::{MemoryBudget, REQUEST_BYTES};
use super::outbox::Loan;
use super::slots::{ConnectionTicket, Pending, ServerSlots, SlotError};
use super::socket::ClientEnded;
use super::socket::TlsIdentity;
use super::tallies::ExportCounters;
use super::timeline::Timeline;
use crate::store::faults::FaultRates;
use crate::store::{Fault, Faults, Footprint, Operation, Store, StoreCapabilities, StoreEnd, StoreProgress};
use nbd_wire::handshake::Agreed;
use nbd_wire::{CommandFlags, Errno, Export, Extent, NbdCommand, NbdRequest, ReplyStyle, TransmissionFlags};

pub(super) const INPUT_BYTES: usize = 256 << 10;

#[derive(Clone, Debug)]
pub(super) struct ExportEntry {
    /// Index of the store with its data.
    pub store: u32,
    /// Memory of requests in the store.
    pub footprint: Footprint,
    /// Its attachment to the model; `None` to answer as soon as the store has finished.
    pub route: Option<usize>,
    pub tally: ExportCounters,
}

/// How to interpret and answer the requests of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReplyMode {
    /// Index of the selected export.
    pub export: u32,
    pub style: ReplyStyle,
    /// ID of the negotiated `base:allocation` context.
    pub context: Option<u32>,
}

impl ReplyMode {
    pub(super) fn of(agreed: &Agreed) -> Self {
        Self { export: agreed.export as u32, style: agreed.style(), context: agreed.allocation }
    }
}

/// Requests of all clients, from arrival to reply.
pub(super) struct Dispatcher {
    /// Exports as clients see them.
    pub exports: Vec<Export>,
    /// The server's part of each export.
    pub offered: Vec<ExportEntry>,
    pub stores: Vec<Box<dyn Store>>,
    pub timeline: Timeline,
    /// TLS certificates of the server.
    pub identity: Option<TlsIdentity>,
    copies: Vec<bool>,
    slots: ServerSlots,
    /// Number of requests since the server started.
    pub taken: u64,
    /// Requests ready to be answered.
    finished: Vec<u32>,
    ended: Vec<StoreEnd>,
    /// Faults injected in the server.
    pub faults: Option<Faults>,
    /// Clients waiting for replies.
    pub active: ActiveClients,
    /// Memory of all clients.
    pub budget: MemoryBudget,
    /// Receive buffer that all connections share.
    pub buffer: Vec<u8>,
    /// Whether requests are refused because the server is stopping.
    pub closing: bool,
}

#[derive(Clone, Debug)]
pub(super) struct DispatchResult {
    pub request: NbdRequest,
    /// Success, with the loaned data of a read.
    pub result: Result<Option<Loan>, SlotError>,
    /// Extents found by a block status request.
    pub extents: Vec<Extent>,
}

/// Maximum extents per reply.
const MAX_EXTENTS: usize = 1024;
/// Memory of an extent while it is found and sent.
const EXTENT_BYTES: u64 = 40;
/// Allocation unit for the data of a request in a store.
const PAGE_BYTES: u64 = 4096;

impl Dispatcher {
    pub(super) fn new(
        offers: Vec<Offer>,
        stores: Vec<Box<dyn Store>>,
        timeline: Timeline,
        identity: Option<TlsIdentity>,
        budget: MemoryBudget,
    ) -> Self {
        let offered = offers.iter().map(|&Offer { store, route, .. }| ExportEntry {
            store: store as u32,
            footprint: stores[store].footprint(),
            route,
            tally: ExportCounters::default(),
        });
        Self {
            copies: stores.iter().map(|store| store.footprint().copies).collect(),
            offered: offered.collect(),
            exports: offers.into_iter().map(|offer| offer.export).collect(),
            stores,
            timeline,
            identity,
            slots: ServerSlots::new(System::IDS_MAX),
            taken: 0,
            finished: Vec::new(),
            ended: Vec::new(),
            faults: None,
            active: ActiveClients::default(),
            budget,
            buffer: vec![0; 2 * INPUT_BYTES],
            closing: false,
        }
    }

    /// Accepts a complete request.
    ///
    /// # Errors
    /// When a fault disconnects the client, or when requests of disconnected clients occupy all slots.
    pub(super) fn accept(
        &mut self,
        now: Nanos,
        ticket: ConnectionTicket,
        mode: ReplyMode,
        request: NbdRequest,
        payload: &[u8],
    ) -> Result<(), ClientEnded> {
        let export = mode.export;
        let fault = self.fault(export, &request)?;
        let pending =
            Pending { ticket, export, request, arrived: now, due: None, waits: 0, result: Ok(()), extents: Vec::new() };
        let slot = self.slots.take(pending).ok_or(ClientEnded)?;
        self.taken += 1;
        self.offered[export as usize].tally.in_flight += 1;
        let begun = self.check(mode, &request).and_then(|()| self.begin(slot, mode, &request, payload));
        let waits = begun.unwrap_or_else(|refused| {
            self.slots.get(slot).result = Err(refused);
            0
        });
        match waits + self.stall(slot, export, fault) {
            0 => self.finished.push(slot),
            waits => self.slots.get(slot).waits = waits,
        }
        Ok(())
    }

    /// Returns the memory of a request until its reply is sent.
    #[inline]
    pub(super) fn cost(&self, export: u32, request: &NbdRequest) -> u64 {
        let footprint = self.offered[export as usize].footprint;
        let fits = request.length <= u64::from(self.exports[export as usize].block.maximum);
        let copy = if footprint.copies && fits { request.length.next_multiple_of(PAGE_BYTES) } else { 0 };
        REQUEST_BYTES
            + match request.command {
                NbdCommand::Read => copy,
                NbdCommand::Write => copy + footprint.write_bytes,
                NbdCommand::WriteZeroes => footprint.zero_bytes,
                NbdCommand::BlockStatus => MAX_EXTENTS as u64 * EXTENT_BYTES,
                _ => 0,
            }
    }

    /// Returns the part of that memory in use until the loaned data is sent.
    #[inline]
    pub(super) fn loan_cost(&self, loan: Loan) -> u64 {
        let copy =
            if self.copies[loan.store as usize] { u64::from(loan.length).next_multiple_of(PAGE_BYTES) } else { 0 };
        REQUEST_BYTES + copy
    }

    /// Reports whether a payload exceeds the export's limit.
    #[inline]
    pub(super) fn is_too_long(&self, export: u32, payload: u64) -> bool {
        payload > u64::from(self.exports[export as usize].block.maximum)
    }

    /// Draws the fault to inject into a request before it reaches a store.
    fn fault(&mut self, export: u32, request: &NbdRequest) -> Result<Option<Fault>, ClientEnded> {
        let Some(faults) = &mut self.faults else { return Ok(None) };
        let fault = faults.next(charged(request), request.length);
        if fault == Some(Fault::Disconnect) {
            self.inject(export, Fault::Disconnect);
            return Err(ClientEnded);
        }
        Ok(fault)
    }

    /// Stalls a request if the fault says so. Returns how many completions it adds.
    fn stall(&mut self, slot: u32, export: u32, fault: Option<Fault>) -> u8 {
        let Some(fault @ (Fault::Stall(time) | Fault::FlushStall(time))) = fault else { return 0 };
        self.inject(export, fault);
        self.timeline.delay_until(self.slots.get(slot).arrived + time, slot);
        1
    }

    #[cold]
    fn inject(&mut self, export: u32, fault: Fault) {
        self.offered[export as usize].tally.injected.count(fault.kind());
    }

    /// Changes the injected faults, from the next request on.
    pub(super) fn set_faults(&mut self, rates: FaultRates) {
        if let Some(faults) = &mut self.faults {
            faults.set_rates(rates.in_server());
        }
        self.stores.iter_mut().for_each(|store| store.set_faults(rates));
    }

    fn check(&self, mode: ReplyMode, request: &NbdRequest) -> Result<(), SlotError> {
        let (offered, export) = (&self.offered[mode.export as usize], &self.exports[mode.export as usize]);
        let refuse = |errno, why| Err(SlotError { errno, why });
        if self.closing {
            return refuse(Errno::Shutdown, "the server is shutting down");
        }
        let Some(allowed) = allowed(request.command, mode.style) else {
            return refuse(Errno::Invalid, "unknown command");
        };
        if request.flags.beyond(allowed.and(CommandFlags::FUA)) {
            return refuse(Errno::Invalid, "unsupported command flag");
        }
        let read_only = export.flags.contains(TransmissionFlags::READ_ONLY);
        if writes(request.command) && (read_only || !self.stores[offered.store as usize].abilities().write) {
            return refuse(Errno::NotPermitted, "the export is read-only");
        }
        let transfers = matches!(request.command, NbdCommand::Read | NbdCommand::Write);
        if transfers && request.length > u64::from(export.block.maximum) {
            return refuse(Errno::Invalid, "longer than the export's maximum request size");
        }
        if request.offset.checked_add(request.length).is_none_or(|end| end > export.size) {
            let no_room = matches!(request.command, NbdCommand::Write | NbdCommand::WriteZeroes);
            return refuse(if no_room { Errno::NoSpace } else { Errno::Invalid }, "beyond the end of the export");
        }
        Ok(())
    }

    /// Starts a request in the store and the model. Returns how many completions it waits for.
    fn begin(&mut self, slot: u32, mode: ReplyMode, request: &NbdRequest, payload: &[u8]) -> Result<u8, SlotError> {
        let offered = &self.offered[mode.export as usize];
        let store = &mut self.stores[offered.store as usize];
        if request.command == NbdCommand::BlockStatus {
            self.slots.get(slot).extents = extents(store.as_mut(), mode, request)?;
            return Ok(0);
        }
        let mut waits = 0;
        if let Some(operation) = operation(request, payload, store.abilities()) {
            match store.start(slot, operation) {
                StoreProgress::Ended(result) => result?,
                StoreProgress::Pending => waits += 1,
            }
        }
        if let (Some(route), Some(kind)) = (offered.route, charged(request)) {
            let length = u32::try_from(request.length).unwrap_or(u32::MAX);
            let modelled = volume::Request { id: slot, kind, offset: request.offset, length };
            let pending = self.slots.get(slot);
            let share = Share { user: pending.ticket.client, among: self.active.sharing(pending.arrived) };
            self.timeline.arrive(pending.arrived, route, modelled, share);
            waits += 1;
        }
        Ok(waits)
    }

    /// Submits to the stores, then collects what has finished in the stores and what the model says is due.
    pub(super) fn settle(&mut self, now: Nanos) {
        for store in &mut self.stores {
            store.submit();
            store.collect(&mut self.ended);
        }
        for ended in self.ended.drain(..) {
            let pending = self.slots.get(ended.slot);
            if let Err(errno) = ended.result {
                pending.result = Err(errno.into());
            }
            if pending.one_less() {
                self.finished.push(ended.slot);
            }
        }
        while let Some((due, slot)) = self.timeline.next_due(now) {
            let pending = self.slots.get(slot);
            pending.due = Some(due);
            if pending.one_less() {
                self.finished.push(slot);
            }
        }
    }

    /// Moves finished requests to `batch`, in order of completion.
    #[inline]
    pub(super) fn finished(&mut self, batch: &mut Vec<u32>) {
        batch.append(&mut self.finished);
    }

    /// Returns the connection that sent a request.
    #[inline]
    pub(super) fn ticket(&mut self, slot: u32) -> ConnectionTicket {
        self.slots.get(slot).ticket
    }

    #[inline]
    pub(super) fn take(&mut self, now: Nanos, slot: u32) -> DispatchResult {
        let pending = self.slots.remove(slot);
        self.count(now, &pending);
        let Pending { request, export, result, extents, .. } = pending;
        let reads = request.command == NbdCommand::Read && request.length > 0;
        if reads && result.is_ok() {
            // The slot stays in use until the data is sent.
            let store = self.offered[export as usize].store;
            let loan = Loan { store, slot, offset: request.offset, length: request.length as u32 };
            return DispatchResult { request, result: Ok(Some(loan)), extents };
        }
        self.slots.free(slot);
        DispatchResult { request, result: result.map(|()| None), extents }
    }

    /// Discards a finished request whose client has disconnected.
    pub(super) fn drop_answer(&mut self, now: Nanos, slot: u32) {
        let Pending { export, request, .. } = *self.slots.get(slot);
        self.budget.orphan_ended(self.cost(export, &request));
        if let Ok(Some(loan)) = self.take(now, slot).result {
            self.release(loan);
        }
    }

    #[inline]
    pub(super) fn release(&mut self, loan: Loan) {
        self.stores[loan.store as usize].release(loan.slot);
        self.slots.free(loan.slot);
    }

    #[inline]
    fn count(&mut self, now: Nanos, pending: &Pending) {
        if let Some(due) = pending.due {
            self.timeline.released(pending.ticket.client, pending.arrived, due, now);
        }
        let tally = &mut self.offered[pending.export as usize].tally;
        tally.in_flight -= 1;
        let Pending { request, arrived, result, .. } = pending;
        tally.answered(request.command, request.length, *arrived, now, result.is_ok());
    }

    pub(super) fn is_idle(&self) -> bool {
        self.slots.in_use() == 0
    }
}

/// Returns the flags of a command besides those of all commands; `None` for an unknown command.
const fn allowed(command: NbdCommand, style: ReplyStyle) -> Option<CommandFlags> {
    match command {
        NbdCommand::Read => Some(CommandFlags::DF),
        NbdCommand::Write if matches!(style, ReplyStyle::Extended) => Some(CommandFlags::PAYLOAD_LEN),
        NbdCommand::WriteZeroes => Some(CommandFlags::NO_HOLE.and(CommandFlags::FAST_ZERO)),
        NbdCommand::BlockStatus => Some(CommandFlags::REQ_ONE),
        NbdCommand::Unknown(_) => None,
        _ => Some(CommandFlags(0)),
    }
}

const fn writes(command: NbdCommand) -> bool {
    matches!(command, NbdCommand::Write | NbdCommand::WriteZeroes | NbdCommand::Trim)
}

/// Returns the kind for which the model charges a request; `None` if it is free.
const fn charged(request: &NbdRequest) -> Option<Charged> {
    match request.command {
        NbdCommand::Flush => Some(Charged::Flush),
        _ if request.length == 0 => None,
        NbdCommand::Read | NbdCommand::Cache => Some(Charged::Read),
        NbdCommand::Write => Some(Charged::Write),
        NbdCommand::WriteZeroes if request.flags.has(CommandFlags::NO_HOLE) => Some(Charged::Write),
        NbdCommand::WriteZeroes | NbdCommand::Trim => Some(Charged::Trim),
        _ => None,
    }
}

/// Returns the store's operation; `None` if there is nothing to do.
fn operation<'a>(request: &NbdRequest, payload: &'a [u8], abilities: StoreCapabilities) -> Option<Operation<&'a [u8]>> {
    let NbdRequest { offset, length, flags, .. } = *request;
    let durable = flags.has(CommandFlags::FUA);
    match request.command {
        NbdCommand::Flush => Some(Operation::Flush),
        _ if length == 0 => None,
        NbdCommand::Read => Some(Operation::Read { offset, length: length as u32 }),
        NbdCommand::Write => Some(Operation::Write { offset, data: payload, durable }),
        NbdCommand::Trim => abilities.trim.then_some(Operation::Trim { offset, length, durable }),
        NbdCommand::WriteZeroes => {
            let (allocated, fast) = (flags.has(CommandFlags::NO_HOLE), flags.has(CommandFlags::FAST_ZERO));
            Some(Operation::Zero { offset, length, durable, allocated, fast })
        }
        NbdCommand::Cache => Some(Operation::Cache { offset, length }),
        _ => None,
    }
}

/// Returns the extents of a range, limited as the request demands.
fn extents(store: &mut dyn Store, mode: ReplyMode, request: &NbdRequest) -> Result<Vec<Extent>, SlotError> {
    if mode.context.is_none() {
        return Err(SlotError { errno: Errno::Invalid, why: "no metadata context was negotiated" });
    }
    if request.length == 0 {
        return Err(SlotError { errno: Errno::Invalid, why: "empty range" });
    }
    // Without extended headers, lengths have 32 bits.
    let most = if mode.style == ReplyStyle::Extended { u64::MAX } else { u64::from(u32::MAX) & !0xfff };
    let one = request.flags.has(CommandFlags::REQ_ONE);
    let mut found = store.extents(request.offset, request.length, if one { 1 } else { MAX_EXTENTS })?;
    if let Some(long) = found.iter().position(|extent| extent.length > most) {
        found[long].length = most;
        found.truncate(long + 1);
    }
    Ok(found)
}
