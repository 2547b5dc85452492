// What the measurements of serving share: clients, models, servers, and several contenders measured
// in turn, so that all see the same machine.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/report.h"
#include "sextant/net/http_server.h"
#include "sextant/serving/load_generator.h"
#include "sextant/serving/server.h"
#include "sextant/tensor/tensor.h"

namespace sextant::bench {

// A socket to a port of this machine. Throws UNAVAILABLE.
int Connect(int port);

// Another server, which runs already: the bytes of an HTTP request that it answers.
struct ServingPeer {
  std::string name, mode;
  int port = 0;
  std::string request;
};

struct ServingOptions {
  int alternations = 5;
  double seconds = 1;  // of one measurement
  int reloads = 200;
  std::string census = {}, census_request = {};  // versions of a model; the file of a JSON request
  bool only_census = false;                      // of serving_rest
  std::vector<ServingPeer> peers = {};
};

using serving::LoadClient;
using MakeClient = std::function<LoadClient()>;

// A connection that sends the same bytes again and again; any answer but 200 is an error.
MakeClient HttpLoad(int port, const std::string& request);
// The bytes of a REST request.
std::string PredictPost(const std::string& model, const std::string& body,
                        const std::string& type = "application/json");
// A JSON body of one row with "count" floats.
std::string FloatsBody(int count);

struct Measured {
  double rate = 0, p50_us = 0, p99_us = 0;
  double cpu_us = 0;  // of this process for one request, the client's included
};
// Each client sends the next request when it has the answer.
Measured MeasureClosedLoop(const MakeClient& make, int clients, double seconds);

struct Contender {
  std::string name;
  MakeClient make;
};
// The medians of each, measured in turn.
std::vector<Measured> MeasureInTurn(const std::vector<Contender>& contenders, int clients,
                                    const ServingOptions& options);
double Median(std::vector<double> values);

// Export models to base/version.
std::string ExportIdentity(const std::string& base, int64_t version = 1);
std::string ExportResnet44(const std::string& base);
// Two layers of "width" units: its weights are read once for a batch, so rows in batches are
// cheaper.
std::string ExportDense(const std::string& base, int64_t width, int64_t version = 1);

// A server of one model that is ready, and an HTTP server that echoes.
std::unique_ptr<serving::Server> StartServer(serving::ServerOptions options);
std::unique_ptr<net::HttpServer> StartHttpEcho();

// How many rows a batch had on average, by the metrics of a server. REQUIRES: it has them.
double MeanBatchRows(int rest_port);

// The workloads.
void MeasureServingCore(const ServingOptions& options);
void MeasureServingRest(const ServingOptions& options);
void MeasureServingGrpc(const ServingOptions& options);
void MeasureServingResnet(const ServingOptions& options);
void MeasureServingBatching(const ServingOptions& options);
void MeasureServingOpenLoop(const ServingOptions& options);
void MeasureServingReload(const ServingOptions& options);

}  // namespace sextant::bench
