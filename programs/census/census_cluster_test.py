"""census as a cluster of 1 master, 4 workers and 3 parameter servers: trained together, exported with the same signature."""
import re

from program_testing import Programs, check, skip

programs = Programs()
programs.run("sextant", "data", "census", "--synthetic", "--train", 400, "--test", 100, "--out", "data")
task = ["--train-files", "data/adult.data.csv", "--eval-files", "data/adult.test.csv", "--train-steps", "40", "--eval-steps", "2", "--seed", "1"]


def signature(job):
    folder, = programs.path(job, "export", "census").iterdir()
    return programs.run("sextant", "saved-model", "show", "--dir", folder, "--all")


process = programs.process("sextant", "launch", "--master", "--workers", 4, "--ps", 3, "--grace", 5, "--",
                           programs.bin / "census_task", *task, "--job-dir", "cluster")
said = process.stdout + process.stderr
if re.search(r"not run yet|UNIMPLEMENTED|is not implemented", said):
    skip("this build runs no clusters: " + re.search(r".*(?:not run yet|UNIMPLEMENTED|is not implemented).*", said).group(0))
check(process.returncode == 0, said)
programs.run("census_task", *task, "--job-dir", "alone")
check(signature("cluster") == signature("alone"), "a cluster exports the signature of one process")
