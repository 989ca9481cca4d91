//! Where requests of all clients go: checked, given to the store and to the model, and answered when both have done with
//! them.

use units::Nanos;
use volume::{RequestKind as Charged, Share, System};

use super::Offer;
use super::budget::{MemoryBudget, REQUEST_BYTES};
use super::connections::Connections;
use super::outbox::Loan;
use super::over::Over;
use super::slots::{ConnectionTicket, Pending, ServerSlots, SlotError};
use super::tallies::ExportTally;
use super::timeline::Timeline;
use super::tls::TlsIdentity;
use crate::store::faults::FaultRates;
use crate::store::{Abilities, Fault, Faults, Footprint, Operation, Store, StoreEnd, StoreProgress};
use nbd_wire::Extent;
use nbd_wire::handshake::Agreed;
use nbd_wire::{CommandFlags, Errno, Export, NbdCommand, NbdRequest, ReplyStyle, TransmissionFlags};

/// Bytes per read.
pub(super) const INPUT_BYTES: usize = 256 << 10;

/// An export with its store and route.
#[derive(Clone, Debug)]
pub(super) struct Offered {
    /// Which store holds its bytes.
    pub store: u32,
    /// What requests take there.
    pub footprint: Footprint,
    /// Its way into the model; `None` where requests are answered as soon as the store has done them.
    pub route: Option<usize>,
    pub tally: ExportTally,
}

/// How the requests of a connection are interpreted.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReplyMode {
    /// Which export it has chosen.
    pub export: u32,
    /// How it wants replies.
    pub style: ReplyStyle,
    /// The number under which it asks for what is allocated.
    pub context: Option<u32>,
}

impl ReplyMode {
    /// As both sides have agreed.
    pub(super) fn of(agreed: &Agreed) -> Self {
        Self { export: agreed.export as u32, style: agreed.style(), context: agreed.allocation }
    }
}

/// Requests of all clients, from their arrival to their reply.
pub(super) struct Dispatcher {
    /// What clients are told of the exports.
    pub exports: Vec<Export>,
    /// What stands behind each of them.
    pub offered: Vec<Offered>,
    pub stores: Vec<Box<dyn Store>>,
    pub timeline: Timeline,
    /// What proves to clients who the server is.
    pub identity: Option<TlsIdentity>,
    /// Which of the stores hold copies.
    copies: Vec<bool>,
    slots: ServerSlots,
    /// Requests since the server began.
    pub taken: u64,
    /// Those that can be answered now.
    finished: Vec<u32>,
    ended: Vec<StoreEnd>,
    /// What goes wrong on purpose.
    pub faults: Option<Faults>,
    /// Who wait for replies.
    pub connections: Connections,
    /// The memory of all clients.
    pub budget: MemoryBudget,
    /// Where connections receive, one after the other.
    pub room: Vec<u8>,
    /// Whether requests are refused because the server is about to stop.
    pub closing: bool,
}

/// Result of a dispatched request.
#[derive(Clone, Debug)]
pub(super) struct DispatchResult {
    pub request: NbdRequest,
    /// With the bytes of a read.
    pub result: Result<Option<Loan>, SlotError>,
    /// What a question for the state of blocks found.
    pub extents: Vec<Extent>,
}

/// At most as many extents are told in one reply.
const EXTENTS_MOST: usize = 1024;
/// Memory of one while it is found and told.
const EXTENT_BYTES: u64 = 40;
/// The least memory that the bytes of a request take in a store.
const PAGE_BYTES: u64 = 4096;

impl Dispatcher {
    pub(super) fn new(
        offers: Vec<Offer>,
        stores: Vec<Box<dyn Store>>,
        timeline: Timeline,
        identity: Option<TlsIdentity>,
        budget: MemoryBudget,
    ) -> Self {
        let offered = offers.iter().map(|&Offer { store, route, .. }| Offered {
            store: store as u32,
            footprint: stores[store].footprint(),
            route,
            tally: ExportTally::default(),
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
            connections: Connections::default(),
            budget,
            room: vec![0; 2 * INPUT_BYTES],
            closing: false,
        }
    }

    /// Takes a request with all its bytes.
    ///
    /// # Errors
    /// When its connection is to be lost on purpose, or has to be: clients that have left keep all numbers in use.
    pub(super) fn accept(
        &mut self,
        now: Nanos,
        ticket: ConnectionTicket,
        manner: ReplyMode,
        request: NbdRequest,
        payload: &[u8],
    ) -> Result<(), Over> {
        let export = manner.export;
        let fault = self.fault(export, &request)?;
        let pending =
            Pending { ticket, export, request, arrived: now, due: None, waits: 0, result: Ok(()), extents: Vec::new() };
        let slot = self.slots.take(pending).ok_or(Over)?;
        self.taken += 1;
        self.offered[export as usize].tally.in_flight += 1;
        let begun = self.check(manner, &request).and_then(|()| self.begin(slot, manner, &request, payload));
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

    /// How much memory a request takes until its reply is sent.
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
                NbdCommand::BlockStatus => EXTENTS_MOST as u64 * EXTENT_BYTES,
                _ => 0,
            }
    }

    /// What is left of that when the reply is written.
    #[inline]
    pub(super) fn loan_cost(&self, loan: Loan) -> u64 {
        let copy =
            if self.copies[loan.store as usize] { u64::from(loan.length).next_multiple_of(PAGE_BYTES) } else { 0 };
        REQUEST_BYTES + copy
    }

    /// Whether a payload is longer than any that an export takes.
    #[inline]
    pub(super) fn is_too_long(&self, export: u32, payload: u64) -> bool {
        payload > u64::from(self.exports[export as usize].block.maximum)
    }

    /// What goes wrong with a request on purpose, before it reaches a store.
    fn fault(&mut self, export: u32, request: &NbdRequest) -> Result<Option<Fault>, Over> {
        let Some(faults) = &mut self.faults else { return Ok(None) };
        let fault = faults.next(charged(request), request.length);
        if fault == Some(Fault::Disconnect) {
            self.inject(export, Fault::Disconnect);
            return Err(Over);
        }
        Ok(fault)
    }

    /// Holds a request up. Returns how many ends it has to wait for because of that.
    fn stall(&mut self, slot: u32, export: u32, fault: Option<Fault>) -> u8 {
        let Some(fault @ (Fault::Stall(time) | Fault::FlushStall(time))) = fault else { return 0 };
        self.inject(export, fault);
        self.timeline.alarm(self.slots.get(slot).arrived + time, slot);
        1
    }

    #[cold]
    fn inject(&mut self, export: u32, fault: Fault) {
        self.offered[export as usize].tally.injected.count(fault.kind());
    }

    /// Other faults from the next request on.
    pub(super) fn set_faults(&mut self, rates: FaultRates) {
        if let Some(faults) = &mut self.faults {
            faults.set_rates(rates.in_server());
        }
        self.stores.iter_mut().for_each(|store| store.set_faults(rates));
    }

    /// Whether a request makes sense for its export.
    fn check(&self, manner: ReplyMode, request: &NbdRequest) -> Result<(), SlotError> {
        let (offered, export) = (&self.offered[manner.export as usize], &self.exports[manner.export as usize]);
        let refuse = |errno, why| Err(SlotError { errno, why });
        if self.closing {
            return refuse(Errno::Shutdown, "the server is about to stop");
        }
        let Some(allowed) = allowed(request.command, manner.style) else {
            return refuse(Errno::Invalid, "no such command");
        };
        if request.flags.beyond(allowed.and(CommandFlags::FUA)) {
            return refuse(Errno::Invalid, "a flag that this command does not have");
        }
        let read_only = export.flags.contains(TransmissionFlags::READ_ONLY);
        if writes(request.command) && (read_only || !self.stores[offered.store as usize].abilities().write) {
            return refuse(Errno::NotPermitted, "the export is read-only");
        }
        let transfers = matches!(request.command, NbdCommand::Read | NbdCommand::Write);
        if transfers && request.length > u64::from(export.block.maximum) {
            return refuse(Errno::Invalid, "longer than the largest request that the export announces");
        }
        if request.offset.checked_add(request.length).is_none_or(|end| end > export.size) {
            let no_room = matches!(request.command, NbdCommand::Write | NbdCommand::WriteZeroes);
            return refuse(if no_room { Errno::NoSpace } else { Errno::Invalid }, "beyond the end of the export");
        }
        Ok(())
    }

    /// Gives a request to the store and to the model. Returns how many ends it has to wait for.
    fn begin(&mut self, slot: u32, manner: ReplyMode, request: &NbdRequest, payload: &[u8]) -> Result<u8, SlotError> {
        let offered = &self.offered[manner.export as usize];
        let store = &mut self.stores[offered.store as usize];
        if request.command == NbdCommand::BlockStatus {
            self.slots.get(slot).extents = extents(store.as_mut(), manner, request)?;
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
            let asked = volume::Request { id: slot, kind, offset: request.offset, length };
            let pending = self.slots.get(slot);
            let share = Share { user: pending.ticket.client, among: self.connections.sharing(pending.arrived) };
            self.timeline.arrive(pending.arrived, route, asked, share);
            waits += 1;
        }
        Ok(waits)
    }

    /// Hands over what stores hold back, hears what has ended and what is due.
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

    /// Moves what can be answered now to `batch`, in the order in which it became so.
    #[inline]
    pub(super) fn finished(&mut self, batch: &mut Vec<u32>) {
        batch.append(&mut self.finished);
    }

    /// Who asked.
    #[inline]
    pub(super) fn asker(&mut self, slot: u32) -> ConnectionTicket {
        self.slots.get(slot).ticket
    }

    /// Takes a finished request out, to be answered now.
    #[inline]
    pub(super) fn take(&mut self, now: Nanos, slot: u32) -> DispatchResult {
        let pending = self.slots.remove(slot);
        self.count(now, &pending);
        let Pending { request, export, result, extents, .. } = pending;
        let reads = request.command == NbdCommand::Read && request.length > 0;
        if reads && result.is_ok() {
            // The number is free when the bytes are sent.
            let store = self.offered[export as usize].store;
            let loan = Loan { store, slot, offset: request.offset, length: request.length as u32 };
            return DispatchResult { request, result: Ok(Some(loan)), extents };
        }
        self.slots.free(slot);
        DispatchResult { request, result: result.map(|()| None), extents }
    }

    /// Forgets a finished request whose client is gone.
    pub(super) fn drop_answer(&mut self, now: Nanos, slot: u32) {
        let Pending { export, request, .. } = *self.slots.get(slot);
        self.budget.orphan_ended(self.cost(export, &request));
        if let Ok(Some(loan)) = self.take(now, slot).result {
            self.give_back(loan);
        }
    }

    /// Takes back what was lent.
    #[inline]
    pub(super) fn give_back(&mut self, loan: Loan) {
        self.stores[loan.store as usize].release(loan.slot);
        self.slots.free(loan.slot);
    }

    #[inline]
    fn count(&mut self, now: Nanos, pending: &Pending) {
        if let Some(due) = pending.due {
            self.timeline.released(pending.ticket.client, due, now);
        }
        let tally = &mut self.offered[pending.export as usize].tally;
        tally.in_flight -= 1;
        let Pending { request, arrived, result, .. } = pending;
        tally.answered(request.command, request.length, *arrived, now, result.is_ok());
    }

    /// Whether a request waits for anything.
    pub(super) fn is_idle(&self) -> bool {
        self.slots.in_use() == 0
    }
}

/// Flags that a command may have, beside those that all may; `None` for no command.
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

/// The kind for which the model charges a request; `None` if it is free.
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

/// The operation of the store; `None` where there is nothing to do.
fn operation<'a>(request: &NbdRequest, payload: &'a [u8], abilities: Abilities) -> Option<Operation<'a>> {
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

/// Extents of a range, in the form that the request wants.
fn extents(store: &mut dyn Store, manner: ReplyMode, request: &NbdRequest) -> Result<Vec<Extent>, SlotError> {
    if manner.context.is_none() {
        return Err(SlotError { errno: Errno::Invalid, why: "no metadata context was negotiated" });
    }
    if request.length == 0 {
        return Err(SlotError { errno: Errno::Invalid, why: "a range of no bytes" });
    }
    // Without extended headers a length has 32 bits.
    let most = if manner.style == ReplyStyle::Extended { u64::MAX } else { u64::from(u32::MAX) & !0xfff };
    let one = request.flags.has(CommandFlags::REQ_ONE);
    let mut found = store.extents(request.offset, request.length, if one { 1 } else { EXTENTS_MOST })?;
    if let Some(long) = found.iter().position(|extent| extent.length > most) {
        found[long].length = most;
        found.truncate(long + 1);
    }
    Ok(found)
}
