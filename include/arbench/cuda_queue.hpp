// Queue of a CUDA device: for launches and for libraries that want the stream itself.
#pragma once

#include <cuda_runtime.h>

#include "arbench/queue.hpp"

namespace arbench {

class CudaQueue : public Queue {
 public:
  virtual cudaStream_t stream() = 0;
};

}  // namespace arbench
