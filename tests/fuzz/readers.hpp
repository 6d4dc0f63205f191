// What a file does to `arbench compare`: the entry of the fuzzer, which the tests call as well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace arbench::compare {

/// Reads `text` by the reader that its beginning asks for, compares what was read with itself and shows that in all ways. Returns
/// the refusal, or nothing. Aborts when a promise is broken: one line per refusal, which names the file; no other exception; no
/// tag in the HTML but its own.
std::string outcome_of(const std::string& text);

}  // namespace arbench::compare

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
