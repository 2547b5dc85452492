"""counter counts."""
from program_testing import Programs, check

programs = Programs()
check(programs.run("counter") == "0\n1\n2\n3\n", "the counter goes 0, 1, 2, 3")
