#!/usr/bin/env python3
"""Writes the tables between the FIGURES markers of README.md and docs/*.md from tests/*.csv, or (--check) compares them.

Ours are measured; those of others are published, and stand here with their source.
"""
import argparse
import csv
import pathlib
import re
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
MARKERS = re.compile(r"(<!-- FIGURES: (\w+), .*? -->\n).*?(<!-- FIGURES: end -->)", re.DOTALL)

# Row of results.csv, title, what the original's authors published.
ORIGINAL = [
    ("mobilenet_v1_1.0_128", "MobileNetV1-1.0-128", "8.00 (paper), 9.07 (tutorial on gvsoc)"),
    ("mobilenet_v1_0.5_192", "MobileNetV1-0.5-192", "6.86 (paper)"),
    ("mobilenet_v1_0.25_128", "MobileNetV1-0.25-128", "4.74 (paper)"),
    ("mobilenet_v2_1.0_128", "MobileNetV2-1.0-128", "5.27 (paper)"),
    ("dronet_complete", "DroNet", "5.75 (log)"),
    ("PenguiNet_64", "PenguiNet_64", "3.98 (log)"),
    ("Residual_connection_test_1", "Residual_connection_test_1", "6.44 (log)"),
    ("dscnn_test", "dscnn_test", "2.98 (log)"),
]
MLPERF = [
    ("kws_ds_cnn", "keyword spotting"),
    ("vww_mobilenet_v1_0.25_96", "visual wake words"),
    ("ic_resnet8", "image classification"),
    ("ad_autoencoder", "anomaly detection"),
]
OTHERS = [
    "| STM32H7A3, Cortex-M7, 280 MHz (v1.2) | 3.17 M | 6.67 M | 11.4 M | 343 k |",
    "| RA8D1, Cortex-M85 with Helium, 480 MHz (v1.2) | 1.66 M | 6.43 M | 4.07 M | 255 k |",
    "| NDP9120, neural accelerator, 98 MHz (v1.2) | 145 k | 402 k | 502 k | - |",
    "| GAP9 with its NE16 accelerator, 240 MHz (v1.0) | 176 k | 416 k | 228 k | 65 k |",
]


class Run:
    """The whole run of a network: its row 'all'."""

    def __init__(self, row):
        self.mac, self.cycles = int(row["MAC"]), int(row["cycles of the run"])

    def rate(self):
        return f"{self.mac / self.cycles:.2f}"

    def milliseconds(self):
        return f"{self.cycles / 1e5:.{1 if self.cycles >= 1e6 else 2}f}"  # at 100 MHz


def read_runs():
    with open(SOURCE / "tests/results.csv", newline="", encoding="utf-8") as file:
        return {row["network"]: Run(row) for row in csv.DictReader(file) if row["layer"] == "all" and row["cycles of the run"]}


def summary(runs):
    yield "| network | million MAC | ms at 100 MHz | MAC/cycle | the original DORY's |"
    yield "|---|---|---|---|---|"
    first = [row for row in ORIGINAL if row[0] in ("mobilenet_v1_1.0_128", "mobilenet_v2_1.0_128", "dronet_complete")]
    tiny = [(name, f"MLPerf Tiny, {title}", "-") for name, title in MLPERF[:3]]
    tiny.append(("ad_autoencoder_resident", "MLPerf Tiny, anomaly detection, weights that stay in L2", "-"))
    for name, title, published in first + tiny:
        run = runs[name]
        yield f"| {title} | {run.mac / 1e6:.1f} | {run.milliseconds()} | **{run.rate()}** | {published.partition(' ')[0]} |"


def original(runs):
    yield "| network | million MAC | original's MAC/cycle | dory's MAC/cycle | dory's cycles |"
    yield "|---|---|---|---|---|"
    for name, title, published in ORIGINAL:
        run = runs[name]
        yield f"| {title} | {run.mac / 1e6:.1f} | {published} | **{run.rate()}** | {run.cycles:,} |"


def mlperf(runs):
    yield "| system | " + " | ".join(title for _, title in MLPERF) + " |"
    yield "|---" * (len(MLPERF) + 1) + "|"
    for suffix, words in (("", "in flash"), ("_resident", "stay in L2")):
        cells = [f"{runs[name + suffix].cycles:,}" if name + suffix in runs else "not measured" for name, _ in MLPERF]
        yield f"| **GAP8, dory** (8 cores, gvsoc, weights {words}) | " + " | ".join(cells) + " |"
    yield from OTHERS


def bits(runs):
    yield "| weights of MobileNetV1-1.0-128 | cycles | MAC/cycle |"
    yield "|---|---|---|"
    for name, words in (("mobilenet_v1_1.0_128", "8 bits"), ("mobilenet_v1_1.0_128_4bit", "4 bits")):
        yield f"| {words} | {runs[name].cycles:,} | {runs[name].rate()} |"


MEMORY = {"MobileNetV2-1.0-224": "MobileNetV2-1.0-224", "nemo/proxylessnas_pulp_dronet": "ProxylessNAS, the family of MCUNet's",
          "MobileNetV2-0.35-144": "MobileNetV2, width 0.35, 144x144", "like MCUNet for ImageNet, 176": "like MCUNet for ImageNet, 176x176",
          "like MCUNetV2 for wake words, 80": "like MCUNetV2 for wake words, 80x80"}


def memory(_):
    yield "| network | L2, each tensor whole | in turns |"
    yield "|---|---|---|"
    with open(SOURCE / "tests/memory.csv", newline="", encoding="utf-8") as file:
        rows = {row["network"]: row for row in csv.DictReader(file)}
    for name, title in MEMORY.items():
        cells = (int(rows[name][f"least L2 B, inputs alone in RAM, {how} blocks"]) for how in ("without", "with"))
        yield f"| {title} | " + " | ".join(f"{cell:,}" for cell in cells) + " |"


PAPER_POWER = {100: 51.0, 260: 262.2}  # MHz: mW, of DORY's paper


def energy(runs):
    yield "| network | " + " | ".join(f"{whose} cycles | at 100 MHz | at 260 MHz" for whose in ("paper's", "dory's")) + " |"
    yield "|---" * 7 + "|"
    for name, title, published in ORIGINAL[:4]:
        run, cells = runs[name], []
        for cycles in (run.mac / float(published.partition(" ")[0]), run.cycles):
            cells += [f"{cycles / 1e6:#.3g} M"] + [f"{cycles / mhz / 1e6 * power:#.3g} mJ" for mhz, power in PAPER_POWER.items()]
        yield f"| {title} | " + " | ".join(cells) + " |"


SIRACUSA = {"mobilenet_v1_1.0_128": "MobileNetV1-1.0-128", "mobilenet_v2_1.0_128": "MobileNetV2-1.0-128",
            "kws_ds_cnn": "MLPerf Tiny, kws", "ic_resnet8": "MLPerf Tiny, ic", "vww_mobilenet_v1_0.25_96": "MLPerf Tiny, vww",
            "ad_autoencoder": "MLPerf Tiny, ad"}
SIRACUSA_WAYS = {("no", "no", "none"): "cores alone", ("yes", "no", "none"): "N-EUREKA, then cores",
                 ("yes", "yes", "none"): "beside each other", ("yes", "yes", "auto"): "in blocks, too"}


def pulp_open(_):
    yield "| network | weights | cycles | MAC/cycle | planned |"
    yield "|---|---|---|---|---|"
    with open(SOURCE / "tests/pulp_open.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            yield (f"| {SIRACUSA[row['network']]} | {row['weights']} | {int(row['cycles of the run']):,} | {row['MAC/cycle']} | "
                   f"{int(row['planned cycles of the run']):,} |")


def siracusa_rows():
    with open(SOURCE / "tests/siracusa.csv", newline="", encoding="utf-8") as file:
        return {(row["network"], row["engine"], row["cores beside it"], row["blocks"]): row for row in csv.DictReader(file)}


def siracusa(_):
    rows = siracusa_rows()
    yield "| weights linked | " + " | ".join(SIRACUSA_WAYS.values()) + " | MAC/cycle | planned |"
    yield "|---" * (len(SIRACUSA_WAYS) + 3) + "|"
    for name, title in SIRACUSA.items():
        measured = [rows.get((name, *way)) for way in SIRACUSA_WAYS]
        if measured[-1]:
            cells = [f"{int(row['cycles']):,}" if row else "not measured" for row in measured]
            planned = f"{int(measured[-1]['planned cycles']):,}"
            yield f"| {title} | " + " | ".join(cells) + f" | **{measured[-1]['MAC/cycle']}** | {planned} |"


def siracusa_times(_):
    rows = siracusa_rows()
    yield "| weights linked | run | engine at work | cores wait for it | for L2 | cores at work |"
    yield "|---|---|---|---|---|---|"
    for name, title in SIRACUSA.items():
        whole = rows.get((name, "yes", "yes", "auto"))
        if whole and whole["cycles of the run"]:
            run, engine, waiting, loading = (int(whole[column]) for column in (
                "cycles of the run", "cycles of the engine's jobs", "cycles waiting for the engine", "cycles waiting for L2"))
            yield f"| {title} | {run:,} | {engine:,} | {waiting:,} | {loading:,} | {run - waiting - loading:,} |"


TRANSFORMERS = {"bioformer_qdq": "Bioformer (QDQ)", "bioformer_qdq_resident": "the same, `--weights resident`",
                "bioformer_qdq_all_tokens": "the same, all tokens (`--all-channels`)",
                "bioformer_qdq_all_tokens_resident": "the same, all tokens, `--weights resident`", "bioformer_aeq_tfl": "Bioformer (ai-edge-quantizer)",
                "kwt_qdq": "keyword transformer (QDQ)", "kwt_aeq_tfl": "keyword transformer (ai-edge-quantizer)",
                "tinyradar_qdq": "radar transformer (QDQ)", "tinyvit_qdq": "tiny ViT (QDQ)",
                "cct_qdq": "compact convolutional transformer (QDQ)",
                "kws_lstm_keras_legacy_b1_tfl": "keyword LSTM (tf_keras): 98 steps of 40, 64 units"}
DECODERS = {"llama_decode_qdq": ("llama_decode (QDQ): 1 layer of 64 features", 16), "microLlama1": ("microLlama1 (Deeploy): 8 layers of 64 features", 2),
            "writer": ("apps/writer (QDQ): 2 layers of 32 features", 32)}
MEGAHERTZ = 175


def transformer_rows():
    with open(SOURCE / "tests/transformers.csv", newline="", encoding="utf-8") as file:
        return {row["network"]: row for row in csv.DictReader(file)}


def transformers(_):
    rows = transformer_rows()
    yield f"| network | MMAC of the model | computed | cycles | at {MEGAHERTZ} MHz |"
    yield "|---|---|---|---|---|"
    for name, title in TRANSFORMERS.items():
        mac, computed, cycles = (int(rows[name][column]) for column in ("MAC of the model", "MAC", "cycles of the run"))
        yield f"| {title} | {mac / 1e6:#.3g} | {computed / 1e6:#.3g} | {cycles:,} | {cycles / MEGAHERTZ / 1e3:#.3g} ms |"


def decoders(_):
    rows = transformer_rows()
    yield f"| a token of a decoder with its cache | kB of weights | tokens | MMAC | cycles | tokens/s at {MEGAHERTZ} MHz |"
    yield "|---|---|---|---|---|---|"
    for name, (title, tokens) in DECODERS.items():
        size, mac, cycles = (int(rows[name][column]) for column in ("bytes of weights", "MAC", "cycles of the run"))
        yield f"| {title} | {size / 1e3:.0f} | {tokens} | {mac / 1e6:.2f} | {cycles:,} | {MEGAHERTZ * 1e6 / cycles:,.0f} |"


def attention(_):
    yield "| tokens | one map | L2 without | cycles | L2 depth first | cycles | least L2 | cycles |"
    yield "|---" * 8 + "|"
    with open(SOURCE / "tests/attention.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            yield "| " + " | ".join(f"{int(number):,}" for column, number in row.items() if column not in ("heads", "depth")) + " |"


TABLES = {table.__name__: table for table in (summary, original, mlperf, bits, memory, energy, siracusa, siracusa_times, pulp_open, transformers, decoders, attention)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    options = parser.parse_args()
    runs, found, stale = read_runs(), set(), []
    for path in (SOURCE / "README.md", *sorted(SOURCE.glob("docs/*.md"))):
        text = path.read_text(encoding="utf-8")
        found |= {match[2] for match in MARKERS.finditer(text)}
        new = MARKERS.sub(lambda match: match[1] + "\n".join(TABLES[match[2]](runs)) + "\n" + match[3], text)
        if new != text:
            stale.append(path.name)
            if not options.check:
                path.write_text(new, encoding="utf-8")
    if found != set(TABLES):
        sys.exit(f"no markers of the tables {sorted(set(TABLES) - found)}")
    if stale and options.check:
        sys.exit(f"{', '.join(stale)}: not the figures of tests/*.csv; scripts/figures documents writes them")
    print("documents have the figures of tests/*.csv" if not stale else f"written: {', '.join(stale)}")


if __name__ == "__main__":
    main()
