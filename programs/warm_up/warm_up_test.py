"""warm_up prints the product twice, wherever it is computed."""
from program_testing import Programs, check

programs = Programs()
for arguments in ([], ["--device=/cpu:0"]):
    check(programs.run("warm_up", *arguments) == "[[36.]]\n[[36.]]\n", "both products are [[36.]]")
placed = programs.process("warm_up", "--log_device_placement")
check("MatMul_1: (MatMul): /job:localhost/" in placed.stdout + placed.stderr, "the placement is printed")
check("'/gpu:x' is not a device name" in programs.refusal("warm_up", "--device=/gpu:x"), "a device that is no name is refused")
