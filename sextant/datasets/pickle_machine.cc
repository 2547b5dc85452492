#include "sextant/datasets/pickle_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sextant/base/error.h"

namespace sextant::datasets {
namespace {

// More than enough for a batch of CIFAR-10 (50,000 and 20,000); they bound the memory that hostile
// files can take.
constexpr size_t kMaxInstructions = 1'000'000;
constexpr size_t kMaxValues = 200'000;

// What makes numpy arrays, under its old and new module names. encode is how Python 3 writes bytes
// with protocol 2.
constexpr std::array<std::string_view, 6> kAllowedNames = {"numpy.core.multiarray _reconstruct",
                                                           "numpy._core.multiarray _reconstruct",
                                                           "numpy ndarray",
                                                           "numpy dtype",
                                                           "_codecs encode",
                                                           "__builtin__ bytes"};

}  // namespace

void PickleMachine::Fail(std::string_view why) const {
  throw DataLoss("{} is no pickle of a data set: {} at offset {}", pickle_.name_, why,
                 instruction_);
}

const PickleValue* PickleMachine::Run() {
  for (size_t count = 0; count < kMaxInstructions; ++count) {
    instruction_ = position_;
    const auto code = static_cast<unsigned char>(Take(1)[0]);
    if (code == '.') return Pop();
    Step(code);
  }
  Fail("too many instructions");
}

void PickleMachine::Step(unsigned char code) {
  if (StepText(code) || StepNumber(code) || StepMemo(code) || StepContainer(code) ||
      StepObject(code)) {
    return;
  }
  Fail(fmt::format("unknown instruction 0x{:02x}", code));
}

bool PickleMachine::StepText(unsigned char code) {
  int size_bytes = 0;
  switch (code) {
    case 'U':
    case 'C':
    case 0x8c:
      size_bytes = 1;
      break;  // short: text, bytes, unicode
    case 'T':
    case 'B':
    case 'X':
      size_bytes = 4;
      break;  // text, bytes, unicode
    case 0x8d:
    case 0x8e:
      size_bytes = 8;
      break;  // unicode, bytes
    default:
      return false;
  }
  const std::string_view text = Take(TakeSize(size_bytes));
  Push(Kind::kText).text = text;
  return true;
}

bool PickleMachine::StepNumber(unsigned char code) {
  switch (code) {
    case 'N':
      Push(Kind::kNone);
      return true;
    case 0x88:
      Push(Kind::kBool).number = 1;
      return true;
    case 0x89:
      Push(Kind::kBool).number = 0;
      return true;
    case 'K':
      Push(Kind::kInt).number = static_cast<int64_t>(TakeSize(1));
      return true;
    case 'M':
      Push(Kind::kInt).number = static_cast<int64_t>(TakeSize(2));
      return true;
    case 'J':
      Push(Kind::kInt).number = static_cast<int32_t>(TakeSize(4));
      return true;
    case 0x8a: {  // of up to 8 bytes, two's complement
      const int size = static_cast<int>(TakeSize(1));
      if (size > 8) Fail("a number of more than 64 bits");
      const uint64_t bits = TakeSize(size);
      const int unused = 64 - 8 * size;
      Push(Kind::kInt).number = size == 0 ? 0 : static_cast<int64_t>(bits << unused) >> unused;
      return true;
    }
    default:
      return false;
  }
}

bool PickleMachine::StepMemo(unsigned char code) {
  switch (code) {
    case 0x80:
      Take(1);
      return true;  // protocol
    case 0x95:
      Take(8);
      return true;  // frame
    case 'q':
    case 'r':
    case 0x94: {  // remember the top
      const uint64_t key = code == 0x94 ? memo_.size() : TakeSize(code == 'q' ? 1 : 4);
      if (stack_.empty()) Fail("nothing to remember");
      memo_[key] = stack_.back();
      if (memo_.size() > kMaxValues) Fail("too many values");
      return true;
    }
    case 'h':
    case 'j': {
      const auto found = memo_.find(TakeSize(code == 'h' ? 1 : 4));
      if (found == memo_.end()) Fail("a value that was never remembered");
      PushShared(found->second);
      return true;
    }
    default:
      return false;
  }
}

bool PickleMachine::StepContainer(unsigned char code) {
  switch (code) {
    case '(':
      marks_.push_back(stack_.size());
      if (marks_.size() > kMaxValues) Fail("too many values");
      return true;
    case ')':
      Push(Kind::kTuple);
      return true;
    case ']':
      Push(Kind::kList);
      return true;
    case '}':
      Push(Kind::kDict);
      return true;
    case 0x85:
    case 0x86:
    case 0x87:
    case 't': {
      Values items = code == 't' ? PopToMark() : PopSeveral(code - 0x84);
      Push(Kind::kTuple).items = std::move(items);
      return true;
    }
    case 'a':
    case 'e':
    case 's':
    case 'u': {
      const bool dict = code == 's' || code == 'u';
      const Values items =
          code == 'e' || code == 'u' ? PopToMark() : PopSeveral(code == 'a' ? 1 : 2);
      if (dict && items.size() % 2 != 0) Fail("a key without a value");
      Values& all = Top(dict ? Kind::kDict : Kind::kList).items;
      all.insert(all.end(), items.begin(), items.end());
      return true;
    }
    default:
      return false;
  }
}

bool PickleMachine::StepObject(unsigned char code) {
  switch (code) {
    case 'c': {
      const std::string_view module = TakeLine();
      PushName(module, TakeLine());
      return true;
    }
    case 0x93: {
      const Values names = PopSeveral(2);
      PushName(names[0]->text, names[1]->text);
      return true;
    }
    case 'R': {
      const Values call = PopSeveral(2);
      Call(call[0], call[1]);
      return true;
    }
    case 'b': {
      const PickleValue* state = Pop();
      PickleValue& object = Top(Kind::kObject);
      if (object.items.size() != 2) Fail("an object with two states");
      object.items.push_back(state);
      return true;
    }
    default:
      return false;
  }
}

std::string_view PickleMachine::Take(uint64_t size) {
  if (size > bytes_.size() - position_) Fail("the end of the file inside an instruction");
  position_ += size;
  return bytes_.substr(position_ - size, size);
}

std::string_view PickleMachine::TakeLine() {
  const size_t end = bytes_.find('\n', position_);
  if (end == std::string_view::npos) Fail("the end of the file inside a name");
  const std::string_view line = Take(end - position_);
  Take(1);
  return line;
}

uint64_t PickleMachine::TakeSize(int bytes) {
  uint64_t size = 0;
  const std::string_view digits = Take(static_cast<uint64_t>(bytes));
  for (int i = bytes - 1; i >= 0; --i) size = size << 8 | static_cast<unsigned char>(digits[i]);
  return size;
}

PickleValue& PickleMachine::Push(Kind kind) {
  if (pickle_.values_.size() >= kMaxValues) Fail("too many values");
  PickleValue& value = pickle_.values_.emplace_back();
  value.kind = kind;
  PushShared(&value);
  return value;
}

void PickleMachine::PushShared(const PickleValue* value) {
  stack_.push_back(value);
  if (stack_.size() > kMaxValues) Fail("too many values");
}

const PickleValue* PickleMachine::Pop() { return PopSeveral(1)[0]; }

PickleMachine::Values PickleMachine::PopSeveral(size_t count) {
  const size_t bottom = marks_.empty() ? 0 : marks_.back();
  if (stack_.size() < bottom + count) Fail("a missing value");
  Values values(stack_.end() - static_cast<int64_t>(count), stack_.end());
  stack_.resize(stack_.size() - count);
  return values;
}

PickleMachine::Values PickleMachine::PopToMark() {
  if (marks_.empty()) Fail("a missing mark");
  Values values = PopSeveral(stack_.size() - marks_.back());
  marks_.pop_back();
  return values;
}

// The values on the stack are this machine's own, so they may be changed.
PickleValue& PickleMachine::Top(Kind kind) {
  if (stack_.empty() || stack_.back()->kind != kind) Fail("a value of another kind");
  return const_cast<PickleValue&>(*stack_.back());
}

void PickleMachine::PushName(std::string_view module, std::string_view name) {
  const std::string full = fmt::format("{} {}", module, name);
  const auto found = std::find(kAllowedNames.begin(), kAllowedNames.end(), full);
  if (found == kAllowedNames.end()) Fail(fmt::format("a call of {}.{}", module, name));
  Push(Kind::kName).text = *found;
}

void PickleMachine::Call(const PickleValue* function, const PickleValue* arguments) {
  if (function->kind != Kind::kName || arguments->kind != Kind::kTuple) Fail("no function call");
  if (function->text == "_codecs encode") {  // text in UTF-8 to bytes in Latin-1
    if (arguments->items.size() != 2 || arguments->items[1]->text != "latin1") {
      Fail("an unknown encoding");
    }
    std::string bytes;
    const std::string_view text = arguments->items[0]->text;
    for (size_t i = 0; i < text.size(); ++i) {
      const auto lead = static_cast<unsigned char>(text[i]);
      const bool two = (lead & 0xe0) == 0xc0 && i + 1 < text.size();
      bytes.push_back(two ? static_cast<char>(lead << 6 | (text[++i] & 0x3f)) : text[i]);
    }
    Push(Kind::kText).text = Keep(std::move(bytes));
    return;
  }
  if (function->text == "__builtin__ bytes") {  // empty bytes of Python 3 with protocol 2
    Push(Kind::kText);
    return;
  }
  Push(Kind::kObject).items = {function, arguments};
}

std::string_view PickleMachine::Keep(std::string text) {
  kept_ += text.size();
  if (kept_ > bytes_.size()) Fail("more text than the file has");
  return pickle_.texts_.emplace_back(std::move(text));
}

}  // namespace sextant::datasets
