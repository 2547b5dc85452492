#include "sextant/runtime/fragment_fingerprint.h"

#include "sextant/base/coding.h"
#include "sextant/base/fingerprint.h"

namespace sextant {

uint64_t FingerprintOf(const Fragment& fragment) {
  std::string text = fragment.task + '\0' + fragment.graph_def;
  const auto add = [&text](const std::vector<std::string>& names) {
    PutFixed64(&text, names.size());
    for (const std::string& name : names) text += name + '\0';
  };
  add(fragment.feeds);
  for (const Fragment::KeptInput& input : fragment.kept_inputs) {
    text += input.tensor + '\0' + input.task + '\0';
    PutFixed64(&text, input.maker);
    PutFixed64(&text, static_cast<uint64_t>(input.position));
  }
  add(fragment.fetches);
  add(fragment.kept);
  add(fragment.targets);
  if (fragment.sum) PutFixed64(&text, fragment.sum->key);
  return Fingerprint64(text);
}

uint64_t SumKeyOf(const Fragment& fragment) {
  const Fragment::Sum& sum = *fragment.sum;
  std::string text = fragment.task + '\0' + fragment.graph_def;
  for (const int32_t number : {sum.replicas, sum.part, sum.num_parts, sum.stage})
    PutFixed64(&text, static_cast<uint64_t>(number));
  for (const bool gradient : sum.gradient) text += gradient ? '1' : '0';
  for (const std::string& feed : fragment.feeds) text += feed + '\0';
  for (const Fragment::KeptInput& input : fragment.kept_inputs) text += input.tensor + '\0';
  for (const std::string& target : fragment.targets) text += target + '\0';
  return Fingerprint64(text);
}

}  // namespace sextant
