"""beside_tensorflow_test.py MODULE ORDER SCOPE: libsextant and TensorFlow work in one process, whichever is loaded first.

MODULE is built from beside_tensorflow.cc. ORDER is "sextant" or "tensorflow", the one loaded first. SCOPE is "local", as Python
loads modules, or "global": then the names of each are seen by the other, as in a program that is linked with both.
"""
import ctypes
import os
import sys

module, order, scope = sys.argv[1:]
flags = os.RTLD_NOW | (os.RTLD_GLOBAL if scope == "global" else os.RTLD_LOCAL)
sys.setdlopenflags(flags)


class Sextant:
    def __init__(self):
        self.library = ctypes.CDLL(module, mode=flags)
        self.library.beside_answer.restype = ctypes.c_void_p
        self.library.beside_answer_size.restype = ctypes.c_size_t

    def call(self, name, *arguments):
        failed = getattr(self.library, "beside_" + name)(*arguments)
        answer = ctypes.string_at(self.library.beside_answer(), self.library.beside_answer_size())
        assert not failed, answer.decode()
        return answer

    def run_alone(self):
        assert self.call("train") == b"3.000", self.call("train")

    def run_graph(self, graph_def):
        return self.call("import", graph_def, ctypes.c_size_t(len(graph_def)))


class TensorFlow:
    def __init__(self):
        import tensorflow
        self.tf = tensorflow

    def run_alone(self):
        w = self.tf.Variable(0.0)
        optimizer = self.tf.keras.optimizers.SGD(0.1)
        x = self.tf.constant([1.0, 2.0])

        @self.tf.function
        def step():
            with self.tf.GradientTape() as tape:
                loss = self.tf.reduce_mean((w * x - 3 * x) ** 2)
            optimizer.apply_gradients([(tape.gradient(loss, w), w)])

        for _ in range(100):
            step()
        assert abs(w.numpy() - 3) < 1e-3, w.numpy()

    def graph_def(self):
        v1 = self.tf.compat.v1
        with self.tf.Graph().as_default() as graph:
            self.tf.identity(v1.placeholder(self.tf.float32, [None], "x") * 2 + 1, "y")
        return graph.as_graph_def().SerializeToString()

    def run_graph(self, graph_def):
        v1 = self.tf.compat.v1
        with self.tf.Graph().as_default():
            v1.import_graph_def(v1.GraphDef.FromString(graph_def), name="")
            with v1.Session() as session:
                return session.run("y:0", {"x:0": [1.0, 2.0]}).tolist()


first, second = (Sextant, TensorFlow) if order == "sextant" else (TensorFlow, Sextant)
loaded = [first()]
loaded[0].run_alone()
loaded.append(second())
sextant, tensorflow = loaded if order == "sextant" else reversed(loaded)
for _ in range(2):
    sextant.run_alone()
    tensorflow.run_alone()
assert tensorflow.run_graph(sextant.call("export")) == [3.0, 5.0]
assert sextant.run_graph(tensorflow.graph_def()) == b"[3. 5.]", sextant.run_graph(tensorflow.graph_def())
print("both work")
