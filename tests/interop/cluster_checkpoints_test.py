"""TensorFlow restores the checkpoint of a cluster whose layers were cut over three parameter servers, into whole variables and into
parts of its own, and finds the bits that one process trains.
"""
import numpy as np
import tensorflow as tf

from program_testing import Programs, check

v1 = tf.compat.v1
STEPS = 20
programs = Programs()
flags = ["--model", "mlp", "--max_steps", STEPS, "--save_steps", 10]
programs.run("sextant", "launch", "--chief", "--workers", 1, "--ps", 3, "--", programs.bin / "replica-training", *flags,
             "--model_dir", "cut", "--sync", 2, "--deterministic", "--partition_bytes", 1000)
programs.run("replica-training", *flags, "--model_dir", "whole", "--devices", 2, env={"SEXTANT_THREADS": "1"})


def read(name):
    reader = tf.train.load_checkpoint(tf.train.latest_checkpoint(str(programs.path(name))))
    return {key: reader.get_tensor(key) for key in reader.get_variable_to_shape_map() if key != "sextant/run_state"}


cut, whole = read("cut"), read("whole")
check(set(cut) == set(whole), "both hold the same variables: %r" % (set(cut) ^ set(whole)))
check(cut["global_step"] == STEPS, "the last step is saved: %r" % cut["global_step"])
check(len(cut) >= 12, "weights, biases and their slots: %r" % sorted(cut))
for name, value in cut.items():
    check(np.array_equal(value, whole[name]), "%s differs" % name)

# As graphs do: TensorFlow's own parts need not lie where ours do.
prefix = tf.train.latest_checkpoint(str(programs.path("cut")))
for parts in 1, 2, 5:
    with v1.Session(graph=tf.Graph()) as session:
        made = {name: v1.get_variable(name, value.shape, partitioner=v1.fixed_size_partitioner(parts) if value.ndim == 2 else None)
                for name, value in whole.items() if value.dtype == np.float32}
        v1.train.Saver(list(made.values())).restore(session, prefix)
        for name, variable in made.items():
            got = session.run(tf.convert_to_tensor(variable))
            check(np.array_equal(got, whole[name]), "%s differs when it is restored into %d parts" % (name, parts))
print("restored")
