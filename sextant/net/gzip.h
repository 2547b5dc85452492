// gzip of message bodies.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sextant::net {

std::string Gzip(std::string_view bytes);

// The content of gzip data. Throws INVALID_ARGUMENT for bytes that are none, RESOURCE_EXHAUSTED
// when they hold more than "max_bytes", or more than "max_ratio" times their own size and over a
// megabyte: such data is made to fill memory.
std::string Gunzip(std::string_view bytes, size_t max_bytes, size_t max_ratio = 200);

}  // namespace sextant::net
