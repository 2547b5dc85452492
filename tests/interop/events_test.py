"""TensorBoard's own readers read our event files: values of every kind in both forms, graphs, hyperparameters."""
import glob
import os
import struct
import sys

from tensorboard.backend.event_processing import event_accumulator, plugin_event_multiplexer
from tensorboard.plugins.hparams import metadata as hparams_metadata
from tensorboard.plugins.hparams import plugin_data_pb2
from tensorboard.util import tensor_util
import tensorflow as tf

folder = sys.argv[1]
v1 = tf.compat.v1


def accumulate(run):
    a = event_accumulator.EventAccumulator(os.path.join(folder, run), size_guidance={
        kind: 0 for kind in ("scalars", "histograms", "images", "audio", "tensors")})
    a.Reload()
    return a


def check_png(png):
    image = tf.io.decode_png(png).numpy()
    assert image.shape == (4, 5, 3) and image.ravel().tolist() == [3 * i % 256 for i in range(60)]


def check_wav(wav):
    samples, rate = tf.audio.decode_wav(wav)
    assert samples.shape == (80, 1) and int(rate) == 8000


def strings(event):
    return tensor_util.make_ndarray(event.tensor_proto)


# Classic values, through the accumulator that knows their form.
a = accumulate("classic")
assert a.FirstEventTimestamp() > 1.6e9
assert [e.value for e in a.Scalars("loss")] == [struct.unpack("f", struct.pack("f", 1 / (1 + s)))[0] for s in range(20)]
assert [e.step for e in a.Scalars("loss")] == list(range(20))
assert [e.value for e in a.Scalars("late")] == [7]
histogram = a.Histograms("weights")[5].histogram_value
assert (histogram.min, histogram.max, histogram.num, histogram.sum) == (0, 5, 4, 8)
assert sum(histogram.bucket) == 4
image = a.Images("picture")[0]
assert (image.width, image.height) == (5, 4)
check_png(image.encoded_image_string)
sound = a.Audio("tone")[0]
assert (sound.sample_rate, sound.length_frames, sound.content_type) == (8000, 80, "audio/wav")
check_wav(sound.encoded_audio_string)
assert strings(a.Tensors("note")[3]).tolist() == [b"# title", b"step 3"]
assert strings(a.Tensors("tensor")[0]).tolist() == [1, 2, 3]
assert a.SummaryMetadata("note").plugin_data.plugin_name == "text"
assert [n.name for n in a.Graph().node] == ["x"]
assert a.RunMetadata("step 19").step_stats.dev_stats[0].node_stats[0].node_name == "x"

# Both forms, through the multiplexer that the dashboards use: it makes all of them tensors.
m = plugin_event_multiplexer.EventMultiplexer(tensor_size_guidance={
    p: 0 for p in ("scalars", "histograms", "images", "audio", "text", "pr_curves")}).AddRunsFromDirectory(folder)
m.Reload()
assert sorted(m.Runs()) == ["classic", "hparams", "hparams/trial", "plugin", "pr_curve", "resumed"]
for run in ("classic", "plugin"):
    assert m.SummaryMetadata(run, "loss").plugin_data.plugin_name == "scalars"
    assert [e.step for e in m.Tensors(run, "loss")] == list(range(20)), run
    assert [round(float(strings(e)), 6) for e in m.Tensors(run, "loss")] == [round(1 / (1 + s), 6) for s in range(20)]
    assert m.SummaryMetadata(run, "weights").plugin_data.plugin_name == "histograms"
    buckets = strings(m.Tensors(run, "weights")[5])
    assert buckets[0][0] == 0 and buckets[-1][1] == 5 and buckets[:, 2].sum() == 4
    width, height, png = strings(m.Tensors(run, "picture")[0]).tolist()
    assert (width, height) == (b"5", b"4")
    check_png(png)
    assert m.SummaryMetadata(run, "tone").plugin_data.plugin_name == "audio"
    check_wav(strings(m.Tensors(run, "tone")[0]).ravel()[0])
    assert strings(m.Tensors(run, "note")[3]).tolist() == [b"# title", b"step 3"]

# The plugin form has TensorBoard's own ranges.
from tensorboard.plugins.histogram import summary_v2
expected = tensor_util.make_ndarray(summary_v2.histogram_pb("weights", [0, 1, 2, 5]).value[0].tensor)
assert abs(strings(m.Tensors("plugin", "weights")[5]) - expected).max() < 1e-12

# A resumed run: points from the step of its start on are dropped.
resumed = [(e.step, float(strings(e))) for e in m.Tensors("resumed", "loss")]
assert resumed == [(s, s) for s in range(5)] + [(s, 500 + s) for s in range(5, 15)], resumed

# Hyperparameters.
def hparams(run, tag):
    return plugin_data_pb2.HParamsPluginData.FromString(m.SummaryMetadata(run, tag).plugin_data.content)


experiment = hparams_metadata.parse_experiment_plugin_data(
    m.SummaryMetadata("hparams", hparams_metadata.EXPERIMENT_TAG).plugin_data.content)
assert experiment.hparam_infos[0].name == "learning_rate" and experiment.metric_infos[0].name.tag == "accuracy"
start = hparams("hparams/trial", hparams_metadata.SESSION_START_INFO_TAG).session_start_info
assert start.hparams["learning_rate"].number_value == 0.01 and start.hparams["optimizer"].string_value == "adam"
assert start.hparams["dropout"].bool_value and start.group_name == "group"
assert hparams("hparams/trial", hparams_metadata.SESSION_END_INFO_TAG).session_end_info.status == 1

# A PR curve, as TensorBoard's plugin makes it of the same examples.
from tensorboard.plugins.pr_curve import summary as pr_curve
expected = pr_curve.pb("clf", tf.constant([True, False, True, True, False]).numpy(),
                       tf.constant([0.9, 0.8, 0.35, 0.5, 0.1]).numpy(), num_thresholds=11, description="five examples").value[0]
(point,) = m.Tensors("pr_curve", "clf/pr_curves")
assert point.step == 3 and abs(strings(point) - tensor_util.make_ndarray(expected.tensor)).max() < 1e-6
metadata = m.SummaryMetadata("pr_curve", "clf/pr_curves")
assert metadata.plugin_data.SerializeToString() == expected.metadata.plugin_data.SerializeToString()
assert (metadata.display_name, metadata.summary_description) == ("clf", "five examples")

# The records themselves, in order.
files = sorted(glob.glob(os.path.join(folder, "classic", "*tfevents*")))
assert len(files) == 2, files
events = [e for f in files for e in v1.train.summary_iterator(f)]
assert [e.WhichOneof("what") for e in events] == (
    ["file_version", "graph_def", "session_log"] + ["summary"] * 20 + ["tagged_run_metadata", "session_log", "session_log"] +
    ["file_version", "summary"])
assert events[0].file_version == "brain.Event:2" and events[0].wall_time == int(events[0].wall_time)
assert [e.session_log.status for e in events if e.HasField("session_log")] == [1, 3, 2]
print("all events read")
