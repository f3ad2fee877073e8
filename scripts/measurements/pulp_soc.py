"""siracusa.csv and pulp_open.csv: networks on the chips of the maintained gvsoc."""
import json
import os
import re
import subprocess

from .runs import GENERATOR, MADE, MODELS, TOP, Failed, known, model, percent_off, progress, rate, shared_networks, verify, write

# On Siracusa: engine, cores beside it, blocks; and the options of scripts/verify.
SIRACUSA = ["mobilenet_v1_1.0_128", "mobilenet_v2_1.0_128", "kws_ds_cnn", "ic_resnet8", "vww_mobilenet_v1_0.25_96", "ad_autoencoder"]
SIRACUSA_WAYS = [("no", "no", "none"), ("yes", "no", "none"), ("yes", "yes", "none"), ("yes", "yes", "auto")]
ONE_JOB = "DORY_NEUREKA_JOBS=1u"  # at most of a tile, of N-EUREKA's header: for generator and firmware
SIRACUSA_COLUMNS = ["network", "engine", "cores beside it", "blocks", "MAC", "cycles", "MAC/cycle", "cycles waiting for L2", "planned cycles", "% off",
                    "cycles of the engine's jobs", "cycles waiting for the engine", "cycles of the run"]

# On PULP-open: where the weights lie.
PULP_OPEN = [("mobilenet_v1_1.0_128", "flash"), ("kws_ds_cnn", "flash"), ("kws_ds_cnn", "linked"), ("ic_resnet8", "linked"),
             ("vww_mobilenet_v1_0.25_96", "linked"), ("ad_autoencoder", "linked")]
PULP_OPEN_COLUMNS = ["network", "weights", "MAC", "cycles of the run", "MAC/cycle", "planned cycles of the run", "% off"]


def description_of_cores():
    """Siracusa without its engine."""
    with open(os.path.join(TOP, "generator", "target", "siracusa.json")) as file:
        description = json.load(file)
    description["engines"].remove("neureka")
    path = os.path.join(MODELS, "siracusa_cores.json")
    os.makedirs(MODELS, exist_ok=True)
    with open(path, "w") as file:
        json.dump(description, file)
    return path


def generator_of_one_job():
    """Whose tiles are one job of the engine each, so that no cores work beside it: it plans for that, and prepares those jobs."""
    build = os.path.join(TOP, "build", "measure-one-job")
    configure = ["cmake", "-G", "Ninja", "-S", TOP, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DDORY_TARGET=host", "-DDORY_GENERATOR_ONLY=ON",
                 f"-DCMAKE_C_FLAGS=-D{ONE_JOB}"]
    for command in configure, ["cmake", "--build", build, "--target", "dory"]:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return os.path.join(build, "bin", "dory")


def plan_of(generator, folder, *arguments):
    """Its layers, by `dory plan`."""
    path = next(os.path.join(folder, file) for file in sorted(os.listdir(folder)) if file.endswith((".onnx", ".tflite")))
    run = subprocess.run([generator, "plan", path, *arguments], check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return run.stdout.partition("layer  ")[2]


def measure_engine():
    """Of the network that was verified last: cycles in which the engine works, and in which the first core waits for it."""
    run = subprocess.run(["cmake", "--build", os.path.join(TOP, "build", "verify-siracusa"), "--target", "run_network_engine"], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    found = re.search(r"^engine: \d+ jobs, (\d+) cycles, (\d+) of the first core", run.stdout, re.M)
    if run.returncode != 0 or not found:
        raise Failed(run.stdout[-1000:])
    return int(found[1]), int(found[2])


def measure_siracusa(options):
    paths = {name: (model(name, MADE[name]), []) for name in SIRACUSA if name in MADE} | shared_networks()
    chosen = options.networks.split(",") if options.networks else [name for name in SIRACUSA if name in paths]
    rows = [row for row in known("siracusa", SIRACUSA_COLUMNS) if row[0] not in chosen] if options.networks else []
    one_job = generator_of_one_job()
    for network in chosen:
        runs = {}
        for engine, beside, blocks in SIRACUSA_WAYS:
            arguments = ["--weights", "linked", "--blocks", blocks]
            described = [] if engine == "yes" else ["--description", description_of_cores()]
            is_one_job = engine == "yes" and beside == "no"
            generator, defined = (one_job, ["--define", ONE_JOB]) if is_one_job else (GENERATOR, [])
            plan = plan_of(generator, paths[network][0], *arguments, "--target", *(described[1:] or ["siracusa"]))
            if (plan, is_one_job) not in runs:  # else the same program
                runs[plan, is_one_job] = verify(paths[network][0], *arguments, *described, *defined, target="siracusa",
                                                generator=generator), measure_engine()
            run, at_engine = runs[plan, is_one_job]
            mac, cycles, planned = run.sum(1), run.sum(2), sum(run.planned)
            rows.append([network, engine, beside, blocks, mac, cycles, rate(mac, cycles), run.sum(3), planned,
                         f"{percent_off(planned, cycles):.1f}", *at_engine, run.total])
            progress(f"{network}, engine {engine}, cores beside it {beside}, blocks {blocks}: {cycles} cycles, {rows[-1][6]} MAC/cycle")
        rows.sort(key=lambda row: SIRACUSA.index(row[0]))
        write("siracusa", SIRACUSA_COLUMNS, rows)


def measure_pulp_open(options):
    paths = {name: model(name, MADE[name]) for name in MADE} | {name: path for name, (path, _) in shared_networks().items()}
    chosen = options.networks.split(",") if options.networks else [network for network, _ in PULP_OPEN]
    rows = [row for row in known("pulp_open", PULP_OPEN_COLUMNS) if row[0] not in chosen] if options.networks else []
    for network, weights in PULP_OPEN:
        if network in chosen and network in paths:
            run = verify(paths[network], "--weights", weights, target="pulp_open")
            rows.append([network, weights, run.sum(1), run.total, rate(run.sum(1), run.total), run.planned_total,
                         f"{percent_off(run.planned_total, run.total):.1f}"])
            progress(f"{network}, weights {weights}: {run.total} cycles, {rows[-1][4]} MAC/cycle")
    rows.sort(key=lambda row: PULP_OPEN.index((row[0], row[1])))
    write("pulp_open", PULP_OPEN_COLUMNS, rows)
