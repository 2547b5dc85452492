// sextant-bench-wire, which `sextant-bench wire` runs: frames over gRPC between two processes, in
// turn with raw TCP and with tensors in protobuf fields. A program of its own, for no other
// measurement shall load gRPC.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <future>
#include <iostream>
#include <thread>

#include "benchmarks/report.h"
#include "benchmarks/timing.h"
#include "sextant/base/child_process.h"
#include "sextant/base/error.h"
#include "sextant/net/channel.h"
#include "sextant/net/grpc_frame.h"
#include "sextant/proto/graph.pb.h"

namespace sextant::bench {
namespace {

constexpr int kTensors = 136, kFloats = 4853;  // 2.64 MB, as the gradients of ResNet-44
constexpr size_t kBytes = size_t{kTensors} * kFloats * sizeof(float);
constexpr int kRounds = 15, kCalls = 20;

constexpr char kEchoFrame[] = "/echo_frame", kPushFrame[] = "/push_frame",
               kPushProto[] = "/push_proto", kEchoBytes[] = "/echo_bytes";

std::string Gather(const grpc::ByteBuffer& buffer) {
  grpc::Slice slice;
  if (!buffer.DumpToSingleSlice(&slice).ok()) throw DataLoss("a message that cannot be read");
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

grpc::ByteBuffer Bytes(const std::string& text) {
  const grpc::Slice slice(text);
  return grpc::ByteBuffer(&slice, 1);
}

// The tensors of a message with their bytes in fields.
std::vector<Tensor> FromProto(const std::string& bytes) {
  proto::AttrValue_ListValue list;
  if (!list.ParseFromString(bytes)) throw DataLoss("no list of tensors");
  std::vector<Tensor> tensors;
  for (const auto& value : list.tensor()) {
    const std::string& content = value.tensor_content();
    tensors.emplace_back(DType::kFloat, Shape{static_cast<int64_t>(content.size() / 4)});
    std::memcpy(tensors.back().data<float>(), content.data(), content.size());
  }
  return tensors;
}
std::string ToProto(const std::vector<Tensor>& tensors) {
  proto::AttrValue_ListValue list;
  for (const Tensor& tensor : tensors) {
    list.add_tensor()->set_tensor_content(tensor.raw_data(), tensor.bytes());
  }
  return list.SerializeAsString();
}

class WireCall : public grpc::ServerGenericBidiReactor {
 public:
  explicit WireCall(std::string method) : method_(std::move(method)) { StartRead(&message_); }
  void OnReadDone(bool ok) override {
    if (!ok) return Finish(grpc::Status::OK);
    if (method_ == kEchoFrame) {
      message_ = net::ToByteBuffer(net::EncodeFrame("", net::FromByteBuffer(message_).tensors));
    } else if (method_ == kPushFrame) {
      message_ = Bytes(std::to_string(net::FromByteBuffer(message_).tensors.size()));
    } else if (method_ == kPushProto) {
      message_ = Bytes(std::to_string(FromProto(Gather(message_)).size()));
    }
    StartWriteAndFinish(&message_, grpc::WriteOptions(), grpc::Status::OK);
  }
  void OnDone() override { delete this; }

 private:
  const std::string method_;
  grpc::ByteBuffer message_;
};

class WireService : public grpc::CallbackGenericService {
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    return new WireCall(context->method());
  }
};

sockaddr_in Local(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool ReadAll(int fd, char* to, size_t count) {
  for (size_t done = 0; done < count;) {
    const ssize_t got = read(fd, to + done, count - done);
    if (got <= 0) return false;
    done += static_cast<size_t>(got);
  }
  return true;
}
void WriteAll(int fd, const char* from, size_t count) {
  for (size_t done = 0; done < count;) {
    const ssize_t put = write(fd, from + done, count - done);
    if (put <= 0) throw Error(Code::kUnavailable, "the other process is gone");
    done += static_cast<size_t>(put);
  }
}

// Echoes kBytes at a time on one connection.
void EchoTcp(int listener) {
  const int fd = accept(listener, nullptr, nullptr);
  const int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  std::vector<char> buffer(kBytes);
  while (ReadAll(fd, buffer.data(), kBytes)) WriteAll(fd, buffer.data(), kBytes);
}

// Until the standard input ends.
void Serve() {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = Local(0);
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener, generic, size) != 0 || listen(listener, 1) != 0 ||
      getsockname(listener, generic, &size) != 0)
    throw Error(Code::kUnavailable, "cannot listen");
  std::thread([listener] { EchoTcp(listener); }).detach();
  WireService service;
  grpc::ServerBuilder builder;
  net::ConfigureServer(builder);
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterCallbackGenericService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  fmt::print("{} {}\n", port, ntohs(address.sin_port));
  std::fflush(stdout);
  std::string line;
  std::getline(std::cin, line);
  server->Shutdown(std::chrono::system_clock::now());
}

grpc::ByteBuffer Call(grpc::GenericStub& stub, const char* method,
                      const grpc::ByteBuffer& request) {
  grpc::ClientContext context;
  grpc::ByteBuffer response;
  std::promise<grpc::Status> ended;
  stub.UnaryCall(&context, method, grpc::StubOptions(), &request, &response,
                 [&](grpc::Status status) { ended.set_value(std::move(status)); });
  net::FromGrpcStatus(ended.get_future().get()).ThrowIfError();
  return response;
}

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void Measure() {
  ChildProcess server(
      {.arguments = {std::filesystem::read_symlink("/proc/self/exe").string(), "--serve"},
       .input = Stream::kPipe,
       .output = Stream::kPipe});
  const std::optional<std::string> ports = server.ReadLine(std::chrono::seconds(30));
  int grpc_port = 0, tcp_port = 0;
  if (!ports || std::sscanf(ports->c_str(), "%d %d", &grpc_port, &tcp_port) != 2)
    throw Error(Code::kUnavailable, "the server did not start");
  grpc::GenericStub stub(
      net::MakeChannel("127.0.0.1:" + std::to_string(grpc_port), net::ChannelUse::kBulk, {}));
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = Local(tcp_port);
  const int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    throw Error(Code::kUnavailable, "cannot connect");

  std::vector<Tensor> tensors;
  for (int i = 0; i < kTensors; ++i) tensors.push_back(Tensor::Zeros(DType::kFloat, {kFloats}));
  std::vector<char> buffer(kBytes);
  const grpc::ByteBuffer small = Bytes(std::string(64, 'x'));
  struct Way {
    const char* name;
    std::function<void()> run;
    std::vector<double> ms = {};
  };
  Way ways[] = {
      {"tcp_there_and_back",
       [&] {
         WriteAll(fd, buffer.data(), kBytes);
         ReadAll(fd, buffer.data(), kBytes);
       }},
      {"frame_there_and_back",
       [&] {
         net::FromByteBuffer(
             Call(stub, kEchoFrame, net::ToByteBuffer(net::EncodeFrame("", tensors))));
       }},
      {"frame_push",
       [&] { Call(stub, kPushFrame, net::ToByteBuffer(net::EncodeFrame("", tensors))); }},
      {"protobuf_push", [&] { Call(stub, kPushProto, Bytes(ToProto(tensors))); }},
      {"call_64_bytes", [&] { Call(stub, kEchoBytes, small); }},
  };
  for (Way& way : ways) way.run();
  for (int round = 0; round < kRounds; ++round) {
    for (Way& way : ways) {
      std::vector<double> calls;
      for (int i = 0; i < kCalls; ++i) calls.push_back(1e3 * Seconds(way.run));
      way.ms.push_back(Median(calls));
    }
  }
  for (const Way& way : ways) Emit("wire", std::string(way.name) + "_ms", way.ms, true);
  const auto ratio = [](const Way& a, const Way& b) { return Median(a.ms) / Median(b.ms); };
  Emit("wire", "frame_to_tcp", {ratio(ways[1], ways[0])}, true);
  Emit("wire", "protobuf_to_frame", {ratio(ways[3], ways[2])}, false);
  close(fd);
  server.CloseInput();
  server.Wait();
}

}  // namespace
}  // namespace sextant::bench

int main(int argc, char** argv) {
  try {
    if (argc > 1 && std::string_view(argv[1]) == "--serve") {
      sextant::bench::Serve();
    } else {
      sextant::bench::Measure();
    }
    return 0;
  } catch (const sextant::Error& error) {
    fmt::print(stderr, "sextant-bench wire: {}\n", error.message());
    return 1;
  }
}
