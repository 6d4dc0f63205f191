// The machine a kernel is compiled for. A kernel file is compiled twice: by nvcc for the GPU and by the host compiler for host
// threads. Both give an `Exec` with the same members:
//
//   thread() threads() block() blocks()      as on a GPU
//   rank()                                   the rank this thread works for; a grid launch holds several ranks
//   sync_block()                             all threads of the block; orders their memory accesses among themselves
//   sync_block_any(flag)                     the same, and true for all threads if `flag` is true for any of them
//   store_release(word, v)                   system scope: all that this thread did or saw happens before the store
//   store_after_loads(word, v)               system scope: all that this block *loaded* before its last sync_block()
//                                            is in registers before the store; says nothing about stores
//   load_acquire(word)                       system scope: whoever reads a released value sees all that came before it
//   load_inline(pack) store_inline(pack, v)  16 bytes that another rank may be accessing: no tearing within an element,
//                                            no caching, no order between packs. For protocols whose data is its own flag
//   load_word(word) store_word(word, v)      a word that only this rank's launches touch
//   add_local(word, v) min_local(word, v)    read-modify-write on this rank's own memory, never on a peer's
//   claim_local(word)                        true for exactly one caller until the word is cleared; own memory only
//   host_word(word) set_host_word(word, v)   a word of pinned host memory
//   cycles()                                 of this multiprocessor; 0 where they are not counted
//   relax()  now_ns()  kPollsPerCheck        for bounded waiting: see wait_until() in signal.hpp
#pragma once

#include "arbench/pack.hpp"

#ifdef __CUDACC__
#include "arbench/port_cuda.hpp"
#else
#include "arbench/port_host.hpp"
#endif
