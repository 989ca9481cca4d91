// Records the completed requests of a block device.
//
// A request that is issued is kept in a slot of its tag. At its completion one record goes into the ring buffer, so that
// the program that reads it has one record per request and nothing to pair. Offsets of fields are found in the BTF of
// the running kernel (CO-RE). Built by `cargo xtask generate` into requests.bpf.o.

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef u8 bool;

// The fields that are needed of the kernel's structures: include/linux/blkdev.h, blk-mq.h.
#define KERNEL __attribute__((preserve_access_index))
struct gendisk {
	int major;
	int first_minor;
} KERNEL;
struct request_queue {
	struct gendisk *disk;
} KERNEL;
struct blk_mq_hw_ctx {
	unsigned int queue_num;
} KERNEL;
struct request {
	struct request_queue *q;
	struct blk_mq_hw_ctx *mq_hctx;
	unsigned int cmd_flags;
	int tag;
	int internal_tag;
	unsigned int __data_len;
	u64 __sector;
	u64 start_time_ns;
} KERNEL;

// Set before the program is loaded.
const volatile u32 device_major = 0;
const volatile u32 device_minor = 0;
// Slots of a hardware queue.
const volatile u32 queue_slots = 0;
// Sectors of a partition; a request without sectors belongs to all.
const volatile u64 first_sector = 0;
const volatile u64 end_sector = 0;

// Set once all programs are attached, and reset at the end: all begin and end at once.
u32 is_recording SEC(".data") = 0;

struct counts {
	// Records that did not fit into the buffer, and requests without a slot.
	u64 lost;
	// Requests that were issued, whose numbers are in their records.
	u64 issued;
	// Requests in `queued`.
	u64 waiting;
};
struct counts counts;

enum { FINISHED, REQUEUED, UNMATCHED, UNTIMED, FAILED = 0x80 };

// One request, in one line of a cache: bpf_record.rs reads this layout.
struct record {
	u64 issued_ns;
	// Address of the request until it is completed, then the time of completion, or a later one if the completion was not
	// seen. Zero: the slot is free.
	u64 key;
	// Zero without a queue. Of an unmatched completion, the creation of its request, zero if the kernel has not noted it.
	u64 queued_at_ns;
	u64 sector;
	u32 length;
	u32 flags;
	u32 number;
	u32 thread;
	// The kernel's names have at most 15 bytes.
	char comm[15];
	u8 status;
};

struct queued {
	u64 at_ns;
	u32 thread;
	u32 unused;
	char comm[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	// Its values begin at a page, so that each has a cache line of its own.
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct record);
} slots SEC(".maps");

// Requests in the queue of a scheduler.
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 16);
	__type(key, u64);
	__type(value, struct queued);
} queued SEC(".maps");

static __always_inline bool is_captured(struct request *rq)
{
	struct gendisk *disk = rq->q->disk;

	return is_recording && disk && disk->major == device_major && disk->first_minor == device_minor;
}

static __always_inline bool is_in_range(u64 sector, u32 length)
{
	return !end_sector || !length || (sector >= first_sector && sector < end_sector);
}

// Under a scheduler, only the internal tag stays the same from the queue to the completion.
static __always_inline struct record *slot_of(struct request *rq)
{
	u32 tag = rq->internal_tag >= 0 ? rq->internal_tag : rq->tag;
	u32 index = rq->mq_hctx->queue_num * queue_slots + tag;

	return tag < queue_slots ? bpf_map_lookup_elem(&slots, &index) : 0;
}

static __always_inline void count_lost(void)
{
	__sync_fetch_and_add(&counts.lost, 1);
}

static __always_inline void put(struct record *record)
{
	if (bpf_ringbuf_output(&records, record, sizeof(*record), BPF_RB_NO_WAKEUP))
		count_lost();
}

static __always_inline void enqueue(u64 key, struct queued *entry)
{
	if (!bpf_map_update_elem(&queued, &key, entry, BPF_NOEXIST))
		__sync_fetch_and_add(&counts.waiting, 1);
	else
		bpf_map_update_elem(&queued, &key, entry, BPF_EXIST);
}

SEC("tp_btf/block_rq_insert")
int BPF_PROG(block_rq_insert, struct request *rq)
{
	if (!is_captured(rq))
		return 0;
	struct queued entry = { .at_ns = bpf_ktime_get_ns(), .thread = bpf_get_current_pid_tgid() };

	bpf_get_current_comm(entry.comm, sizeof(entry.comm));
	enqueue((u64)rq, &entry);
	return 0;
}

SEC("tp_btf/block_rq_merge")
int BPF_PROG(block_rq_merge, struct request *rq)
{
	u64 key = (u64)rq;

	if (counts.waiting && is_captured(rq) && !bpf_map_delete_elem(&queued, &key))
		__sync_fetch_and_add(&counts.waiting, -1);
	return 0;
}

// Reports whether the request has a slot, or needs none.
static __always_inline bool issue(struct request *rq)
{
	u64 sector = rq->__sector;
	u32 length = rq->__data_len;

	if (!is_in_range(sector, length))
		return 1;
	struct record *slot = slot_of(rq);
	u64 key = (u64)rq;

	if (!slot)
		return 0;
	// The tag is used again, so the request before is completed.
	if (slot->key) {
		slot->key = bpf_ktime_get_ns();
		slot->status = UNTIMED;
		put(slot);
	}
	struct queued *entry = counts.waiting ? bpf_map_lookup_elem(&queued, &key) : 0;

	slot->key = key;
	slot->number = __sync_fetch_and_add(&counts.issued, 1);
	slot->issued_ns = bpf_ktime_get_ns();
	slot->sector = sector;
	slot->length = length;
	slot->flags = rq->cmd_flags;
	if (entry) {
		slot->queued_at_ns = entry->at_ns;
		slot->thread = entry->thread;
		__builtin_memcpy(slot->comm, entry->comm, sizeof(slot->comm));
		if (!bpf_map_delete_elem(&queued, &key))
			__sync_fetch_and_add(&counts.waiting, -1);
	} else {
		slot->queued_at_ns = 0;
		slot->thread = bpf_get_current_pid_tgid();
		// The last byte, which is zero, is the status.
		bpf_get_current_comm(slot->comm, sizeof(slot->comm) + 1);
	}
	return 1;
}

// Reports whether the request had a slot.
static __always_inline bool complete(struct request *rq, int error, unsigned int bytes)
{
	struct record *slot = slot_of(rq);

	if (!slot || slot->key != (u64)rq)
		return 0;
	if (bytes < rq->__data_len && bytes && !error)
		return 1;
	slot->key = bpf_ktime_get_ns();
	slot->status = error ? FINISHED | FAILED : FINISHED;
	put(slot);
	slot->key = 0;
	return 1;
}

// The kernel may leave out a call, as on a processor that is in the middle of the program when an interrupt comes. A second
// program at each tracepoint would see those, and costs all requests 3 % of their rate. Instead, the next use of the tag
// tells of a completion, and a completion that is younger than the capture of an issue.
SEC("tp_btf/block_rq_issue")
int BPF_PROG(block_rq_issue, struct request *rq)
{
	if (is_captured(rq) && !issue(rq))
		count_lost();
	return 0;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(block_rq_complete, struct request *rq, int error, unsigned int bytes)
{
	if (!is_captured(rq) || complete(rq, error, bytes) || !is_in_range(rq->__sector, bytes))
		return 0;
	struct record record = {
		.key = bpf_ktime_get_ns(),
		.queued_at_ns = rq->start_time_ns,
		.sector = rq->__sector,
		.length = bytes,
		.flags = rq->cmd_flags,
		.status = error ? UNMATCHED | FAILED : UNMATCHED,
	};
	put(&record);
	return 0;
}

SEC("tp_btf/block_rq_requeue")
int BPF_PROG(block_rq_requeue, struct request *rq)
{
	if (!is_captured(rq))
		return 0;
	struct record *slot = slot_of(rq);

	if (!slot || slot->key != (u64)rq)
		return 0;
	struct queued entry = { .at_ns = slot->queued_at_ns, .thread = slot->thread };

	if (!entry.at_ns)
		entry.at_ns = slot->issued_ns;
	__builtin_memcpy(entry.comm, slot->comm, sizeof(slot->comm));
	slot->status = REQUEUED;
	put(slot);
	slot->key = 0;
	enqueue((u64)rq, &entry);
	return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
