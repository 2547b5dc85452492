// For tests: the network of cifar10.h with its loss and its update, built from other ops and run in
// double.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sextant/sextant.h"

namespace cifar10 {

namespace sx = sextant;

class DoubleNetwork {
 public:
  // Starts from variables of cifar10.h.
  DoubleNetwork(const std::map<std::string, sx::Tensor>& start, int64_t batch) : use_(graph_) {
    images_ = sx::Placeholder(sx::DType::kDouble, sx::PartialShape{batch, 24, 24, 3});
    labels_ = sx::Placeholder(sx::DType::kInt32, sx::PartialShape{batch});
    for (const char* layer : {"conv1", "conv2", "local3", "local4", "softmax_linear"}) {
      for (const char* part : {"weights", "biases"}) {
        const std::string name = std::string(layer) + "/" + part;
        variables_.emplace(name, sx::Variable(name, Widened(start.at(name))));
      }
    }
    const sx::Output loss = Loss();
    std::vector<sx::Output> all;
    for (const auto& [name, variable] : variables_) all.push_back(variable);
    const auto gradients = sx::Gradients({loss}, all);
    std::vector<sx::Operation> updates;
    for (const auto& [name, variable] : variables_) {
      updates.push_back(variable.AssignSub(Number(0.1) * gradients[updates.size()].dense()));
    }
    step_ = sx::Group(updates);
    session_ = std::make_unique<sx::Session>(graph_);
    session_->Run(sx::GlobalVariablesInitializer());
  }

  void Step(const sx::Tensor& images, const sx::Tensor& labels) {
    session_->Run({{images_, Widened(images)}, {labels_, labels}}, std::vector<sx::Output>{},
                  {step_});
  }

  std::map<std::string, sx::Tensor> Variables() {
    std::map<std::string, sx::Tensor> values;
    for (const auto& [name, variable] : variables_) values[name] = session_->Run(variable.value());
    return values;
  }

 private:
  static sx::Tensor Widened(const sx::Tensor& floats) {
    sx::Tensor wide(sx::DType::kDouble, floats.shape());
    std::copy_n(floats.data<float>(), floats.num_elements(), wide.data<double>());
    return wide;
  }
  static sx::Output Number(double value) { return sx::Const(sx::Tensor(value)); }

  sx::Output Loss() {
    const sx::Output norm1 = Norm(Pool(Convolution("conv1", images_)));
    const sx::Output pool2 = Pool(Norm(Convolution("conv2", norm1)));
    const sx::Output local3 = sx::Relu(Product("local3", sx::layers::Flatten(pool2)));
    const sx::Output logits = Product("softmax_linear", sx::Relu(Product("local4", local3)));
    const sx::Output losses = sx::SparseSoftmaxCrossEntropyWithLogits(logits, labels_).loss;
    const sx::Output decay =
        sx::L2Loss(variables_.at("local3/weights")) + sx::L2Loss(variables_.at("local4/weights"));
    return sx::Mean(losses, 0) + Number(0.004) * decay;
  }
  sx::Output Convolution(const std::string& name, sx::Output x) {
    const sx::Output y = sx::Conv2D(x, variables_.at(name + "/weights"), {.padding = "SAME"});
    return sx::Relu(sx::BiasAdd(y, variables_.at(name + "/biases")));
  }
  sx::Output Product(const std::string& name, sx::Output x) {
    return sx::MatMul(x, variables_.at(name + "/weights")) + variables_.at(name + "/biases");
  }
  static sx::Output Pool(sx::Output x) {
    return sx::MaxPool(x, {.ksize = {1, 3, 3, 1}, .strides = {1, 2, 2, 1}, .padding = "SAME"});
  }
  // LRN, whose sum over neighbours is a product with a band of ones.
  static sx::Output Norm(sx::Output x) {
    sx::Tensor band(sx::DType::kDouble, sx::Shape{1, 1, 64, 64});
    for (int i = 0; i < 64 * 64; ++i) {
      band.data<double>()[i] = std::abs(i / 64 - i % 64) <= 4 ? 1 : 0;
    }
    const sx::Output sums = sx::Conv2D(sx::Square(x), sx::Const(band), {.padding = "SAME"});
    return x * sx::Pow(Number(1) + Number(0.001 / 9) * sums, Number(-0.75));
  }

  sx::Graph graph_;
  const sx::GraphScope use_;
  sx::Output images_, labels_;
  std::map<std::string, sx::Variable> variables_;
  sx::Operation step_;
  std::unique_ptr<sx::Session> session_;
};

}  // namespace cifar10
