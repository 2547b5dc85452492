"""lowered family: effects in branches and loops of control flow v2 in the graph that is run, where only what something needs runs.

Each case fetches the result and a variable after it, which starts as 1."""
from opslib import *


def build(r, P):
    v1.enable_control_flow_v2()
    nested(r)
    needed(r)
    v1.disable_control_flow_v2()


def lowered(r, name, fn, inputs=None):
    """fn(variable, i) -> result."""
    def graph(i):
        v = raw.VarHandleOp(dtype=tf.float32, shape=[], shared_name="v")
        with tf.control_dependencies([raw.AssignVariableOp(resource=v, value=tf.constant(1.0))]):
            i = tf.identity(i)
        y = fn(v, i)
        with tf.control_dependencies([y]):
            return [y, raw.ReadVariableOp(resource=v, dtype=tf.float32)]
    for i in (0, 1):
        r.case("%s_%d" % (name, i), graph, {"i": I32(i)}, grad=False, static=0)


def add(v, by=5.0):
    return raw.AssignAddVariableOp(resource=v, value=tf.constant(by))


def effect(v):
    """A branch whose result does not need its effect."""
    add(v)
    return tf.constant(2.0)


def after(v):
    """A branch whose result waits for its effect."""
    with tf.control_dependencies([add(v)]):
        return tf.identity(tf.constant(2.0))


def failing(i):
    raw.Assert(condition=i > 5, data=[i])
    return tf.constant(2.0)


def three():
    return tf.constant(3.0)


def loop(body):
    return tf.while_loop(lambda k, x: k < 3, lambda k, x: (k + 1, x + body()), [tf.constant(0), tf.constant(0.0)])[1]


def nested(r):
    for kind, branch in (("effect", effect), ("after", after)):
        case = lambda v, i: tf.switch_case(i, [three, lambda: branch(v)])
        cond = lambda v, i: tf.cond(i > 0, lambda: branch(v), three)
        lowered(r, "case/" + kind, case)
        lowered(r, "if/" + kind, cond)
        lowered(r, "case_in_if/" + kind, lambda v, i: tf.cond(i > 0, lambda: case(v, i), three))
        lowered(r, "if_in_case/" + kind, lambda v, i: tf.switch_case(i, [three, lambda: cond(v, i)]))
        lowered(r, "case_in_case/" + kind, lambda v, i: tf.switch_case(i, [three, lambda: case(v, i)]))
        lowered(r, "case_in_while/" + kind, lambda v, i: loop(lambda: case(v, i)))
        lowered(r, "while_in_case/" + kind, lambda v, i: tf.switch_case(i, [three, lambda: loop(lambda: branch(v))]))
    lowered(r, "case/assert", lambda v, i: tf.switch_case(i, [three, lambda: failing(i)]))
    lowered(r, "if/assert", lambda v, i: tf.cond(i > 0, lambda: failing(i), three))
    lowered(r, "case_in_if/assert", lambda v, i: tf.cond(i > 0, lambda: tf.switch_case(i, [three, lambda: failing(i)]), three))


def needed(r):
    """Of two results, the second of which waits for the effect, one is read."""
    both = lambda v: (tf.constant(2.0), after(v))
    threes = lambda: (three(), three())
    for k in (0, 1):
        lowered(r, "case/reads_%d" % k, lambda v, i: tf.switch_case(i, [threes, lambda: both(v)])[k])
        lowered(r, "if/reads_%d" % k, lambda v, i: tf.cond(i > 0, lambda: both(v), threes)[k])
        lowered(r, "case_in_if/reads_%d" % k, lambda v, i: tf.cond(i > 0, lambda: tf.switch_case(i, [threes, lambda: both(v)])[k], three))
