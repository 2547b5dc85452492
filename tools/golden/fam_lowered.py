"""lowered family: effects in branches and loops of control flow v2 in the graph that is run, where only what something needs runs.

Each of those cases fetches the result and a variable after it, which starts as 1. Then predicates that are no scalars, of v1 and v2."""
from opslib import *
from fam_edges import edge
from tensorflow.python.framework import function


def build(r, P):
    v1.enable_control_flow_v2()
    nested(r)
    needed(r)
    loops(r)
    v1.disable_control_flow_v2()
    predicates(r)


def lowered(r, name, fn, waits=False):
    """fn(variable, i) -> result. With "waits" all that the variable is used for waits until it is initialised, not only what reads i."""
    def graph(i):
        v = raw.VarHandleOp(dtype=tf.float32, shape=[], shared_name="v")
        with tf.control_dependencies([raw.AssignVariableOp(resource=v, value=tf.constant(1.0))]):
            i = tf.identity(i)
            handle = tf.identity(v) if waits else v
        y = fn(handle, i)
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


def loops(r):
    """Of loops with effects in one of their variables, their start or their control results, one result is read."""
    three_times = lambda k, x: k < 3
    late = lambda v, x: tf.identity(x + after(v))
    plain = lambda k, x: (k + 1, x + 1.0)
    def counted(v, i, body):
        """The number of iterations and what the body makes; i is in the loop, so that it is not computed ahead."""
        return tf.while_loop(three_times, body, [i, tf.constant(0.0)])
    def nested(v, i):
        return counted(v, i, lambda k, x: tf.while_loop(lambda j, y: j < k + 1, lambda j, y: (j + 1, late(v, y)), [k, x]))
    def chained(v, i):
        first = counted(v, i, lambda k, x: (k + 1, late(v, x)))
        return tf.while_loop(three_times, plain, [first[0] - 3, first[1]])
    def of_three(v, i):
        """The last variable needs the second."""
        return tf.while_loop(lambda k, x, y: k < 3, lambda k, x, y: (k + 1, late(v, x), y + x), [i, tf.constant(0.0), tf.constant(0.0)])
    def asserting(v, i):
        def body(k, x):
            with tf.control_dependencies([raw.Assert(condition=k < 1, data=[k])]):
                x = tf.identity(x)
            return k + 1, x
        return counted(v, i, body)
    def waiting(v, i):
        """Waits for the loop, reads nothing of it."""
        w = counted(v, i, lambda k, x: (k + 1, late(v, x)))
        with tf.control_dependencies([w[0].op.inputs[0].op]):
            return [tf.constant(7) + i]
    cases = {
        "variable": lambda v, i: counted(v, i, lambda k, x: (k + 1, late(v, x))),
        "condition": lambda v, i: tf.while_loop(lambda k, x: after(v) + tf.cast(k, tf.float32) < 4.0, plain, [i, tf.constant(0.0)]),
        "if_in_loop": lambda v, i: counted(v, i, lambda k, x: (k + 1, tf.cond(k > 0, lambda: late(v, x), lambda: x))),
        "if_of_two": lambda v, i: counted(v, i, lambda k, x: tf.cond(k >= 0, lambda: (k + 1, late(v, x)), lambda: (k + 2, x))),
        "loop_in_loop": nested,
        "loop_in_if": lambda v, i: tf.cond(i > 0, lambda: counted(v, i, lambda k, x: (k + 1, late(v, x))), lambda: [i, three()]),
        "after_loop": chained,
        "start": lambda v, i: tf.while_loop(three_times, plain, [i, after(v)]),
        "start_of_none": lambda v, i: tf.while_loop(lambda k, x: k < 0, plain, [i, after(v)]),
        "input_of_if": lambda v, i: (lambda x: tf.cond(i > 0, lambda: (tf.constant(1.0), x), lambda: (tf.constant(3.0), x)))(after(v)),
    }
    for name, fn in cases.items():
        for k in (0, 1):
            lowered(r, "loop/%s_%d" % (name, k), lambda v, i: fn(v, i)[k], True)
    for k in (0, 1, 2):
        lowered(r, "loop/of_three_%d" % k, lambda v, i: of_three(v, i)[k], True)
    lowered(r, "loop/assert_0", lambda v, i: asserting(v, i)[0], True)
    lowered(r, "loop/waiting", lambda v, i: waiting(v, i)[0], True)
    def listed(fn):
        """With the effects of cond and body among their control results."""
        def build(v, i):
            tf.compat.v1.get_default_graph()._add_control_dependencies = True
            return fn(v, i)[0]
        return build
    def by_condition(v, i):
        def condition(k, x):
            add(v)
            return k < 3
        return tf.while_loop(condition, plain, [i, tf.constant(0.0)])
    def by_start(v, i):
        def body(k, x):
            raw.AssignAddVariableOp(resource=v, value=x)
            return k + 1, x + 1.0
        return tf.while_loop(three_times, body, [i, after(v)])
    lowered(r, "loop/listed", listed(cases["variable"]), True)
    lowered(r, "loop/listed_condition", listed(by_condition), True)
    lowered(r, "loop/listed_reads_start", listed(by_start), True)


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
