// Copies of many bytes, by several threads where that is faster: the process's team, within the
// ThreadTeam::Limit of the calling thread.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "sextant/base/export.h"

namespace sextant {

// As memcpy.
SEXTANT_API void CopyBytes(void* to, const void* from, size_t bytes);
// All pieces, one behind the other.
SEXTANT_API void CopyPieces(void* to, std::span<const std::string_view> pieces);

}  // namespace sextant
