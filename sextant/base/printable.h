// Text that may hold anything (names and values from files), made fit to be shown.
//
// On a terminal, control characters move the cursor, rename the window or paste commands; a message
// of 31 kB hides what it says. Error messages and log lines pass through here by themselves
// (error.cc, logging.cc), and so does what the program `sextant` prints.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "sextant/base/export.h"

namespace sextant {

enum class LineEnds { kEscape, kKeep };  // what becomes of \n and \t

// Control characters, bytes that are no UTF-8 and characters that reverse the direction of text,
// written as \n, \x1b, \u202e. Text without any is as it was; so is text that was escaped before.
std::string Printable(std::string_view text, LineEnds line_ends = LineEnds::kEscape);
// Whether Printable(text, kKeep) is the text itself.
bool IsPrintable(std::string_view text);

// Text of more than `most` bytes without its middle: "beginning ... (30000 bytes left out) ...
// end", which is about `most` bytes long. Characters stay whole.
std::string WithoutMiddle(std::string_view text, size_t most);

// The text on one line, truncated with "..." at "limit" bytes; control characters are escaped.
std::string Shortened(std::string_view text, size_t limit = 60);

// Printable and cut: a name or a value in a line of output.
SEXTANT_API std::string ShownName(std::string_view text);

}  // namespace sextant
