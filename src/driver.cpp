#include <fnmatch.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "driver_parts.hpp"

namespace arbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kLaneBytes = 64;  ///< that use_all_queues() moves about in each lane

std::uint64_t padded(std::uint64_t bytes) { return (bytes + 255) / 256 * 256; }

Deadline after_us(double us) {
  return Clock::now() + std::chrono::microseconds(static_cast<std::int64_t>(us));
}

/// An error text of a library may be longer than what a meeting carries.
std::string cut(const std::string& text) { return text.substr(0, RendezvousState::kText - 1); }

std::string fault_text(const Fault& fault) {
  const std::string peer = fault.peer < 0 ? "its peers" : "rank " + std::to_string(fault.peer);
  return "rank " + std::to_string(fault.rank) + " waited in vain for " + peer + " in block " +
         std::to_string(fault.block) + " (wanted " + std::to_string(fault.wanted) + ", saw " +
         std::to_string(fault.seen) + ")";
}

/// What a row says that was made slower by --slow.
std::string slow_text(int ops, int more) {
  return "slowed down on purpose: " + std::to_string(ops + more) + " ops run, " +
         std::to_string(ops) + " are counted";
}

}  // namespace

Driver::Driver(const WorldConfig& config, int index, RendezvousState& meeting)
    : config_(config),
      first_rank_(config.launch == Launch::grid ? 0 : index),
      served_(config.launch == Launch::grid ? config.ranks() : 1),
      rendezvous_(meeting, index, config.drivers(),
                  std::chrono::nanoseconds(
                      static_cast<std::int64_t>((3 * config.timeout_seconds + 60) * 1e9))),
      kernels_(harness_kernels(config.backend)),
      device_(Device::open(config.backend, config.devices[first_rank_],
                           config.launch == Launch::processes)) {
  stream_ = device_->stream();
  std::string problem;
  try {
    if (config.transport == Transport::p2p)
      for (int peer : config.devices) device_->connect(peer);
  } catch (const Refused& refused) {
    problem = refused.what();
  }
  agree(problem);
  checks_ = static_cast<CheckResult*>(device_->allocate(std::max<std::uint64_t>(
      sizeof(CheckResult) * kChecks * kReplays * served_, kLaneBytes * kLanes)));
  harness_ = allocate(Kind::signals, kScratchOffset);
  for (void* memory : harness_.own) stream_->queue().fill(memory, 0, sizeof(Signals));
  finish(nullptr, 0);
  start_peers_ = peers_of(Case{}, harness_);
  start_peers_.ranks = config.ranks();
  open_clocks();
  rendezvous_.barrier();
}

Driver::~Driver() = default;  // what is left goes with the process, which ends soon after

/// Ranks of one device have one clock, and so have all host threads.
void Driver::open_clocks() {
  times_ = static_cast<Times*>(device_->allocate(sizeof(Times)));
  const std::vector<int>& devices = config_.devices;
  if (config_.backend == Backend::host ||
      std::count(devices.begin(), devices.end(), devices[0]) == config_.ranks())
    return;
  clocks_ = allocate(Kind::signals, kScratchOffset + sizeof(std::uint64_t));
  stream_->queue().fill(clocks_.own[0], 0, kScratchOffset);
  finish(nullptr, 0);
  clock_peers_ = peers_of(Case{}, clocks_);
}

void Driver::agree(const std::string& problem) {
  for (const std::string& text : rendezvous_.all_gather(cut(problem)))
    if (!text.empty()) throw Refused(text);
}

/// Code of a toolkit at run time is loaded while nothing runs. A driver may be too old for it; all
/// ranks hear of that, for the row to say so.
void Driver::load_code(const Algorithm& algorithm, const Case& point) {
  if (point.toolkit.empty()) return;
  std::string problem;
  try {
    algorithm.blocks_per_multiprocessor(point, kMinGpuThreads);
  } catch (const Refused& refused) {
    problem = refused.what();
  }
  for (const std::string& text : rendezvous_.all_gather(cut(problem)))
    if (!text.empty()) throw Unsupported(text);
}

/// Nobody touches a peer's device memory when bytes travel through host memory.
void* Driver::allocate_own(Kind kind, std::uint64_t bytes) {
  const bool pinned = config_.transport == Transport::host && kind == Kind::signals;
  return pinned ? device_->allocate_pinned(bytes) : device_->allocate(bytes);
}

Driver::Symmetric Driver::allocate(Kind kind, std::uint64_t bytes) {
  Symmetric memory;
  std::string problem, handles;
  try {
    for (int i = 0; i < served_; ++i) memory.own.push_back(allocate_own(kind, bytes));
    if (kind == Kind::signals) {
      const std::uint64_t progress = sizeof(Progress) * static_cast<std::uint64_t>(served_);
      memory.progress = static_cast<Progress*>(device_->allocate(progress));
      stream_->queue().fill(memory.progress, 0, progress);
    }
    if (served_ == config_.ranks()) {
      memory.all = memory.own;
      return memory;
    }
    const MemoryHandle handle = device_->export_memory(memory.own[0]);
    handles.assign(reinterpret_cast<const char*>(&handle), sizeof handle);
  } catch (const Refused& refused) {
    problem = refused.what();
  }
  try {
    agree(problem);
  } catch (const Refused&) {
    free_own(memory);
    throw;
  }
  if (config_.transport == Transport::host && kind == Kind::buffers) {
    memory.all.resize(static_cast<std::size_t>(config_.ranks()));
    memory.all[static_cast<std::size_t>(first_rank_)] = memory.own[0];
    return memory;
  }
  for (const std::string& text : rendezvous_.all_gather(handles)) {
    MemoryHandle handle;
    std::memcpy(static_cast<void*>(&handle), text.data(), sizeof handle);
    const bool mine = static_cast<int>(memory.all.size()) == first_rank_;
    try {
      memory.all.push_back(mine ? memory.own[0] : device_->import_memory(handle));
    } catch (const Refused& refused) {
      throw std::runtime_error(refused.what());  // of this rank alone: fatal, not agreed on
    }
  }
  return memory;
}

void Driver::free_own(const Symmetric& memory) {
  for (void* own : memory.own) device_->release(own);
  if (memory.progress != nullptr) device_->release(memory.progress);
}

void Driver::release(Symmetric& memory) {
  if (memory.own.empty()) return;
  if (served_ != config_.ranks())
    for (int rank = 0; rank < config_.ranks(); ++rank)
      if (rank != first_rank_ && memory.all[rank] != nullptr) device_->forget(memory.all[rank]);
  rendezvous_.barrier();  // nobody frees what a peer still maps
  free_own(memory);
  memory = {};
}

std::uint64_t Driver::offset(Which which) const {
  return which == Which::input ? kGuard : 3 * kGuard + padded(capacity_);
}

std::uint64_t Driver::set_bytes() const { return 2 * (padded(capacity_) + 2 * kGuard); }

std::byte* Driver::own(Which which, int served, int set) const {
  return static_cast<std::byte*>(buffers_.own[static_cast<std::size_t>(served)]) + offset(which) +
         static_cast<std::uint64_t>(set) * set_bytes();
}

/// Fewer sets are there if memory does not hold as many.
void Driver::ensure_buffers(std::uint64_t bytes, int sets) {
  if (bytes <= capacity_ && (sets <= sets_ || !slots_.empty()) && !buffers_.own.empty()) return;
  if (!slots_.empty()) throw std::logic_error("buffers grow only between points");
  release(buffers_);
  capacity_ = 0;
  const std::uint64_t set_bytes = 2 * (padded(bytes) + 2 * kGuard);
  sets_ = fitting_sets(set_bytes, sets);
  buffers_ = allocate(Kind::buffers, set_bytes * static_cast<std::uint64_t>(sets_));
  capacity_ = bytes;
}

Geometry Driver::decide_geometry(const Algorithm& algorithm, const Case& point,
                                 std::string* remark) {
  if (!algorithm.geometry) return {};
  const int sharing = static_cast<int>(
      std::count(point.devices.begin(), point.devices.end(), config_.devices[first_rank_]));
  const auto most_here = [&](int threads) {
    return algorithm.blocks_per_multiprocessor(point, threads) * device_->multiprocessors() /
           (sharing * algorithm.launches_at_once);
  };
  // Barriers are between equal blocks, so the rank with the least room decides for all.
  const auto most = [&](int threads) {
    int least = kMaxBlocks;
    for (const std::string& text : rendezvous_.all_gather(std::to_string(most_here(threads))))
      least = std::min(least, std::stoi(text));
    return least;
  };
  const auto too_many = [&](int fits, int blocks, int threads) {
    return std::to_string(sharing) + " ranks of " + std::to_string(blocks) + " blocks x " +
           std::to_string(threads) + " threads do not fit on one device together (" +
           std::to_string(fits) + " blocks per rank do)";
  };
  Geometry wanted = algorithm.geometry(point, kMaxBlocks);
  if (point.geometry.threads > 0) wanted.threads = point.geometry.threads;
  if (point.geometry.blocks > 0) wanted.blocks = point.geometry.blocks;
  const int fits = most(wanted.threads);
  if (wanted.blocks <= fits) return wanted;
  if (point.geometry.blocks > 0 || fits == 0)
    throw Refused(too_many(fits, wanted.blocks, wanted.threads));
  *remark = "fewer blocks than wanted: " + too_many(fits, wanted.blocks, wanted.threads);
  const Geometry fitted = algorithm.geometry(point, fits);
  return {std::min(fitted.blocks, fits), wanted.threads};
}

/// A stream's launch queue holds about 1000 entries. A host thread that fills it waits inside the
/// driver, and with ranks of one process on one device nobody else can enqueue what it waits for.
/// So eager samples stay well below.
int Driver::ops_per_sample(const Case& point, int launches_per_op) const {
  if (point.mode == Mode::graph) return config_.ops;
  return std::clamp(kMaxBehindGate / launches_per_op, 1, config_.ops);
}

Peers Driver::peers_of(const Case& point, const Symmetric& memory) {
  Peers peers{};
  peers.progress_of_first = memory.progress;
  peers.first_rank = first_rank_;
  peers.ranks = config_.ranks();
  peers.count = point.count();
  peers.timeout_ns = static_cast<std::uint64_t>(config_.timeout_seconds * 1e9);
  peers.control = device_->control();
  peers.output_offset = offset(Which::output);
  peers.input_offset =
      point.placement == Placement::in_place ? peers.output_offset : offset(Which::input);
  for (int rank = 0; rank < config_.ranks(); ++rank) {
    peers.memory[rank] = static_cast<std::byte*>(memory.all[rank]);
    if (!buffers_.all.empty()) peers.buffer[rank] = static_cast<std::byte*>(buffers_.all[rank]);
  }
  return peers;
}

Opened Driver::open(int index, const Case& point) {
  prepare_sweep(point);
  const int wanted = wanted_sets(point);
  ensure_buffers(point.bytes, wanted);
  auto slot = std::make_unique<Slot>();
  slot->point = point;
  slot->algorithm = find_algorithm(config_.backend, point.algorithm);
  load_code(*slot->algorithm, point);
  Opened opened;
  std::string problem;
  try {
    slot->geometry = decide_geometry(*slot->algorithm, point, &opened.remark);
  } catch (const Refused& refused) {
    problem = refused.what();
  }
  agree(problem);
  slot->sets = opened.sets = std::min(wanted, sets_);
  opened.sweep_us = slot->cold() ? sweep_us_ : 0;
  if (slot->sets < wanted)
    opened.remark += (opened.remark.empty() ? "" : "; ") + std::string("not quite cold: ") +
                     std::to_string(slot->sets) + " of " + std::to_string(wanted) +
                     " buffer sets fit into memory";
  opened.geometry = slot->geometry;
  const int launches = slot->algorithm->launches_per_op(point);
  slot->ops = opened.ops = ops_per_sample(point, launches);
  slot->pairs = opened.pairs = ops_per_sample(point, launches + 1);
  if (fnmatch(config_.slow_algorithms.c_str(), point.algorithm.c_str(), 0) == 0)
    slot->more_ops = config_.slow_ops;
  if (slot->more_ops > 0)
    opened.remark += (opened.remark.empty() ? "" : "; ") + slow_text(slot->ops, slot->more_ops);
  const Scratch scratch = slot->algorithm->scratch(point);
  slot->memory = allocate(Kind::signals, kScratchOffset + padded(scratch.bytes));
  for (void* memory : slot->memory.own) {
    stream_->queue().fill(memory, 0, sizeof(Signals));
    stream_->queue().fill(static_cast<std::byte*>(memory) + kScratchOffset, scratch.fill,
                          padded(scratch.bytes));
  }
  use_all_queues();
  finish(slot.get(), 0);
  rendezvous_.barrier();  // peers write only into what is prepared
  const OpenContext context{
      point, peers_of(point, slot->memory), slot->geometry, served_,
      [this](const std::string& text) { return rendezvous_.all_gather(text); }};
  Slot& kept = *(slots_[index] = std::move(slot));
  try {
    kept.op = kept.algorithm->open(context);
    if (kept.cold() && !kept.op.enqueue_at) problem = "is bound to its buffers: no cold L2";
  } catch (const Refused& refused) {
    problem = refused.what();
  }
  agree(problem);
  kept.chain_ops = point.mode == Mode::graph ? kept.ops : kEagerChain;
  if (point.placement == Placement::in_place)  // each op multiplies by n; see Pattern
    kept.chain_ops = std::min(kept.chain_ops, (point.ranks() <= 8 ? 2 : 1) * kept.sets);
  if (kept.algorithm->library) {  // opens connections, which may not happen inside a capture
    kept.op.enqueue(stream_->queue());
    finish(&kept, generous_us(point, 1));
  }
  if (point.mode == Mode::graph && point.count() > 0) {
    capture_all(kept);
    finish(&kept, 0);
  }
  if (kept.op.ran) opened.ran = kept.op.ran();
  rendezvous_.barrier();
  return opened;
}

void Driver::close(int index) {
  const auto found = slots_.find(index);
  if (found == slots_.end()) return;
  // Before the op: NCCL waits for the graphs that hold its communicator.
  found->second->graphs.clear();
  found->second->barrier_graphs.clear();
  found->second->overwriting.reset();
  found->second->op = {};
  release(found->second->memory);
  slots_.erase(found);
}

/// Uses every lane, for a copy and a kernel, while nobody waits. The first use of a stream sets
/// something up on the device; where kernels of other ranks on that device were waiting for this one
/// meanwhile, it did not always run (H200, driver 580, 4 ranks: about every third fresh process
/// hung at its first point, none of 10 does since).
void Driver::use_all_queues() {
  for (int i = 0; i < kLanes; ++i) {
    std::byte* bytes = reinterpret_cast<std::byte*>(checks_) + kLaneBytes * i;
    Queue& lane = stream_->queue().lane(i);
    lane.copy(bytes, bytes + kLaneBytes / 2, kLaneBytes / 2);
    kernels_.check_bytes(lane, bytes, 0, 0, nullptr);
  }
  stream_->queue().join();
}

std::unique_ptr<Graph> Driver::capture(const std::function<void()>& enqueue) {
  std::string problem;
  std::unique_ptr<Graph> graph;
  stream_->begin_capture();
  try {
    enqueue();
    graph = stream_->end_capture();
  } catch (const std::exception& error) {
    stream_->abandon_capture();
    problem = error.what();
  }
  for (const std::string& text : rendezvous_.all_gather(cut(problem)))
    if (!text.empty()) throw Unsupported(text);
  return graph;
}

void Driver::capture_all(Slot& slot) {
  for (const int ops : {slot.ops + slot.more_ops, slot.chain_ops, 1})
    if (!slot.graphs.contains(ops)) slot.graphs[ops] = capture([&] { enqueue_ops(slot, ops); });
  for (const Sequence sequence : {Sequence::isolated, Sequence::barriers})
    slot.barrier_graphs[sequence] = capture([&] { enqueue_barriers(slot, sequence); });
  slot.overwriting = capture([&] { enqueue_overwriting(slot); });
  check_nodes(slot);
}

/// An algorithm that stopped enqueuing while it was captured would be fast for doing nothing. Each op
/// has the nodes of one op alone, since events between lanes become edges. A library may keep nodes of
/// its own in a graph, so at least one node more per op is all that is asked of it.
void Driver::check_nodes(const Slot& slot) {
  const std::size_t one = slot.graphs.at(1)->nodes();
  const auto check = [&](const Graph& graph, int ops, int barriers) {
    const auto all = static_cast<std::size_t>(ops + barriers);
    const auto exact = static_cast<std::size_t>(ops) * one + static_cast<std::size_t>(barriers);
    const bool right =
        slot.algorithm->library ? graph.nodes() >= one - 1 + all : graph.nodes() == exact;
    if (right) return;
    throw std::runtime_error("capture: " + std::to_string(graph.nodes()) + " nodes for " +
                             std::to_string(ops) + " ops and " + std::to_string(barriers) +
                             " barriers, though one op has " + std::to_string(one));
  };
  for (const auto& [ops, graph] : slot.graphs) check(*graph, ops, 0);
  check(*slot.barrier_graphs.at(Sequence::isolated), slot.pairs, slot.pairs);
}

void Driver::enqueue_op(Slot& slot, int i) {
  const int set = i % slot.sets;
  if (set == 0) return slot.op.enqueue(stream_->queue());
  slot.op.enqueue_at(stream_->queue(), static_cast<std::uint64_t>(set) * set_bytes());
}

void Driver::enqueue_ops(Slot& slot, int ops) {
  for (int i = 0; i < ops; ++i) enqueue_op(slot, i);
}

/// In the mode of the case.
void Driver::replay_ops(Slot& slot, int ops) {
  if (slot.graphs.empty()) return enqueue_ops(slot, ops);
  stream_->replay(*slot.graphs.at(ops));
}

void Driver::enqueue_barriers(Slot& slot, Sequence sequence) {
  for (int i = 0; i < slot.pairs; ++i) {
    kernels_.meet(stream_->queue(), start_peers_, served_);
    if (sequence == Sequence::isolated) enqueue_op(slot, i);
  }
}

/// One sample's work, in the mode of the case.
void Driver::replay(Slot& slot, Sequence sequence) {
  if (!with_barriers(sequence)) return replay_ops(slot, slot.ops + slot.more_ops);
  if (slot.barrier_graphs.empty()) return enqueue_barriers(slot, sequence);
  stream_->replay(*slot.barrier_graphs.at(sequence));
}

/// Waits for the stream, bounded; then looks whether a kernel gave up waiting.
void Driver::finish(Slot* slot, double expected_us) {
  const double limit_us = 1.5e6 * config_.timeout_seconds + 5e6 + 10 * expected_us;
  const bool done = stream_->finish(after_us(limit_us));
  const Control* control = device_->control();
  if (control->fault.set != 0) throw Hung(fault_text(control->fault));
  if (done) return;
  if (slot != nullptr && slot->op.abort) slot->op.abort();
  throw Hung("rank " + std::to_string(first_rank_) + ": the device did not finish within " +
             std::to_string(static_cast<int>(limit_us / 1e6)) + " s");
}

}  // namespace arbench
