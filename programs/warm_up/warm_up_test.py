"""warm_up prints the product."""
from program_testing import Programs, check

programs = Programs()
check(programs.run("warm_up") == "[[36.]]\n", "the product is [[36.]]")
