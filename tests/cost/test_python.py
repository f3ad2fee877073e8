"""The Python module against the program: the same figures, errors as exceptions. Usage: test_python.py MODULE_FOLDER DORY"""
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import dory_cost  # noqa: E402

FIELDS = dict(operation="convolution", height=32, width=24, channels=16, outputs=40, kernel=(3, 5), stride=(1, 2),
              padding=(1, 2), input_signed=False, normalisation="high_32")


def program(fast):
    row = ",".join(dory_cost._text(value) for value in FIELDS.values())
    run = subprocess.run([sys.argv[2], "cost", "--target", "gap8", *(["--fast"] if fast else [])], input=",".join(FIELDS) + "\n" + row + "\n",
                         text=True, stdout=subprocess.PIPE, check=True)
    names, values = (line.split(",") for line in run.stdout.splitlines())
    return dict(zip(names, values))


def expect_error(kind, words, **fields):
    try:
        model.cost(**{**FIELDS, **fields})
    except kind as error:
        assert words in str(error), f"'{words}' is not in: {error}"
    else:
        raise AssertionError(f"no error: {fields}")


model = dory_cost.Model("gap8")
for fast in (False, True):
    cost, row = model.cost(fast=fast, **FIELDS), program(fast)
    for member, column in [("cycles", "cycles"), ("l3_cycles", "l3_cycles"), ("macs", "mac"), ("l3_bytes", "l3_bytes"),
                           ("l2_bytes", "l2_bytes"), ("l1_bytes", "l1_bytes"), ("tile_rows", "tile_rows"), ("tile_count", "tiles"),
                           ("kernel", "kernel")]:
        assert str(getattr(cost, member)) == row[column], (member, getattr(cost, member), row[column])
    assert abs(cost.mac_per_cycle - float(row["mac_per_cycle"])) < 0.001

expect_error(ValueError, "field 'stride'", stride=0)
expect_error(ValueError, "field 'width_multiplier'", width_multiplier=2)
expect_error(dory_cost.Impossible, "40 elements along the height", kernel=(40, 1))
try:
    dory_cost.Model("gap9")
except ValueError as error:
    assert "gap9" in str(error)
else:
    raise AssertionError("there is no gap9")

answers = []
threads = [threading.Thread(target=lambda: answers.append([model.cost(**{**FIELDS, "outputs": n}).cycles for n in range(4, 64, 4)]))
           for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(answers) == 4 and all(answer == answers[0] for answer in answers)

example = subprocess.run([sys.executable, "-B", sys.argv[1] + "/width_search.py", "gap8", "300000"], text=True, check=True,
                         stdout=subprocess.PIPE).stdout
cycles = int(example.split(": ")[1].split()[0])
assert 200000 < cycles <= 300000, example
print("the module, the program and the example agree")
