"""counter counts."""
from program_testing import Programs, check

programs = Programs()
check(programs.run("counter") == "0\n1\n2\n3\n", "the counter goes 0, 1, 2, 3")
check(programs.run("counter", "--increments=0") == "0\n", "it begins at 0")
check(programs.refusal("counter", "--increments=-1", code=2) == "--increments must be at least 0, not -1", "less than none")
