#include "sextant/graph/op_builder.h"
#include "sextant/ops/reader/reader.h"

namespace sextant {
namespace {

OpBuilder ReaderBuilder(const char* op, const ReaderOptions& options) {
  OpBuilder builder(op);
  builder.Attr("container", options.container)
      .Attr("shared_name", options.shared_name)
      .Name(options.name);
  return builder;
}

}  // namespace

Output FixedLengthRecordReader(const FixedLengthRecordReaderOptions& options) {
  return ReaderBuilder("FixedLengthRecordReaderV2", options.reader)
      .Attr("record_bytes", options.record_bytes)
      .Attr("header_bytes", options.header_bytes)
      .Attr("footer_bytes", options.footer_bytes)
      .Attr("hop_bytes", options.hop_bytes)
      .Attr("encoding", options.encoding)
      .Build();
}
Output TextLineReader(int64_t skip_header_lines, const ReaderOptions& options) {
  return ReaderBuilder("TextLineReaderV2", options)
      .Attr("skip_header_lines", skip_header_lines)
      .Build();
}
Output TFRecordReaderOp(const std::string& compression, const ReaderOptions& options) {
  return ReaderBuilder("TFRecordReaderV2", options).Attr("compression_type", compression).Build();
}
Output WholeFileReader(const ReaderOptions& options) {
  return ReaderBuilder("WholeFileReaderV2", options).Build();
}
Output IdentityReader(const ReaderOptions& options) {
  return ReaderBuilder("IdentityReaderV2", options).Build();
}

ReadRecord ReaderRead(Output reader, Output queue) {
  const auto outputs = OpBuilder("ReaderReadV2").Input(reader).Input(queue).BuildAll();
  return {outputs[0], outputs[1]};
}
ReadRecord ReaderReadUpTo(Output reader, Output queue, Output num_records) {
  const auto outputs =
      OpBuilder("ReaderReadUpToV2").Input(reader).Input(queue).Input(num_records).BuildAll();
  return {outputs[0], outputs[1]};
}
Output ReaderNumRecordsProduced(Output reader) {
  return OpBuilder("ReaderNumRecordsProducedV2").Input(reader).Build();
}
Output ReaderNumWorkUnitsCompleted(Output reader) {
  return OpBuilder("ReaderNumWorkUnitsCompletedV2").Input(reader).Build();
}
Operation ReaderReset(Output reader) {
  return OpBuilder("ReaderResetV2").Input(reader).BuildOperation();
}
Output ReaderSerializeState(Output reader) {
  return OpBuilder("ReaderSerializeStateV2").Input(reader).Build();
}
Operation ReaderRestoreState(Output reader, Output state) {
  return OpBuilder("ReaderRestoreStateV2").Input(reader).Input(state).BuildOperation();
}

}  // namespace sextant
