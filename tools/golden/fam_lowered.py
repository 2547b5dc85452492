"""lowered family: effects in branches and loops of control flow v2 in the graph that is run, where only what something needs runs.

Each of those cases fetches the result and a variable after it, which starts as 1. Then predicates that are no scalars, of v1 and v2."""
from opslib import *
from fam_edges import edge
from tensorflow.python.framework import function


def build(r, P):
    v1.enable_control_flow_v2()
    nested(r)
    needed(r)
    v1.disable_control_flow_v2()
    predicates(r)


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


def asserted(condition):
    with tf.control_dependencies([raw.Assert(condition=condition, data=[1.0])]):
        return tf.identity(2.0)


@function.Defun(tf.float32)
def add_one(x):
    return x + 1.0


@function.Defun(tf.float32)
def add_two(x):
    return x + 2.0


@function.Defun(tf.int32)
def count(i):
    return i + 1


def lower(op, is_lowered):
    if is_lowered:
        op._set_attr("_lower_using_switch_merge", v1.AttrValue(b=True))
    return tf.identity(op.outputs[0])


def predicates(r):
    shaped = {"scalar": (), "vector": (1,), "matrix": (1, 1), "empty": (0,), "pair": (2,)}
    for name, shape in shaped.items():
        p, i = np.ones(shape, bool), np.ones(shape, I32)
        if name != "scalar":
            edge(r, "Switch/pred_" + name, lambda p: raw.Switch(data=1.0, pred=p).output_true, {"p": p})
        edge(r, "Assert/condition_" + name, asserted, {"condition": p})
        edge(r, "cond_v1/pred_" + name, lambda p: v1.cond(p, lambda: tf.constant(1.0), lambda: tf.constant(2.0)), {"p": p})
        edge(r, "cond_v1/constant_" + name, lambda x: v1.cond(v1.placeholder_with_default(tf.constant(p), None), lambda: x + 1.0, lambda: x), {"x": F32(1)})
        edge(r, "while_v1/pred_" + name, lambda p: v1.while_loop(lambda i: tf.logical_and(p, i < 3), lambda i: i + 1, [tf.constant(0)]), {"p": p})
        for is_lowered in (False, True):
            end = "_lowered" if is_lowered else "_called"
            edge(r, "If/pred_" + name + end, lambda p: lower(raw.If(cond=p, input=[tf.constant(10.0)], Tout=[tf.float32], then_branch=add_one, else_branch=add_two)[0].op, is_lowered), {"p": p})
            edge(r, "If/false_" + name + end, lambda p: lower(raw.If(cond=tf.logical_not(p), input=[tf.constant(10.0)], Tout=[tf.float32], then_branch=add_one, else_branch=add_two)[0].op, is_lowered), {"p": p})
            edge(r, "If/int_" + name + end, lambda p: lower(raw.If(cond=p, input=[tf.constant(10.0)], Tout=[tf.float32], then_branch=add_one, else_branch=add_two)[0].op, is_lowered), {"p": i})
            edge(r, "Case/index_" + name + end, lambda p: lower(raw.Case(branch_index=p, input=[tf.constant(10.0)], Tout=[tf.float32], branches=[add_one, add_two])[0].op, is_lowered), {"p": i})
    conditions = {"shrinking": lambda i: tf.fill([tf.maximum(3 - i, 0)], False), "int": lambda i: 3 - i, "empty": lambda i: tf.zeros([0], tf.bool), "scalar": lambda i: i < 3}
    for name, condition in conditions.items():
        for is_lowered in (False, True):
            edge(r, "While/cond_" + name + ("_lowered" if is_lowered else "_called"), lambda x: lower(raw.While(input=[x], cond=function.Defun(tf.int32)(condition), body=count)[0].op, is_lowered), {"x": I32(0)})
