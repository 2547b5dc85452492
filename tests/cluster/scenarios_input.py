"""Training data that the workers share out."""

from catalogue import scenario
from tasks import Failed


def write_lines(cluster):
    """Three files of uneven length for all tasks to read; the number of lines."""
    lines = 0
    for name, count in (("a", 7), ("b", 420), ("c", 130)):
        text = "".join(f"{lines + i:06d}{'.' * 60}\n" for i in range(count))
        (cluster.folder / f"data-{name}").write_text(text)
        lines += count
    for task in cluster.trainers():
        task.flags = {"--files": cluster.folder / "data-*", "--read_log": cluster.folder / f"{task.name}.read"}
    return lines


def readers_of(cluster):
    """Which tasks have read a line, by its number."""
    readers = {}
    for task in cluster.trainers():
        path = cluster.folder / f"{task.name}.read"
        for line in path.read_text().split() if path.exists() else []:
            readers.setdefault(int(line[:6]), []).append(task.name)
    return readers


@scenario("input", ci=True)
def input_blocks(run):
    """An epoch of uneven files over three workers, one of them killed: each record is read."""
    with run.cluster(chief=True, workers=2, flags={"--step_ms": 3}) as cluster:
        lines = write_lines(cluster)
        cluster.start_all()
        cluster.await_step(run.random.randrange(60, 150))
        cluster.kill("worker", 1)
        cluster.await_exits(tasks=[each for each in cluster.tasks if each.name != "worker-1"])
        readers = readers_of(cluster)
        missing = [number for number in range(lines) if number not in readers]
        twice = [number for number, names in readers.items() if len(names) > 1]
        if missing:
            raise Failed(f"{len(missing)} of {lines} records were not read, e.g. {missing[:5]}")
        if any("worker-1" not in readers[number] for number in twice):
            raise Failed("records that the killed worker had not read were read twice")
        by = {task.name: sum(task.name in names for names in readers.values()) for task in cluster.trainers()}
        return {"records": lines, "twice": len(twice), "by": by}


@scenario("input-resumed", ci=True)
def input_resumed(run):
    """All are killed in the middle of an epoch: they go on with what the checkpoint says is left."""
    with run.cluster(chief=True, workers=2, flags={"--step_ms": 3, "--save_steps": 40}) as cluster:
        lines = write_lines(cluster)
        cluster.start_all()
        cluster.await_step(run.random.randrange(150, 300))
        for task in cluster.tasks:
            cluster.kill(task.job, task.index)
        saved = cluster.checkpoint()["step"]
        cluster.start_all()
        cluster.await_exits()
        step = cluster.checkpoint()["step"]
        missing = [number for number in range(lines) if number not in readers_of(cluster)]
        if missing:
            raise Failed(f"{len(missing)} of {lines} records were not read, e.g. {missing[:5]}")
        # A step for each record, but for those of the blocks that were open.
        if not lines - 20 <= step <= lines + 3 * 62:
            raise Failed(f"{step} steps were made with {lines} records, resumed at {saved}")
        return {"records": lines, "steps": step, "resumed_at": saved}
